"""Starts the server to test against, where the command asks for it: the Java one of `benchmarks/java`, or Heureka."""

import os
import signal
import subprocess
import time

from .builds import INTEROP
from .eureka import Server

START_SECS = 300  # building included


class NoServer(Exception):
    """The server did not come up; its text names the log."""


def command(kind, port):
    """The command line of one kind of server; its log file says what came of it."""
    if kind == "java":
        return [
            str(INTEROP / "java-server"),
            f"--server.port={port}",
            "--eureka.server.response-cache-update-interval-ms=1000",
        ]
    # Every run starts with an empty registry, as the Java server does.
    return [heureka_binary(), f"--server.port={port}", "--heureka.snapshots.enabled=false"]


def heureka_binary():
    binary = os.environ.get("HEUREKA_BIN") or str(INTEROP.parent / "target" / "release" / "heureka")
    if not os.access(binary, os.X_OK):
        raise NoServer(f"{binary} is not there; run 'cargo build --release' or set HEUREKA_BIN")
    return os.path.abspath(binary)


class Started:
    """A server of our own, as a context: up when entered, ended when left."""

    def __init__(self, kind, port, log_path):
        self._command, self._log_path = command(kind, port), log_path
        self.server = Server(f"http://127.0.0.1:{port}")
        self._process = None

    def __enter__(self):
        with open(self._log_path, "wb") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=INTEROP.parent,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            until_up(self.server, START_SECS, lambda: self._process.poll() is None)
        except NoServer as error:
            self.__exit__()
            raise NoServer(f"{error}; its log is {self._log_path}") from error
        return self.server

    def __exit__(self, *_):
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


def until_up(server, limit_secs, alive=lambda: True):
    """Waits until the server answers the full document with 200."""
    end = time.monotonic() + limit_secs
    while True:
        try:
            status, text = server.request("GET", "/apps/")
            if status == 200:
                return
            seen = f"GET {server.path}/apps/ is answered {status}: {text[:200]}"
        except OSError as error:
            seen = f"{server.url} does not answer: {error}"
        if not alive():
            raise NoServer(f"the server ended; {seen}")
        if time.monotonic() > end:
            raise NoServer(seen)
        time.sleep(0.2)
