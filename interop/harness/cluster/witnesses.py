"""Real client programs that live through everything. They know all servers, and must see one application as it is from
first to last, whatever happens to the servers.
"""

import os
from pathlib import Path

from ..builds import BUILDS, make
from ..catalogue import CLIENTS_BY_NAME
from ..eureka import Neighbour
from ..program import Program
from ..story import START_SECS, STOP_SECS, free_port, wait

# py-eureka-client waits for itself for ever when it goes to another server, so it is none of them.
NAMES = ("spring4", "node")
WATCHED = Neighbour("WATCHED", "watched-vip", "watched.example", 9500)
# What both libraries write when they were told 404 and register again.
AGAIN = "Re-registering app"


class Witness:
    """One client program."""

    def __init__(self, name, servers, logs):
        self.name, self._client = name, CLIENTS_BY_NAME[name]
        self._urls = ",".join(server.url for server in servers)
        self._logs, self._log_path = logs, os.path.join(logs, f"{name}.log")
        self._program = None
        self.own = Neighbour(f"WITNESS-{name}".upper(), f"witness-{name}", f"{name}.example", 0)

    def build(self):
        make(BUILDS[self._client.build], os.path.join(self._logs, f"build-{self._client.build}.log"))

    def start(self):
        environment = {
            "SERVER_URL": self._urls,
            "APP": self.own.app,
            "INSTANCE_ID": self.own.id,
            "HOST": self.own.host,
            "IP": "127.0.0.1",
            "PORT": str(free_port()),
            "VIP": self.own.vip,
            "NEIGHBOUR": WATCHED.app,
            "NEIGHBOUR_VIP": WATCHED.vip,
        }
        self._program = Program(
            [part.format(server_url=self._urls) for part in self._client.command],
            {**{f"INTEROP_{key}": value for key, value in environment.items()}, **self._client.environment},
            self._logs,
            self._log_path,
        )

    def until_seeing(self):
        """Waits until it has seen the application."""
        wait(self._sees, START_SECS, lambda: f"{self.name} sees {self._program.view}; its log is {self._log_path}")

    def _sees(self):
        return self._program.view == view()

    def end(self):
        """What it noticed, in words."""
        views = self._program.views
        noticed = [f"{self.name} saw {seen}" for seen in views[views.index(view()) + 1 :]]
        # Before its end: Spring makes a second client while it shuts down.
        again = Path(self._log_path).read_text(encoding="utf-8", errors="replace").count(AGAIN)
        if again:
            noticed.append(f"{self.name} was not known {again} times and registered again")
        if self._program.ended is not None:
            noticed.append(f"{self.name} ended by itself with {self._program.ended}")
        elif not self._program.terminate(STOP_SECS):
            noticed.append(f"{self.name} still ran {STOP_SECS} s after SIGTERM")
        return noticed

    def kill(self):
        if self._program:
            self._program.kill()


def view():
    """The application as it is."""
    return [{"host": WATCHED.host, "port": WATCHED.port, "status": "UP", "color": "red"}]
