//! Metrics: every counter and gauge of the Java server, and those of our own (spec `registry.md` 8, `spring.md` item 67).

use serde_json::json;

use super::client::Site;

const METRICS: (&str, &str) = ("eureka.server.metrics.enabled", "true");
const ALL: (&str, &str) = ("management.endpoints.web.exposure.include", "*");

/// Lines of a metric.
fn lines(scrape: &str, name: &str) -> Vec<String> {
    let is_of = |line: &&str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']));
    scrape.lines().filter(is_of).map(str::to_owned).collect()
}

fn value(scrape: &str, name: &str) -> f64 {
    let lines = lines(scrape, name);
    let [line] = lines.as_slice() else { panic!("{name}: {lines:?}") };
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn item_67_instances_by_application_and_status_follow_every_change() {
    let site = Site::start(&[METRICS]);
    let rows = || {
        site.get("/eureka/apps");
        let mut rows = lines(&site.get("/actuator/prometheus").body, "eureka_server_instances");
        rows.sort();
        rows
    };
    let row = |status: &str, count: u32| {
        format!("eureka_server_instances{{application=\"X\",status=\"{status}\"}} {count}")
    };
    assert_eq!(rows(), Vec::<String>::new());
    site.register("x", "x-1", &json!({}));
    site.register("x", "x-2", &json!({}));
    assert_eq!(rows(), [row("UP", 2)]);
    assert_eq!(site.send("PUT", "/eureka/apps/X/x-1/status?value=OUT_OF_SERVICE", &[], "").status, 200);
    assert_eq!(rows(), [row("OUT_OF_SERVICE", 1), row("UP", 1)], "Java misses this one");
    assert_eq!(site.send("DELETE", "/eureka/apps/X/x-2", &[], "").status, 200);
    assert_eq!(rows(), [row("OUT_OF_SERVICE", 1)], "rows without instances disappear");
}

#[test]
fn item_67_the_metric_is_off_by_default() {
    let site = Site::start(&[]);
    site.register("x", "x-1", &json!({}));
    site.get("/eureka/apps");
    let scrape = site.get("/actuator/prometheus").body;
    assert!(!scrape.contains("eureka_server_instances"));
    assert!(scrape.contains("eureka_instances{status=\"UP\"} 1"));
}

#[test]
fn every_counter_counts() {
    let site = Site::start(&[]);
    site.register("A", "a-1", &json!({}));
    site.register("A", "a-2", &json!({}));
    let calls = [
        ("PUT", "/eureka/apps/A/a-1", 200),
        ("PUT", "/eureka/apps/A/none", 404),
        ("PUT", "/eureka/apps/A/a-1/status?value=DOWN", 200),
        ("DELETE", "/eureka/apps/A/a-1/status", 200),
        ("DELETE", "/eureka/apps/A/a-2", 200),
        ("DELETE", "/eureka/apps/A/none", 404),
        ("GET", "/eureka/apps", 200),
        ("GET", "/eureka/apps/delta", 200),
        ("GET", "/eureka/apps/A", 200),
        ("GET", "/eureka/vips/none", 200),
    ];
    for (method, path, status) in calls {
        assert_eq!(site.send(method, path, &[], "").status, status, "{method} {path}");
    }
    let scrape = site.get("/actuator/prometheus").body;
    let counters = [
        ("registrations", 2.0),
        ("registrations_direct", 2.0),
        ("renewals", 2.0),
        ("renewals_not_found", 1.0),
        ("cancels", 2.0),
        ("cancels_not_found", 1.0),
        ("evictions", 0.0),
        ("status_updates", 1.0),
        ("status_override_removals", 1.0),
        ("fetches_full", 1.0),
        ("fetches_delta", 1.0),
        ("fetches_application", 1.0),
        ("fetches_vip", 1.0),
        ("rate_limited_requests", 0.0),
        ("rate_limited_full_fetches", 0.0),
        ("rate_limit_candidates", 0.0),
        ("rate_limit_candidates_full_fetches", 0.0),
        ("actor_panics", 0.0),
        ("refused_writes", 0.0),
        ("refused_registrations", 0.0),
        ("refused_connections", 0.0),
    ];
    for (name, expected) in counters {
        assert_eq!(value(&scrape, &format!("eureka_{name}_total")), expected, "{name}");
    }
    let heartbeats = "http_server_requests_seconds_count{method=\"PUT\",outcome=\"SUCCESS\",status=\"200\",\
                      uri=\"/eureka/apps/{app}/{id}\"} 1";
    assert!(scrape.contains(heartbeats), "{scrape}");
}

#[test]
fn gauges_show_the_state_of_the_node() {
    let site = Site::start(&[]);
    site.register("A", "a-1", &json!({"vipAddress": "va,vb"}));
    site.register("B", "b-1", &json!({}));
    assert_eq!(site.send("PUT", "/eureka/apps/B/b-1/status?value=DOWN", &[], "").status, 200);
    site.get("/eureka/apps");
    let scrape = site.get("/actuator/prometheus").body;
    let gauges = [
        ("eureka_leases", 2.0),
        ("eureka_applications", 2.0),
        ("eureka_status_overrides", 1.0),
        ("eureka_renewals_last_minute", 0.0),
        ("eureka_renewals_threshold", 3.0),
        ("eureka_expected_clients", 2.0),
        ("eureka_renewals_below_threshold", 0.0),
        ("eureka_lease_expiration_enabled", 0.0),
        ("eureka_self_preservation_enabled", 1.0),
        ("eureka_access_allowed", 1.0),
        ("eureka_opened", 1.0),
        ("eureka_cache_backlog", 0.0),
        ("eureka_writes_in_flight", 0.0),
        ("eureka_vip_addresses", 2.0),
        ("eureka_http_connections", 1.0),
        ("eureka_cache_documents", 1.0),
    ];
    for (name, expected) in gauges {
        assert_eq!(value(&scrape, name), expected, "{name}");
    }
    assert!(value(&scrape, "eureka_delta_entries") >= 2.0 && value(&scrape, "eureka_view_version") >= 1.0);
    assert!(
        value(&scrape, "process_start_time_seconds") > 1.6e9
            && value(&scrape, "process_uptime_seconds") >= 0.0
    );
    if cfg!(target_os = "linux") {
        for name in [
            "process_resident_memory_bytes",
            "process_open_fds",
            "process_max_fds",
            "process_threads",
            "system_cpu_count",
        ] {
            assert!(value(&scrape, name) > 0.0, "{name}");
        }
        assert!(value(&scrape, "process_cpu_seconds_total") >= 0.0);
        assert!(value(&scrape, "process_cpu_usage") <= 1.0);
    }
}

#[test]
fn the_text_has_the_form_that_was_asked_for() {
    let site = Site::start(&[]);
    let plain = site.get("/actuator/prometheus");
    assert_eq!(plain.header("content-type"), Some("text/plain;version=0.0.4;charset=utf-8"));
    assert!(
        plain.body.contains("# TYPE eureka_registrations_total counter\n") && !plain.body.contains("# EOF")
    );
    let accept =
        [("Accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.4")];
    let open = site.send("GET", "/actuator/prometheus", &accept, "");
    assert_eq!(open.header("content-type"), Some("application/openmetrics-text;version=1.0.0;charset=utf-8"));
    assert!(open.body.contains("# TYPE eureka_registrations counter\n") && open.body.ends_with("# EOF\n"));
    for line in plain.body.lines().filter(|line| line.starts_with("# HELP ")) {
        assert!(line.ends_with('.') && !line.ends_with(".."), "{line}");
    }
}

#[test]
fn every_metric_is_documented() {
    let site = Site::start(&[METRICS]);
    site.register("A", "a-1", &json!({}));
    site.get("/eureka/apps");
    let scrape = site.get("/actuator/prometheus").body;
    let manual = include_str!("../../docs/metrics.md");
    for line in scrape.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
        let name = line.split(' ').next().expect("a name");
        assert!(manual.contains(&format!("`{name}`")), "{name} is missing in docs/metrics.md");
    }
}

