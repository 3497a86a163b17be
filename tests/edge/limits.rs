//! Bounds on size, time and number.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{assert_unharmed, call, fresh_node, get, instance, node, post, raw, register, request};
use crate::golden::http::{gzip, read_answer};
use crate::waiting::{until, until_some};

const JSON: (&str, &str) = ("Content-Type", "application/json");

#[test]
fn large_bodies_and_gzip_bombs_are_refused() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let large = instance("ORDERS", &"x".repeat(10 << 20));
    assert_eq!(post(port, "ORDERS", large.as_bytes()).status, 413);
    let bomb = gzip(&vec![b' '; 60 << 20]).expect("compressed");
    assert!(bomb.len() < 1 << 20, "the bomb itself passes the limit");
    let answer = call(port, "POST", "/eureka/apps/ORDERS", &[JSON, ("Content-Encoding", "gzip")], &bomb);
    assert_eq!(answer.status, 413);
    let answer =
        call(port, "POST", "/eureka/peerreplication/batch", &[JSON, ("Content-Encoding", "gzip")], &bomb);
    assert_eq!(answer.status, 413);
    let answer = call(port, "POST", "/eureka/apps/ORDERS", &[JSON, ("Content-Encoding", "gzip")], b"no gzip");
    assert_eq!(answer.status, 400);
    let small = gzip(instance("ORDERS", "i-1").as_bytes()).expect("compressed");
    assert_eq!(
        call(port, "POST", "/eureka/apps/ORDERS", &[JSON, ("Content-Encoding", "gzip")], &small).status,
        204
    );
    assert_eq!(call(port, "DELETE", "/eureka/apps/ORDERS/i-1", &[], b"").status, 200);
    assert_unharmed(port);
}

#[test]
fn long_heads_are_refused() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let long = "x".repeat(20_000);
    assert_eq!(call(port, "GET", "/eureka/apps", &[("X-Long", &long)], b"").status, 431);
    let huge = format!("GET /eureka/apps HTTP/1.1\r\nHost: x\r\nX-Huge: {}\r\n\r\n", "y".repeat(1 << 20));
    match raw(port, huge.as_bytes(), "GET") {
        Ok(answer) => assert!([400, 431].contains(&answer.status), "{}", answer.status),
        Err(_) => { /* The connection was closed under the flood, which is an answer too. */ }
    }
    assert_eq!(get(port, &format!("/eureka/apps/{long}")).status, 414);
    assert_unharmed(port);
}

