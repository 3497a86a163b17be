"""A plain TCP relay between two programs that notes every HTTP exchange.

It forwards bytes as they are, so that the two meet each other and not this program. It tells the story what was asked
(deltas or full documents, heartbeats, batches) and keeps a readable record for failures.
"""

import socket
import threading
import time
from collections import deque
from dataclasses import dataclass
from urllib.parse import unquote

from .wire import Message, Reader

CHUNK = 65536


@dataclass
class Exchange:
    """One request and its answer; `at` is in seconds since the relay was made."""

    at: float
    request: Message
    response: Message | None = None
    # From the request's head to the end of the answer; None while there is no answer.
    took_secs: float | None = None

    @property
    def method(self):
        return self.request.start.split(" ")[0]

    @property
    def path(self):
        """The path as sent, percent-decoded, without its query."""
        return unquote(self.request.start.split(" ")[1].partition("?")[0])

    @property
    def status(self):
        return int(self.response.start.split(" ")[1])

    def record(self):
        lines = [f"--- {self.at:.3f} s", self.request.start]
        for message, start in ((self.request, None), (self.response, self.response.start)):
            if start:
                lines.append(start)
            lines += [f"{name}: {value}" for name, value in message.headers]
            if message.body:
                lines += ["", message.text()]
            lines.append("")
        return "\n".join(lines) + "\n"


class Tap:
    """Listens on a free port until closed. `host` and `port` say where it leads, `address` where it listens."""

    def __init__(self, host, port, record_path, address="127.0.0.1"):
        self._upstream = (host, port)
        self.started = time.monotonic()
        self._lock = threading.Lock()
        self._asked = []
        self._record = open(record_path, "w", encoding="utf-8")
        self._is_cut = False
        self._sockets = set()
        self._refused = []
        self._listener = socket.create_server((address, 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def now(self):
        return time.monotonic() - self.started

    def exchanges(self, since=0.0):
        """Everything asked since that moment that has been answered, in order."""
        return [exchange for exchange in self.asked(since) if exchange.response is not None]

    def asked(self, since=0.0):
        """The same with what has no answer, or none yet."""
        with self._lock:
            return [exchange for exchange in self._asked if exchange.at >= since]

    @property
    def refused(self):
        """When connections found nobody: the server was down, or the tap was cut."""
        return list(self._refused)

    def cut(self):
        """Breaks every connection and takes no more, until `mend`."""
        self._is_cut = True
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for sock in sockets:
            shut(sock)

    def mend(self):
        self._is_cut = False

    def close(self):
        # A thread in accept keeps the port open until it is woken.
        shut(self._listener)
        self.cut()
        self._listener.close()
        with self._lock:
            self._record.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            server = None if self._is_cut else self._reach()
            if server is None:
                self._refused.append(self.now())
                client.close()  # to the client, the server refused
                continue
            with self._lock:
                self._sockets |= {client, server}
            Relay(self, client, server)
            if self._is_cut:
                self.cut()  # it was cut meanwhile

    def _reach(self):
        try:
            server = socket.create_connection(self._upstream, timeout=10)
        except OSError:
            return None
        server.settimeout(None)
        return server

    def forget(self, *sockets):
        with self._lock:
            self._sockets -= set(sockets)

    def heard(self, request):
        exchange = Exchange(self.now(), request)
        with self._lock:
            self._asked.append(exchange)
        return exchange

    def answered(self, exchange, response):
        with self._lock:
            exchange.response, exchange.took_secs = response, self.now() - exchange.at
            if not self._record.closed:
                self._record.write(exchange.record())
                self._record.flush()


def shut(sock):
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it is already


class Relay:
    """One connection, one thread for each direction."""

    def __init__(self, tap, client, server):
        self._tap = tap
        self._waiting = deque()
        self._ends = threading.Semaphore(1)
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, reader, heard in (
            (client, server, Reader(responses=False), self._heard_request),
            (server, client, Reader(responses=True), self._heard_response),
        ):
            threading.Thread(target=self._pump, args=(source, target, reader, heard), daemon=True).start()

    def _heard_request(self, message):
        self._waiting.append(self._tap.heard(message))

    def _heard_response(self, message):
        if self._waiting:
            self._tap.answered(self._waiting.popleft(), message)

    def _pump(self, source, target, reader, heard):
        try:
            while data := source.recv(CHUNK):
                # A request is heard before it goes out, so that its answer always finds it waiting.
                for message in self._read(reader, data):
                    heard(message)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            shut(source)
            shut(target)
        # Whoever ends second lets the connection go: what one side has closed, the other may still answer.
        if not self._ends.acquire(blocking=False):
            source.close()
            target.close()
            self._tap.forget(source, target)

    @staticmethod
    def _read(reader, data):
        try:
            return reader.feed(data)
        except (ValueError, IndexError):
            return []  # not HTTP as this reader knows it; the bytes go on all the same
