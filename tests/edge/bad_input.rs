//! Bodies, paths and queries that cannot be used: a clear 4xx each, and everybody else's answers stay right.

use super::support::{assert_unharmed, call, fresh_node, get, instance, post, raw, register, request};

/// Every body here must be refused with 400, and the answer must say something.
#[test]
fn bodies_that_are_no_instance_are_refused_in_words() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let right = instance("ORDERS", "i-1");
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let mut bodies: Vec<Vec<u8>> =
        ["", "{", "null", "[]", "{}", "{\"instance\":[]}", "{\"instance\":null}", "\"x\"", "1e999"]
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
    bodies.extend((1..right.len()).step_by(7).map(|end| right.as_bytes()[..end].to_vec()));
    bodies.push(right.replace("\"metadata\":{", "\"metadata\":[{").into_bytes());
    bodies.push(right.replace("\"metadata\":{\"k\":\"v\"}", "\"metadata\":{\"k\":{\"a\":1}}").into_bytes());
    bodies.push(right.replace("{\"$\":8080,\"@enabled\":\"true\"}", "\"x\"").into_bytes());
    bodies.push(right.replace("\"MyOwn\"", "\"Elsewhere\"").into_bytes());
    bodies.push(right.replace("\"k\":\"v\"", &format!("\"k\":{deep}")).into_bytes());
    bodies.push(format!("{{\"instance\":{deep}}}").into_bytes());
    bodies.push([b"{\"instance\":{\"app\":\"\xFF\xFE\"}}".as_slice(), b""].concat());
    for body in &bodies {
        let answer = post(port, "ORDERS", body);
        let shown = String::from_utf8_lossy(&body[..body.len().min(120)]).into_owned();
        assert_eq!(answer.status, 400, "{shown}");
        assert!(!answer.body.is_empty(), "no reason for {shown}");
    }
    assert_eq!(get(port, "/eureka/apps/ORDERS").status, 404, "a refused body registered something");
    assert_unharmed(port);
}

#[test]
fn metadata_with_escapes_that_cannot_be_read_is_refused_by_name() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    for value in ["%ff", "%zz", "100%"] {
        let path = format!("/eureka/apps/GOOD/good/metadata?a=1&b={value}");
        let answer = call(port, "PUT", &path, &[], b"");
        assert_eq!(answer.status, 400, "{value}");
        let text = answer.text();
        assert!(text.contains("query parameter \"b\"") && text.contains(value), "{text}");
    }
    let text = get(port, "/eureka/apps/GOOD/good").text();
    assert!(text.contains(r#""metadata":{"k":"v"}"#), "nothing was stored: {text}");
}

#[test]
fn a_refusal_names_the_member_what_was_found_and_what_is_expected() {
    let node = fresh_node();
    let body = instance("ORDERS", "i-1").replace("{\"$\":8080,\"@enabled\":\"true\"}", "[1]");
    let text = post(node.port(), "ORDERS", body.as_bytes()).text();
    for part in [
        "\"error\": \"cannot parse request body\"",
        "instance.port",
        "expected",
        "\"example\":{\"instance\":",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn xml_bombs_and_broken_xml_are_refused() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><instance><hostName>&b;</hostName></instance>";
    let deep = format!("<instance>{}{}</instance>", "<a>".repeat(100_000), "</a>".repeat(100_000));
    let unclosed = "<instance><hostName>h</hostName>";
    for body in [bomb, &deep, unclosed, "<other/>", "text", "<instance><port>x</port></instance>"] {
        let answer = call(
            port,
            "POST",
            "/eureka/apps/ORDERS",
            &[("Content-Type", "application/xml")],
            body.as_bytes(),
        );
        assert_eq!(answer.status, 400, "{}", &body[..body.len().min(80)]);
        assert!(
            answer.text().starts_with("<error><message>cannot parse request body</message>"),
            "{}",
            answer.text()
        );
    }
    assert_unharmed(port);
}

#[test]
fn hostile_texts_travel_unharmed_through_every_format() {
    let node = fresh_node();
    let port = node.port();
    let id = "i]]><script>&amp;\\u0000\\u0001\\ud83d\\ude00";
    let body = instance("ORDERS", id).replace("\"k\":\"v\"", "\"a b/:\\u0002\":\"<&\\u0007>\",\"\":\"x\"");
    assert_eq!(post(port, "ORDERS", body.as_bytes()).status, 204);
    let json = get(port, "/eureka/apps");
    serde_json::from_slice::<serde_json::Value>(&json.body).expect("valid JSON");
    for accept in ["application/xml", "text/html"] {
        let xml = call(port, "GET", "/eureka/apps", &[("Accept", accept)], b"").text();
        let mut reader = quick_xml::Reader::from_str(&xml);
        loop {
            match reader.read_event().expect("well-formed XML") {
                quick_xml::events::Event::Eof => break,
                _ => continue,
            }
        }
        assert!(
            !xml.bytes().any(|byte| byte < 0x20 && byte != b'\n' && byte != b'\t'),
            "control characters in XML"
        );
    }
}

#[test]
fn ids_with_every_awkward_character_can_be_registered_and_renewed() {
    let node = fresh_node();
    let port = node.port();
    let ids = [
        ("a/b", "a%2Fb"),
        ("100%", "100%25"),
        ("a#b", "a%23b"),
        ("h:svc:80", "h:svc:80"),
        ("h:svc:81", "h%3Asvc%3A81"),
        ("a b", "a%20b"),
        ("test#1.[3.?]!", "test%231.%5B3.%3F%5D!"),
        ("ключ", "%D0%BA%D0%BB%D1%8E%D1%87"),
        ("a;b", "a%3Bb"),
        ("..", "%2E%2E"),
    ];
    for (id, encoded) in ids {
        register(port, "ODD", id);
        let path = format!("/eureka/apps/ODD/{encoded}");
        assert_eq!(call(port, "PUT", &path, &[], b"").status, 200, "{id}");
        assert_eq!(get(port, &path).status, 200, "{id}");
        assert_eq!(call(port, "DELETE", &path, &[], b"").status, 200, "{id}");
    }
}

#[test]
fn names_of_ten_thousand_characters_are_refused_or_served_but_never_harm() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let long = "x".repeat(10_000);
    let answer = post(port, &long, instance(&long, "i").as_bytes());
    assert!([204, 400, 414, 431].contains(&answer.status), "{}", answer.status);
    if answer.status == 204 {
        assert_eq!(call(port, "DELETE", &format!("/eureka/apps/{long}/i"), &[], b"").status, 200);
    }
    assert_eq!(get(port, &format!("/eureka/apps/{long}/{long}")).status, 414);
    assert_unharmed(port);
}

#[test]
fn queries_that_cannot_be_used_change_nothing() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let cases = [
        ("PUT", "/eureka/apps/GOOD/good?lastDirtyTimestamp=abc", 400),
        ("PUT", "/eureka/apps/GOOD/good?lastDirtyTimestamp=99999999999999999999", 400),
        ("PUT", "/eureka/apps/GOOD/good/status", 400),
        ("PUT", "/eureka/apps/GOOD/good/status?value=up", 400),
        ("PUT", "/eureka/apps/GOOD/good/status?value=DOWN&lastDirtyTimestamp=x", 400),
        ("DELETE", "/eureka/apps/GOOD/good/status?value=%00", 400),
        ("PUT", "/eureka/apps/GOOD/nobody/status?value=bogus", 404),
        ("PUT", "/eureka/apps/%zz/x", 400),
        ("GET", "/eureka/apps/%FF", 400),
    ];
    for (method, path, status) in cases {
        assert_eq!(call(port, method, path, &[], b"").status, status, "{method} {path}");
    }
    assert_unharmed(port);
}

