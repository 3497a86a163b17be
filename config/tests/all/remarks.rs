//! What an operator reads: remarks, their places, and errors of more than one line.

use crate::support::Start;

#[test]
fn several_problems_stand_below_a_heading() {
    let error = Start::new().yml("server.port: x\neureka.client.enabled: y\n").error();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "2 settings are wrong:");
    assert!(lines[1].starts_with("  server.port = \"x\"") && lines[2].starts_with("  eureka.client.enabled"));
}

#[test]
fn a_hint_is_only_given_if_it_may_help() {
    let notices = |start: Start| start.notices();
    assert_eq!(
        notices(Start::new().yml("eureka.server.foo: 1\n")),
        "eureka.server.foo (application.yml:1): is unknown and ignored\n"
    );
    assert_eq!(
        notices(Start::new().env("EUREKA_SERVER_FOO", "1")),
        "environment variable EUREKA_SERVER_FOO: is unknown and ignored\n"
    );
    let near = notices(Start::new().yml("heureka.limits.max-conections: 1\n"));
    assert!(near.contains("nearest known name is heureka.limits.max-connections"), "{near}");
}

#[test]
fn arguments_that_set_nothing_are_told() {
    let start = Start::new().arg("-Xmx1g").arg("-server.port=1").arg("-Dserver.port=2").arg("--").arg("-x");
    assert_eq!(
        start.notices(),
        "-Xmx1g (command line): sets nothing; settings are written --key=value\n\
         -server.port (command line): sets nothing; settings are written --key=value\n"
    );
    assert_eq!(start.settings().server.port, 2);
    let error = Start::new().arg("-Dserver.port=x").error();
    assert!(error.contains("(-D on the command line)"), "{error}");
}

#[test]
fn an_argument_without_a_name_is_told() {
    assert_eq!(
        Start::new().arg("--=x").arg("--").arg("--=y").notices(),
        "-- (command line): sets nothing; settings are written --key=value\n"
    );
}

#[test]
fn a_value_or_a_list_where_a_section_belongs_is_told_once() {
    let part = "sets nothing: keys such as";
    for (text, told) in [
        (
            "server: 5",
            format!("server (application.yml:1): {part} server.NAME belong there, no value and no list\n"),
        ),
        (
            "heureka: [1, {a: 2}]",
            format!(
                "heureka[0] (application.yml:1): {part} heureka.NAME belong there, no value and no list\n"
            ),
        ),
        (
            "eureka.client: x",
            format!(
                "eureka.client (application.yml:1): {part} eureka.client.NAME belong there, no value and no list\n"
            ),
        ),
        (
            "eureka: true\nmanagement.endPoint: 1",
            format!(
                "eureka (application.yml:1): {part} eureka.NAME belong there, no value and no list\n\
             management.endPoint (application.yml:2): {part} management.endPoint.NAME belong there, no value and no list\n"
            ),
        ),
    ] {
        assert_eq!(Start::new().yml(text).notices(), told, "{text}");
    }
    assert!(Start::new().arg("--server=5").notices().contains(part));
    // An empty section, a name that a placeholder reads, a variable that may be anybody's.
    for start in [
        Start::new().yml("server:\neureka: {}\nheureka: []"),
        Start::new().yml("server: a\neureka.instance.hostname: ${server}"),
        Start::new().env("SERVER", "5").env("HEUREKA", "x").env("EUREKA_CLIENT", "x"),
    ] {
        assert_eq!(start.notices(), "");
    }
}

#[test]
fn a_name_that_loses_signs_is_told() {
    let start = Start::new().yml(
        "eureka.server.remote-region-urls-with-name: {eu/west 1: 'http://a/'}\n\
         eureka.instance.metadata-map:\n  '[a/b]': kept\n  c.d_e-1: kept\n",
    );
    let notices = start.notices();
    assert_eq!(notices.lines().count(), 1, "{notices}");
    assert!(
        notices.contains("eu/west 1") && notices.contains("is taken for the name \"euwest1\""),
        "{notices}"
    );
    assert_eq!(start.settings().registry.regions.regions[0].name, "euwest1");
    let metadata = start.settings().instance.metadata;
    assert!(metadata.contains_key("a/b") && metadata.contains_key("c.d_e-1"), "{metadata:?}");
}

#[test]
fn a_profile_that_nothing_is_for_is_told() {
    let chosen = |profile: &str| {
        Start::new()
            .yml("a: 1\n---\nspring.config.activate.on-profile: peer1 & !(dev)\nb: 2\n---\nspring.profiles.group.all: peer1\n")
            .file("application-peer2.properties", "c=3\n")
            .env("SPRING_PROFILES_ACTIVE", profile)
            .notices()
    };
    for known in ["peer1", "dev", "peer2", "all", "default", "peer1,peer2"] {
        assert_eq!(chosen(known), "", "{known}");
    }
    let told = "spring.profiles.active (environment variable SPRING_PROFILES_ACTIVE): \
                no file and no document is for the profile peer3\n";
    assert_eq!(chosen("peer1,peer3"), told);
}

#[test]
fn broken_json_is_told_without_a_word_of_it() {
    let error = |text: &str| Start::new().env("SPRING_APPLICATION_JSON", text).error();
    let place = "environment variable SPRING_APPLICATION_JSON, line 1: ";
    assert_eq!(error("{\"a\":1,"), format!("{place}column 7: it ends too early"));
    assert_eq!(error("{secret}"), format!("{place}column 2: what stands there is no JSON"));
}

#[test]
fn an_empty_value_is_seen_in_the_report() {
    let loaded = Start::new().yml("server.servlet.context-path: ''\n").loaded();
    let lines: Vec<String> = loaded.report.effective().iter().map(ToString::to_string).collect();
    assert!(
        lines.iter().any(|line| line.starts_with("server.servlet.context-path = \"\"   (")),
        "{lines:#?}"
    );
    assert_eq!(loaded.report.places(), "configuration files: application.yml; profiles: default");
    assert_eq!(
        Start::new().loaded().report.places(),
        "configuration files: none, defaults hold; profiles: default"
    );
}

#[test]
fn end_points_that_do_not_exist_are_told_once_with_the_nearest_name() {
    let key = "management.endpoints.web.exposure";
    let notices = |what: &str, list: &str| Start::new().yml(&format!("{key}.{what}: '{list}'\n")).notices();
    assert_eq!(notices("include", "*"), "");
    assert_eq!(notices("include", "Health, info, prometheus, metrics, refresh"), "");
    for what in ["include", "exclude"] {
        assert_eq!(
            notices(what, "health,promethues,promethues"),
            format!(
                "{key}.{what} (application.yml:1): names the end point \"promethues\", which is unknown and ignored; the \
                 nearest known name is prometheus\n"
            )
        );
        assert_eq!(
            notices(what, "thread-dump"),
            format!(
                "{key}.{what} (application.yml:1): names the end point \"thread-dump\", which does not exist here\n"
            )
        );
        let strange = notices(what, "gobbledegook");
        assert!(strange.contains("known are health, info, metrics, prometheus, refresh and *"), "{strange}");
    }
    let two = Start::new().yml(&format!("{key}.include: [helth, metric]\n"));
    assert_eq!(two.notices().matches("is unknown and ignored; the nearest known name is").count(), 2);
    let include = &two.loaded().settings.management.exposure.include;
    assert!(include.contains("helth") && !include.contains("health"));
}
