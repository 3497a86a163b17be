"""The life of the cluster, phase by phase, with clients that live through all of it."""

import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..eureka import Neighbour
from ..story import StepFailed, wait
from . import nodes
from .clients import GONE, Client, Truth
from .messages import batches
from .net import Net
from .operations import Operations
from .views import NoView, View, difference
from .witnesses import NAMES, WATCHED, Witness

AGREE_SECS = 60
LOOK_SECS = 0.2
SPLIT_SECS = 3
CLIENTS_PER_PLACE = 3
# Instances that nobody renews, with leases that outlast the run: who has them after a start has copied them.
STANDING = {"up": "UP", "down": "DOWN", "starting": "STARTING", "overridden": "UP", "out": "OUT_OF_SERVICE"}
STANDING_APP = "STANDING"


class Cluster:
    """Three places, first a and b with Heureka. Every method without an underscore is one phase; it returns what is worth
    saying."""

    def __init__(self, logs):
        self.net = Net(logs)
        self.truth = Truth()
        self.clients = []
        servers = [place.server for place in self.places.values()]
        self.witnesses = [Witness(name, servers, logs) for name in NAMES]
        self.operations = []
        self._home = {}
        self._wanted = {}

    @property
    def places(self):
        return self.net.places

    def build(self):
        """The programs that are needed, Java's server among them."""
        for witness in self.witnesses:
            witness.build()
        nodes.build_java()
        return "everything is there"

    def start(self):
        """Heureka alone; a JVM needs its time and may begin meanwhile."""
        self.places["c"].start("java")
        for name in "ab":
            self.places[name].start("heureka")
        for name in "ab":
            self.places[name].until_serving()
        for number in range(3 * CLIENTS_PER_PLACE):
            self._begin_client(number, "abc"[number % 3])
        for name, status in STANDING.items():
            self._stand(self.places["a"], name, status)
        self._agree("ab")
        self._override(self.places["b"], standing("overridden"))
        self._will_be(WATCHED, "UP")
        self.places["b"].server.register(WATCHED.app, WATCHED.registration())
        self._agree("ab")
        for witness in self.witnesses:
            witness.start()
        return "a and b are Heureka"

    def _begin_client(self, number, home):
        first, second = ("a", "b") if number % 2 else ("b", "a")
        servers = [self.places[name].server for name in (first, second, "c")]
        neighbour = Neighbour("CLIENTS", "clients-vip", f"client-{number}.example", 8000 + number)
        client = Client(neighbour, self.truth, servers)
        client.begin()
        self.clients.append(client)
        self._home[client] = home
        self._will_be(neighbour, "UP")

    def java_joins(self):
        said = f"{self._until_joined('c')}; {self._replicas_of_java()}"
        for witness in self.witnesses:
            witness.until_seeing()
            self._will_be(witness.own, "UP")
        self._agree()
        return said

    def operations_at_every_place(self):
        self.operations = [Operations(place, self.places) for place in self.places.values()]
        with ThreadPoolExecutor(len(self.operations)) as threads:
            for result in [threads.submit(operations.run) for operations in self.operations]:
                result.result()
        for operations in self.operations:
            self._will_be(operations.one, None)
        self._agree()
        return "register, renew, override, remove it, metadata, cancel: seen at all three"

    def split(self):
        """Java and one Heureka node do not reach each other; both go on, then they meet again."""
        a, c = self.places["a"], self.places["c"]
        leaving = [self._stand(a, f"split-{number}") for number in (1, 2)]
        changing = self._stand(c, "split-3")
        self._agree()
        self.net.set_between("a", "c", False)
        self._leave(a, leaving[0])
        self._leave(c, leaving[1])
        self._override(c, changing)
        a.server.set_metadata(STANDING_APP, changing.id, "color", "green")
        self._stand(a, "split-4")
        self._stand(c, "split-5")
        time.sleep(SPLIT_SECS)
        self.net.set_between("a", "c", True)
        color = self._agree().rows[STANDING_APP, changing.id].color
        if color != "green":
            raise StepFailed(f"after the split {changing.id} is {color}")
        return f"{SPLIT_SECS} s between a and c, changes on both sides"

    def restart_a(self):
        return self._replace("a", "heureka")

    def restart_b(self):
        return self._replace("b", "heureka")

    def restart_c(self):
        return self._replace("c", "java")

    def migrate_c(self):
        return self._replace("c", "heureka")

    def back_c(self):
        return self._replace("c", "java")

    def back_b(self):
        return self._replace("b", "java")

    def back_a(self):
        return self._replace("a", "java")

    def migrate_a(self):
        return self._replace("a", "heureka")

    def migrate_b(self):
        return self._replace("b", "heureka")

    def end(self):
        """The witnesses and then the clients end; everything that they should not have noticed is a failure."""
        noticed = []
        for witness in self.witnesses:
            self._will_be(witness.own, None)
            noticed += witness.end()
        # The clients live on until all agree: a late cancel of a server's last life may hide it for the time of a quarantine,
        # as long as the lease of a client.
        self._agree()
        for client in self.clients:
            client.end()
            noticed += client.noticed
        if noticed:
            raise StepFailed(f"clients noticed {len(noticed)} things, first:\n" + "\n".join(noticed[:10]))
        beats = sum(client.beats.total() for client in self.clients)
        looks, moves = (sum(getattr(client, name) for client in self.clients) for name in ("looks", "moves"))
        real = " and ".join(witness.name for witness in self.witnesses)
        seen = f"{beats} heartbeats, {looks} looks and {moves} moves"
        return f"{real} and {len(self.clients)} others noticed nothing in {seen}"

    def close(self):
        for witness in self.witnesses:
            witness.kill()
        self.net.close()

    def beats_at(self, server):
        """Heartbeats that clients have sent to one server."""
        operations = sum(one.beats for one in self.operations if one.place.server is server)
        return operations + sum(client.beats[server.url] for client in self.clients)

    def _replace(self, name, kind):
        """One place goes and comes back, perhaps as another kind; meanwhile others change what it knows."""
        place, other = self.places[name], self.places["b" if name == "a" else "a"]
        was, life = place.kind, len(place.lives)
        leaving, changing = (self._stand(place, f"{word}-{name}-{life}") for word in ("leaving", "changing"))
        self._agree()
        place.stop()
        self._leave(other, leaving)
        self._override(other, changing)
        self._stand(other, f"arriving-{name}-{life}")
        place.start(kind)
        said = self._until_joined(name)
        return f"{was} -> {kind}: {said}" if was != kind else said

    def _until_joined(self, name):
        """Waits until a place that has started shows what all show, and brings its clients back."""
        place = self.places[name]
        since = {here: tap.now() for (here, there), tap in self.net.edges.items() if there == name}
        place.until_serving()
        self._agree()
        for (here, there), tap in self.net.edges.items():
            if there == name:
                # Whoever had given up on it must have noticed that it is back.
                met = lambda: any(batch.status == 200 for batch in batches(tap, since[here]))  # noqa: E731
                wait(met, AGREE_SECS, lambda: f"{here} sends {there} nothing")
        copied = copied_by(place)
        if not copied:
            raise StepFailed(f"{name} ({place.kind}) copied nothing when it started")
        for client in self.clients:
            if self._home[client] == name:
                client.move_to(place.server)
        return f"{place.kind} at {name} copied {copied} instances"

    def _replicas_of_java(self):
        """Java counts a peer as available if it is registered under Java's own name, with the host of its URL."""
        place = self.places["c"]
        text = place.server.page("/status")
        listed = re.search(r"<available-replicas>([^<]*)<", text)
        if listed is None or listed[1].count("http://") != len(self.places) - 1:
            raise StepFailed(f"Java's available replicas are {listed and listed[1]!r}")
        return "it calls both peers available"

    def _will_be(self, neighbour, status):
        """What every place must show from the next agreement on; None: nothing."""
        key = (neighbour.app, neighbour.id)
        self.truth.changes(key)
        self._wanted[key] = status

    def _stand(self, place, name, status="UP"):
        neighbour = standing(name)
        self._will_be(neighbour, status)
        place.server.register(STANDING_APP, neighbour.registration(dirty=int(time.time() * 1000), status=status))
        return neighbour

    def _override(self, place, neighbour):
        self._will_be(neighbour, "OUT_OF_SERVICE")
        place.server.override(STANDING_APP, neighbour.id, "OUT_OF_SERVICE")

    def _leave(self, place, neighbour):
        self._will_be(neighbour, None)
        place.server.cancel(STANDING_APP, neighbour.id)

    def _agree(self, names="abc"):
        """Waits until these places show the same, everything that was done, and themselves as UP; the view. From now on
        clients must see it too."""
        places = [self.places[name] for name in names]
        end = time.monotonic() + AGREE_SECS
        while True:
            try:
                views = {f"{place.name} ({place.kind})": View.of(place.server) for place in places}
                view = next(iter(views.values()))
                different = difference(views) or self._lacking(view, places)
            except (NoView, *GONE) as error:
                different = str(error)
            if not different:
                break
            if time.monotonic() > end:
                raise StepFailed(f"the places do not agree after {AGREE_SECS} s:\n{different}")
            time.sleep(LOOK_SECS)
        for key, status in self._wanted.items():
            self.truth.is_now(key, status)
        return view

    def _lacking(self, view, places):
        """What a view should show and does not, in words."""
        shown = {key: view.rows[key].status if key in view.rows else None for key in self._wanted}
        unmet = {key: status for key, status in self._wanted.items() if shown[key] != status}
        wrong = [f"{'/'.join(key)} is {shown[key]}, not {status}" for key, status in unmet.items()]
        servers = {key[1] for key, row in view.rows.items() if key[0] == "EUREKA" and row.status == "UP"}
        wanted = {place.id for place in places}
        if servers != wanted:
            wrong.append(f"the servers {sorted(servers)} are UP, not {sorted(wanted)}")
        return "\n".join(wrong)


def standing(name):
    return Neighbour(STANDING_APP, "standing-vip", f"{name}.standing.example", 7000)


def copied_by(place):
    """How many instances a server says to have copied from its peers when it started."""
    patterns = {
        "java": r"Got (\d+) instances from neighboring DS node",
        "heureka": r"copied the registry of a peer .*count=(\d+)",
    }
    found = re.findall(patterns[place.kind], Path(place.log_path).read_text(encoding="utf-8", errors="replace"))
    return max((int(count) for count in found), default=0)
