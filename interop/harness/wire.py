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
    """Takes bytes as they come and gives back messages: a request once its head is there, since a server may answer
    before the body has arrived (the body is filled in later), a response once it is complete."""

    def __init__(self, responses):
        self._responses = responses
        self._buffer = b""
        self._unfinished = None

    def feed(self, data):
        """What these bytes began or completed; interim (1xx) responses are left out."""
        self._buffer += data
        messages = []
        while True:
            if self._unfinished is None:
                self._unfinished = self._head()
                if self._unfinished is None:
                    return messages
                if not self._responses:
                    messages.append(self._unfinished)
            taken = self._body(self._unfinished, self._buffer)
            if taken is None:
                return messages
            message, self._unfinished = self._unfinished, None
            message.body, self._buffer = taken
            if self._responses and not message.start.split(" ")[1].startswith("1"):
                messages.append(message)

    def _head(self):
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return None
        self._buffer = rest
        lines = head.decode("latin-1").split("\r\n")
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if ":" in line]
        return Message(lines[0], headers, b"")

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
