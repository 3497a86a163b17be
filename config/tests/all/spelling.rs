//! Every key that acts binds from every spelling and every source.

use crate::support::Start;
use heureka_config::{KeyRole, KeyShape, KnownKey, Settings, known_keys};

/// A valid value other than the default.
fn value(key: &KnownKey) -> String {
    let flipped = match key.default {
        Some("true") => Some("false"),
        Some("false") => Some("true"),
        _ => None,
    };
    if let Some(flipped) = flipped {
        return flipped.to_owned();
    }
    if key.shape == KeyShape::List && key.name != "heureka.peers.dns-urls" {
        return "a1,b2".to_owned();
    }
    let special = [
        ("server.ssl.enabled", "false"),
        ("eureka.instance.status-page-url", "http://peer1/info"),
        ("server.servlet.context-path", "/ctx"),
        ("management.endpoints.web.base-path", "/manage"),
        ("management.server.base-path", "/m"),
        ("eureka.dashboard.path", "/dash"),
        ("eureka.instance.home-page-url-path", "/home"),
        ("heureka.lease-expiry", "exact"),
        ("heureka.log.format", "json"),
        ("server.shutdown", "immediate"),
        ("server.ssl.client-auth", "need"),
        ("management.endpoint.health.show-details", "when-authorized"),
        ("eureka.instance.initial-status", "OUT_OF_SERVICE"),
        ("eureka.server.renewal-percent-threshold", "0.5"),
        ("heureka.placement.http-workers", "3"),
        ("heureka.placement.lease-arbiters", "3"),
        ("spring.cloud.inetutils.default-ip-address", "10.9.8.7"),
    ];
    if let Some((_, value)) = special.iter().find(|(name, _)| *name == key.name) {
        return (*value).to_owned();
    }
    if key.default.is_none() {
        return key.example.to_owned();
    }
    match key.allowed.as_str() {
        "any text" => "other".to_owned(),
        allowed if allowed.starts_with("a size") => "77KB".to_owned(),
        allowed => least(allowed).max(7).to_string(),
    }
}

/// The least number but 0 that is allowed, as in "0 for none, or a whole number from 64 to 100": 0 if none is named.
fn least(allowed: &str) -> i64 {
    let behind = allowed.split_once("number from ").or_else(|| allowed.split_once("number of at least "));
    let number = |text: &str| text.split([' ', ',']).next().and_then(|number| number.parse().ok());
    behind.and_then(|(_, text)| number(text)).unwrap_or(0)
}

/// Keys that need others before they change anything.
const COMPANIONS: &[(&str, &[(&str, &str)])] = &[
    ("server.ssl.", &[("server.ssl.key-store", "/a.p12")]),
    ("server.ssl.certificate-private-key", &[("server.ssl.certificate", "/c.pem")]),
    ("server.ssl.certificate", &[("server.ssl.certificate-private-key", "/k.pem")]),
    ("server.ssl.bundle", &[("spring.ssl.bundle.jks.node.keystore.location", "/n.p12")]),
    (
        "spring.ssl.bundle",
        &[("server.ssl.bundle", "node"), ("spring.ssl.bundle.pem.node.keystore.private-key", "/k.pem")],
    ),
    (
        "eureka.client.tls.",
        &[
            ("eureka.client.tls.enabled", "true"),
            ("eureka.client.tls.key-store", "/a.jks"),
            ("eureka.client.tls.trust-store", "/b.jks"),
        ],
    ),
    (
        "eureka.client.eureka-server-",
        &[
            ("eureka.client.use-dns-for-fetching-service-urls", "true"),
            ("eureka.client.eureka-server-d-n-s-name", "d"),
            ("eureka.client.eureka-server-port", "1"),
        ],
    ),
    (
        "eureka.client.use-dns-for-fetching-service-urls",
        &[("eureka.client.eureka-server-d-n-s-name", "d"), ("eureka.client.eureka-server-port", "1")],
    ),
    ("eureka.client.proxy-", &[("eureka.client.proxy-host", "h"), ("eureka.client.proxy-port", "1")]),
    (
        "heureka.limits.max-body-bytes-in-flight",
        &[("heureka.limits.registration-body-bytes", "4KB"), ("heureka.limits.batch-body-bytes", "4KB")],
    ),
    ("spring.security.user.name", &[("spring.security.user.password", "p")]),
    ("management.server.", &[("management.server.port", "9000")]),
    ("eureka.client.availability-zones", &[("eureka.client.service-url.zone-a", "http://a/")]),
    ("eureka.server.a-w-s-access-id", &[("eureka.server.a-w-s-secret-key", "k")]),
    ("eureka.server.a-w-s-secret-key", &[("eureka.server.a-w-s-access-id", "i")]),
    (
        "eureka.server.remote-region-app-whitelist",
        &[("eureka.server.remote-region-urls-with-name.eu-west-1", "http://eu/")],
    ),
    (
        "eureka.server.remote-region-trust-store-password",
        &[("eureka.server.remote-region-trust-store", "/t.p12")],
    ),
];

/// Keys that only steer a guess which is not made here, or that equal what stands there anyway.
const WITHOUT_TRACE: &[&str] = &[
    "spring.cloud.inetutils.ignored-interfaces",
    "spring.cloud.inetutils.preferred-networks",
    "spring.cloud.inetutils.use-only-site-local-interfaces",
    "spring.cloud.inetutils.timeout-seconds",
    "server.ssl.trust-store-password",
    "server.ssl.trust-store-type",
    "server.ssl.key-store-type",
    "eureka.instance.non-secure-port",
    "eureka.instance.status-page-url-path",
    "eureka.instance.health-check-url-path",
    "server.max-http-request-header-size",
    "management.endpoint.health.show-components",
    "eureka.server.default-open-for-traffic-count",
    "eureka.server.registry-sync-retries",
];

