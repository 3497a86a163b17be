//! `eureka.instance.*`: the record of this server itself (`spec/spring.md` 3.7).

use super::{COUNT, KeySpec, Kind, PORT, POSITIVE, acts, acts_if_set, inert};

const STATUS: &[&str] = &["UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"];

pub(super) const INSTANCE: &[KeySpec] = &[
    acts_if_set(
        "eureka.instance.hostname",
        Kind::Text,
        "peer1",
        "the name of the machine",
        "Must be the host in the URLs that peers use for this node.",
    ),
    acts_if_set(
        "eureka.instance.ip-address",
        Kind::Text,
        "10.0.0.11",
        "the address of the first interface",
        "Own address.",
    ),
    acts(
        "eureka.instance.prefer-ip-address",
        Kind::Bool,
        "false",
        "Put the address where the host name goes.",
    ),
    acts_if_set(
        "eureka.instance.appname",
        Kind::Text,
        "registry",
        "spring.application.name, else unknown",
        "All nodes of a cluster must share it, or Java's page calls the others unavailable.",
    ),
    acts_if_set(
        "eureka.instance.app-group-name",
        Kind::Text,
        "infrastructure",
        "none",
        "Group of the application.",
    ),
    acts_if_set(
        "eureka.instance.instance-id",
        Kind::Text,
        "peer1:registry:8761",
        "host, application and port joined by colons",
        "Own id; must differ between nodes.",
    ),
    acts_if_set(
        "eureka.instance.virtual-host-name",
        Kind::Text,
        "registry",
        "the application name",
        "Own VIP.",
    ),
    acts_if_set(
        "eureka.instance.secure-virtual-host-name",
        Kind::Text,
        "registry",
        "the application name",
        "Own secure VIP.",
    ),
    acts_if_set("eureka.instance.non-secure-port", PORT, "8761", "server.port", "Port in the own record."),
    acts_if_set(
        "eureka.instance.secure-port",
        PORT,
        "8443",
        "443, or server.port if the secure port is enabled",
        "Secure port in the own record.",
    ),
    acts("eureka.instance.non-secure-port-enabled", Kind::Bool, "true", "Whether the own record offers it."),
    acts("eureka.instance.secure-port-enabled", Kind::Bool, "false", "Whether the own record offers it."),
    acts_if_set(
        "eureka.instance.status-page-url-path",
        Kind::Text,
        "/actuator/info",
        "the actuator's info",
        "Path in the derived URL.",
    ),
    acts_if_set(
        "eureka.instance.health-check-url-path",
        Kind::Text,
        "/actuator/health",
        "the actuator's health",
        "Path in the derived URL.",
    ),
    acts("eureka.instance.home-page-url-path", Kind::Text, "/", "Path in the derived URL."),
    acts_if_set(
        "eureka.instance.status-page-url",
        Kind::Text,
        "http://${eureka.hostname}:8761/actuator/info",
        "derived",
        "May contain ${eureka.hostname}.",
    ),
    acts_if_set(
        "eureka.instance.health-check-url",
        Kind::Text,
        "http://peer1:8761/actuator/health",
        "derived",
        "May contain ${eureka.hostname}.",
    ),
    acts_if_set(
        "eureka.instance.secure-health-check-url",
        Kind::Text,
        "https://peer1:8443/actuator/health",
        "derived if the secure port is enabled",
        "May contain ${eureka.hostname}.",
    ),
    acts_if_set(
        "eureka.instance.home-page-url",
        Kind::Text,
        "http://peer1:8761/",
        "derived",
        "May contain ${eureka.hostname}.",
    ),
    acts(
        "eureka.instance.lease-renewal-interval-in-seconds",
        POSITIVE,
        "30",
        "How often this node sends heartbeats to peers.",
    ),
    acts(
        "eureka.instance.lease-expiration-duration-in-seconds",
        POSITIVE,
        "90",
        "Duration of the own lease.",
    ),
    acts_if_set(
        "eureka.instance.metadata-map",
        Kind::Map,
        "zone: zone-a",
        "only management.port, which is added by itself",
        "Free metadata; keys are kept as written, empty values are not sent.",
    ),
    acts("eureka.instance.initial-status", Kind::Word(STATUS), "UP", "Status of the own record."),
];

const AMAZON: &str = "Amazon metadata; plain properties cannot describe an Amazon server in Java either.";

pub(super) const INERT: &[KeySpec] = &[
    inert("eureka.instance.a-s-g-name", Kind::Text, "", AMAZON),
    inert("eureka.instance.namespace", Kind::Text, "eureka", "Prefix of a Netflix class."),
    inert("eureka.instance.default-address-resolution-order", Kind::List, "", AMAZON),
    inert("eureka.instance.data-center-info.*", Kind::Family, "", AMAZON),
    inert("eureka.instance.environment.*", Kind::Family, "", "A Java object that Spring puts in by itself."),
    inert("eureka.instance.registry.*", Kind::Family, "", "Unknown to Spring too."),
    inert("eureka.instance.i-p-address-refresh-interval", COUNT, "0", AMAZON),
    inert(
        "eureka.instance.instance-enabled-onit",
        Kind::Bool,
        "false",
        "The own record is first registered when the node takes traffic.",
    ),
    inert(
        "eureka.instance.async-client-initialization",
        Kind::Bool,
        "false",
        "The node always listens at once and asks its peers meanwhile.",
    ),
];
