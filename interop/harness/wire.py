"""Reads HTTP/1.1 messages out of the bytes of one direction of a connection.

It only reads along: it never changes, delays or refuses anything, and what it cannot read it skips.
"""

import gzip
import zlib
from dataclasses import dataclass


@dataclass
class Message:
    """One request or response: its first line, its headers in order and its body without chunked framing."""

    start: str
    headers: list
    body: bytes

    def header(self, name):
        """The first header of that name in any case, or None."""
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None

    def text(self):
        """The body for a person to read, decompressed."""
        body = self.body
        try:
            if self.header("content-encoding") == "gzip":
                body = gzip.decompress(body)
        except (OSError, EOFError, zlib.error):
            pass
        return body.decode("utf-8", "replace")


class Reader:
    """Takes bytes as they come and gives back the messages that are complete."""

    def __init__(self, responses):
        self._responses = responses
        self._buffer = b""

    def feed(self, data):
        """All messages completed by these bytes, interim (1xx) responses left out."""
        self._buffer += data
        messages = []
        while True:
            message = self._next()
            if message is None:
                return messages
            if not (self._responses and message.start.split(" ")[1:2][0].startswith("1")):
                messages.append(message)

    def _next(self):
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return None
        lines = head.decode("latin-1").split("\r\n")
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if ":" in line]
        message = Message(lines[0], headers, b"")
        taken = self._body(message, rest)
        if taken is None:
            return None
        message.body, self._buffer = taken
        return message

    def _body(self, message, rest):
        """The body and what follows it, or None while it is incomplete."""
        if self._responses and message.start.split(" ")[1:2] in (["204"], ["304"]):
            return b"", rest
        if (message.header("transfer-encoding") or "").lower() == "chunked":
            return self._chunks(rest)
        length = int(message.header("content-length") or 0)
        if len(rest) < length:
            return None
        return rest[:length], rest[length:]

    @staticmethod
    def _chunks(rest):
        body = b""
        while True:
            line, separator, rest = rest.partition(b"\r\n")
            if not separator:
                return None
            size = int(line.split(b";")[0], 16)
            if len(rest) < size + 2:
                return None
            body, rest = body + rest[:size], rest[size + 2 :]
            if size == 0:
                return body, rest
