"""Clients that live through everything: each renews every second, looks at the whole registry, and goes to another node
only when its own does not answer, as Java clients do. Whatever it notices is kept and fails the run.
"""

import http.client
import threading
import time
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

from .views import NoView, View

BEAT_SECS = 1.0
LOOK_SECS = 0.5
# What breaks when a server goes away.
GONE = (OSError, http.client.HTTPException)


@dataclass(frozen=True)
class Facts:
    """What must be seen at one moment: the statuses of instances that stay, and instances that must not be there."""

    staying: dict
    gone: frozenset

    def wrong_in(self, view, later):
        """What a view lacks or has too much, in words. Only what was true before it was asked for and still is when it has
        come can be wrong in it."""
        wrong = []
        for key, status in self.staying.items():
            row = view.rows.get(key)
            if later.staying.get(key) == status and (row is None or row.status != status):
                wrong.append(f"{'/'.join(key)} is {row and row.status}, not {status}")
        return wrong + [f"{'/'.join(key)} is back" for key in self.gone & view.rows.keys()]


class Truth:
    """The facts as they change: a change is told once every place shows it, or before it is made."""

    def __init__(self):
        self._lock = threading.Lock()
        self._staying, self._gone = {}, set()

    def now(self):
        with self._lock:
            return Facts(dict(self._staying), frozenset(self._gone))

    def is_now(self, key, status):
        """Every place shows it like this; None: none shows it any more, and none may again."""
        with self._lock:
            if status is None:
                self._gone.add(key)
            else:
                self._staying[key] = status

    def changes(self, key):
        """It may look like anything from now on."""
        with self._lock:
            self._staying.pop(key, None)


class Client:
    """One instance and its two threads. `noticed` is what should not have happened to it."""

    def __init__(self, neighbour, truth, servers):
        self.neighbour, self.noticed = neighbour, []
        self.looks = self.moves = 0
        self.beats = Counter()
        self._truth, self._servers = truth, list(servers)
        self._ended = threading.Event()
        self._registration = neighbour.registration(interval_secs=2, duration_secs=10, dirty=int(time.time() * 1000))
        self._threads = [
            threading.Thread(target=self._every, args=(secs, step), daemon=True)
            for secs, step in ((BEAT_SECS, self._beat), (LOOK_SECS, self._look))
        ]

    @property
    def at(self):
        """The server that it uses."""
        return self._servers[0]

    def begin(self):
        self.at.register(self.neighbour.app, self._registration)
        for thread in self._threads:
            thread.start()

    def move_to(self, server):
        """Uses another server from now on, as a client does whose session is over."""
        self._servers = [server, *(other for other in self._servers if other is not server)]

    def end(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _every(self, secs, step):
        due = time.monotonic()
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            due += secs
            try:
                step()
            except Exception as error:  # whatever it is, the run must hear of it
                self._notice(f"{step.__name__.strip('_')}: {error!r}")

    def _notice(self, words):
        self.noticed.append(f"{time.strftime('%T')} {self.neighbour.id} at {self.at.url}: {words}")

    def _anywhere(self, call):
        """Calls the servers in turn until one answers, and stays with that one."""
        failures = []
        for server in list(self._servers):
            try:
                answer = call(server)
            except (*GONE, NoView) as error:
                failures.append(f"{server.url} {error!r}")
                continue
            if server is not self.at:
                self.moves += 1
                self.move_to(server)
            return answer
        raise NoView(f"no server answers: {'; '.join(failures)}")

    def _beat(self):
        app, dirty = self.neighbour.app, self._registration["instance"]["lastDirtyTimestamp"]
        path = f"/apps/{app}/{quote(self.neighbour.id)}?status=UP&lastDirtyTimestamp={dirty}"
        status, text = self._anywhere(lambda server: server.request("PUT", path))
        self.beats[self.at.url] += 1
        if status != 200:
            self._notice(f"heartbeat answered {status} {text[:80]!r}")
            self._anywhere(lambda server: server.register(app, self._registration))

    def _look(self):
        before = self._truth.now()
        view = self._anywhere(View.of)
        self.looks += 1
        wrong = before.wrong_in(view, self._truth.now())
        if wrong:
            self._notice(f"sees that {'; '.join(wrong)}")
