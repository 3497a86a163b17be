"""Every operation of a client, made at one place and looked for at all of them."""

import threading
import time
from urllib.parse import quote

from ..eureka import Neighbour, Unexpected
from ..story import StepFailed, wait

SEE_SECS = 30  # half a second as a rule; plenty for a machine with other things to do
LOOK_SECS = 0.1
# A Java server sends nothing at all while the same heartbeat is renewed more often than twice a second, and drops what has
# waited for a renewal interval.
BEAT_SECS = 1
INTERVAL_SECS = 2
LEASE_SECS = 4
# A lease that has been renewed lasts twice its duration; then comes an eviction run.
OUTLASTING_SECS = 2 * LEASE_SECS + 1 + 2
APP = "OPERATIONS"


class Operations:
    """The life of one instance that talks to one place; other programs change it there and at the next place. `places` are
    all of them, by name."""

    def __init__(self, place, places):
        names = sorted(places)
        self.place, self.places = place, places
        self.next = places[names[(names.index(place.name) + 1) % len(names)]]
        self.one = Neighbour(APP, "operations-vip", f"from-{place.name}.example", 9000)
        self.silent = Neighbour(f"{APP}-SILENT", "silent-vip", f"from-{place.name}.example", 9001)
        self.dirty = int(time.time() * 1000)
        self.beats = 0
        self._bad_beats = []
        self._may_be_unknown = threading.Event()
        self._is_over = threading.Event()

    def expected_actions(self):
        """What each of the two places must have told every other about the instance, heartbeats apart: each event once."""
        here = ["Register", "StatusUpdate", "Register", "StatusUpdate", "DeleteStatusOverride"]
        # Java forgets the status; its client is answered 404 and registers again.
        here += ["Register"] if self.place.kind == "java" else []
        return {self.place.name: here, self.next.name: ["DeleteStatusOverride", "Register", "Cancel"]}

    def run(self):
        """Raises StepFailed, with the place and the step in front."""
        beating = threading.Thread(target=self._beat_on, daemon=True)
        try:
            self._do(self._register)
            beating.start()
            self._do(self._live_on_heartbeats)
            self._do(self._override)
            self._do(self._remove_override)
            self._do(self._change_metadata)
            self._do(self._register_elsewhere)
            self._do(self._remove_override_without_value)
            self._is_over.set()
            beating.join()
            self._do(self._cancel)
        finally:
            self._is_over.set()

    def _do(self, step):
        name = step.__name__.strip("_").replace("_", " ")
        try:
            step()
            if self._bad_beats:
                raise StepFailed(f"a heartbeat was answered {self._bad_beats[0]}")
        except (StepFailed, Unexpected, OSError, ValueError, KeyError, TypeError) as error:
            raise StepFailed(f"{name} at {self.place.name} ({self.place.kind}): {error}") from error

    def _beat_on(self):
        while not self._is_over.wait(BEAT_SECS):
            path = f"/apps/{APP}/{quote(self.one.id)}?status=UP&lastDirtyTimestamp={self.dirty}"
            try:
                status, text = self.place.server.request("PUT", path)
                if status == 404 and self._may_be_unknown.is_set():
                    self.dirty += 1
                    status, text = self.place.server.request("POST", f"/apps/{APP}", self._registration())
            except OSError as error:
                status, text = 0, repr(error)
            self.beats += 1
            if status not in (200, 204):
                self._bad_beats.append(f"{status} {text[:200]}")

    def _registration(self, **members):
        facts = {"interval_secs": INTERVAL_SECS, "duration_secs": LEASE_SECS, "dirty": self.dirty}
        return self.one.registration(**facts | members)

    def _register(self):
        # Members that Java does not know: they must not reach it, and the rest must.
        unknown = {"plain": 1, "object": {"a": {"b": []}}, "array": [{"c": 1}]} if self.place.kind == "heureka" else {}
        self.place.server.register(APP, self._registration(**unknown))

    def _live_on_heartbeats(self):
        """It lives everywhere on heartbeats that arrive at one place, for longer than a lease; one without heartbeats does
        not, which shows that leases do end."""
        self._seen(status="UP", overriddenStatus="UNKNOWN", lastDirtyTimestamp=str(self.dirty), metadata="red")
        silent = self.silent.registration(interval_secs=INTERVAL_SECS, duration_secs=LEASE_SECS, dirty=self.dirty)
        self.place.server.register(self.silent.app, silent)
        for place in self.places.values():
            wait(lambda: self._silent_at(place), SEE_SECS, lambda: f"{place.name} ({place.kind}) has no silent instance")
        end = time.monotonic() + OUTLASTING_SECS
        while time.monotonic() < end:
            for place in self.places.values():
                if self._at(place) is None:
                    raise StepFailed(f"{place.name} ({place.kind}) let the lease end in spite of heartbeats")
            time.sleep(LOOK_SECS)
        for place in self.places.values():
            wait(
                lambda: not self._silent_at(place),
                SEE_SECS,
                lambda: f"{place.name} ({place.kind}) keeps an instance that nobody renews",
            )

    def _override(self):
        self.place.server.override(APP, self.one.id, "OUT_OF_SERVICE")
        self._seen(status="OUT_OF_SERVICE", overriddenStatus="OUT_OF_SERVICE")
        beats = self.beats
        wait(lambda: self.beats > beats + 1, SEE_SECS, lambda: "no heartbeats")  # they go on saying UP
        self._seen(status="OUT_OF_SERVICE", overriddenStatus="OUT_OF_SERVICE")

    def _remove_override(self):
        self.next.server.remove_override(APP, self.one.id)
        self._seen(status="UP", overriddenStatus="UNKNOWN")

    def _change_metadata(self):
        self.place.server.set_metadata(APP, self.one.id, "color", "blue")
        self._seen(status="UP", lastDirtyTimestamp=str(self.dirty), metadata="blue")

    def _register_elsewhere(self):
        """A newer registration arrives at another place than the heartbeats."""
        newer = self.dirty + 1000
        self.next.server.register(APP, self._registration(dirty=newer))
        self._seen(status="UP", lastDirtyTimestamp=str(newer), metadata="red")
        self.dirty = newer

    def _remove_override_without_value(self):
        self.place.server.override(APP, self.one.id, "DOWN")
        self._seen(status="DOWN", overriddenStatus="DOWN")
        before = self.dirty
        if self.place.kind == "java":
            self._may_be_unknown.set()
        self.place.server.remove_override(APP, self.one.id, value=None)
        if self.place.kind == "java":
            wait(lambda: self.dirty > before, SEE_SECS, lambda: "no heartbeat was answered 404")
        self._seen(status="UP", overriddenStatus="UNKNOWN", lastDirtyTimestamp=str(self.dirty))

    def _cancel(self):
        self.next.server.cancel(APP, self.one.id)
        for place in self.places.values():
            wait(lambda: self._at(place) is None, SEE_SECS, lambda: f"{place.name} ({place.kind}) still has it")

    def _silent_at(self, place):
        return place.server.instance(self.silent.app, self.silent.id) is not None

    def _at(self, place):
        return place.server.instance(APP, self.one.id)

    def _seen(self, **wanted):
        """Waits until every place shows the instance with these members."""
        for place in self.places.values():

            def found():
                instance = self._at(place) or {}
                color = (instance.get("metadata") or {}).get("color")
                return {name: color if name == "metadata" else instance.get(name) for name in wanted}

            wait(lambda: found() == wanted, SEE_SECS, lambda: f"{place.name} ({place.kind}) has {found()}, not {wanted}")
