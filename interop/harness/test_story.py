"""Ports that servers of a run will listen on."""

import socket
import unittest
from pathlib import Path

from .story import free_port

DRAWN_FROM = Path("/proc/sys/net/ipv4/ip_local_port_range")


class FreePorts(unittest.TestCase):
    def test_each_is_given_out_once_and_can_be_listened_on(self):
        ports = [free_port() for _ in range(50)]
        self.assertEqual(len(set(ports)), 50)
        for port in ports:
            socket.create_server(("127.0.0.1", port)).close()

    @unittest.skipUnless(DRAWN_FROM.exists(), "the system does not say what it draws from")
    def test_they_are_none_that_the_system_gives_to_connections(self):
        first = int(DRAWN_FROM.read_text(encoding="ascii").split()[0])
        self.assertLess(max(free_port() for _ in range(50)), first)


if __name__ == "__main__":
    unittest.main()
