"""What drives the client programs of `interop/`: builds them, runs them against a server and judges what they saw."""
