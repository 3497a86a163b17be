"""The last phase: what went over the wire and what the Java servers wrote about it."""

from pathlib import Path

from ..story import StepFailed
from .javalog import complaints
from .messages import actions, batches, denied, repeats, strangers
from .operations import APP

# Heartbeats gather for half a second in both kinds of server.
BATCHES_PER_SEC = 2
# Requests more than can be accounted for: the machine's clock and ours, batches that were on their way when one ended.
SLACK = 10
OWN_BEAT_SECS = 2
# Attempts of a Heureka node to reach a peer that is away: after 0.1 s, then ever later, and a few other questions.
ATTEMPTS_MAX = 15
ATTEMPTS_SECS = 5


def judge(cluster):
    """Raises StepFailed with everything that is wrong."""
    edges = {edge: batches(tap) for edge, tap in cluster.net.edges.items()}
    wrong = [
        *(f"{name(edge)}: {words}" for edge, tap in cluster.net.edges.items() for words in strangers(tap)),
        *odd_answers(cluster),
        *forwarded(cluster.operations, edges),
        *floods(cluster, edges),
        *java_complaints(cluster),
    ]
    notes = []
    for receiver in ("heureka", "java"):
        found = [batch for edge in edges for batch in towards(cluster, edge, receiver, edges[edge])]
        notes.append(answer_times(receiver, found))
    again = sum(len(repeats(found)[0]) for found in edges.values())
    notes.append(f"{again} items came again because their answer was late or missing")
    if wrong:
        raise StepFailed(f"{len(wrong)} things are wrong:\n" + "\n".join(wrong[:20]))
    return "; ".join(notes)


def name(edge):
    return f"{edge[0]} to {edge[1]}"


def forwarded(operations, edges):
    """Each event must have come from where it happened, once, to both others."""
    wrong = []
    for edge, found in edges.items():
        _, unexplained = repeats(found)
        # A server's own record is cancelled by what its last life left behind, and a Spring client that shuts down makes
        # another that registers: both come again.
        twice = [item for item in unexplained if not item.app.startswith(("EUREKA", "WITNESS-"))]
        wrong += [f"{name(edge)}: {item.action} of {item.id} came twice" for item in twice]
        wrong += [f"{name(edge)}: a heartbeat of {item.id} was answered 404" for item in denied(found, APP)]
        said = actions(found, APP)
        for one in operations:
            wanted = one.expected_actions().get(edge[0], [])
            if said[one.one.id] != wanted:
                wrong.append(f"{name(edge)}: said of {one.one.id} {said[one.one.id]}, not {wanted}")
    return wrong


def odd_answers(cluster):
    """What a Heureka node may answer another server: success, an empty 404, or 403 while it is not open and 503 while it
    copies what a batch is about."""
    wrong = []
    for edge, tap in cluster.net.edges.items():
        for exchange in tap.exchanges():
            is_fine = exchange.status in (200, 204, 403) or (exchange.status == 404 and not exchange.response.body)
            is_fine |= exchange.status == 503 and "is being copied" in exchange.response.text()
            if not is_fine and cluster.places[edge[1]].kind_at(tap.started + exchange.at) == "heureka":
                wrong.append(f"{name(edge)}: {exchange.request.start} was answered {exchange.status} {exchange.response.text()[:80]}")
    return wrong


def floods(cluster, edges):
    """No more batches than half-second windows and events can explain, no more heartbeats than arrived at the sender."""
    wrong = []
    for edge, found in edges.items():
        secs = cluster.net.edges[edge].now()
        sender = cluster.places[edge[0]].server
        failed = sum(batch.status != 200 for batch in found)
        events = sum(any(item.action != "Heartbeat" for item in batch.items) for batch in found)
        batches_max = secs * BATCHES_PER_SEC + events + failed + SLACK
        if len(found) > batches_max:
            wrong.append(f"{name(edge)}: {len(found)} batches in {secs:.0f} s with {events} events")
        beats = sum(item.action == "Heartbeat" for batch in found for item in batch.items if batch.is_sure)
        beats_max = cluster.beats_at(sender) + len(cluster.places) * secs / OWN_BEAT_SECS + SLACK
        if beats > beats_max:
            wrong.append(f"{name(edge)}: {beats} heartbeats, and at most {beats_max:.0f} arrived there")
        attempts = attempts_of_heureka(cluster, edge)
        if attempts > ATTEMPTS_MAX:
            wrong.append(f"{name(edge)}: {attempts} attempts in {ATTEMPTS_SECS} s to reach a server that was down")
    return wrong


def attempts_of_heureka(cluster, edge):
    """The most attempts that a Heureka node made in a few seconds at a peer that was away."""
    tap, place = cluster.net.edges[edge], cluster.places[edge[0]]
    moments = [moment for moment in tap.refused if place.kind_at(tap.started + moment) == "heureka"]
    return max((sum(0 <= other - moment < ATTEMPTS_SECS for other in moments) for moment in moments), default=0)


def java_complaints(cluster):
    wrong = []
    for place in cluster.places.values():
        for life in place.lives:
            if life.kind == "java":
                text = Path(life.log_path).read_text(encoding="utf-8", errors="replace")
                wrong += [f"{Path(life.log_path).name}: {words}" for words in complaints(text)]
    return wrong


def towards(cluster, edge, kind, found):
    """The batches that met a server of one kind."""
    tap, place = cluster.net.edges[edge], cluster.places[edge[1]]
    return [batch for batch in found if place.kind_at(tap.started + batch.at) == kind]


def answer_times(kind, found):
    times = sorted(batch.took_secs for batch in found if batch.status == 200)
    if not times:
        return f"{kind} was sent no batch"
    late = sum(not batch.is_sure for batch in found)
    median, worst = times[len(times) // 2] * 1000, times[-1] * 1000
    return f"{kind} answered {len(times)} batches in {median:.1f} ms (median) and {worst:.0f} ms (longest), {late} late or never"
