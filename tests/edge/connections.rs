//! Connections that callers use in unusual ways: requests behind requests, bodies that are announced and never sent.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{fresh_node, get, instance, raw, register};
use crate::golden::http::{gzip, read_answer};

/// Sends two requests at once and reads both answers; what comes behind them is returned too.
fn two(port: u16, first: (&str, &str), headers: &str, second: &str) -> [u16; 2] {
    let (method, path) = first;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let text = format!(
        "{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\nGET {second} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).expect("sent");
    let mut reader = BufReader::new(stream);
    let first = read_answer(&mut reader, method).expect("the first answer");
    let second = read_answer(&mut reader, "GET").expect("the second answer");
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest).expect("the end");
    assert!(rest.is_empty(), "{method} {path}: {} bytes too many", rest.len());
    [first.status, second.status]
}

#[test]
fn head_has_no_body_even_if_a_request_stands_behind_it() {
    let node = fresh_node();
    register(node.port(), "ORDERS", "i-1");
    let paths = [
        "/eureka/apps",
        "/eureka/apps/delta",
        "/eureka/apps/ORDERS",
        "/eureka/apps/ORDERS/i-1",
        "/eureka/vips/orders.vip",
        "/eureka/status",
        "/",
        "/lastn",
        "/actuator/prometheus",
        "/eureka/apps/ORDERS?x=%zz",
    ];
    for path in paths {
        for headers in ["", "Accept-Encoding: gzip\r\n"] {
            let answers = two(node.port(), ("HEAD", path), headers, "/eureka/apps/ORDERS/i-1");
            assert_eq!(answers, [200, 200], "{path} {headers}");
        }
    }
}

#[test]
fn a_body_that_is_announced_too_long_is_refused_before_it_is_sent() {
    let node = fresh_node();
    for (line, limit) in [
        ("POST /eureka/apps/ORDERS", 1 << 20),
        ("POST /eureka/peerreplication/batch", 8 << 20),
        ("PUT /eureka/apps/ORDERS/i-1", 1 << 20),
    ] {
        let head = format!(
            "{line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            limit + 1
        );
        let answer = raw(node.port(), head.as_bytes(), "POST").expect("an answer");
        assert_eq!((answer.status, answer.header("connection")), (413, Some("close")), "{line}");
        assert!(answer.text().contains(&limit.to_string()), "{}", answer.text());
    }
}

#[test]
fn a_gzip_body_of_several_members_is_one_body() {
    let node = fresh_node();
    let text = instance("ORDERS", "i-1");
    let (first, second) = text.as_bytes().split_at(60);
    let body = [gzip(first).expect("compressed"), gzip(second).expect("compressed")].concat();
    let head = format!(
        "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let answer = raw(node.port(), &[head.as_bytes(), &body].concat(), "POST").expect("an answer");
    assert_eq!(answer.status, 204, "{}", answer.text());
    assert_eq!(get(node.port(), "/eureka/apps/ORDERS/i-1").status, 200);
}
