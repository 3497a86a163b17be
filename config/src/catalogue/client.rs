//! `eureka.client.*` (`spec/spring.md` 3.6).

use super::{COUNT, KeySpec, Kind, ONE_PASSWORD, PORT, POSITIVE, acts, acts_if_set, inert};

pub(super) const PEERS: &[KeySpec] = &[
    acts_if_set(
        "eureka.client.service-url",
        Kind::MapOfLists,
        "defaultZone: http://peer2:8761/eureka/,http://peer3:8761/eureka/",
        "no peers; Java would take http://localhost:8761/eureka/, which is usually the server itself",
        "Zone to the URLs of its servers: the peers. The own URL may be among them. Blanks, missing slashes and duplicates do no harm.",
    ),
    acts("eureka.client.region", Kind::Text, "us-east-1", "Selects the list of zones."),
    acts_if_set(
        "eureka.client.availability-zones",
        Kind::MapOfLists,
        "us-east-1: zone-a,zone-b",
        "the one zone defaultZone",
        "Region to its zones; the first is the own one. A zone without URLs stands for defaultZone.",
    ),
    acts(
        "eureka.client.prefer-same-zone-eureka",
        Kind::Bool,
        "true",
        "Own zone first; all zones are peers either way.",
    ),
    acts(
        "eureka.client.use-dns-for-fetching-service-urls",
        Kind::Bool,
        "false",
        "Take the peers from DNS TXT records.",
    ),
    acts_if_set(
        "eureka.client.eureka-server-d-n-s-name",
        Kind::Text,
        "eureka.example.org",
        "needed with DNS",
        "Domain of the records.",
    ),
    acts_if_set(
        "eureka.client.eureka-server-port",
        PORT,
        "8761",
        "needed with DNS",
        "Port of the servers found there.",
    ),
    acts_if_set(
        "eureka.client.eureka-server-u-r-l-context",
        Kind::Text,
        "eureka",
        "the root",
        "Path of the servers found there.",
    ),
];

pub(super) const OWN_CLIENT: &[KeySpec] = &[
    acts(
        "eureka.client.enabled",
        Kind::Bool,
        "true",
        "Off: neither register nor fetch, a registry on its own. Java does not start then.",
    ),
    acts(
        "eureka.client.register-with-eureka",
        Kind::Bool,
        "true",
        "Register this server with its peers. Replication does not depend on it.",
    ),
    acts(
        "eureka.client.fetch-registry",
        Kind::Bool,
        "true",
        "Off: health names no applications. The peers are copied at the start either way; that only adds what they hold.",
    ),
    acts(
        "eureka.client.should-unregister-on-shutdown",
        Kind::Bool,
        "true",
        "Cancel the own lease when stopping.",
    ),
    acts(
        "eureka.client.eureka-server-connect-timeout-seconds",
        POSITIVE,
        "5",
        "For own calls other than replication.",
    ),
    acts(
        "eureka.client.eureka-server-read-timeout-seconds",
        POSITIVE,
        "8",
        "For own calls other than replication.",
    ),
];

const STORE: &[&str] = &["PKCS12", "JKS"];

pub(super) const TRANSPORT: &[KeySpec] = &[
    acts(
        "eureka.client.tls.enabled",
        Kind::Bool,
        "false",
        "Use the following keys for registration, fetch and replication; Java's replication ignores them.",
    ),
    acts_if_set(
        "eureka.client.tls.key-store",
        Kind::Text,
        "file:/tls/node.p12",
        "no certificate is shown",
        "Own certificate towards peers.",
    ),
    acts_if_set(
        "eureka.client.tls.key-store-type",
        Kind::Word(STORE),
        "PKCS12",
        "by the file's extension",
        "Format of it.",
    ),
    acts("eureka.client.tls.key-store-password", Kind::Secret, "", "May be empty."),
    acts_if_set(
        "eureka.client.tls.trust-store",
        Kind::Text,
        "file:/tls/ca.p12",
        "the system's roots",
        "Who is believed.",
    ),
    acts_if_set(
        "eureka.client.tls.trust-store-type",
        Kind::Word(STORE),
        "PKCS12",
        "by the file's extension",
        "Format of it.",
    ),
    acts("eureka.client.tls.trust-store-password", Kind::Secret, "", "May be empty."),
    acts_if_set(
        "eureka.client.proxy-host",
        Kind::Text,
        "proxy.example.org",
        "no proxy",
        "Proxy for own calls.",
    ),
    acts_if_set("eureka.client.proxy-port", PORT, "3128", "needed with a proxy", "Its port."),
    acts_if_set("eureka.client.proxy-user-name", Kind::Text, "registry", "no user", "Its user."),
    acts_if_set("eureka.client.proxy-password", Kind::Secret, "change-me", "no password", "Its password."),
];

const TUNING: &str = "Tunes the Java client inside a Java server; there is none here.";
const CODEC: &str =
    "Names a Java class or shapes what a Java class writes; the documents here have the usual form.";

