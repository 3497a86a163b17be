//! `eureka.server.*` and the keys of the start page (`spec/spring.md` 3.4 and 3.5).

use super::{COUNT, KeySpec, Kind, LONG, POSITIVE, acts, acts_if_set, inert};

pub(super) const PAGE: &[KeySpec] = &[
    acts("eureka.environment", Kind::Text, "test", "Shown on the start page, nothing else."),
    acts("eureka.datacenter", Kind::Text, "default", "Shown on the start page, nothing else."),
    acts(
        "eureka.dashboard.enabled",
        Kind::Bool,
        "true",
        "Off: / and /lastn are 404, the registry is not touched. All words for off work; Java only knows false.",
    ),
    acts("eureka.dashboard.path", Kind::Text, "/", "Where the start page is; /lastn follows it."),
];

pub(super) const RULES: &[KeySpec] = &[
    acts(
        "eureka.server.enable-self-preservation",
        Kind::Bool,
        "true",
        "Keep instances when too many stop renewing at once: then the network is the likelier culprit.",
    ),
    acts(
        "eureka.server.renewal-percent-threshold",
        Kind::Decimal(0.0, 1.0),
        "0.85",
        "Fraction of the expected renewals below which nothing is evicted; also caps what one run may evict.",
    ),
    acts(
        "eureka.server.renewal-threshold-update-interval-ms",
        POSITIVE,
        "900000",
        "How often the number of expected clients is counted anew.",
    ),
    acts_if_set(
        "eureka.server.expected-client-renewal-interval-seconds",
        POSITIVE,
        "30",
        "the interval of each live lease counts",
        "Setting it brings back Java's formula, in which all clients have this one interval.",
    ),
    acts_if_set(
        "eureka.instance.registry.expected-number-of-clients-sending-renews",
        COUNT,
        "1",
        "the live leases are counted",
        "Setting it brings back Java's formula, with this many clients expected before the registry opens.",
    ),
    acts_if_set(
        "eureka.server.expected-number-of-renews-per-min",
        COUNT,
        "1",
        "see the key before",
        "Old twin of eureka.instance.registry.expected-number-of-clients-sending-renews, which wins.",
    ),
    acts(
        "eureka.server.eviction-interval-timer-in-ms",
        Kind::Integer(1, i64::MAX),
        "60000",
        "How often expired leases are looked for.",
    ),
    acts(
        "eureka.server.wait-time-in-ms-when-sync-empty",
        COUNT,
        "300000",
        "Grace after the start before a banner shows; with an open-for-traffic count of 0 also how long an empty node refuses reads.",
    ),
    acts(
        "eureka.instance.registry.default-open-for-traffic-count",
        COUNT,
        "1",
        "Stands in for a copy of 0 instances at the start. 0 brings back Netflix's refusal of reads after an empty start.",
    ),
    acts_if_set(
        "eureka.server.default-open-for-traffic-count",
        COUNT,
        "1",
        "see the key before",
        "Old twin of eureka.instance.registry.default-open-for-traffic-count, which wins.",
    ),
    acts_if_set(
        "eureka.server.registry-sync-retries",
        COUNT,
        "5",
        "5 if this server registers with peers, else 0",
        "Attempts to copy the registry from peers at the start.",
    ),
    acts("eureka.server.registry-sync-retry-wait-ms", LONG, "30000", "Pause between these attempts."),
    acts(
        "eureka.server.sync-when-timestamp-differs",
        Kind::Bool,
        "true",
        "Compare dirty timestamps on heartbeats and repair differences.",
    ),
];

