"""The three places of the cluster and the servers that stand in them, of one kind or the other.

A place keeps its address, its port and the relays towards its peers whatever stands in it: that is how a cluster is
migrated. Java tells peers from itself by the host name alone, so each place has an address of its own.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

from ..builds import INTEROP
from ..eureka import Server
from ..servers import START_SECS, NoServer, heureka_binary

ADDRESSES = {"a": "127.0.0.1", "b": "127.0.0.2", "c": "127.0.0.3"}

STOP_SECS = 30
LOOK_SECS = 0.1

# Settings of both kinds, in Spring's words: short times, no mercy for leases that have ended.
COMMON = {
    "spring.application.name": "eureka",
    "eureka.client.register-with-eureka": "true",
    "eureka.client.fetch-registry": "true",
    "eureka.instance.lease-renewal-interval-in-seconds": "2",
    "eureka.instance.lease-expiration-duration-in-seconds": "20",
    "eureka.server.enable-self-preservation": "false",
    "eureka.server.eviction-interval-timer-in-ms": "1000",
    # What is asked shows what was just written.
    "eureka.server.use-read-only-response-cache": "false",
}
JAVA = {
    # A whole document that a change overtakes while it is made may stay old in Java's cache until it expires.
    "eureka.server.response-cache-auto-expiration-in-seconds": "1",
    # A node that joins shall copy what is out of service too.
    "eureka.client.filter-only-up-instances": "false",
}


@dataclass(frozen=True)
class Life:
    """One server in its place, from `since` on, in seconds of the monotonic clock."""

    kind: str
    since: float
    log_path: str


def build_java():
    """Builds the Java server, if it is not built; the time for that belongs to no step of the cluster."""
    subprocess.run([str(INTEROP / "java-server"), "--build-only"], check=True, stdout=subprocess.DEVNULL)


class Place:
    """One address of the cluster. `peer_urls` are the addresses of the others as this place must name them."""

    def __init__(self, name, port, peer_urls, logs):
        self.name, self.address, self.port = name, ADDRESSES[name], port
        self.id = f"{name}:eureka:{port}"
        self.server = Server(f"http://{self.address}:{port}")
        self.kind = None
        self._peer_urls, self._logs = peer_urls, logs
        self._process = None
        self.lives = []

    @property
    def runs(self):
        return self._process is not None

    def start(self, kind):
        """Starts a server of a kind, `java` or `heureka`; `until_serving` waits for it."""
        self.kind = kind
        self.log_path = os.path.join(self._logs, f"{self.name}-{len(self.lives) + 1}-{kind}.log")
        self.lives.append(Life(kind, time.monotonic(), self.log_path))
        with open(self.log_path, "wb") as log:
            self._process = subprocess.Popen(
                self._command(kind),
                cwd=self._logs,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def until_serving(self):
        """Waits until the server answers the full document with 200."""
        end = time.monotonic() + START_SECS
        while not self.serves():
            if self._process.poll() is not None:
                raise NoServer(f"{self.name} ({self.kind}) ended with {self._process.returncode}")
            if time.monotonic() > end:
                raise NoServer(f"{self.name} ({self.kind}) does not serve after {START_SECS} s")
            time.sleep(LOOK_SECS)

    def kind_at(self, moment):
        """What stood here at a moment of the monotonic clock, or what last did."""
        return [life.kind for life in self.lives if life.since <= moment][-1]

    def serves(self):
        try:
            return self.server.request("GET", "/apps/")[0] == 200
        except OSError:
            return False

    def stop(self):
        """SIGTERM, and waits for the end; an end in disorder is a failure."""
        process, self._process = self._process, None
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(STOP_SECS)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise NoServer(f"{self.name} ({self.kind}) still ran {STOP_SECS} s after SIGTERM") from error
        # A JVM that ran its shutdown hooks says 143.
        if code not in (0, 143):
            raise NoServer(f"{self.name} ({self.kind}) ended with {code} after SIGTERM")

    def kill(self):
        """The end without a word, whatever happens."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _command(self, kind):
        properties = {
            **COMMON,
            "server.port": self.port,
            "server.address": self.address,
            "eureka.instance.hostname": self.address,
            "eureka.instance.ip-address": self.address,
            "eureka.instance.instance-id": self.id,
            "eureka.client.service-url.defaultZone": ",".join(self._peer_urls),
        }
        if kind == "java":
            return [str(INTEROP / "java-server"), *options({**properties, **JAVA})]
        # What it has after a restart it must have from its peers, not from its disk.
        return [heureka_binary(), *options({**properties, "heureka.snapshots.enabled": "false"})]


def options(properties):
    return [f"--{key}={value}" for key, value in properties.items()]