const FETCH: &str = "Peers are copied at the start, and every change comes by itself after that; there is no fetch to repeat.";
const OWN_RECORD: &str =
    "The own record is registered here as soon as the node opens, and goes to the peers like any other.";

pub(super) const INERT: &[KeySpec] = &[
    inert(
        "eureka.client.fetch-remote-regions-registry",
        Kind::List,
        "",
        "For clients; a server uses eureka.server.remote-region-urls-with-name.",
    ),
    inert("eureka.client.eureka-server-total-connections", COUNT, "200", TUNING),
    inert("eureka.client.eureka-server-total-connections-per-host", COUNT, "50", TUNING),
    inert(
        "eureka.client.timeout.connect-timeout",
        COUNT,
        "180000",
        "Of a Java transport; eureka.client.eureka-server-connect-timeout-seconds works here.",
    ),
    inert("eureka.client.timeout.connect-request-timeout", COUNT, "180000", TUNING),
    inert(
        "eureka.client.timeout.socket-timeout",
        COUNT,
        "180000",
        "Of a Java transport; eureka.client.eureka-server-read-timeout-seconds works here.",
    ),
    inert("eureka.client.rest-template-timeout.*", Kind::Family, "", TUNING),
    inert("eureka.client.restclient.*", Kind::Family, "", "Chooses between Java transports."),
    inert("eureka.client.webclient.*", Kind::Family, "", "Chooses between Java transports."),
    inert("eureka.client.jersey.*", Kind::Family, "", "Chooses between Java transports."),
    inert("eureka.client.transport.*", Kind::Family, "", TUNING),
    inert("eureka.client.refresh.enable", Kind::Bool, "true", "Rebuilds Java beans; there are none here."),
    inert("eureka.client.heartbeat-executor-thread-pool-size", COUNT, "2", TUNING),
    inert("eureka.client.heartbeat-executor-exponential-back-off-bound", COUNT, "10", TUNING),
    inert("eureka.client.cache-refresh-executor-thread-pool-size", COUNT, "2", TUNING),
    inert("eureka.client.cache-refresh-executor-exponential-back-off-bound", COUNT, "10", TUNING),
    inert("eureka.client.dollar-replacement", Kind::Text, "_-", CODEC),
    inert("eureka.client.escape-char-replacement", Kind::Text, "__", CODEC),
    inert("eureka.client.g-zip-content", Kind::Bool, "true", "Own fetches always accept gzip."),
    inert("eureka.client.allow-redirects", Kind::Bool, "false", TUNING),
    inert(
        "eureka.client.on-demand-update-status-change",
        Kind::Bool,
        "true",
        "A changed own status is always sent at once.",
    ),
    inert("eureka.client.client-data-accept", Kind::Text, "full", "Own fetches need full documents."),
    inert("eureka.client.encoder-name", Kind::Text, "", CODEC),
    inert("eureka.client.decoder-name", Kind::Text, "", CODEC),
    inert(
        "eureka.client.registry-refresh-single-vip-address",
        Kind::Text,
        "",
        "For clients that want one service only.",
    ),
    inert(
        "eureka.client.backup-registry-impl",
        Kind::Text,
        "",
        "Names a Java class; snapshots do this work here.",
    ),
    inert("eureka.client.order", Kind::Integer(i32::MIN as i64, i32::MAX as i64), "0", "Orders Java beans."),
    inert("eureka.client.experimental.*", Kind::Family, "", TUNING),
    inert(
        "eureka.client.eureka-service-url-poll-interval-seconds",
        POSITIVE,
        "300",
        "The list of peers is made anew every eureka.server.peer-eureka-nodes-update-interval-ms, also from DNS.",
    ),
    inert(
        "eureka.client.transport.applications-resolver-use-ip",
        Kind::Bool,
        "false",
        "Names and addresses are both compared, always.",
    ),
    inert("eureka.client.registry-fetch-interval-seconds", POSITIVE, "30", FETCH),
    inert("eureka.client.disable-delta", Kind::Bool, "false", FETCH),
    inert(
        "eureka.client.filter-only-up-instances",
        Kind::Bool,
        "true",
        "The copy at the start takes every instance, whatever its status.",
    ),
    inert("eureka.client.log-delta-diff", Kind::Bool, "false", FETCH),
    inert("eureka.client.initial-instance-info-replication-interval-seconds", COUNT, "40", OWN_RECORD),
    inert("eureka.client.instance-info-replication-interval-seconds", POSITIVE, "30", OWN_RECORD),
    inert("eureka.client.should-enforce-registration-at-init", Kind::Bool, "false", OWN_RECORD),
    inert(
        "eureka.client.healthcheck.enabled",
        Kind::Bool,
        "false",
        "The own record is there while the node takes traffic and gone when it stops.",
    ),
    inert(
        "eureka.client.eureka-connection-idle-timeout-seconds",
        POSITIVE,
        "30",
        "Connections for own calls are not kept; those for replication have eureka.server.peer-node-connection-idle-timeout-seconds.",
    ),
    inert("eureka.client.tls.key-password", Kind::Secret, "", ONE_PASSWORD),
];
