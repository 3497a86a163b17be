"""The relay on real sockets: `python3 -m unittest discover -s interop -t interop`."""

import http.client
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .tap import Tap


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Relaying(unittest.TestCase):
    def setUp(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.folder = tempfile.TemporaryDirectory()
        self.tap = Tap("127.0.0.1", self.server.server_address[1], f"{self.folder.name}/record")

    def tearDown(self):
        self.tap.close()
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def get(self, connection):
        connection.request("GET", "/a")
        return connection.getresponse().status

    def connection(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.tap.port, timeout=10)
        self.addCleanup(connection.close)
        return connection

    def test_what_passes_is_noted_with_its_answer(self):
        self.assertEqual(self.get(self.connection()), 204)
        (exchange,) = self.tap.exchanges()
        self.assertEqual((exchange.method, exchange.path, exchange.status), ("GET", "/a", 204))
        self.assertEqual(self.tap.refused, [])

    def test_nothing_passes_while_it_is_cut(self):
        kept = self.connection()
        self.assertEqual(self.get(kept), 204)
        self.tap.cut()
        for connection in (kept, self.connection()):
            with self.assertRaises((OSError, http.client.HTTPException)):
                self.get(connection)
        self.assertEqual(len(self.tap.refused), 1)
        self.tap.mend()
        self.assertEqual(self.get(self.connection()), 204)
        self.assertEqual(len(self.tap.exchanges()), 2)


if __name__ == "__main__":
    unittest.main()