#[test]
fn single_metrics_have_boots_form() {
    let site = Site::start(&[METRICS, ALL]);
    let metric = |query: &str| site.get(&format!("/actuator/metrics/eureka.server.instances{query}"));
    let before = metric("");
    assert_eq!((before.status, before.body.as_str()), (404, ""));
    site.register("ORDERS", "o-1", &json!({}));
    site.register("ORDERS", "o-2", &json!({"status": "DOWN"}));
    site.get("/eureka/apps");
    let all = metric("").json();
    assert_eq!(all["measurements"], json!([{"statistic": "VALUE", "value": 2.0}]));
    let tags =
        json!([{"tag": "application", "values": ["ORDERS"]}, {"tag": "status", "values": ["DOWN", "UP"]}]);
    assert_eq!(all["availableTags"], tags);
    let down = metric("?tag=application:ORDERS&tag=status:DOWN").json();
    assert_eq!((&down["measurements"][0]["value"], &down["availableTags"]), (&json!(1.0), &json!([])));
    assert_eq!(metric("?tag=status:STARTING").status, 404);
    let names = site.get("/actuator/metrics").json();
    let has = |name: &str| names["names"].as_array().is_some_and(|names| names.contains(&json!(name)));
    assert!(
        has("eureka.server.instances") && has("http.server.requests") && has("process.cpu.seconds"),
        "{names}"
    );
    assert_eq!(site.get("/actuator/metrics/none").status, 404);
}