#[test]
fn content_types_that_are_not_understood_are_refused() {
    let node = fresh_node();
    let port = node.port();
    let body = instance("ORDERS", "i-1");
    for (content_type, status) in [
        ("text/plain", 415),
        ("application/json;charset=utf-16", 415),
        ("application/x-www-form-urlencoded", 415),
        ("json", 400),
        ("application/json;charset=UTF-8", 204),
    ] {
        let answer =
            call(port, "POST", "/eureka/apps/ORDERS", &[("Content-Type", content_type)], body.as_bytes());
        assert_eq!(answer.status, status, "{content_type}");
    }
}

#[test]
fn conflicting_lengths_and_half_requests_end_without_harm() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let smuggled = b"POST /eureka/apps/GOOD HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX";
    let twice =
        b"POST /eureka/apps/GOOD HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef";
    let negative = b"POST /eureka/apps/GOOD HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n";
    for bytes in
        [&smuggled[..], &twice[..], &negative[..], b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nno header\r\n\r\n"]
    {
        let answer = raw(port, bytes, "POST").expect("an answer");
        // The library below answers, without a text.
        let found = (answer.status, answer.text(), answer.header("connection"));
        assert_eq!(found, (400, String::new(), Some("close")), "{}", String::from_utf8_lossy(bytes));
    }
    let chunked = "POST /eureka/apps/GOOD HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["0x5\r\nabcde\r\n0\r\n\r\n", "5\r\nabcdefg\r\n0\r\n\r\n", "fffffffffffffffff\r\n"] {
        let answer = raw(port, format!("{chunked}{body}").as_bytes(), "POST").expect("an answer");
        let text = "the body broke off: it ended early, or in a chunk that is none";
        assert_eq!((answer.status, &*answer.text()), (400, text), "{body:?}");
    }
    let whole =
        request("POST", "/eureka/apps/ORDERS", &[("Content-Type", "application/json")], b"{\"instance\":{}}");
    for end in (1..whole.len()).step_by(11) {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        std::io::Write::write_all(&mut stream, &whole[..end]).expect("sent");
    }
    assert_unharmed(port);
}

#[test]
fn a_bad_item_of_a_batch_costs_that_item_only() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let good = r#"{"appName":"GOOD","id":"good","action":"Heartbeat"}"#;
    let items = [
        good,
        r#"{"appName":"GOOD","id":"good","action":"Bogus"}"#,
        r#"{"id":"good","action":"Heartbeat"}"#,
        r#"{"appName":"GOOD","id":"x","action":"Register"}"#,
        r#"{"appName":"GOOD","id":"x","action":"Register","instanceInfo":{"app":"OTHER","hostName":"h","ipAddr":"1"}}"#,
        r#"{"appName":"GOOD","id":"good","action":"StatusUpdate","status":"bogus"}"#,
        r#"{"appName":"GOOD","id":"good","action":"Heartbeat","lastDirtyTimestamp":"soon"}"#,
        good,
    ];
    let body = format!("{{\"replicationList\":[{}]}}", items.join(","));
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json")];
    let answer = call(port, "POST", "/eureka/peerreplication/batch/", &headers, body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let value: serde_json::Value = serde_json::from_slice(&answer.body).expect("JSON");
    let codes: Vec<i64> = value["responseList"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|item| item["statusCode"].as_i64().unwrap_or(0))
        .collect();
    assert_eq!(codes, [200, 400, 400, 400, 400, 400, 400, 200]);
    for whole in ["{}", "null", "[]", "{\"replicationList\":5}", "{\"replicationList\":[1]}", "{"] {
        assert_eq!(
            call(port, "POST", "/eureka/peerreplication/batch", &headers, whole.as_bytes()).status,
            400,
            "{whole}"
        );
    }
    assert_unharmed(port);
}
