"""The reader of `wire` on the shapes that real clients and servers send: `python3 -m unittest discover interop`."""

import gzip
import unittest

from .wire import Reader


class Requests(unittest.TestCase):
    def test_a_request_is_given_with_its_head_and_its_body_follows(self):
        reader = Reader(responses=False)
        (request,) = reader.feed(b"PUT /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n")
        self.assertEqual((request.start, request.body), ("PUT /a HTTP/1.1", b""))
        self.assertEqual(reader.feed(b"{"), [])
        self.assertEqual(reader.feed(b"}"), [])
        self.assertEqual(request.body, b"{}")

    def test_chunks_are_joined_and_the_next_request_is_found_behind_them(self):
        reader = Reader(responses=False)
        head = b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        first, second = reader.feed(head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nGET /b HTTP/1.1\r\n\r\n")
        self.assertEqual((first.body, second.start), (b"abcde", "GET /b HTTP/1.1"))

    def test_an_empty_chunked_body_ends_at_once(self):
        reader = Reader(responses=False)
        data = b"PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        found = [message.start for byte in data * 2 for message in reader.feed(bytes([byte]))]
        self.assertEqual(found, ["PUT /a HTTP/1.1"] * 2)


class Responses(unittest.TestCase):
    def test_a_response_waits_for_its_body(self):
        reader = Reader(responses=True)
        self.assertEqual(reader.feed(b"HTTP/1.1 200 \r\nContent-Length: 4\r\n\r\nab"), [])
        (response,) = reader.feed(b"cd")
        self.assertEqual(response.body, b"abcd")

    def test_interim_answers_are_left_out(self):
        reader = Reader(responses=True)
        found = reader.feed(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n")
        self.assertEqual([message.start for message in found], ["HTTP/1.1 204 No Content"])

    def test_a_compressed_body_is_readable(self):
        body = gzip.compress(b"hello")
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        (response,) = Reader(responses=True).feed(head + body)
        self.assertEqual(response.text(), "hello")


if __name__ == "__main__":
    unittest.main()
