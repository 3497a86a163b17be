"""What a Java server may complain of while its peers come and go. Everything else that it calls a warning or an error is a
failure of the run: a batch that it cannot read, an item that it does not understand, a lease that ended too early.
"""

import re
from collections import Counter

LINE = re.compile(r"^\S+Z\s+(WARN|ERROR) \d+ --- \[[^]]*\] \[[^]]*\] (.*)$")

# While it ends, its parts complain of one another.
ENDING = "Unregistering application EUREKA with eureka with status DOWN"

EXPECTED = [
    re.compile(pattern)
    for pattern in (
        # Java's own affairs.
        r"LoadBalancerCaffeineWarnLogger",
        # Instances that nobody renews, on purpose.
        r"DS: Registry: expired lease for OPERATIONS-SILENT/",
        # A peer is away, or slow for a moment.
        r"Network level connection to peer \S+; retrying after delay",
        r"socket read timeout exception",
        r"RetryableEurekaHttpClient +: Request execution failed with message: java\.(net|io)\.",
        r"was unable to send heartbeat",
        # A node that has just started still copies what a batch is about.
        r"Server busy \(503\) HTTP status code received from the peer \S+; rescheduling tasks after delay",
        # It cannot read the error page that another Java server puts into its 404; see `verdict` for Heureka's answers.
        r"RetryableEurekaHttpClient +: Request execution failed with message: HTTP 400 Bad Request",
        # It was told of a cancel that it knew already, or tells of one that is known.
        r"DS: Registry: cancel failed because Lease is not registered for: (STANDING|EUREKA|WITNESS-\w+)/",
        r"(STANDING|EUREKA|WITNESS-\w+)/\S+:Cancel@\S+( failed with response code 404|: missing entry\.)",
        # Heartbeats overtake the copy of the registry of a server that starts, or a registration whose answer was late; then
        # the instance is sent whole. Whether they had reason to be answered 404 is looked at in `verdict`.
        r":Heartbeat@\S+( failed with response code 404|: missing entry\.|: cannot find instance id)",
        r"(Not Found \(Renew\)|lease doesn't exist, registering resource): (CLIENTS|EUREKA|WITNESS-\w+) - ",
        # A client that removes an override without a value, at Java, makes the status unknown on purpose.
        r"(Not Found \(Renew\)|lease doesn't exist, registering resource): OPERATIONS - from-c",
        # What a server said in its last life arrives after what it says in this one.
        r"There is an existing lease and the existing lease's dirty timestamp \d+ is greater",
        r"Using the existing instanceInfo instead of the new instanceInfo as the registrant",
        # A server that has restarted is newer than what the others remember of it; so is a Spring client that shuts down.
        r"(EUREKA|WITNESS-\w+)/\S+:Heartbeat@\S+ failed with response code 409",
        r"Peer wants us to take the instance information from it.*,Id : ([abc]:eureka|\S+:witness-)",
    )
]


def complaints(text):
    """Warnings and errors of a log that were not expected."""
    found = (LINE.match(line) for line in text.partition(ENDING)[0].splitlines())
    words = Counter(f"{match[1]} {match[2]}" for match in found if match)
    return [f"{count} times {line}" for line, count in words.items() if not any(e.search(line) for e in EXPECTED)]
