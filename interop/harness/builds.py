"""Makes the client programs ready: Maven, pip, npm and Go, by their lock files, into ignored folders.

What is ready stays ready until a file it is made from changes. Each kind of tool runs once at a time, since its cache
is shared.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

INTEROP = Path(__file__).resolve().parent.parent
CLIENTS = INTEROP / "clients"
WORK = INTEROP / ".work"
LIMIT_SECS = 420

# Older builds of these tools may do; these are what the pinned versions need.
NEEDS = {
    "mvn": "Maven 3.8 or newer (Debian: apt-get install maven)",
    "java": "a JDK 17 or newer (Debian: apt-get install openjdk-17-jdk-headless)",
    "node": "Node.js 18 or newer (Debian: apt-get install nodejs)",
    "npm": "npm 9 or newer (Debian: apt-get install npm)",
    "go": "Go 1.26.7 or newer",
}


class BuildFailed(Exception):
    """Its text says what was tried and where the log is."""


@dataclass(frozen=True)
class Build:
    """Commands that make one program from its sources."""

    name: str
    tools: tuple
    sources: tuple
    commands: tuple
    directory: Path
    product: Path

    def stamp(self):
        """A digest of every source file and of the commands."""
        digest = hashlib.sha256(repr(self.commands).encode())
        for source in self.sources:
            for path in sorted([source] if source.is_file() else source.rglob("*")):
                relative = path.relative_to(INTEROP.parent)
                if path.is_file() and not {"target", "node_modules"} & set(relative.parts):
                    digest.update(str(relative).encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()


def maven(name, *shared):
    directory = CLIENTS / "java" / name
    return Build(
        name,
        ("java", "mvn"),
        (directory, *(CLIENTS / "java" / folder for folder in shared)),
        (("mvn", "-q", "-B", "-ntp", "package"),),
        directory,
        directory / "target" / f"{name}.jar",
    )


def go(name):
    directory = CLIENTS / name
    product = WORK / "bin" / name
    return Build(name, ("go",), (directory,), (("go", "build", "-o", str(product), "."),), directory, product)


def python():
    directory = CLIENTS / "python"
    venv = WORK / "venv"
    pip = ("-q", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:")
    commands = (
        (sys.executable, "-m", "venv", "--clear", str(venv)),
        (str(venv / "bin" / "pip"), "install", *pip, "-r", "requirements.txt"),
    )
    return Build("python", (), (directory / "requirements.txt",), commands, directory, venv / "bin" / "python")


def node():
    directory = CLIENTS / "node"
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    sources = (directory / "package.json", directory / "package-lock.json")
    product = directory / "node_modules" / "eureka-js-client" / "package.json"
    return Build("node", ("node", "npm"), sources, (command,), directory, product)


BUILDS = {
    build.name: build
    for build in (
        maven("spring4", "spring", "shared"),
        maven("spring27", "spring", "shared"),
        maven("netflix2", "netflix", "shared"),
        maven("netflix1", "netflix", "shared"),
        python(),
        node(),
        go("fargo"),
        go("prometheus"),
    )
}

_locks = {}
_locks_guard = threading.Lock()


def make(build, log_path):
    """Builds what is not ready. Raises BuildFailed."""
    for tool in build.tools:
        if shutil.which(tool) is None:
            raise BuildFailed(f"{tool} is not installed; needed is {NEEDS[tool]}")
    with _lock_for(build):
        stamp_path = WORK / "stamps" / build.name
        stamp = build.stamp()
        if build.product.exists() and stamp_path.exists() and stamp_path.read_text() == stamp:
            return
        for command in build.commands:
            _run(build, command, log_path)
        if not build.product.exists():
            raise BuildFailed(f"{build.commands[-1]} made no {build.product}; its log is {log_path}")
        stamp_path.parent.mkdir(parents=True, exist_ok=True)
        stamp_path.write_text(stamp)


def _lock_for(build):
    with _locks_guard:
        return _locks.setdefault(build.commands[-1][0], threading.Lock())


def _run(build, command, log_path):
    with open(log_path, "ab") as log:
        log.write(f"$ {' '.join(command)}\n".encode())
        log.flush()
        try:
            code = subprocess.run(
                command,
                cwd=build.directory,
                env={**os.environ, "GOFLAGS": "-buildvcs=false"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                timeout=LIMIT_SECS,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise BuildFailed(f"{command} took more than {LIMIT_SECS} s; its log is {log_path}") from error
    if code != 0:
        raise BuildFailed(f"{command} ended with {code}; its log is {log_path}")
