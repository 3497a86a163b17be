//! What has changed between two looks at the same places.

use crate::support::Start;

#[test]
fn changed_new_and_gone_values_are_named_as_they_are_written() {
    let before =
        "eureka.client.serviceUrl.defaultZone: http://a/\nserver.port: 1\nmy.own: [a, b]\nsame: 1\ngone: 1\n";
    let start = Start::new().yml(before).env("SERVER_PORT", "7");
    let first = start.loaded();
    assert!(first.written.changed_since(&first.written).is_empty());
    let after = "eureka:\n  client:\n    service-url:\n      defaultZone: http://b/\nserver.port: 2\nmy.own: [a, c]\nSAME: 1\nnew: 1\n";
    let second = start.yml(after).loaded();
    assert_eq!(
        second.written.changed_since(&first.written),
        // As in Spring also what a variable overrules.
        ["eureka.client.service-url.defaultZone", "gone", "my.own[1]", "new", "server.port"]
    );
    assert_eq!(second.settings.server.port, 7);
}

#[test]
fn no_value_is_shown_for_debugging() {
    let loaded = Start::new().yml("spring.security.user.password: s3cr3t\n").loaded();
    assert!(!format!("{loaded:?}").contains("s3cr3t"));
}
