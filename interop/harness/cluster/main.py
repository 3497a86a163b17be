"""`interop/run --cluster`: the phases one after the other, and the verdict."""

import time

from ..builds import BuildFailed
from ..eureka import Unexpected
from ..servers import NoServer
from ..story import StepFailed
from . import verdict
from .story import Cluster

FAILURES = (StepFailed, NoServer, Unexpected, BuildFailed)


def run(logs):
    """Prints one line for each phase; the exit code. The first phase that fails ends the run."""
    cluster = Cluster(logs)
    phases = [
        cluster.build,
        cluster.start,
        cluster.java_joins,
        cluster.operations_at_every_place,
        cluster.split,
        cluster.restart_a,
        cluster.restart_b,
        cluster.restart_c,
        cluster.migrate_c,
        cluster.back_c,
        cluster.back_b,
        cluster.back_a,
        cluster.migrate_a,
        cluster.migrate_b,
        cluster.end,
        lambda: verdict.judge(cluster),
    ]
    started = time.monotonic()
    try:
        for phase in phases:
            if not passes(phase):
                return 1
    finally:
        cluster.close()
    print(f"took {time.monotonic() - started:.1f} s\nthe cluster passed", flush=True)
    return 0


def passes(phase):
    name = "traffic and logs" if phase.__name__ == "<lambda>" else phase.__name__.replace("_", " ")
    started = time.monotonic()
    try:
        notes = phase()
    except (*FAILURES, OSError, ValueError, KeyError, TypeError) as error:
        words = str(error) if isinstance(error, FAILURES) else repr(error)
        print(f"{name} FAILED {words} ({time.monotonic() - started:.1f} s)", flush=True)
        return False
    print(f"{name} ok ({time.monotonic() - started:.1f} s) [{notes}]", flush=True)
    return True
