//! Bodies that never end: their connections do, whatever their senders send or do not send.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::support::{KEPT, call, node, until_closed};
use crate::golden::http::read_answer;
use crate::waiting::until;

/// Time for a body in these tests.
const BODY_TIMEOUT: (&str, &str) = ("heureka.limits.body-timeout-ms", "300");

/// Where a body in chunks can stall.
const STALLS: [&str; 6] = ["5\r\nab", "5\r\nabcde\r\n", "", "5;x=", "5\r\nabcde", "5\r\nabcde\r\n0\r\n"];

/// Sends the head of a request whose body comes in chunks, and a part of that body.
fn begin(port: u16, line: &str, part: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    stream.write_all(head(line, part).as_bytes()).expect("sent");
    stream
}

fn head(line: &str, part: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{part}"
    )
}

/// Reads an answer that says that it is the last one, and the end of the connection behind it.
fn last_answer(stream: impl Read, line: &str) -> u16 {
    let mut reader = BufReader::new(stream);
    let answer = read_answer(&mut reader, line).expect("an answer");
    assert_eq!(answer.header("connection"), Some("close"), "{line}: {}", answer.status);
    until_closed(&mut reader).unwrap_or_else(|error| panic!("{line}: still open: {error}"));
    answer.status
}

#[test]
fn a_body_that_stalls_ends_its_connection_on_every_route() {
    let node = node(&[BODY_TIMEOUT]);
    let routes = [
        ("PUT /eureka/apps/CART/c2", 408),
        ("POST /eureka/apps/CART", 408),
        ("POST /eureka/peerreplication/batch", 408),
        ("GET /eureka/apps", 408),
        ("GET /nothing", 404),
    ];
    let open: Vec<_> = routes
        .iter()
        .flat_map(|&(line, status)| STALLS.map(|part| (begin(node.port(), line, part), line, part, status)))
        .collect();
    for (stream, line, part, status) in open {
        assert_eq!(last_answer(stream, line), status, "{line} {part:?}");
    }
}

#[test]
fn a_body_that_stalls_ends_its_connection_on_a_listener_of_its_own() {
    let node = node(&[BODY_TIMEOUT, ("management.server.port", "0")]);
    let port = node.management_port().expect("a listener of its own");
    for (line, status) in [("GET /actuator/health", 408), ("GET /nothing", 404)] {
        let open = STALLS.map(|part| begin(port, line, part));
        open.into_iter().for_each(|stream| assert_eq!(last_answer(stream, line), status, "{line}"));
    }
}

#[test]
fn drops_keep_no_connection_open() {
    let node = node(&[BODY_TIMEOUT]);
    let mut stream = begin(node.port(), "PUT /eureka/apps/CART/c2", "ffff\r\n");
    let answer = read_answer(&mut BufReader::new(&stream), "PUT").expect("an answer");
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    let is_cut = (0..1_000).any(|_| {
        let is_cut = stream.write_all(b"x").is_err();
        is_cut || !matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    });
    assert!(is_cut, "a body that comes drop by drop holds its connection");
}

#[test]
fn a_flood_behind_a_refusal_is_not_read_for_ever() {
    let node = node(&[]);
    let mut stream = begin(node.port(), "POST /eureka/apps/CART", "");
    let chunk = [b"100000\r\n", &[b' '; 1 << 20][..], b"\r\n"].concat();
    let sent = (0..1024).take_while(|_| stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 1024, "{sent} MB were read");
}

#[test]
fn who_sends_a_long_body_in_chunks_to_its_end_gets_an_answer() {
    let node = node(&[]);
    let chunk = [b"100000\r\n", &[b' '; 1 << 20][..], b"\r\n"].concat();
    let rest = [chunk.repeat(4), b"0\r\n\r\n".to_vec()].concat();
    for _ in 0..10 {
        let mut stream = begin(node.port(), "POST /eureka/apps/CART", "");
        stream.write_all(&rest).expect("sent, though refused");
        assert_eq!(last_answer(stream, "POST"), 413);
    }
}

#[test]
fn bodies_without_end_keep_nobody_out() {
    let node = node(&[BODY_TIMEOUT, ("heureka.limits.max-connections-per-address", "3")]);
    let held = [(); 3].map(|()| begin(node.port(), "PUT /eureka/apps/CART/c2", "5\r\nab"));
    for stream in &held {
        assert_eq!(last_answer(stream, "PUT"), 408);
    }
    // The other side of the connections is still open.
    until("there is room for others", || call(node.port(), "GET", "/eureka/apps", &[], b"").status == 200);
    drop(held);
}

#[test]
fn a_connection_too_many_is_closed_behind_its_answer() -> io::Result<()> {
    let node = node(&[("heureka.limits.max-connections-per-address", "1")]);
    let held = TcpStream::connect(("127.0.0.1", node.port()))?;
    (&held).write_all(KEPT)?;
    assert_eq!(read_answer(&mut BufReader::new(&held), "GET")?.status, 200);
    let stream = TcpStream::connect(("127.0.0.1", node.port()))?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    (&stream).write_all(KEPT)?;
    assert_eq!(last_answer(&stream, "GET"), 503);
    Ok(())
}