pub(super) const CACHE: &[KeySpec] = &[
    acts(
        "eureka.server.use-read-only-response-cache",
        Kind::Bool,
        "true",
        "Off: every read goes through the cache actor and shows what was just written.",
    ),
    acts(
        "eureka.server.response-cache-update-interval-ms",
        Kind::Integer(1, i64::MAX),
        "100",
        "How long changes are collected before readers see them. 30000 in Java, where it is a staleness; here it is a merge window.",
    ),
    acts(
        "eureka.server.response-cache-auto-expiration-in-seconds",
        Kind::Integer(1, i64::MAX),
        "180",
        "A document that nobody asked for is dropped after this long.",
    ),
    acts(
        "eureka.server.disable-delta",
        Kind::Bool,
        "false",
        "On: the delta end point answers 403 and clients fetch everything.",
    ),
    acts(
        "eureka.server.retention-time-in-m-s-in-delta-queue",
        LONG,
        "180000",
        "Changes of this age are still in the delta; six fetch intervals of a default client.",
    ),
    acts(
        "eureka.server.delta-retention-timer-interval-in-ms",
        POSITIVE,
        "30000",
        "How often older ones are dropped.",
    ),
];

pub(super) const PEERS: &[KeySpec] = &[
    acts(
        "eureka.server.peer-eureka-nodes-update-interval-ms",
        POSITIVE,
        "600000",
        "How often the list of peers is resolved anew.",
    ),
    acts(
        "eureka.server.peer-node-connect-timeout-ms",
        POSITIVE,
        "200",
        "Spring's default; Netflix has 1000.",
    ),
    acts(
        "eureka.server.peer-node-read-timeout-ms",
        POSITIVE,
        "200",
        "Spring's default; Netflix has 5000. Raise it for peers far away.",
    ),
    acts(
        "eureka.server.peer-node-connection-idle-timeout-seconds",
        POSITIVE,
        "30",
        "An idle connection to a peer is closed after this.",
    ),
    acts(
        "eureka.server.max-elements-in-peer-replication-pool",
        POSITIVE,
        "10000",
        "Bound of the queue towards one peer.",
    ),
    acts(
        "eureka.server.min-available-instances-for-peer-replication",
        Kind::Integer(-1, i32::MAX as i64),
        "-1",
        "Peers that must be available for /eureka/status to say healthy; -1 makes no statement.",
    ),
    acts_if_set(
        "eureka.server.my-url",
        Kind::Text,
        "http://peer1:8761/eureka/",
        "this node recognises itself by host name, address and node id",
        "The peer URL that is this node; then host names are not compared.",
    ),
    acts(
        "eureka.server.enable-replicated-request-compression",
        Kind::Bool,
        "false",
        "Gzip the bodies of batches. Without effect in Java, works here; Java peers understand it.",
    ),
];

pub(super) const EXTRAS: &[KeySpec] = &[
    acts(
        "eureka.server.rate-limiter-enabled",
        Kind::Bool,
        "false",
        "Answer 503 to registry fetches over the rate. Without effect under Spring, works here.",
    ),
    acts(
        "eureka.server.rate-limiter-throttle-standard-clients",
        Kind::Bool,
        "false",
        "On: nobody is privileged, not even Java's clients and peers.",
    ),
    acts(
        "eureka.server.rate-limiter-privileged-clients",
        Kind::List,
        "",
        "Identity names that are never limited, besides DefaultClient and DefaultServer.",
    ),
    acts(
        "eureka.server.rate-limiter-burst-size",
        COUNT,
        "10",
        "Fetches that may come at once; 0 lets everything pass.",
    ),
    acts(
        "eureka.server.rate-limiter-registry-fetch-average-rate",
        COUNT,
        "500",
        "Fetches per second; 0 lets everything pass.",
    ),
    acts(
        "eureka.server.rate-limiter-full-fetch-average-rate",
        COUNT,
        "100",
        "Full fetches per second; 0 lets everything pass.",
    ),
    acts(
        "eureka.server.metrics.enabled",
        Kind::Bool,
        "false",
        "The gauge eureka_server_instances per application and status. All other metrics are always on.",
    ),
    acts(
        "eureka.server.log-identity-headers",
        Kind::Bool,
        "true",
        "Count callers by their identity headers.",
    ),
    acts(
        "eureka.server.experimental.registration.validation.dataCenterInfoId",
        Kind::Bool,
        "false",
        "Refuse a registration from a data center that should have an id and has none.",
    ),
    acts(
        "eureka.server.experimental.bugfix.934",
        Kind::Bool,
        "true",
        "A batch answer carries the newer record also with a conflict.",
    ),
];

