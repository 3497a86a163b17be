"""One running client program: its process, its log and the last view of the neighbour that it printed.

A program says what it sees in lines `@view [{"host": ..., "port": ..., "status": ..., "color": ...}, ...]`, sorted by
host, whenever that changes. All its other output goes to the log only. SIGTERM asks it to deregister and end.
"""

import json
import os
import signal
import subprocess
import threading
import time

MARK = "@view "


class Program:
    """Starts at once."""

    def __init__(self, command, environment, directory, log_path):
        self._log = open(log_path, "w", encoding="utf-8")
        self._lock = threading.Lock()
        self._views = []
        self._process = subprocess.Popen(
            command,
            cwd=directory,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        started = time.monotonic()
        for line in self._process.stdout:
            self._log.write(f"{time.monotonic() - started:8.3f} {line}")
            self._log.flush()
            if line.startswith(MARK):
                with self._lock:
                    self._views.append(json.loads(line[len(MARK) :]))
        self._log.close()

    @property
    def view(self):
        """What it sees of the neighbour, or None before it said anything."""
        views = self.views
        return views[-1] if views else None

    @property
    def views(self):
        """Everything that it has seen of the neighbour, one after the other."""
        with self._lock:
            return list(self._views)

    @property
    def ended(self):
        """The exit code, or None while it runs."""
        return self._process.poll()

    def terminate(self, limit_secs):
        """Asks it to end; False if it had to be killed."""
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(limit_secs)
            return True
        except subprocess.TimeoutExpired:
            self.kill()
            return False

    def kill(self):
        """Ends it and what it started, at once."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._reader.join(5)
