//! `spec/spring.md` section 8, items 26 to 40, by number.

use crate::support::{Start, peers};
use heureka_config::settings::ExpectedRenewals;
use heureka_config::{Severity, known_keys};

/// The renewal threshold in force.
fn threshold(start: &Start) -> f64 {
    start.settings().registry.self_preservation.renewal_percent_threshold
}

fn is(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

#[test]
fn item_26_the_renewal_threshold_comes_from_the_file() {
    let start = Start::new().yml("eureka.server.renewal-percent-threshold: 0.5");
    assert!(is(threshold(&start), 0.5));
    assert_eq!(start.settings().registry.self_preservation.expected_renewals, ExpectedRenewals::FromLeases);
}

#[test]
fn item_27_every_spelling_has_the_same_effect() {
    for key in ["renewal-percent-threshold", "renewalPercentThreshold", "renewal_percent_threshold"] {
        let start = Start::new().yml(&format!("eureka:\n  server:\n    {key}: 0.5\n"));
        assert!(is(threshold(&start), 0.5), "{key}");
    }
    for variable in ["EUREKA_SERVER_RENEWALPERCENTTHRESHOLD", "EUREKA_SERVER_RENEWAL_PERCENT_THRESHOLD"] {
        assert!(is(threshold(&Start::new().env(variable, "0.5")), 0.5), "{variable}");
    }
    assert!(is(threshold(&Start::new().arg("--eureka.server.renewalPercentThreshold=0.5")), 0.5));
}

#[test]
fn item_28_command_line_beats_environment_beats_profile_file_beats_base_file() {
    let base = || Start::new().yml("server.port: 1").arg("--spring.profiles.active=p");
    let with_profile = || base().file("application-p.yml", "server.port: 2");
    let with_variable = || with_profile().env("SERVER_PORT", "3");
    assert_eq!(base().settings().server.port, 1);
    assert_eq!(with_profile().settings().server.port, 2);
    assert_eq!(with_variable().settings().server.port, 3);
    assert_eq!(with_variable().arg("--server.port=4").settings().server.port, 4);
}

#[test]
fn item_29_a_variable_alone_sets_the_peers() {
    let names = [
        "EUREKA_CLIENT_SERVICEURL_DEFAULTZONE",
        "EUREKA_CLIENT_SERVICE_URL_DEFAULTZONE",
        "EUREKA_CLIENT_SERVICE-URL_DEFAULTZONE",
        "eureka.client.serviceUrl.defaultZone",
        "eureka.client.service-url.defaultZone",
    ];
    for name in names {
        let start = Start::new().env(name, "http://peer2:8762/eureka/");
        assert_eq!(peers(&start.settings()), ["http://peer2:8762/eureka/"], "{name}");
        for spelling in ["service-url", "serviceUrl"] {
            let file = format!("eureka.client.{spelling}.defaultZone: http://other/");
            let start = Start::new().yml(&file).env(name, "http://peer2:8762/eureka/");
            assert_eq!(peers(&start.settings()), ["http://peer2:8762/eureka/"], "{name} over {spelling}");
        }
    }
}

#[test]
fn item_30_default_zone_in_kebab_case_works_and_is_remarked() {
    let start = Start::new().yml("eureka.client.service-url.default-zone: http://peer2:8762/eureka/");
    assert_eq!(peers(&start.settings()), ["http://peer2:8762/eureka/"]);
    let report = start.loaded().report;
    let warning = report.warnings().next().unwrap();
    assert!(warning.message.contains("defaultZone") && warning.source == "application.yml:1", "{warning}");
}

#[test]
fn item_31_urls_are_normalised() {
    let start = Start::new().yml(
        "eureka.client.service-url.defaultZone: 'http://a:1/eureka , http://b:2/eureka/,http://a:1/eureka/'",
    );
    assert_eq!(peers(&start.settings()), ["http://a:1/eureka/", "http://b:2/eureka/"]);
    assert!(peers(&Start::new().yml("eureka.client.service-url.defaultZone:").settings()).is_empty());
    let list = "eureka.client.service-url.defaultZone: [http://a/, 'http://b/,http://c/']";
    assert_eq!(peers(&Start::new().yml(list).settings()), ["http://a/", "http://b/", "http://c/"]);
}

#[test]
fn item_32_guarded_documents_in_both_forms() {
    for condition in ["spring.config.activate.on-profile", "spring.profiles"] {
        let text = format!(
            "spring.application.name: registry\n---\n{condition}: peer1\nserver.port: 8761\n---\n{condition}: peer2\nserver.port: 8762\n"
        );
        for (profile, port) in [("peer1", 8761), ("peer2", 8762)] {
            let start = Start::new().yml(&text).arg(&format!("--spring.profiles.active={profile}"));
            assert_eq!(start.settings().server.port, port, "{condition} {profile}");
            assert_eq!(start.loaded().report.profiles, [profile]);
        }
    }
}

#[test]
fn item_33_documents_of_properties_files() {
    let text = "server.port=1\n#---\nspring.config.activate.on-profile=p\nserver.port=2\n!---\neureka.environment=e\n";
    let start = || Start::new().file("application.properties", text);
    assert_eq!(start().settings().server.port, 1);
    assert_eq!(start().arg("--spring.profiles.active=p").settings().server.port, 2);
    assert_eq!(start().settings().environment, "e");
}

#[test]
fn item_34_profile_expressions() {
    let text = "server.port: 1\n---\nspring.config.activate.on-profile: peer1 | peer2\nserver.port: 2\n---\nspring.config.activate.on-profile: '!dev'\neureka.environment: live\n";
    for (profiles, port, environment) in [("peer2", 2, "live"), ("dev", 1, "test"), ("peer1,dev", 2, "test")]
    {
        let settings = Start::new().yml(text).env("SPRING_PROFILES_ACTIVE", profiles).settings();
        assert_eq!((settings.server.port, settings.environment.as_str()), (port, environment), "{profiles}");
    }
    let malformed =
        Start::new().yml("a: 1\n---\nspring.config.activate.on-profile: a & b | c\nserver.port: 2\n").error();
    assert!(malformed.contains("application.yml:3") && malformed.contains("a & b | c"), "{malformed}");
}

#[test]
fn item_35_placeholders_in_any_spelling() {
    let zone = |text: &str| {
        let yml = format!(
            "server.port: 9000\neureka.instance.hostName: peer1\neureka.client.service-url.defaultZone: '{text}'\n"
        );
        peers(&Start::new().yml(&yml).env("HOSTNAME", "box").settings())
    };
    let expected = ["http://peer1:9000/eureka/"];
    assert_eq!(zone("http://${eureka.instance.hostname}:${server.port}/eureka/"), expected);
    assert_eq!(zone("http://${eureka.instance.host-name}:${SERVER_PORT:${server.port}}/eureka/"), expected);
    assert_eq!(zone("http://${HOSTNAME:fallback}/"), ["http://box/"]);
    assert_eq!(zone("http://${NOT_SET:fallback}/"), ["http://fallback/"]);
    let id = Start::new()
        .yml("eureka.instance.instance-id: ${spring.application.name:reg}:${random.uuid}")
        .settings();
    assert_eq!((id.instance.instance_id.len(), &id.instance.instance_id[..4]), (40, "reg:"));
}

#[test]
fn item_36_unresolvable_placeholders_stop_where_it_matters() {
    let error = Start::new().yml("server.port: 8761\neureka.instance.hostname: ${NOPE}\n").error();
    for part in ["eureka.instance.hostname", "application.yml:2", "${NOPE}"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    let start = Start::new().yml("eureka.server.json-codec-name: ${NOPE}\neureka.server.foo: ${NOPE}\n");
    assert!(start.notices().contains("${NOPE}"), "{}", start.notices());
}

#[test]
fn item_37_every_documented_key_can_be_present() {
    // each key with its default or an example: see `sample`; here all dead keys at once
    let dead: Vec<_> = known_keys().filter(|key| key.role == heureka_config::KeyRole::Inert).collect();
    assert!(dead.len() > 60);
    let text: String = dead
        .iter()
        .filter(|key| key.shape == heureka_config::KeyShape::Single)
        .map(|key| format!("{}: '{}'\n", key.name, key.example))
        .collect();
    let start = Start::new().yml(&text);
    let notices = start.loaded().report.notices;
    assert!(notices.iter().all(|notice| notice.severity == Severity::Info), "{notices:?}");
    assert_eq!(notices.len(), text.lines().count());
}

#[test]
fn item_38_an_unknown_key_starts_and_is_reported() {
    let start = Start::new()
        .yml(
            "eureka.server.foo: 1\neureka.server.enable-self-preservtion: false\nserver.prot: 1\nmy.own: 2\n",
        )
        .env("EUREKA_SERVER_EVICTION_INTERVAL_TIMER_IN_M", "5");
    let notices = start.notices();
    for part in [
        "eureka.server.foo (application.yml:1)",
        "nearest known name is eureka.server.enable-self-preservation",
        "nearest known name is server.port",
        "nearest known name is eureka.server.eviction-interval-timer-in-ms",
    ] {
        assert!(notices.contains(part), "{part} in {notices}");
    }
    assert_eq!(notices.lines().count(), 4, "{notices}");
}

#[test]
fn item_39_locations_and_configtrees_are_honoured() {
    let start = || {
        Start::new()
            .yml("server.port: 1\neureka.environment: base\n")
            .file("other/application.yml", "server.port: 2\n")
            .file("secrets/spring/security/user/password", "from-tree\n")
    };
    let located = start().arg("--spring.config.location=file:./other/").settings();
    assert_eq!((located.server.port, located.environment.as_str()), (2, "test"));
    let additional = start().env("SPRING_CONFIG_ADDITIONAL_LOCATION", "other/").settings();
    assert_eq!((additional.server.port, additional.environment.as_str()), (2, "base"));
    let tree = start().arg("--spring.config.import=optional:configtree:secrets/").settings();
    assert_eq!(tree.security.basic.unwrap().password.expose(), "from-tree");
}

#[test]
fn item_40_a_disabled_client_is_a_registry_on_its_own() {
    for key in ["eureka.client.enabled", "spring.cloud.discovery.enabled"] {
        let client = Start::new().yml(&format!("{key}: false")).settings().client;
        assert!(!client.register_with_eureka && !client.fetch_registry, "{key}");
    }
}
