"""What the judges of the cluster let pass and what they do not: `python3 -m unittest discover -s interop -t interop`."""

import json
import unittest
from types import SimpleNamespace

from ..tap import Exchange
from ..wire import Message
from .clients import Truth
from .javalog import complaints
from .messages import BATCH_PATH, actions, batches, denied, repeats, strangers
from .views import Row, View, difference

INSTANCE = {
    "instanceId": "i-1", "hostName": "h", "app": "ORDERS", "ipAddr": "10.0.0.1", "status": "UP",
    "overriddenStatus": "UNKNOWN", "port": {"$": 1, "@enabled": "true"}, "lastDirtyTimestamp": "100",
    "leaseInfo": {"renewalIntervalInSecs": 30, "durationInSecs": 90}, "metadata": {"color": "red"},
}  # fmt: skip


def item(action="Register", dirty=100, **members):
    known = {"appName": "ORDERS", "id": "i-1", "action": action}
    if action != "Cancel":
        known |= {"lastDirtyTimestamp": dirty, "status": "UP"}
    if action == "Register":
        known["instanceInfo"] = INSTANCE
    return known | members


def exchange(items, answers=None, took_secs=0.01, at=0.0):
    """A batch and its answer; without answers none came."""
    request = Message(f"POST {BATCH_PATH}/ HTTP/1.1", [], json.dumps({"replicationList": items}).encode())
    if answers is None:
        return Exchange(at, request)
    body = json.dumps({"responseList": answers}).encode()
    return Exchange(at, request, Message("HTTP/1.1 200 ", [], body), took_secs)


def tap(*exchanges):
    return SimpleNamespace(asked=lambda since=0.0: [e for e in exchanges if e.at >= since])


OK = [{"statusCode": 200}]


class Strangers(unittest.TestCase):
    def test_what_java_sends_is_no_stranger(self):
        known = ("Register", "Heartbeat", "Cancel", "StatusUpdate", "DeleteStatusOverride")
        wire = [exchange([item(action)], OK) for action in known]
        conflict = exchange([item("Heartbeat", overriddenStatus="DOWN")], [{"statusCode": 409, "responseEntity": INSTANCE}])
        self.assertEqual(strangers(tap(*wire, conflict)), [])

    def test_members_and_actions_that_java_does_not_know_are_named(self):
        cases = {
            "Cancel has status": exchange([item("Cancel", status="UP")], OK),
            "Heartbeat has origin": exchange([item("Heartbeat", origin="a")], OK),
            "Heartbeat lacks status": exchange([{k: v for k, v in item("Heartbeat").items() if k != "status"}], OK),
            "an unknown action 'Evict'": exchange([item("Evict")], OK),
            "an instance has more": exchange([item(instanceInfo=INSTANCE | {"more": 1})], OK),
            "leaseInfo has age": exchange([item(instanceInfo=INSTANCE | {"leaseInfo": {"age": 1}})], OK),
            "an answer's item has why": exchange([item()], [{"statusCode": 200, "why": "x"}]),
        }
        for words, wire in cases.items():
            self.assertEqual(strangers(tap(wire)), [words])

    def test_a_digest_is_no_batch(self):
        digest = exchange([], OK)
        digest.request.headers.append(("x-heureka-digest", "1"))
        self.assertEqual(batches(tap(digest)), [])


class Repeats(unittest.TestCase):
    def repeated(self, *exchanges):
        explained, unexplained = repeats(batches(tap(*exchanges)))
        return len(explained), len(unexplained)

    def test_only_a_late_or_missing_answer_explains_a_repetition(self):
        self.assertEqual(self.repeated(exchange([item()], OK), exchange([item()], OK)), (0, 1))
        self.assertEqual(self.repeated(exchange([item()]), exchange([item()], OK)), (1, 0))
        self.assertEqual(self.repeated(exchange([item()], OK, took_secs=0.3), exchange([item()], OK)), (1, 0))

    def test_what_is_new_or_was_asked_for_is_no_repetition(self):
        other = item(instanceInfo=INSTANCE | {"metadata": {"color": "blue"}})
        unknown = exchange([item("Heartbeat")], [{"statusCode": 404}])
        self.assertEqual(self.repeated(exchange([item()], OK), exchange([other], OK)), (0, 0))
        self.assertEqual(self.repeated(exchange([item()], OK), exchange([item(dirty=101)], OK)), (0, 0))
        self.assertEqual(self.repeated(exchange([item()], OK), unknown, exchange([item()], OK)), (0, 0))
        beats = [exchange([item("Heartbeat")], OK)] * 3
        self.assertEqual(self.repeated(*beats), (0, 0))

    def test_actions_leave_heartbeats_out(self):
        wire = [exchange([item(), item("Heartbeat")], OK * 2), exchange([item("Cancel")], OK)]
        self.assertEqual(actions(batches(tap(*wire)), "ORDERS"), {"i-1": ["Register", "Cancel"]})

    def test_a_heartbeat_is_denied_only_if_the_registration_had_arrived(self):
        unknown = exchange([item("Heartbeat")], [{"statusCode": 404}])
        sure, late = exchange([item()], OK), exchange([item()], OK, took_secs=0.3)
        cancel = exchange([item("Cancel")], OK)
        for wire, count in (((sure, unknown), 1), ((late, unknown), 0), ((sure, cancel, unknown), 0), ((unknown,), 0)):
            self.assertEqual(len(denied(batches(tap(*wire)), "ORDERS")), count)


