//! The rate limiter (conformance 159 to 162 of spec `wire.md`).

use std::time::Instant;

use super::support::{call, instance, node, post};
use crate::golden::http::Answer;
use crate::waiting::until_some;

fn limited(more: &[(&str, &str)]) -> heureka::testing::TestServer {
    let base = [
        ("eureka.server.rate-limiter-enabled", "true"),
        ("eureka.server.rate-limiter-burst-size", "3"),
        ("eureka.server.rate-limiter-registry-fetch-average-rate", "1"),
        ("eureka.server.rate-limiter-full-fetch-average-rate", "1"),
    ];
    node(&[&base, more].concat())
}

fn five_fetches(port: u16, headers: &[(&str, &str)]) -> Vec<u16> {
    (0..5).map(|_| call(port, "GET", "/eureka/apps", headers, b"").status).collect()
}

/// Fetches until one is refused. So many may pass before, and one more with every second that they take.
fn refused(port: u16, headers: &[(&str, &str)], tokens: u64) -> Answer {
    let (start, mut passed) = (Instant::now(), 0);
    let refused = until_some("the bucket is empty", || {
        let answer = call(port, "GET", "/eureka/apps", headers, b"");
        passed += u64::from(answer.status == 200);
        (answer.status == 503).then_some(answer)
    });
    let secs = start.elapsed().as_secs() + 1;
    assert!(passed <= tokens + secs, "{passed} have passed in {secs} s");
    refused
}

#[test]
fn w159_to_w161_a_burst_passes_and_standard_clients_always_do() {
    let node = limited(&[]);
    let port = node.port();
    let statuses: Vec<u16> = (0..3).map(|_| call(port, "GET", "/eureka/apps", &[], b"").status).collect();
    assert_eq!(statuses, [200, 200, 200]);
    let refused = refused(port, &[], 0);
    assert!(refused.body.is_empty() && refused.header("retry-after") == Some("1"));
    assert_eq!(five_fetches(port, &[("DiscoveryIdentity-Name", "DefaultClient")]), [200; 5]);
    assert_eq!(post(port, "ORDERS", instance("ORDERS", "i-1").as_bytes()).status, 204);
    for (method, status) in [("GET", 200), ("PUT", 200), ("DELETE", 200)] {
        assert_eq!(call(port, method, "/eureka/apps/ORDERS/i-1", &[], b"").status, status, "{method}");
    }
}

#[test]
fn w162_throttling_standard_clients_limits_everybody() {
    let node = limited(&[("eureka.server.rate-limiter-throttle-standard-clients", "true")]);
    refused(node.port(), &[("DiscoveryIdentity-Name", "DefaultClient")], 3);
}

#[test]
fn off_by_default_nothing_is_refused() {
    let node = node(&[("eureka.server.rate-limiter-burst-size", "1")]);
    assert_eq!(five_fetches(node.port(), &[]), [200; 5]);
}