#[test]
fn metadata_is_bounded_at_registration_and_at_every_change() {
    let node = node(&[
        ("eureka.server.use-read-only-response-cache", "false"),
        ("heureka.limits.metadata-max-keys", "3"),
        ("heureka.limits.metadata-max-bytes", "100"),
    ]);
    let port = node.port();
    register(port, "GOOD", "good");
    let many =
        instance("ORDERS", "i-1").replace("\"k\":\"v\"", "\"a\":\"1\",\"b\":\"2\",\"c\":\"3\",\"d\":\"4\"");
    assert_eq!(post(port, "ORDERS", many.as_bytes()).status, 400);
    let long = instance("ORDERS", "i-1").replace("\"k\":\"v\"", &format!("\"k\":\"{}\"", "v".repeat(200)));
    assert_eq!(post(port, "ORDERS", long.as_bytes()).status, 400);
    let merge =
        |query: &str| call(port, "PUT", &format!("/eureka/apps/GOOD/good/metadata?{query}"), &[], b"").status;
    assert_eq!(merge("a=1&b=2"), 200);
    assert_eq!(merge("c=3"), 400);
    assert_eq!(merge(&format!("a={}", "x".repeat(200))), 400);
    let text = get(port, "/eureka/apps/GOOD/good").text();
    assert!(text.contains(r#""metadata":{"k":"v","a":"1","b":"2"}"#), "{text}");
}

#[test]
fn a_slow_body_is_cut_off_and_holds_nobody_up() {
    let node = node(&[
        ("eureka.server.use-read-only-response-cache", "false"),
        ("heureka.limits.body-timeout-ms", "700"),
    ]);
    let port = node.port();
    register(port, "GOOD", "good");
    let head = "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{";
    let mut slow = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    slow.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    slow.write_all(head.as_bytes()).expect("sent");
    assert_unharmed(port);
    let answer = read_answer(&mut BufReader::new(&slow), "POST").expect("an answer");
    assert_eq!(answer.status, 408);
}

#[test]
fn large_bodies_together_have_a_bound_and_small_ones_pass() {
    let limits = ["registration-body-bytes", "batch-body-bytes", "max-body-bytes-in-flight"]
        .map(|name| format!("heureka.limits.{name}"));
    let node = node(&[
        ("eureka.server.use-read-only-response-cache", "false"),
        (&limits[0], "64KB"),
        (&limits[1], "64KB"),
        (&limits[2], "64KB"),
    ]);
    let port = node.port();
    register(port, "GOOD", "good");
    let large = format!("{:60000}", instance("ORDERS", "large"));
    let head = format!(
        "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        large.len()
    );
    let mut held = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    held.write_all(head.as_bytes()).expect("sent");
    held.write_all(&large.as_bytes()[..59_999]).expect("sent but for the last byte");
    // As soon as the node has the first one, there is no room for another.
    let refused = until_some("a large body is refused", || {
        Some(post(port, "ORDERS", large.as_bytes())).filter(|answer| answer.status != 204)
    });
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let scrape = get(port, "/actuator/prometheus").text();
    assert!(scrape.contains("\neureka_bodies_in_flight_limit_bytes 65536\n"), "{scrape}");
    register(port, "GOOD", "good");
    drop(held);
    until("the room of a body that was given up is free again", || {
        post(port, "ORDERS", large.as_bytes()).status == 204
    });
}

#[test]
fn a_silent_connection_is_closed() {
    let node = node(&[("heureka.limits.header-timeout-ms", "500")]);
    let mut silent = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    silent.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    silent.write_all(b"GET /eureka/apps HTTP/1.1\r\nHost").expect("sent");
    let mut rest = Vec::new();
    silent.read_to_end(&mut rest).expect("the node closes the connection");
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 408"), "{}", String::from_utf8_lossy(&rest));
}

#[test]
fn one_address_cannot_take_all_connections() {
    let node = node(&[("heureka.limits.max-connections-per-address", "3")]);
    let port = node.port();
    let held: Vec<TcpStream> = (0..3)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            stream.write_all(b"GET /eureka/apps HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
            read_answer(&mut BufReader::new(&stream), "GET").expect("an answer");
            stream
        })
        .collect();
    let refused = raw(port, &request("GET", "/eureka/apps", &[], b""), "GET").expect("an answer");
    assert_eq!((refused.status, refused.header("connection")), (503, Some("close")));
    drop(held);
    until("places of closed connections are free again", || {
        raw(port, &request("GET", "/eureka/apps", &[], b""), "GET").is_ok_and(|a| a.status == 200)
    });
}

#[test]
fn a_connection_stays_usable_after_refusals_and_bodies_nobody_needs() {
    let node = fresh_node();
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut reader = BufReader::new(&stream);
    let exchanges = [
        ("PUT", "/eureka/apps/A/i", "{}", 404),
        ("DELETE", "/eureka/apps/A/i", "{\"a\":1}", 404),
        ("GET", "/eureka/nosuch", "x", 404),
        ("PATCH", "/eureka/apps", "x", 405),
        ("GET", "/eureka/apps", "", 200),
    ];
    for (method, path, body, status) in exchanges {
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        (&stream).write_all(head.as_bytes()).expect("sent");
        let answer = read_answer(&mut reader, method).expect("an answer on the same connection");
        assert_eq!(answer.status, status, "{method} {path}");
    }
}

#[test]
fn c13_an_offer_of_an_upgrade_is_overlooked_and_the_connection_stays_usable() {
    let node = fresh_node();
    register(node.port(), "GOOD", "good");
    let head = "GET /eureka/apps HTTP/1.1\r\nHost: x\r\nAccept: application/json\r\nConnection: Upgrade\r\nUpgrade: TLS/1.2\r\n\r\n";
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut reader = BufReader::new(&stream);
    for _ in 0..3 {
        (&stream).write_all(head.as_bytes()).expect("sent on the same connection");
        let answer = read_answer(&mut reader, "GET").expect("an answer on the same connection");
        assert_eq!((answer.status, answer.header("connection")), (200, None));
        assert!(answer.text().contains("UP_1_"));
    }
}

#[test]
fn a_reader_that_never_reads_holds_nobody_up() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let silent: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
            for _ in 0..200 {
                stream.write_all(b"GET /eureka/apps HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
            }
            stream
        })
        .collect();
    assert_unharmed(port);
    drop(silent);
    assert_unharmed(port);
}

