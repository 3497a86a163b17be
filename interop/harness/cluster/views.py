"""What a place shows of the registry, in the form in which places are compared and clients judge."""

import json
from collections import Counter
from dataclasses import dataclass


class NoView(Exception):
    """The place gave no registry; its text says what it said instead."""


@dataclass(frozen=True)
class Row:
    """One instance, without what each server says in its own way (lease times, who it is itself)."""

    status: str
    overridden: str
    dirty: str
    host: str
    vip: str
    lease: tuple
    metadata: tuple

    @staticmethod
    def of(instance):
        lease = instance["leaseInfo"]
        metadata = instance.get("metadata") or {}
        return Row(
            status=instance["status"],
            overridden=instance["overriddenStatus"],
            dirty=str(instance["lastDirtyTimestamp"]),
            host=instance["hostName"],
            vip=instance.get("vipAddress", ""),
            lease=(lease["renewalIntervalInSecs"], lease["durationInSecs"]),
            metadata=tuple(sorted((key, value) for key, value in metadata.items() if key != "@class")),
        )

    @property
    def color(self):
        return dict(self.metadata).get("color")


@dataclass(frozen=True)
class View:
    """Everything that one place shows. `hash` is the one that it has sent."""

    hash: str
    rows: dict

    @staticmethod
    def of(server):
        """The full document of a server. Raises NoView, or OSError if there is no server."""
        status, text = server.request("GET", "/apps/")
        if status != 200:
            raise NoView(f"GET {server.path}/apps/ was answered {status}: {text[:200]}")
        document = json.loads(text)["applications"]
        rows = {}
        for application in document["application"]:
            for instance in application["instance"]:
                rows[application["name"], instance["instanceId"]] = Row.of(instance)
        return View(document["apps__hashcode"], rows)

    @property
    def counted(self):
        """The hash that a client counts from the rows."""
        counts = Counter(row.status for row in self.rows.values())
        return "".join(f"{status}_{counts[status]}_" for status in sorted(counts))


def difference(views):
    """What places do not agree on, in words; empty if they agree. `views` maps names to views."""
    lines = [f"{name} sends hash {v.hash}, its rows give {v.counted}" for name, v in views.items() if v.hash != v.counted]
    for key in sorted({key for view in views.values() for key in view.rows}):
        rows = {name: view.rows.get(key) for name, view in views.items()}
        if len(set(rows.values())) > 1:
            lines.append(f"{'/'.join(key)}: " + "; ".join(f"{name} {short(row)}" for name, row in rows.items()))
    return "\n".join(lines)


def short(row):
    if row is None:
        return "has none"
    return f"{row.status}/{row.overridden} dirty {row.dirty} metadata {dict(row.metadata)} lease {row.lease}"
