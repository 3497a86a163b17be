//! Wrong values stop the start with key, value, source and what is allowed; nothing that is written panics.

use crate::support::Start;
use heureka_config::settings::{
    ExpectedRenewals, ForwardHeaders, LeaseExpiry, LogLevel, ManagementListener, PasswordForm,
};
use heureka_config::{ConfigError, Settings};
use proptest::prelude::*;

const HASH: &str = "{bcrypt}$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

#[test]
fn wrong_values_name_key_value_source_and_what_is_allowed() {
    let rows = [
        ("server.port", "30s", "a whole number from 0 to 65535"),
        ("server.port", "70000", "a whole number from 0 to 65535"),
        ("eureka.server.eviction-interval-timer-in-ms", "30s", "without a unit"),
        ("eureka.server.expected-client-renewal-interval-seconds", "0", "a whole number from 1"),
        ("eureka.server.renewal-percent-threshold", "85", "a number from 0 to 1"),
        ("eureka.client.fetch-registry", "perhaps", "true, on, yes, 1"),
        ("heureka.lease-expiry", "never", "one of java, exact"),
        ("heureka.limits.header-bytes", "16 K", "a size such as"),
        ("heureka.limits.header-bytes", "1", "must be at least 1024 bytes"),
        ("server.max-http-request-header-size", "1000", "must be at least 1024 bytes"),
        ("heureka.limits.max-body-bytes-in-flight", "1MB", "must be at least 8388608 bytes"),
        ("heureka.limits.registration-body-bytes", "0", "a size of at least 4096 bytes"),
        ("heureka.limits.batch-body-bytes", "0", "a size of at least 4096 bytes"),
        ("heureka.limits.metadata-max-bytes", "0", "a size of at least 64 bytes"),
        ("heureka.limits.delta-removal-bytes", "0", "a size of at least 65536 bytes"),
        ("heureka.limits.max-body-bytes-in-flight", "0", "must be at least 8388608 bytes"),
        ("heureka.limits.metadata-max-keys", "0", "a whole number from 1"),
        ("heureka.limits.max-instances", "0", "a whole number from 1"),
        ("heureka.limits.header-timeout-ms", "0", "a whole number from 100"),
        ("heureka.limits.header-timeout-ms", "99", "a whole number from 100"),
        ("heureka.limits.body-timeout-ms", "1", "a whole number from 100"),
        ("heureka.limits.body-min-bytes-per-sec", "-1", "0 for none, or a whole number from 64"),
        ("heureka.limits.body-min-bytes-per-sec", "1", "0 for none, or a whole number from 64"),
        ("heureka.limits.body-min-bytes-per-sec", "63", "0 for none, or a whole number from 64"),
        ("heureka.peers.dns-interval-ms", "1", "a whole number from 100"),
        ("spring.lifecycle.timeout-per-shutdown-phase", "soon", "a length of time"),
        ("heureka.placement.http-workers", "0", "auto or a whole number"),
        ("server.address", "not an address", "IP address"),
        ("server.servlet.context-path", "ctx", "starts with a slash"),
        ("management.endpoints.web.base-path", "/eureka", "must not begin with /eureka, /v1 or /v2"),
        ("management.endpoints.web.base-path", "/V2/apps", "must not begin with /eureka, /v1 or /v2"),
        ("eureka.dashboard.path", "/eureka", "must not begin with /eureka, /v1 or /v2"),
        ("eureka.dashboard.path", "/actuator", "must not be that of management.endpoints.web.base-path"),
        ("eureka.client.service-url.defaultZone", "peer2:8761", "http://"),
        ("eureka.client.service-url", "http://a/", "eureka.client.service-url.NAME"),
        ("eureka.server.my-url", "http://", "names no host"),
        ("heureka.peers.dns-urls", "http://_http._tcp.eureka:8761/", "must not name a port"),
        ("heureka.peers.dns-urls", "http://10.0.0.1:8761/", "must have a name as its host"),
        ("heureka.peers.dns-urls", "eureka:8761", "has no http://"),
        ("logging.level.root", "loud", "trace, debug"),
        ("spring.security.user.name", "x", "spring.security.user.password"),
        ("eureka.client.use-dns-for-fetching-service-urls", "true", "eureka-server-d-n-s-name"),
        ("eureka.client.proxy-host", "p", "proxy-port"),
        ("server.ssl.certificate", "c.pem", "certificate-private-key"),
        ("server.ssl.bundle", "b", "spring.ssl.bundle.pem.b"),
        ("server.ssl.enabled", "true", "server.ssl.key-store"),
        ("server.ssl.key-store", "classpath:node.p12", "no class path"),
        ("eureka.environment", "{cipher}abc", "Spring Cloud Config"),
        ("eureka.environment", "${eureka.environment}", "its own value"),
    ];
    for (key, value, expected) in rows {
        let error = Start::new().yml(&format!("\n{key}: '{value}'\n")).error();
        for part in [key, "application.yml:2", expected] {
            assert!(error.contains(part), "{part} is missing in: {error}");
        }
        assert!(error.contains(value), "{value} is missing in: {error}");
    }
}

