"""A plain TCP relay between one client and the server that notes every HTTP exchange.

It forwards bytes as they are, so that the client and the server meet each other and not this program. It tells the story
what the client asked (deltas or full documents, heartbeats, the final DELETE) and keeps a readable record for failures.
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
    """One request and its answer; `at` is in seconds since the relay started."""

    at: float
    request: Message
    response: Message

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
    """Listens on a free port of 127.0.0.1 until closed."""

    def __init__(self, host, port, record_path):
        self._upstream = (host, port)
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._exchanges = []
        self._record = open(record_path, "w", encoding="utf-8")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def now(self):
        return time.monotonic() - self._started

    def exchanges(self, since=0.0):
        """Everything noted since that moment, in order."""
        with self._lock:
            return [exchange for exchange in self._exchanges if exchange.at >= since]

    def close(self):
        self._listener.close()
        with self._lock:
            self._record.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed
            try:
                server = socket.create_connection(self._upstream, timeout=10)
            except OSError:
                client.close()  # to the client, the server refused
                continue
            server.settimeout(None)
            Relay(self, client, server)

    def note(self, request, response, at):
        exchange = Exchange(at, request, response)
        with self._lock:
            self._exchanges.append(exchange)
            if not self._record.closed:
                self._record.write(exchange.record())
                self._record.flush()


class Relay:
    """One connection, one thread for each direction."""

    def __init__(self, tap, client, server):
        self._tap = tap
        self._waiting = deque()
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for source, target, reader, heard in (
            (client, server, Reader(responses=False), self._heard_request),
            (server, client, Reader(responses=True), self._heard_response),
        ):
            threading.Thread(target=self._pump, args=(source, target, reader, heard), daemon=True).start()

    def _heard_request(self, message):
        self._waiting.append((message, self._tap.now()))

    def _heard_response(self, message):
        if self._waiting:
            request, at = self._waiting.popleft()
            self._tap.note(request, message, at)

    @staticmethod
    def _pump(source, target, reader, heard):
        while True:
            try:
                data = source.recv(CHUNK)
                messages = Relay._read(reader, data)
                # A request is heard before it goes out, so that its answer always finds it waiting.
                for message in messages:
                    heard(message)
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                source.close()
                target.close()
                return

    @staticmethod
    def _read(reader, data):
        try:
            return reader.feed(data)
        except (ValueError, IndexError):
            return []  # not HTTP as this reader knows it; the bytes go on all the same