fn companions(key: &KnownKey) -> Vec<(&'static str, &'static str)> {
    let exact = COMPANIONS.iter().find(|(name, _)| *name == key.name);
    let group = exact.or_else(|| COMPANIONS.iter().find(|(prefix, _)| key.name.starts_with(prefix)));
    group
        .map(|(_, pairs)| pairs.iter().copied().filter(|(name, _)| *name != key.name).collect())
        .unwrap_or_default()
}

/// `a-b.c-d` as `aB.cD`.
fn camel(name: &str) -> String {
    let mut upper = false;
    let mut camel = String::new();
    for c in name.chars() {
        match c {
            '-' => upper = true,
            _ if upper => {
                camel.extend(c.to_uppercase());
                upper = false;
            }
            _ => camel.push(c),
        }
    }
    camel
}

/// Ways to write one key: every spelling in a file, and every source with one of the spellings.
fn starts(name: &str, entry: &str, value: &str) -> Vec<(String, Start)> {
    let spelled = |spelling: &str| format!("{spelling}{entry}");
    let mut ways = Vec::new();
    for spelling in [name.to_owned(), camel(name), name.replace('-', "_"), name.to_uppercase()] {
        let full = spelled(&spelling);
        ways.push((format!("{full} in yml"), Start::new().yml(&format!("{full}: '{value}'"))));
    }
    let (kebab, camel) = (spelled(name), spelled(&camel(name)));
    let properties = format!("{camel}={value}");
    ways.push((format!("{camel} in properties"), Start::new().file("application.properties", &properties)));
    ways.push((format!("--{camel}"), Start::new().arg(&format!("--{camel}={value}"))));
    ways.push((format!("-D{kebab}"), Start::new().arg(&format!("-D{kebab}={value}"))));
    ways.push((format!("variable {camel}"), Start::new().env(&camel, value)));
    let json = format!("{{\"{kebab}\":\"{value}\"}}");
    ways.push((format!("{kebab} in JSON"), Start::new().env("SPRING_APPLICATION_JSON", &json)));
    for form in [name.replace('-', ""), name.replace('-', "_")] {
        let variable = spelled(&form).to_uppercase().replace('.', "_");
        ways.push((format!("variable {variable}"), Start::new().env(&variable, value)));
    }
    if entry.is_empty() {
        let nested =
            name.split('.').rev().fold(format!("'{value}'"), |inner, part| format!("{{{part}: {inner}}}"));
        ways.push(("nested yml".to_owned(), Start::new().yml(&nested)));
    }
    ways
}

fn check(key: &KnownKey) {
    let written = value(key);
    // an upper-case variable cannot say more than lower-case letters of a map key
    let (entry, value) = match key.shape {
        KeyShape::Map => {
            let (entry, value) = key.example.split_once(": ").unwrap();
            (format!(".{entry}"), value.to_owned())
        }
        _ => (String::new(), written),
    };
    let mut expected: Option<Settings> = None;
    for (way, start) in starts(key.name, &entry, &value) {
        let start = companions(key)
            .iter()
            .fold(start, |start, (name, value)| start.arg(&format!("--{name}={value}")));
        let loaded = start.load().unwrap_or_else(|error| panic!("{way}: {error}"));
        let lost_case = key.shape == KeyShape::Map && way.starts_with("variable") && !way.contains('.');
        let line = loaded.report.effective().iter().find(|line| {
            line.key == format!("{}{entry}", key.name)
                || (lost_case && line.key.starts_with(&format!("{}.", key.name)))
        });
        let line = line.unwrap_or_else(|| panic!("{way}: not in the report"));
        assert!(!line.source.starts_with("default"), "{way}: {line}");
        assert!(key.is_secret || line.value == value || lost_case, "{way}: {line}");
        let mut settings = loaded.settings;
        settings.snapshots.folder = settings.snapshots.folder.file_name().unwrap().into();
        if !lost_case {
            assert_eq!(expected.get_or_insert_with(|| settings.clone()), &settings, "{way}");
        }
    }
    let without: Vec<(&str, &str)> = companions(key);
    let default = Settings::from_properties(&without).ok();
    if !WITHOUT_TRACE.contains(&key.name) {
        assert!(expected != default, "{} changes nothing", key.name);
    }
}

/// Split only so that the parts run side by side.
fn check_all(belongs: fn(&str) -> bool) {
    let keys: Vec<KnownKey> =
        known_keys().filter(|key| key.role == KeyRole::Acts && belongs(key.name)).collect();
    assert!(keys.len() > 15);
    keys.iter().for_each(check);
}

#[test]
fn every_key_of_the_registry_binds_from_every_spelling_and_source() {
    check_all(|name| name.starts_with("eureka.server."));
}

#[test]
fn every_key_of_client_and_instance_binds_from_every_spelling_and_source() {
    check_all(|name| name.starts_with("eureka.") && !name.starts_with("eureka.server."));
}

#[test]
fn every_other_key_binds_from_every_spelling_and_source() {
    check_all(|name| !name.starts_with("eureka."));
}
