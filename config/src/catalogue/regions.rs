//! `eureka.server.remote-region-*`: mirrors of other regions.

use super::{KeySpec, Kind, POSITIVE, acts, acts_if_set, inert};

const ONE: &str = "One connection to each region is enough; it is asked for one thing at a time.";

pub(super) const REGIONS: &[KeySpec] = &[
    acts_if_set(
        "eureka.server.remote-region-urls-with-name",
        Kind::Map,
        "eu-west-1: http://eureka.eu.example.org:8761/eureka/",
        "no other regions",
        "Region to the URL of its registry, which is copied and shown beside the own one. Names are asked for in lower case.",
    ),
    acts_if_set(
        "eureka.server.remote-region-app-whitelist",
        Kind::MapOfLists,
        "eu-west-1: ORDERS,PAYMENTS",
        "everything",
        "Region, or `global` for regions without a list of their own, to the applications that are taken from it.",
    ),
    acts(
        "eureka.server.remote-region-registry-fetch-interval",
        POSITIVE,
        "30",
        "Seconds between two questions to a region; up to five times as long while it does not answer in time.",
    ),
    acts(
        "eureka.server.remote-region-connect-timeout-ms",
        POSITIVE,
        "1000",
        "Spring's default; Netflix has 2000.",
    ),
    acts(
        "eureka.server.remote-region-read-timeout-ms",
        POSITIVE,
        "1000",
        "Spring's default; Netflix has 5000. The longest silence of a region while it answers.",
    ),
    acts(
        "eureka.server.remote-region-connection-idle-timeout-seconds",
        POSITIVE,
        "30",
        "Unused connections are closed after that.",
    ),
    acts(
        "eureka.server.g-zip-content-from-remote-region",
        Kind::Bool,
        "true",
        "Asks for compressed answers.",
    ),
    acts(
        "eureka.server.disable-delta-for-remote-regions",
        Kind::Bool,
        "false",
        "On: the whole list is fetched every time.",
    ),
    acts(
        "eureka.server.disable-transparent-fallback-to-other-region",
        Kind::Bool,
        "false",
        "Off, as in Java: who names no region is shown all of them. On: only this one.",
    ),
    acts_if_set(
        "eureka.server.remote-region-trust-store",
        Kind::Text,
        "file:/etc/eureka/trust.p12",
        "the system's trusted certificates",
        "PKCS12 store of the certificates that regions with an https URL must have. Host names are checked, other than in Java.",
    ),
    acts(
        "eureka.server.remote-region-trust-store-password",
        Kind::Secret,
        "changeit",
        "Password of that store; Java's default.",
    ),
    inert("eureka.server.remote-region-total-connections", POSITIVE, "1000", ONE),
    inert("eureka.server.remote-region-total-connections-per-host", POSITIVE, "500", ONE),
    inert(
        "eureka.server.remote-region-fetch-thread-pool-size",
        POSITIVE,
        "20",
        "Asking a region takes no thread here.",
    ),
];
