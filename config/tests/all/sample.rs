//! The shipped file against the code, both ways.

use crate::support::Start;
use heureka_config::{KeyRole, KeyShape, KnownKey, Settings, known_keys, sample};
use std::collections::BTreeMap;

const SHIPPED: &str = include_str!("../../application.yml");

/// Key lines of the file without their `#`, by the known key that they belong to.
fn key_lines() -> BTreeMap<&'static str, String> {
    let keys: Vec<KnownKey> = known_keys().filter(|key| key.shape != KeyShape::Family).collect();
    let mut lines = BTreeMap::new();
    for line in SHIPPED.lines().filter_map(|line| line.strip_prefix('#')) {
        if !line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let (name, _) = line.split_once(": ").unwrap_or_else(|| panic!("{line} has no value"));
        let belongs = |key: &&KnownKey| {
            name == key.name || (key.shape == KeyShape::Map && name.starts_with(&format!("{}.", key.name)))
        };
        let key = keys.iter().find(belongs).unwrap_or_else(|| panic!("{name} is in the file but unknown"));
        assert!(lines.insert(key.name, line.to_owned()).is_none(), "{name} stands twice");
    }
    lines
}

#[test]
fn the_file_in_the_repository_is_the_one_the_code_writes() {
    assert_eq!(
        SHIPPED,
        sample(),
        "run: cargo run -p heureka-config --example sample > config/application.yml"
    );
}

#[test]
fn every_known_key_is_in_the_file_and_every_key_in_the_file_is_known() {
    let lines = key_lines();
    for key in known_keys() {
        match key.shape {
            KeyShape::Family => {
                assert!(SHIPPED.contains(&format!("# {}: ", key.name)), "{} is missing", key.name)
            }
            _ => assert!(lines.contains_key(key.name), "{} is missing", key.name),
        }
    }
}

#[test]
fn as_shipped_the_file_changes_nothing() {
    let loaded = Start::new().file("config/application.yml", SHIPPED).loaded();
    let mut expected = Settings::default();
    expected.snapshots.folder = loaded.settings.snapshots.folder.clone(); // below the test's folder
    assert_eq!(loaded.settings, expected);
    assert_eq!(loaded.report.files, ["config/application.yml"]);
}

#[test]
fn with_every_default_uncommented_the_settings_are_the_defaults() {
    let lines = key_lines();
    let defaults = known_keys().filter(|key| key.role == KeyRole::Acts && key.default.is_some());
    let text: String =
        defaults.filter_map(|key| lines.get(key.name)).map(|line| format!("{line}\n")).collect();
    let start = Start::new().yml(&text);
    let mut expected = Settings::default();
    let folder = start.folder().join("heureka-data");
    expected.snapshots.folder = folder;
    // naming the application is what the default only stands in for
    expected.instance.instance_id = "localhost:unknown:8761".into();
    assert_eq!(start.settings(), expected);
}

#[test]
fn every_example_is_valid_where_its_companions_are_given() {
    let lines = key_lines();
    let companions: &[(&str, &str)] = &[
        ("server.ssl.certificate", "server.ssl.certificate-private-key"),
        ("server.ssl.certificate-private-key", "server.ssl.certificate"),
        ("spring.security.user.name", "spring.security.user.password"),
        ("eureka.client.proxy-host", "eureka.client.proxy-port"),
        ("server.ssl.bundle", "spring.ssl.bundle"),
        ("server.ssl.enabled", "server.ssl.key-store"),
    ];
    for key in known_keys().filter(|key| key.role == KeyRole::Acts && key.default.is_none()) {
        let mut text = format!("{}\n", lines[key.name]);
        for (_, companion) in companions.iter().filter(|(name, _)| *name == key.name) {
            text.push_str(&format!("{}\n", lines[companion]));
        }
        if key.name == "spring.ssl.bundle" || key.name == "server.ssl.bundle" {
            text.push_str("spring.ssl.bundle.pem.node.keystore.private-key: file:/tls/node.key\n");
        }
        let loaded = Start::new().yml(&text).load();
        assert!(loaded.is_ok(), "{text}{:?}", loaded.err());
    }
}

#[test]
fn a_dead_key_with_its_own_default_starts_and_is_told_once() {
    let lines = key_lines();
    for key in known_keys().filter(|key| key.role == KeyRole::Inert && key.shape != KeyShape::Family) {
        let start = Start::new().yml(&format!("{}\n", lines[key.name]));
        let notices = start.loaded().report.notices;
        assert_eq!(notices.len(), 1, "{}: {notices:?}", key.name);
        assert!(notices[0].message.contains(key.about), "{}: {}", key.name, notices[0]);
    }
}