const AMAZON: &str =
    "Amazon only, and only for a server that binds addresses there itself; this one never does.";
const ASG: &str = "Amazon only: changes of Auto Scaling groups, which are not asked for here.";
const FEW: &str = "At most four batches are on their way to a peer, each on a connection that is kept.";
const QUEUES: &str = "Java thread pools; here each peer has one queue without threads of its own.";

pub(super) const INERT: &[KeySpec] = &[
    inert(
        "eureka.server.initial-capacity-of-response-cache",
        COUNT,
        "1000",
        "A sizing hint; the cache here grows with the registry.",
    ),
    inert("eureka.server.json-codec-name", Kind::Text, "", "Names a Java class."),
    inert("eureka.server.xml-codec-name", Kind::Text, "", "Names a Java class."),
    inert(
        "eureka.server.experimental.transport.enabled",
        Kind::Text,
        "",
        "Chooses between two Java transports.",
    ),
    inert(
        "eureka.server.batch-replication",
        Kind::Bool,
        "false",
        "Without effect in Java too: replication always goes in batches.",
    ),
    inert(
        "eureka.server.number-of-replication-retries",
        COUNT,
        "5",
        "Without effect in Java too; retries here are bound to the lease.",
    ),
    inert(
        "eureka.server.peer-eureka-status-refresh-time-interval-ms",
        COUNT,
        "30000",
        "Without effect in Java too.",
    ),
    inert("eureka.server.min-threads-for-peer-replication", COUNT, "5", QUEUES),
    inert("eureka.server.max-idle-thread-age-in-minutes-for-peer-replication", LONG, "15", QUEUES),
    inert("eureka.server.min-threads-for-status-replication", COUNT, "1", QUEUES),
    inert("eureka.server.max-idle-thread-in-minutes-age-for-status-replication", LONG, "10", QUEUES),
    inert(
        "eureka.server.remote-region-urls",
        Kind::List,
        "",
        "Superseded by eureka.server.remote-region-urls-with-name, in Java too.",
    ),
    inert("eureka.server.binding-strategy", Kind::Word(&["EIP", "ROUTE53", "ENI"]), "EIP", AMAZON),
    inert("eureka.server.e-i-p-bind-rebind-retries", COUNT, "3", AMAZON),
    inert("eureka.server.e-i-p-binding-retry-interval-ms", COUNT, "300000", AMAZON),
    inert("eureka.server.e-i-p-binding-retry-interval-ms-when-unbound", COUNT, "60000", AMAZON),
    inert("eureka.server.route53-bind-rebind-retries", COUNT, "3", AMAZON),
    inert("eureka.server.route53-binding-retry-interval-ms", COUNT, "300000", AMAZON),
    inert("eureka.server.route53-domain-t-t-l", LONG, "30", AMAZON),
    inert("eureka.server.list-auto-scaling-groups-role-name", Kind::Text, "ListAutoScalingGroups", AMAZON),
    inert(
        "eureka.server.version.filter.debug.response-header",
        Kind::Text,
        "",
        "A test aid of a Java filter that is not needed here.",
    ),
    inert("eureka.server.peer-node-total-connections", POSITIVE, "1000", FEW),
    inert("eureka.server.peer-node-total-connections-per-host", POSITIVE, "500", FEW),
    inert("eureka.server.max-threads-for-peer-replication", POSITIVE, "20", FEW),
    inert("eureka.server.max-elements-in-status-replication-pool", POSITIVE, "10000", ASG),
    inert("eureka.server.max-threads-for-status-replication", POSITIVE, "1", ASG),
    inert(
        "eureka.server.max-time-for-replication",
        POSITIVE,
        "30000",
        "What waits for a peer waits as long as its lease can matter there.",
    ),
    inert(
        "eureka.server.prime-aws-replica-connections",
        Kind::Bool,
        "true",
        "Java, on Amazon only, holds its start up until every peer has answered a heartbeat, so that connections are open. \
         Here the first batch opens them, and is sent again until it arrives.",
    ),
];