#[test]
fn paths_that_no_request_can_name_are_refused() {
    let keys = [
        "server.servlet.context-path",
        "management.endpoints.web.base-path",
        "management.server.base-path",
        "eureka.dashboard.path",
    ];
    for key in keys {
        for path in
            ["/a/../b", "/..", "/a/.", "/a//b", "/a b", "/a%20b", "/a;b", "/a?b", "/a#b", "/\u{fc}", "/a\\b"]
        {
            let pairs = [(key, path), ("management.server.port", "9000")];
            let error = Settings::from_properties(&pairs).expect_err(path).to_string();
            for part in [key, &format!("{path:?}"), "without empty segments, . and .., of letters"] {
                assert!(error.contains(part), "{part} is missing in: {error}");
            }
        }
        for path in ["/", "/a/", "/a/b-1._~", "/a..b", "/...", "/.well-known"] {
            let pairs = [(key, path), ("management.server.port", "9000")];
            Settings::from_properties(&pairs).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
    }
    Settings::from_properties(&[("server.servlet.context-path", "//a")]).expect_err("an empty segment");
}

#[test]
fn paths_that_do_not_collide_are_taken() {
    for pairs in [
        [("management.endpoints.web.base-path", "/eureka2"), ("eureka.dashboard.path", "/eureka-page")],
        [("management.endpoints.web.base-path", "/"), ("eureka.dashboard.path", "/")],
        [("management.endpoints.web.base-path", "/eureka"), ("management.server.port", "-1")],
        [("eureka.dashboard.path", "/eureka"), ("eureka.dashboard.enabled", "false")],
        [("eureka.dashboard.path", "/actuator"), ("management.server.port", "9000")],
        [("server.max-http-request-header-size", "1"), ("heureka.limits.header-bytes", "1KB")],
        [("heureka.limits.body-min-bytes-per-sec", "0"), ("heureka.limits.body-timeout-ms", "100")],
    ] {
        Settings::from_properties(&pairs).unwrap_or_else(|error| panic!("{pairs:?}: {error}"));
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let pairs = [("server.port", "x"), ("eureka.client.enabled", "y"), ("eureka.server.my-url", "z")];
    let Err(ConfigError::Invalid(problems)) = Settings::from_properties(&pairs) else {
        panic!("should be refused")
    };
    assert_eq!(problems.len(), 3);
    assert_eq!(problems[0].to_string().lines().count(), 1);
}

#[test]
fn broken_files_name_file_and_line() {
    let yaml = Start::new().yml("a: 1\nb: [\n").error();
    assert!(yaml.contains("application.yml"), "{yaml}");
    let twice = Start::new().yml("a: 1\na: 2\n").error();
    assert!(twice.contains("application.yml, line 2"), "{twice}");
    let properties = Start::new().file("application.properties", "a=\\u00g1\n").error();
    assert!(properties.contains("application.properties, line 1"), "{properties}");
    let json = Start::new().env("SPRING_APPLICATION_JSON", "{").error();
    assert!(json.contains("SPRING_APPLICATION_JSON"), "{json}");
}

#[test]
fn imports_of_imports_end() {
    let loop_of_two = Start::new()
        .yml("spring.config.import: b.yml\n")
        .file("b.yml", "spring.config.import: application.yml\n");
    loop_of_two.loaded();
    let chain = (0..40).fold(Start::new().yml("spring.config.import: f0.yml\n"), |start, n| {
        start.file(&format!("f{n}.yml"), &format!("spring.config.import: f{}.yml\n", n + 1))
    });
    assert!(chain.error().contains("levels deep"));
}

#[test]
fn empty_values_count_as_not_set() {
    let start =
        Start::new().env("SERVER_PORT", "").yml("eureka.client.fetch-registry:\neureka.environment:\n");
    let settings = start.settings();
    assert_eq!((settings.server.port, settings.client.fetch_registry), (8761, true));
    assert_eq!(settings.environment, "test");
    assert_eq!(start.notices().lines().count(), 2, "{}", start.notices());
}

#[test]
fn java_s_formula_comes_back_only_if_it_is_asked_for() {
    let renewals = |pairs: &[(&str, &str)]| {
        Settings::from_properties(pairs).unwrap().registry.self_preservation.expected_renewals
    };
    let formula = |secs, clients| ExpectedRenewals::JavaFormula {
        renewal_interval_secs: secs,
        initial_clients: clients,
    };
    assert_eq!(renewals(&[]), ExpectedRenewals::FromLeases);
    assert_eq!(renewals(&[("eureka.server.expectedClientRenewalIntervalSeconds", "10")]), formula(10, 1));
    assert_eq!(renewals(&[("eureka.server.expectedNumberOfRenewsPerMin", "4")]), formula(30, 4));
    let modern = "eureka.instance.registry.expected-number-of-clients-sending-renews";
    assert_eq!(
        renewals(&[(modern, "7"), ("eureka.server.expectedNumberOfRenewsPerMin", "4")]),
        formula(30, 7)
    );
    let traffic = |pairs: &[(&str, &str)]| {
        Settings::from_properties(pairs).unwrap().registry.sync.default_open_for_traffic_count
    };
    let old = ("eureka.server.defaultOpenForTrafficCount", "0");
    let modern = ("eureka.instance.registry.default-open-for-traffic-count", "3");
    assert_eq!((traffic(&[]), traffic(&[old]), traffic(&[old, modern])), (1, 0, 3));
}

#[test]
fn one_key_can_stand_in_for_another() {
    let given = |pairs: &[(&str, &str)]| Settings::from_properties(pairs).unwrap();
    let header = ("server.max-http-request-header-size", "8KB");
    assert_eq!(given(&[header]).limits.header_bytes, 8_192);
    assert_eq!(given(&[header, ("heureka.limits.header-bytes", "4KB")]).limits.header_bytes, 4_096);
    assert_eq!(given(&[("server.tomcat.max-connections", "7")]).limits.max_connections, 7);
    let phase = ("spring.lifecycle.timeout-per-shutdown-phase", "20s");
    assert_eq!(given(&[phase]).server.shutdown_timeout_ms, 20_000);
    assert_eq!(given(&[phase, ("heureka.shutdown-timeout-ms", "9")]).server.shutdown_timeout_ms, 9);
    assert_eq!(given(&[phase, ("server.shutdown", "immediate")]).server.shutdown_timeout_ms, 0);
    let password = given(&[("spring.security.user.password", HASH)]).security.basic.unwrap();
    assert_eq!(
        (password.user.as_str(), password.form, password.password.expose()),
        ("user", PasswordForm::Bcrypt, &HASH["{bcrypt}".len()..])
    );
    assert_eq!(given(&[("logging.level.root", "false")]).logging.levels["root"], LogLevel::Off);
    assert_eq!(given(&[("heureka.leaseExpiry", "EXACT")]).registry.lease_expiry, LeaseExpiry::Exact);
}

#[test]
fn proxies_are_believed_on_cloud_platforms_only() {
    let strategy = |start: Start| start.settings().server.forward_headers;
    let on_kubernetes =
        || Start::new().env("KUBERNETES_SERVICE_HOST", "10.0.0.1").env("KUBERNETES_SERVICE_PORT", "443");
    assert_eq!(strategy(Start::new()), ForwardHeaders::None);
    assert_eq!(strategy(on_kubernetes()), ForwardHeaders::Native);
    assert_eq!(strategy(on_kubernetes().arg("--server.forward-headers-strategy=NONE")), ForwardHeaders::None);
    assert_eq!(strategy(on_kubernetes().arg("--spring.main.cloud-platform=none")), ForwardHeaders::None);
    let named =
        |start: Start, name: &str| strategy(start.arg(&format!("--spring.main.cloud-platform={name}")));
    for name in
        ["cloud_foundry", "HEROKU", "sap", "nomad", "azureAppService", "kubernetes", "${PLATFORM:heroku}"]
    {
        assert_eq!(named(Start::new(), name), ForwardHeaders::Native, "{name}");
    }
    for name in ["", " ", "my-own", "${PLATFORM:}", "${PLATFORM:none}", "${PLATFORM}"] {
        assert_eq!(named(Start::new(), name), ForwardHeaders::None, "{name}");
    }
    for name in ["", "${PLATFORM:}"] {
        assert_eq!(named(on_kubernetes(), name), ForwardHeaders::Native, "{name:?} is not set");
    }
    assert_eq!(named(on_kubernetes(), "my-own"), ForwardHeaders::None);
    assert_eq!(
        strategy(Start::new().arg("--server.forwardHeadersStrategy=framework")),
        ForwardHeaders::Framework
    );
}

#[test]
fn the_actuator_may_have_a_port_of_its_own() {
    let listener = |port: &str| {
        Settings::from_properties(&[
            ("management.server.port", port),
            ("server.servlet.context-path", "/ctx/"),
        ])
        .unwrap()
    };
    assert_eq!(listener("8761").management.listener, ManagementListener::Shared);
    assert_eq!(listener("-1").management.listener, ManagementListener::Off);
    let separate = listener("9000");
    assert!(matches!(separate.management.listener, ManagementListener::Separate { port: 9000, .. }));
    assert_eq!(separate.instance.status_page_url, "http://localhost:9000/actuator/info");
    assert_eq!(separate.instance.metadata["management.port"], "9000");
    assert_eq!(listener("8761").instance.health_check_url, "http://localhost:8761/ctx/actuator/health");
}

#[test]
fn own_urls_may_name_the_host() {
    let given = |name: &str| {
        let pairs = [("eureka.instance.hostname", "peer1"), ("eureka.instance.home-page-url", name)];
        Settings::from_properties(&pairs).unwrap().instance.home_page_url
    };
    assert_eq!(given("http://${eureka.hostname}/x"), "http://peer1/x");
    assert_eq!(given("http://\\${eureka.hostname}/x"), "http://peer1/x");
    let by_address =
        [("eureka.instance.prefer-ip-address", "true"), ("eureka.instance.ip-address", "10.0.0.9")];
    assert_eq!(Settings::from_properties(&by_address).unwrap().instance.hostname, "10.0.0.9");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_written_panics(
        yml in "(server|eureka|spring|profiles|config|import|port|client|service-url|\\$\\{|\\}|[:.\\[\\]{}'\"#&*!| \\n\\-a-c0-9]){0,30}",
        variable in "(EUREKA|SERVER|CLIENT|SERVICEURL|_|[A-Z0-9_\\-.]){1,8}",
        value in "\\PC{0,20}",
        argument in "(--|-D)?(server|eureka|spring|\\.|=|[a-z\\[\\]0-9]){0,8}",
    ) {
        let _ = Start::new().yml(&yml).env(&variable, &value).arg(&argument).load();
    }

    #[test]
    fn no_value_of_a_known_key_panics(value in "\\PC{0,24}", which in 0_usize..400) {
        let keys: Vec<_> = heureka_config::known_keys().collect();
        let key = &keys[which % keys.len()];
        let _ = Settings::from_properties(&[(key.name, &value)]);
        let _ = Settings::from_properties(&[(&format!("{}.x", key.name), &value)]);
        let _ = Settings::from_properties(&[(&format!("{}[0]", key.name), &value)]);
    }
}
