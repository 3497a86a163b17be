"""The command line of `interop/run`: which clients, which server, and the verdict."""

import argparse
import os
import secrets
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .builds import BUILDS, BuildFailed, make
from .catalogue import CLIENTS_BY_NAME
from .cluster import main as cluster
from .eureka import Server
from .servers import NoServer, Started, until_up
from .story import StepFailed, Story, free_port

JVMS_AT_ONCE = 2
OTHERS_AT_ONCE = 3
REACH_SECS = 30
TAIL_LINES = 15
TAIL_COLUMNS = 240


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="interop/run",
        description="Runs real Eureka clients against a server. Exit code 0 only if all of them pass.",
    )
    parser.add_argument("base_url", nargs="?", help="for example http://127.0.0.1:8761 (then /eureka is meant)")
    parser.add_argument("names", nargs="*", help="clients to run; all if none is named")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="the same, can be repeated")
    parser.add_argument("--list", action="store_true", help="print the clients and end")
    parser.add_argument("--server", choices=("java", "heureka"), help="start this server itself, instead of BASE_URL")
    parser.add_argument("--port", type=int, default=0, help="port of that server; a free one by default")
    parser.add_argument("--expect", choices=("heureka", "java"), help="what BASE_URL is; java excuses known failures")
    parser.add_argument("--cluster", action="store_true", help="a Java server and two Heureka nodes as peers, no clients")
    parser.add_argument("--build-only", action="store_true", help="build what the clients need and end")
    parser.add_argument("--logs", help="folder for the logs; a new one in the temporary folder by default")
    options = parser.parse_intermixed_args(words)
    if options.server and options.base_url:
        options.names.insert(0, options.base_url)
        options.base_url = None
    if not (options.list or options.build_only or options.cluster or options.server or options.base_url):
        parser.error("name a BASE_URL, or --server java, or --server heureka, or --cluster")
    options.names += options.only
    unknown = [name for name in options.names if name not in CLIENTS_BY_NAME]
    if unknown:
        parser.error(f"no such client: {', '.join(unknown)}; there are {', '.join(CLIENTS_BY_NAME)}")
    return options


class Run:
    """All chosen clients against one server."""

    def __init__(self, clients, logs, java):
        self._clients, self._logs, self._java = clients, logs, java
        self._tag = secrets.token_hex(2)
        self._printing = threading.Lock()

    def against(self, server):
        """Runs them, JVMs two at a time; the names of those that failed."""
        with ThreadPoolExecutor(JVMS_AT_ONCE) as jvms, ThreadPoolExecutor(OTHERS_AT_ONCE) as others:
            results = [
                (client.name, (jvms if client.jvm else others).submit(self._one, client, server))
                for client in self._clients
            ]
        return [name for name, result in results if not result.result()]

    def _one(self, client, server):
        build_log = os.path.join(self._logs, f"build-{client.build}.log")
        started = time.monotonic()
        try:
            make(BUILDS[client.build], build_log)
        except BuildFailed as error:
            self._failed(client, f"build: {error}", started, build_log)
            return False
        started = time.monotonic()
        story = Story(client, server, self._tag, self._logs, self._java)
        try:
            story.run()
        except StepFailed as error:
            self._failed(client, error, started, os.path.join(self._logs, f"{client.name}.log"))
            return False
        notes = f" [{'; '.join(story.notes)}]" if story.notes else ""
        self._say(f"{client.name} ok ({time.monotonic() - started:.1f} s){notes}")
        return True

    def _failed(self, client, reason, started, log_path):
        seconds = time.monotonic() - started
        self._say(f"{client.name} FAILED {reason} ({seconds:.1f} s)\n{tail(log_path)}")

    def _say(self, text):
        with self._printing:
            print(text, flush=True)


def tail(path):
    """The end of a log, for whoever sees only this command's output."""
    try:
        with open(path, encoding="utf-8", errors="replace") as log:
            lines = log.readlines()[-TAIL_LINES:]
    except OSError:
        return ""
    return "".join(f"    | {line.rstrip()[:TAIL_COLUMNS]}\n" for line in lines).rstrip()


def main(words):
    options = arguments(words)
    clients = [CLIENTS_BY_NAME[name] for name in options.names or CLIENTS_BY_NAME]
    if options.list:
        for client in clients:
            print(f"{client.name:20} {client.library}")
        return 0
    logs = options.logs or tempfile.mkdtemp(prefix="interop-")
    os.makedirs(logs, exist_ok=True)
    print(f"logs are in {logs}", flush=True)
    started = time.monotonic()
    try:
        if options.build_only:
            return build_only(clients, logs)
        if options.cluster:
            return cluster.run(logs)
        java = (options.expect or options.server) == "java"
        run = Run(clients, logs, java)
        if options.server:
            port = options.port or free_port()
            with Started(options.server, port, os.path.join(logs, "server.log")) as server:
                failed = run.against(server)
        else:
            server = Server(options.base_url)
            until_up(server, REACH_SECS)
            failed = run.against(server)
    except (NoServer, BuildFailed, ValueError) as error:
        print(f"interop/run: {error}", file=sys.stderr)
        return 2
    passed = len(clients) - len(failed)
    if failed:
        print(f"failed: {', '.join(failed)}")
    print(f"took {time.monotonic() - started:.1f} s")
    print(f"{passed} passed, {len(failed)} failed", flush=True)
    return 1 if failed else 0


def build_only(clients, logs):
    for name in dict.fromkeys(client.build for client in clients):
        started = time.monotonic()
        make(BUILDS[name], os.path.join(logs, f"build-{name}.log"))
        print(f"{name} built ({time.monotonic() - started:.1f} s)", flush=True)
    return 0