class JavaLog(unittest.TestCase):
    @staticmethod
    def line(words, level="WARN"):
        return f"2026-01-01T00:00:00.000Z {level:>5} 1 --- [eureka] [Thread-1] {words}\n"

    def test_peers_that_come_and_go_are_expected(self):
        lines = (
            "c.n.e.cluster.ReplicationTaskProcessor   : Network level connection to peer 127.0.0.1; retrying after delay",
            "c.n.e.c.ReplicationTask : The replication of task STANDING/x:Cancel@127.0.0.1 failed with response code 404",
        )
        self.assertEqual(complaints("".join(self.line(words, "ERROR") for words in lines)), [])
        self.assertEqual(complaints(self.line("anything", "INFO")), [])

    def test_everything_else_is_a_complaint(self):
        lines = (
            "c.n.e.c.ReplicationTaskProcessor : Batch update failure with HTTP status code 400; discarding 3 tasks",
            "c.n.e.registry.AbstractInstanceRegistry  : DS: Registry: expired lease for CLIENTS/client-1",
            "c.n.e.c.ReplicationTask : The replication of task CLIENTS/x:Register@127.0.0.1 failed with response code 500",
            "c.n.eureka.resources.InstanceResource    : Instance not found: EUREKA/c:eureka:35457",
        )
        for words in lines:
            self.assertEqual(complaints(self.line(words)), [f"1 times WARN {words}"])

    def test_what_comes_after_the_stop_does_not_count(self):
        end = self.line("o.s : Unregistering application EUREKA with eureka with status DOWN", "INFO")
        self.assertEqual(complaints(end + self.line("broken", "ERROR")), [])


class Views(unittest.TestCase):
    def view(self, **changes):
        rows = {("ORDERS", "i-1"): Row.of(INSTANCE | changes)}
        status = changes.get("status", "UP")
        return View(f"{status}_1_", rows)

    def test_equal_views_do_not_differ(self):
        self.assertEqual(difference({"a": self.view(), "b": self.view(lastUpdatedTimestamp="7")}), "")

    def test_every_difference_that_clients_see_is_named(self):
        for change in ({"status": "DOWN"}, {"overriddenStatus": "UP"}, {"lastDirtyTimestamp": "101"}, {"metadata": {}}):
            self.assertIn("ORDERS/i-1", difference({"a": self.view(), "b": self.view(**change)}))
        self.assertIn("b has none", difference({"a": self.view(), "b": View("UP_1_", {})}))

    def test_a_hash_that_does_not_fit_is_named(self):
        self.assertIn("a sends hash DOWN_1_", difference({"a": View("DOWN_1_", self.view().rows)}))


class Facts(unittest.TestCase):
    KEY = ("ORDERS", "i-1")
    NONE = View("", {})
    UP = View("UP_1_", {KEY: Row.of(INSTANCE)})

    def test_only_what_was_true_all_the_time_can_be_missed(self):
        truth = Truth()
        before = truth.now()
        truth.is_now(self.KEY, "UP")
        self.assertEqual(before.wrong_in(self.NONE, truth.now()), [])
        during = truth.now()
        self.assertEqual(during.wrong_in(self.NONE, truth.now()), ["ORDERS/i-1 is None, not UP"])
        self.assertEqual(during.wrong_in(self.UP, truth.now()), [])
        truth.changes(self.KEY)
        self.assertEqual(during.wrong_in(self.NONE, truth.now()), [])

    def test_what_is_gone_may_not_be_seen(self):
        truth = Truth()
        truth.is_now(self.KEY, None)
        self.assertEqual(truth.now().wrong_in(self.UP, truth.now()), ["ORDERS/i-1 is back"])


if __name__ == "__main__":
    unittest.main()