#[test]
fn one_auto_scaling_group_too_many_is_refused_for_now() {
    let node = node(&[("heureka.asg.enabled", "true"), ("eureka.server.use-aws-asg-api", "false")]);
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut reader = BufReader::new(&stream);
    let mut switch_off = |group: usize| {
        let path = format!("/eureka/asg/g-{group}/status?value=DISABLED");
        let head = format!("PUT {path} HTTP/1.1\r\nHost: x\r\nx-netflix-discovery-replication: true\r\n\r\n");
        (&stream).write_all(head.as_bytes()).expect("sent");
        read_answer(&mut reader, "PUT").expect("an answer")
    };
    for group in 0..10_000 {
        assert_eq!(switch_off(group).status, 200);
    }
    let refused = switch_off(10_000);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(switch_off(0).status, 200, "a group that is known");
}

#[test]
fn a_body_is_refused_where_something_is_and_overlooked_where_nothing_is() {
    let properties = [
        ("heureka.limits.body-timeout-ms", "300"),
        ("management.endpoints.web.exposure.include", "*"),
        ("server.servlet.context-path", "/ctx"),
    ];
    let node = node(&properties);
    for (line, is_known) in [
        ("POST /ctx/actuator/refresh", true),
        ("GET /ctx/actuator/health", true),
        ("POST /ctx/actuator/metrics/x", true),
        ("POST /ctx/actuator", true),
        ("POST /ctx/", true),
        ("GET /ctx/lastn", true),
        ("POST /ctx", true),
        ("POST /ctx/eureka", true),
        ("POST /ctx/eureka/", true),
        ("POST /ctx/eureka/css/heureka.css", true),
        ("PUT /ctx/eureka/apps/A/i", true),
        ("POST /ctx/nothing", false),
        ("POST /ctx/actuator/nothing", false),
        ("POST /nothing", false),
    ] {
        for (length, status) in [(2 << 20, 413), (2, 408)] {
            let head = format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
            let answer = raw(node.port(), head.as_bytes(), "POST").expect("an answer");
            let expected = if is_known { status } else { 404 };
            assert_eq!((answer.status, answer.header("connection")), (expected, Some("close")), "{line}");
            assert_eq!(answer.text().is_empty(), !is_known, "{line}");
        }
    }
    assert_eq!(call(node.port(), "POST", "/ctx/", &[], b"x").status, 405);
}

#[test]
fn a_head_may_have_96_headers() {
    let node = fresh_node();
    for (count, status) in [(96, 200), (97, 431)] {
        let head = format!("GET /eureka/apps HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-A: b\r\n".repeat(count - 1));
        let answer = raw(node.port(), head.as_bytes(), "GET").expect("an answer");
        assert_eq!(answer.status, status, "{count} headers");
    }
}

#[test]
fn a_target_that_is_no_path_is_refused() {
    let nodes = [
        node(&[("management.server.port", "0")]),
        node(&[("server.servlet.context-path", "/ctx"), ("management.server.port", "0")]),
    ];
    for node in &nodes {
        for port in [Some(node.port()), node.management_port()] {
            let port = port.expect("a listener");
            let answer =
                raw(port, b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n", "CONNECT").expect("an answer");
            assert_eq!((answer.status, answer.header("location")), (400, None));
            assert!(answer.text().contains("slash"), "{}", answer.text());
        }
    }
    let options =
        raw(nodes[0].port(), b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "OPTIONS").expect("an answer");
    assert_eq!(options.status, 404);
}
