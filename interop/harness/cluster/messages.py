"""What servers say to one another in batches, read strictly, as Java reads it, and counted.

Java refuses a whole batch for one member that it does not know, and repeats one for ever whose answer has such a member.
Inside an instance it skips an unknown member only if that is plain; nothing unknown is sent at all.
"""

import json
from collections import defaultdict
from dataclasses import dataclass

BATCH_PATH = "/eureka/peerreplication/batch"
# A Spring server gives up on a batch after 200 ms. What took longer than this, as the relay sees it, may have been too slow.
SLOW_SECS = 0.15
NOT_FOUND = 404

_ALWAYS = {"appName", "id", "action"}
_STATE = _ALWAYS | {"lastDirtyTimestamp", "status"}
# Per action the members that must be there, and those that may.
ITEM_MEMBERS = {
    "Register": (_STATE | {"instanceInfo"}, set()),
    "Heartbeat": (_STATE, {"overriddenStatus"}),
    # Members of the Java class that Java itself leaves out here: nothing reads them there.
    "Cancel": (_ALWAYS, {"lastDirtyTimestamp"}),
    "StatusUpdate": (_STATE, {"overriddenStatus"}),
    "DeleteStatusOverride": (_STATE, set()),
}
INSTANCE_MEMBERS = {
    "instanceId", "hostName", "app", "ipAddr", "sid", "status", "overriddenStatus", "port", "securePort", "countryId",
    "dataCenterInfo", "leaseInfo", "metadata", "homePageUrl", "statusPageUrl", "healthCheckUrl", "secureHealthCheckUrl",
    "vipAddress", "secureVipAddress", "appGroupName", "asgName", "isCoordinatingDiscoveryServer", "lastUpdatedTimestamp",
    "lastDirtyTimestamp", "actionType",
}  # fmt: skip
INNER_MEMBERS = {
    "port": {"$", "@enabled"},
    "securePort": {"$", "@enabled"},
    "dataCenterInfo": {"@class", "name", "metadata"},
    "leaseInfo": {
        "renewalIntervalInSecs", "durationInSecs", "registrationTimestamp", "lastRenewalTimestamp", "evictionTimestamp",
        "serviceUpTimestamp",
    },  # fmt: skip
}


@dataclass(frozen=True)
class Item:
    app: str
    id: str
    action: str
    dirty: int | None
    content: str
    code: int | None

    @property
    def key(self):
        return self.app, self.id

    @property
    def says(self):
        return self.action, self.dirty, self.content


@dataclass(frozen=True)
class Batch:
    """One batch with its answer. `is_sure` says that its sender can have had the answer in time."""

    at: float
    took_secs: float | None
    status: int | None
    items: tuple

    @property
    def is_sure(self):
        return self.status == 200 and self.took_secs < SLOW_SECS


def batches(tap, since=0.0):
    """All batches that went through a relay, with what came of them."""
    return [_batch(exchange) for exchange in _exchanges(tap, since)]


def _exchanges(tap, since=0.0):
    """The exchanges of batches. Heureka nodes also ask one another at this address for digests; Java is never asked."""
    for exchange in tap.asked(since):
        is_batch = exchange.method == "POST" and exchange.path.rstrip("/") == BATCH_PATH
        if is_batch and exchange.request.body and not exchange.request.header("x-heureka-digest"):
            yield exchange


def _batch(exchange):
    answer = exchange.response
    codes = []
    if answer is not None and exchange.status == 200:
        codes = [item["statusCode"] for item in json.loads(answer.text())["responseList"]]
    listed = json.loads(exchange.request.text())["replicationList"]
    codes += [None] * (len(listed) - len(codes))
    items = tuple(
        Item(
            app=item["appName"],
            id=item["id"],
            action=item["action"],
            dirty=item.get("lastDirtyTimestamp"),
            content=json.dumps((item.get("instanceInfo") or {}).get("metadata"), sort_keys=True),
            code=code,
        )
        for item, code in zip(listed, codes)
    )
    return Batch(exchange.at, exchange.took_secs, answer and exchange.status, items)


def repeats(found):
    """Items that came again although nothing new had happened: with reason, because the answer was late or missing, and
    without. A receiver that does not know an instance asks for everything again by a 404."""
    explained, unexplained = [], []
    last = {}
    for batch in found:
        for item in batch.items:
            before, carrier = last.get(item.key, (None, None))
            if item.action != "Heartbeat":
                if before is not None and before.says == item.says:
                    (unexplained if carrier.is_sure else explained).append(item)
                last[item.key] = (item, batch)
            if item.code == NOT_FOUND or not batch.is_sure and item.action == "Heartbeat":
                last.pop(item.key, None)
    return explained, unexplained


def actions(found, app):
    """Per instance of an application what was said of it, in order, without heartbeats and repetitions."""
    said, last = defaultdict(list), {}
    for batch in found:
        for item in batch.items:
            if item.app == app and item.action != "Heartbeat" and last.get(item.id) != item.says:
                said[item.id].append(item.action)
                last[item.id] = item.says
    return said


def denied(found, app):
    """Heartbeats of an application that were answered 404 although the registration before had surely arrived."""
    registered, wrong = set(), []
    for batch in found:
        for item in batch.items:
            if item.app == app and item.action == "Heartbeat":
                wrong += [item] if item.code == NOT_FOUND and item.id in registered else []
            elif item.app == app:
                is_there = item.action != "Cancel" and batch.is_sure
                registered.add(item.id) if is_there else registered.discard(item.id)
    return wrong


def strangers(tap):
    """Everything in requests and answers of batches that Java does not know, in words."""
    wrong = []
    for exchange in _exchanges(tap):
        try:
            wrong += _in_request(json.loads(exchange.request.text()))
            if exchange.response is not None and exchange.status == 200:
                wrong += _in_answer(json.loads(exchange.response.text()))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            wrong.append(f"at {exchange.at:.3f} s something that cannot be read: {error!r}")
    return wrong


def _in_request(document):
    wrong = _more("a batch", document, {"replicationList"})
    for item in document["replicationList"]:
        action = item.get("action")
        if action not in ITEM_MEMBERS:
            wrong.append(f"an unknown action {action!r}")
            continue
        needed, possible = ITEM_MEMBERS[action]
        wrong += _more(action, item, needed | possible)
        wrong += [f"{action} lacks {name}" for name in sorted(needed - item.keys())]
        if "instanceInfo" in item:
            wrong += _in_instance(item["instanceInfo"])
    return wrong


def _in_answer(document):
    wrong = _more("an answer", document, {"responseList"})
    for item in document["responseList"]:
        wrong += _more("an answer's item", item, {"statusCode", "responseEntity"})
        if "responseEntity" in item:
            wrong += _in_instance(item["responseEntity"])
    return wrong


def _in_instance(instance):
    wrong = _more("an instance", instance, INSTANCE_MEMBERS)
    for name, members in INNER_MEMBERS.items():
        wrong += _more(name, instance.get(name) or {}, members)
    return wrong


def _more(what, document, known):
    return [f"{what} has {name}" for name in sorted(document.keys() - known)]
