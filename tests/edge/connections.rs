//! Connections that callers use in unusual ways: requests behind requests.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{fresh_node, register};
use crate::golden::http::read_answer;

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
