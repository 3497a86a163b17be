"""The way from every place to every other: relays that can be cut, and what went through them."""

import itertools
import os

from ..story import free_port
from ..tap import Tap
from .nodes import ADDRESSES, Place


class Net:
    """Three places, six relays. A relay listens at the address of the place to which it leads."""

    def __init__(self, logs):
        ports = {name: free_port(ADDRESSES[name]) for name in ADDRESSES}
        self.edges = {
            (here, there): Tap(
                ADDRESSES[there],
                ports[there],
                os.path.join(logs, f"{here}-to-{there}.http.log"),
                ADDRESSES[there],
            )
            for here, there in itertools.permutations(ADDRESSES, 2)
        }
        self.places = {name: Place(name, ports[name], self._urls_from(name), logs) for name in ADDRESSES}

    def _urls_from(self, name):
        return [
            f"http://{ADDRESSES[there]}:{tap.port}/eureka/"
            for (here, there), tap in self.edges.items()
            if here == name
        ]

    def set_between(self, one, two, is_open):
        for edge in ((one, two), (two, one)):
            tap = self.edges[edge]
            tap.mend() if is_open else tap.cut()

    def close(self):
        for place in self.places.values():
            place.kill()
        for tap in self.edges.values():
            tap.close()
