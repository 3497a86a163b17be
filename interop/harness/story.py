"""The life of one client, step by step, each with a deadline; the first step that fails ends it.

The client talks to the server through a `Tap`; the neighbour and every check go to the server directly.
"""

import os
import random
import socket
import time
from urllib.parse import urlsplit

from .eureka import Neighbour, Unexpected
from .program import Program
from .tap import Tap

START_SECS = 60  # two JVMs starting on two busy cores
SEE_SECS = 20  # a server's cache, the client's interval, and plenty for a busy machine
KNOWN_SECS = 5  # how long a known failure is given to surprise us
STOP_SECS = 25
POLL_SECS = 0.05
CLEAN_EXITS = (0, 143)  # a JVM that ran its shutdown hooks says 143
_PORTS = iter(random.sample(range(10_000, 20_000), 10_000))


class StepFailed(Exception):
    """Says which step, what was wanted and what was seen."""


def wait(wanted, limit_secs, describe):
    """Polls until `wanted()` is true; `describe()` tells what there is instead."""
    end = time.monotonic() + limit_secs
    while True:
        if wanted():
            return
        if time.monotonic() > end:
            raise StepFailed(f"{describe()} (waited {limit_secs} s)")
        time.sleep(POLL_SECS)


class Story:
    """Runs once. `notes` are what is worth knowing of a life that went well."""

    def __init__(self, client, server, tag, logs, java):
        self.client, self.server, self.java = client, server, java
        self.app = f"INTEROP-{client.name}-{tag}".upper()
        self.host = f"{client.name}.interop.example"
        self.port = free_port()
        self.instance_id = f"{self.host}:{self.app.lower()}:{self.port}"
        self.vip = f"{self.app.lower()}-vip"
        neighbour_app = f"{self.app}-NEIGHBOUR"
        self.one, self.two = (
            Neighbour(neighbour_app, f"{neighbour_app.lower()}-vip", f"n{number}.{self.host}", 9000 + number)
            for number in (1, 2)
        )
        self.notes = []
        self._step = "start"
        self._logs = logs
        self._tap = self._program = None

    def run(self):
        """Raises StepFailed with the step's name in front."""
        name = self.client.name
        upstream = urlsplit(self.server.url)
        self._tap = Tap(upstream.hostname, upstream.port, os.path.join(self._logs, f"{name}.http.log"))
        try:
            self._start()
            for step in self._steps():
                self._step = step.__name__.strip("_").replace("_", " ")
                step()
        except (StepFailed, Unexpected, OSError, ValueError, KeyError, TypeError) as error:
            raise StepFailed(f"step '{self._step}': {self._why(error)}") from error
        finally:
            if self._program:
                self._program.kill()
            for instance_id, app in ((self.instance_id, self.app), *((n.id, n.app) for n in (self.one, self.two))):
                self._forget(app, instance_id)
            self._tap.close()

    def _steps(self):
        seeing = [
            self._see_two_neighbours,
            self._see_one_out_of_service,
            self._see_it_back,
            self._see_metadata_change,
            self._see_one_vanish,
            self._see_the_application_vanish,
            self._have_used_its_own_fetches,
        ]
        if not self.client.registers:
            return [*seeing, self._end]
        registering = [self._register, self._beat]
        return [*registering, *seeing, self._register_again, self._end, self._deregister]

    def _why(self, error):
        if self._program and self._program.ended is not None and self._step not in ("end", "deregister"):
            return f"the client ended by itself with exit code {self._program.ended}; {error}"
        return error

    def _forget(self, app, instance_id):
        try:
            self.server.forget(app, instance_id)
        except OSError:
            pass  # the server is gone, and with it the instance

    def _start(self):
        server_url = self.server.url_through(self._tap.port)
        environment = {
            "SERVER_URL": server_url,
            "APP": self.app,
            "INSTANCE_ID": self.instance_id,
            "HOST": self.host,
            "IP": "127.0.0.1",
            "PORT": str(self.port),
            "VIP": self.vip,
            "NEIGHBOUR": self.one.app,
            "NEIGHBOUR_VIP": self.one.vip,
        }
        self._program = Program(
            [part.format(server_url=server_url) for part in self.client.command],
            {**{f"INTEROP_{key}": value for key, value in environment.items()}, **self.client.environment},
            self._logs,
            os.path.join(self._logs, f"{self.client.name}.log"),
        )

    def _register(self):
        def held():
            self._must_run()
            found = self.server.instance(self.app, self.instance_id)
            return found is not None and found["status"] == "UP"

        wait(held, START_SECS, lambda: f"the server does not hold {self.app}/{self.instance_id} as UP")
        self._check_fields(self.server.instance(self.app, self.instance_id))
        wait(
            lambda: self.server.listed(self.app, self.instance_id),
            SEE_SECS,
            lambda: f"the full document does not list {self.app}/{self.instance_id}",
        )

    def _must_run(self):
        if self._program.ended is not None:
            raise StepFailed("nothing more to wait for")

    def _check_fields(self, found):
        wanted = {
            ("instanceId",): self.instance_id,
            ("app",): self.app,
            ("hostName",): self.host,
            ("ipAddr",): "127.0.0.1",
            ("vipAddress",): self.vip,
            ("port", "$"): self.port,
            ("port", "@enabled"): "true",
            ("dataCenterInfo", "name"): "MyOwn",
            ("leaseInfo", "renewalIntervalInSecs"): 1,
            ("metadata", "interop"): self.app,
        }
        for path, value in wanted.items():
            part = found
            for key in path:
                part = part.get(key) if isinstance(part, dict) else None
            if part != value:
                raise StepFailed(f"the server holds {'.'.join(path)} = {part!r}, not {value!r}")

    def _beat(self):
        def beats():
            return [e for e in self._own_exchanges("PUT") if e.status == 200]

        wait(lambda: len(beats()) >= 2, SEE_SECS, lambda: f"{len(beats())} heartbeats were answered 200, not 2")

    def _own_exchanges(self, method, since=0.0):
        path = f"{self.server.path}/apps/{self.app}/{self.instance_id}".lower()
        return [e for e in self._tap.exchanges(since) if e.method == method and e.path.lower() == path]

    def _see(self, *wanted):
        """Waits until the client's view is exactly these (neighbour, status, color)."""
        view = [
            {"host": neighbour.host, "port": neighbour.port, "status": status, "color": color}
            for neighbour, status, color in wanted
        ]

        def seen():
            self._must_run()
            return self._program.view == view

        wait(seen, SEE_SECS, lambda: f"the client sees {self._program.view}, not {view}")

    def _see_two_neighbours(self):
        # The client must be up and look on while they appear, else it finds them in its first full document.
        limit = SEE_SECS if self.client.registers else START_SECS
        wait(lambda: self._program.view == [], limit, lambda: f"the client sees {self._program.view}, not []")
        self._watched_since = self._tap.now()
        for neighbour in (self.one, self.two):
            self.server.register(neighbour.app, neighbour.registration())
        self._see((self.one, "UP", "red"), (self.two, "UP", "red"))

    def _see_one_out_of_service(self):
        self.server.override(self.one.app, self.one.id, "OUT_OF_SERVICE")
        self._see((self.one, "OUT_OF_SERVICE", "red"), (self.two, "UP", "red"))

    def _see_it_back(self):
        self.server.remove_override(self.one.app, self.one.id)
        self._see((self.one, "UP", "red"), (self.two, "UP", "red"))

    def _see_metadata_change(self):
        self.server.set_metadata(self.two.app, self.two.id, "color", "blue")
        status = "UP"
        if self.client.metadata_with_status:
            self.notes.append(self.client.metadata_with_status)
            status = "OUT_OF_SERVICE"
            self.server.override(self.two.app, self.two.id, status)
        self._see((self.one, "UP", "red"), (self.two, status, "blue"))
        self._two_is = (self.two, status, "blue")

    def _see_one_vanish(self):
        self.server.cancel(self.one.app, self.one.id)
        self._see(self._two_is)

    def _see_the_application_vanish(self):
        self.server.cancel(self.two.app, self.two.id)
        self._see()

    def _have_used_its_own_fetches(self):
        """A client of deltas must have seen all of it in deltas: a full document means that a hash did not match."""
        fetches = [e for e in self._tap.exchanges(self._watched_since) if e.method == "GET"]
        bad = [f"{e.request.start} -> {e.status}" for e in fetches if e.status not in (200, 404)]
        if bad:
            raise StepFailed(f"fetches went wrong: {bad[:3]}")
        base = self.server.path
        deltas = sum(e.path == f"{base}/apps/delta" for e in fetches)
        full = sum(e.path.rstrip("/") == f"{base}/apps" for e in fetches)
        vips = sum(e.path.startswith(f"{base}/vips/") for e in fetches)
        self.notes.append(", ".join(f"{n} {what}" for n, what in ((deltas, "deltas"), (full, "full"), (vips, "vips")) if n))
        if not self.client.deltas:
            return
        if deltas == 0 or (full > 0 and not self.client.full_documents):
            raise StepFailed(f"the client fetched {full} full documents and {deltas} deltas, not deltas only")
        if full > 0:
            self.notes.append(self.client.full_documents)

    def _register_again(self):
        """Its instance is cancelled behind its back; the next heartbeat's 404 must make it register again."""
        since = self._tap.now()
        before = self.server.instance(self.app, self.instance_id)
        self.server.cancel(self.app, self.instance_id)
        known = self.client.stays_away_from_java if self.java else None

        def again():
            self._must_run()
            refused = [e for e in self._own_exchanges("PUT", since) if e.status == 404]
            return refused and self.server.instance(self.app, self.instance_id) is not None

        try:
            wait(
                again,
                KNOWN_SECS if known else SEE_SECS,
                lambda: "the client did not register again; heartbeats since: "
                + str([f"{e.status} {e.response.text()}" for e in self._own_exchanges("PUT", since)][-3:]),
            )
        except StepFailed:
            if not known:
                raise
            self.notes.append(f"as known with Java, {known}")
            # Put it back as newer than the client thinks it is, so that its heartbeats and its DELETE find it.
            before["lastDirtyTimestamp"] = str(int(time.time() * 1000))
            self.server.register(self.app, {"instance": before})
            return
        if known:
            self.notes.append("registered again, although it was not expected to with Java")
        found = self.server.instance(self.app, self.instance_id)
        self._check_fields(found)
        self._step = "beat again"
        since = self._tap.now()
        self._wait_beat(since)

    def _wait_beat(self, since):
        wait(
            lambda: any(e.status == 200 for e in self._own_exchanges("PUT", since)),
            SEE_SECS,
            lambda: "no heartbeat was answered 200 after it",
        )

    def _end(self):
        self._must_run()
        if not self._program.terminate(STOP_SECS):
            raise StepFailed(f"the client still ran {STOP_SECS} s after SIGTERM")
        if self._program.ended not in CLEAN_EXITS:
            raise StepFailed(f"the client ended with exit code {self._program.ended} after SIGTERM")

    def _deregister(self):
        if self.client.leaves != "gone":
            found = self.server.instance(self.app, self.instance_id)
            status = found and found["status"]
            if status not in (None, self.client.leaves):
                raise StepFailed(f"the client left its instance as {status}, not {self.client.leaves}")
            self.notes.append(f"left as {status or 'gone'}: its DELETE is often lost when it shuts down")
            return
        wait(
            lambda: self.server.instance(self.app, self.instance_id) is None,
            SEE_SECS,
            lambda: f"the server still holds {self.app}/{self.instance_id}",
        )
        answers = [e.status for e in self._own_exchanges("DELETE")]
        if answers[-1:] != [200]:
            raise StepFailed(f"the client's DELETE was answered {answers}, not 200")
        wait(
            lambda: not self.server.listed(self.app, self.instance_id),
            SEE_SECS,
            lambda: f"the full document still lists {self.app}/{self.instance_id}",
        )


def free_port(address="127.0.0.1"):
    """A port of an address of this machine that nobody listens on. It is given out once, and the system gives it to nobody
    either before a server takes it, or takes it again: those that it draws by itself begin above."""
    for port in _PORTS:
        try:
            socket.create_server((address, port)).close()
            return port
        except OSError:
            pass  # somebody else's
    raise StepFailed("there is no free port")
