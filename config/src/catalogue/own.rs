//! `heureka.*`: what no Java server has a key for.

use super::{KeySpec, Kind, LONG, POSITIVE, TIME_LIMIT, acts, acts_if_set};

const EXPIRY: &[&str] = &["java", "exact"];
const FORMAT: &[&str] = &["human", "json"];

pub(super) const OWN: &[KeySpec] = &[
    acts(
        "heureka.lease-expiry",
        Kind::Word(EXPIRY),
        "java",
        "java: a lease ends twice its duration after the last renewal, as on every Java server. exact: after once the duration.",
    ),
    acts(
        "heureka.shutdown-timeout-ms",
        LONG,
        "4000",
        "How long a stop may take. Shorter than the 5 s after which most platforms lose patience. Wins over spring.lifecycle.timeout-per-shutdown-phase.",
    ),
    acts(
        "heureka.log.format",
        Kind::Word(FORMAT),
        "human",
        "json writes one object per line, for collectors.",
    ),
    acts(
        "heureka.limits.registration-body-bytes",
        Kind::SizeFrom(4 << 10),
        "1MB",
        "Largest body of a registration, counted after decompression; more is answered 413. At least 4 KB, twice what a usual instance takes.",
    ),
    acts(
        "heureka.limits.batch-body-bytes",
        Kind::SizeFrom(4 << 10),
        "8MB",
        "Largest body of a batch from a peer, counted after decompression. 250 registrations of the usual 2 KB need half a megabyte. At least 4 KB.",
    ),
    acts(
        "heureka.limits.header-bytes",
        Kind::Size,
        "16KB",
        "Largest request line with headers; more is answered 431. At least 1 KB.",
    ),
    acts(
        "heureka.limits.header-timeout-ms",
        TIME_LIMIT,
        "5000",
        "A caller that does not finish its headers by then is cut off, and so is one that does not finish its TLS handshake. At least 100.",
    ),
    acts(
        "heureka.limits.body-timeout-ms",
        TIME_LIMIT,
        "15000",
        "A caller that does not finish its body by then is answered 408. At least 100.",
    ),
    acts(
        "heureka.limits.body-min-bytes-per-sec",
        Kind::ZeroOr(64, i32::MAX as i64),
        "1024",
        "A body that arrives slower than this is answered 408, so that slow senders cannot hold connections. 0 turns the floor off, else at least 64: a slower one would stop nobody.",
    ),
    acts(
        "heureka.limits.max-body-bytes-in-flight",
        Kind::Size,
        "256MB",
        "Bodies on their way in, together; more is answered 503 with Retry-After. The first 16 KB of each are not counted, so registrations always pass. Must hold at least one body of the largest size.",
    ),
    acts(
        "heureka.limits.max-waiting-password-checks",
        POSITIVE,
        "32",
        "Hashed passwords that wait for their check; more is answered 503 with Retry-After. One takes a tenth of a second, and one is checked at a time.",
    ),
    acts(
        "heureka.limits.metadata-max-keys",
        POSITIVE,
        "64",
        "Entries in the metadata of one instance; more is answered 400.",
    ),
    acts(
        "heureka.limits.metadata-max-bytes",
        Kind::SizeFrom(64),
        "16KB",
        "Keys and values of the metadata of one instance together; every client of the registry downloads them. At least 64 bytes: every Spring client names its management port.",
    ),
    acts(
        "heureka.limits.max-connections",
        POSITIVE,
        "16384",
        "Open connections in all. Each costs a few KB.",
    ),
    acts(
        "heureka.limits.max-connections-per-address",
        POSITIVE,
        "8192",
        "Open connections of one address. Generous, because a whole site may sit behind one address.",
    ),
    acts(
        "heureka.limits.max-applications",
        POSITIVE,
        "20000",
        "Applications in the registry; a registration of one more is answered 503.",
    ),
    acts(
        "heureka.limits.max-instances",
        POSITIVE,
        "1000000",
        "Instances of all applications together; a registration of one more is answered 503.",
    ),
    acts(
        "heureka.limits.max-instances-per-application",
        POSITIVE,
        "100000",
        "Instances of one application; a registration of one more is answered 503.",
    ),
    acts(
        "heureka.limits.cache-backlog",
        POSITIVE,
        "65536",
        "Changes that may wait for the cache. When it is full, writers are answered 503 with Retry-After.",
    ),
    acts(
        "heureka.limits.delta-removal-bytes",
        Kind::SizeFrom(64 << 10),
        "128MB",
        "Memory for removed instances that deltas show. Above it deltas lose the oldest removals before eureka.server.retention-time-in-m-s-in-delta-queue has passed: a client that has missed one finds another hash code and fetches everything. Room for a hundred thousand usual instances, so that clients that ask every 30 s miss none up to 2500 removals a second.",
    ),
    acts_if_set(
        "heureka.peers.file",
        Kind::Text,
        "/etc/heureka/peers",
        "no file",
        "A file with the URLs of peers, one a line or separated by commas; # begins a remark. It is watched: a change counts within a second or two. Adds to eureka.client.service-url.",
    ),
    acts_if_set(
        "heureka.peers.dns-urls",
        Kind::List,
        "http://eureka.registry.svc.cluster.local:8761/eureka/",
        "no names",
        "URLs whose host stands for every server that DNS knows under it: all addresses of the name (A, else AAAA), as of a headless service, or with a name such as _http._tcp.eureka.registry.svc the targets and ports of its SRV records. Adds to eureka.client.service-url.",
    ),
    acts(
        "heureka.peers.dns-interval-ms",
        TIME_LIMIT,
        "10000",
        "How often DNS is asked for them. Pods get a new address whenever they start, so this is shorter than eureka.server.peer-eureka-nodes-update-interval-ms. At least 100.",
    ),
    acts(
        "heureka.placement.http-workers",
        Kind::Threads,
        "auto",
        "Threads that answer HTTP. auto: half the cores, at least 1; on two cores fewer threads were measured to be faster.",
    ),
    acts(
        "heureka.placement.lease-arbiters",
        Kind::Threads,
        "auto",
        "Threads that own leases. auto: a quarter of the cores, at least 1.",
    ),
    acts(
        "heureka.snapshots.enabled",
        Kind::Bool,
        "true",
        "Keep the registry over a restart. Off: every start is cold.",
    ),
    acts(
        "heureka.snapshots.folder",
        Kind::Text,
        "heureka-data",
        "Where, relative to the working directory. One node per folder.",
    ),
    acts(
        "heureka.snapshots.write-behind-ms",
        POSITIVE,
        "1000",
        "A change is on disk after at most this long. Shorter writes more often, longer loses more in a crash.",
    ),
    acts(
        "heureka.snapshots.max-age-secs",
        LONG,
        "3600",
        "An older snapshot gives back overrides only: its instances are more likely gone than there.",
    ),
];
