//! Values of a form that their key cannot have stop the start; nothing of the kind is passed over.

use crate::support::Start;
use heureka_config::{KeyRole, KeyShape, Settings, known_keys};

#[test]
fn a_list_or_a_mapping_where_one_value_belongs_is_told_with_all_of_it() {
    let rows = [
        (
            "server.port: [1, 2]",
            "server.port = \"[1, 2]\" (application.yml:1): must be a whole number from 0 to 65535",
        ),
        ("server:\n  port:\n    - 1\n    - 2", "server.port = \"[1, 2]\" (application.yml:3)"),
        ("server.port: {http: 1, https: 2}", "server.port = \"{http: 1, https: 2}\" (application.yml:1)"),
        ("server.port: [[1]]", "a list was found"),
        ("eureka.instance.hostname: [a]", "eureka.instance.hostname = \"[a]\""),
        ("eureka.client.fetch-registry: {enabled: true}", "must be true, on, yes, 1"),
        (
            "management.endpoints.web.exposure.include: {health: true}",
            "must be a list, separated by commas; a mapping was found",
        ),
        (
            "server.compression.mime-types: [{type: a}]",
            "must be a list, separated by commas; a list was found",
        ),
        (
            "eureka.client.service-url: [http://a/, http://b/]",
            "such as eureka.client.service-url.NAME; a list was found",
        ),
        ("spring.profiles.active: {live: true}", "spring.profiles.active = \"{live: true}\""),
        (
            "eureka.shouldUseReadOnlyResponseCache: [true]",
            "eureka.server.use-read-only-response-cache = \"[true]\"",
        ),
        ("server.tomcat.max-connections: [1]", "server.tomcat.max-connections"),
        ("server.port: [1, 2, 3, 4, 5, 6]", "[1, 2, 3, 4, 5, ...]"),
    ];
    for (text, part) in rows {
        let error = Start::new().yml(text).error();
        assert!(error.contains(part), "{part} is missing in: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[test]
fn every_source_is_held_to_it() {
    let part = "server.port = \"[1]\" (";
    for (start, origin) in [
        (Start::new().file("application.properties", "server.port[0]=1"), "application.properties:1"),
        (Start::new().arg("--server.port[0]=1"), "command line"),
        (Start::new().env("server.port[0]", "1"), "environment variable server.port[0]"),
        (
            Start::new().env("SPRING_APPLICATION_JSON", "{\"server\":{\"port\":[1]}}"),
            "SPRING_APPLICATION_JSON",
        ),
    ] {
        assert!(start.error().contains(&format!("{part}{origin}")), "{}", start.error());
    }
}

#[test]
fn no_key_takes_a_form_that_it_cannot_have() {
    for key in known_keys().filter(|key| key.role == KeyRole::Acts) {
        let refused = |name: String| Settings::from_properties(&[(&name, "x")]).is_err();
        let (item, entry) = (refused(format!("{}[0]", key.name)), refused(format!("{}.zz", key.name)));
        match key.shape {
            KeyShape::Single => assert!(item && entry, "{}", key.name),
            KeyShape::List => assert!(entry, "{}", key.name),
            KeyShape::Map | KeyShape::Family => {}
        }
    }
}

#[test]
fn a_secret_is_not_shown_for_its_form() {
    let error = Start::new()
        .yml("spring.security.user.password: [s3cr3t]\neureka.server.my-url: [http://u:s3cr3t@h/]\n")
        .error();
    assert!(error.contains("spring.security.user.password") && error.contains("my-url"), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
}

#[test]
fn what_is_no_mistake_starts() {
    for text in [
        // A name of the user's own below a known one, read by a placeholder.
        "eureka.instance.hostname.suffix: example\neureka.instance.hostname: a.${eureka.instance.hostname.suffix}",
        "eureka.client.heartbeat-executor-thread-pool-size: [1]",
        "eureka.instance.metadata-map: [a, b]",
        "eureka.instance.metadata-map.more: [a, b]",
        "server.port: []",
        "spring.profiles.more: {a: b}",
        "my.own: [1, 2]",
    ] {
        Start::new().yml(text).loaded();
    }
}
