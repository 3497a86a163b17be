//! Connections that callers use in unusual ways: requests behind requests, bodies that are announced and never sent.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::support::{
    HEAD_TIMEOUT, KEPT, call, fresh_node, get, instance, is_cut_off, node, raw, register, until_closed,
};
use crate::golden::http::{Answer, gzip, read_answer};

/// Sends two requests at once and reads both answers; what comes behind them is returned too.
fn two(port: u16, first: (&str, &str), headers: &str, second: &str) -> [u16; 2] {
    let (method, path) = first;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
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

#[test]
fn an_offer_of_any_kind_on_any_request_leaves_its_connection_usable() {
    let node = fresh_node();
    register(node.port(), "ORDERS", "i-1");
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let mut reader = BufReader::new(&stream);
    let body = instance("ORDERS", "i-2");
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let whole = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let in_chunks = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let h2c =
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n";
    for offer in [
        "Connection: Upgrade\r\nUpgrade: TLS/1.2\r\n",
        "Connection: keep-alive, upgrade\r\nUpgrade: TLS/1.2\r\n",
        "CONNECTION:Upgrade\r\nUPGRADE:WebSocket\r\n",
        h2c,
    ] {
        for (line, headers, text, status) in [
            ("GET /eureka/apps/ORDERS", "", "", 200),
            ("POST /eureka/apps/ORDERS", whole.as_str(), body.as_str(), 204),
            ("POST /eureka/apps/ORDERS", in_chunks, chunked.as_str(), 204),
            ("PUT /eureka/apps/ORDERS/i-2", "", "", 200),
            ("DELETE /eureka/apps/ORDERS/i-2", "", "", 200),
        ] {
            let request = format!("{line} HTTP/1.1\r\nHost: x\r\n{offer}{headers}\r\n{text}");
            // In two pieces, cut inside the head.
            let (first, second) = request.split_at(line.len() + 30);
            (&stream).write_all(first.as_bytes()).expect("sent");
            std::thread::yield_now();
            (&stream).write_all(second.as_bytes()).expect("sent");
            let answer = read_answer(&mut reader, line).expect("an answer on the same connection");
            assert_eq!((answer.status, answer.header("connection")), (status, None), "{line} {offer}");
        }
    }
}

#[test]
fn every_head_of_a_connection_has_its_time_and_idle_connections_have_more() {
    let node = node(&[HEAD_TIMEOUT]);
    let open = || {
        let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        (&stream).write_all(KEPT).expect("sent");
        assert_eq!(read_answer(&mut BufReader::new(&stream), "GET").expect("an answer").status, 200);
        stream
    };
    let (idle, slow) = (open(), open());
    slow.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    assert!(is_cut_off(&mut &slow), "a head that never ends holds its connection");
    (&idle).write_all(KEPT).expect("sent");
    assert_eq!(read_answer(&mut BufReader::new(&idle), "GET").expect("an answer").status, 200);
}

#[test]
fn a_listener_of_its_own_bounds_every_head_too() {
    let node = node(&[HEAD_TIMEOUT, ("management.server.port", "0")]);
    let port = node.management_port().expect("a listener of its own");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    stream.write_all(b"GET /actuator/health HTTP/1.1\r\nHost: x\r\n\r\n").expect("sent");
    assert_eq!(read_answer(&mut BufReader::new(&stream), "GET").expect("an answer").status, 200);
    stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    assert!(is_cut_off(&mut stream), "a head that never ends holds its connection");
}

#[test]
fn a_sender_that_goes_on_after_a_refusal_still_gets_its_answer() {
    let node = fresh_node();
    let length = 4 << 20;
    let head = format!(
        "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    for _ in 0..10 {
        let mut stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(&vec![b' '; length]).expect("sent, though refused");
        assert_eq!(read_answer(&mut BufReader::new(stream), "POST").expect("an answer").status, 413);
    }
}

/// Sends a request and, in the same packet, a registration with half of its body, then the rest and a third request. What
/// was answered, up to the end of the connection or the third answer: status, and whether it announces the end.
fn three(port: u16, first: &str) -> Vec<(u16, bool)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let body = instance("ORDERS", "i-2");
    let (half, rest) = body.split_at(body.len() / 2);
    let head = format!(
        "{first} HTTP/1.1\r\nHost: x\r\n\r\nPOST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{half}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut answers = Vec::new();
    for method in [first, "POST", "GET"] {
        let Ok(answer) = read_answer(&mut reader, method) else { break };
        answers.push((answer.status, answer.header("connection") == Some("close")));
        if method == first {
            // The node may have closed already.
            let _ = stream
                .write_all(format!("{rest}GET /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        }
    }
    answers
}

#[test]
fn who_is_not_answered_behind_another_request_was_told_that_the_connection_ends() {
    let node = fresh_node();
    register(node.port(), "ORDERS", "i-1");
    for first in ["PUT /eureka/apps/ORDERS/i-1", "GET /eureka/apps", "GET /eureka/apps/ORDERS/i-1", "GET /"] {
        for _ in 0..20 {
            let answers = three(node.port(), first);
            let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
            assert_eq!(statuses[..], [200, 204, 200][..statuses.len()], "{first}");
            let was_told = answers.iter().any(|(_, is_end)| *is_end);
            assert!(answers.len() == 3 || was_told, "{first}: {answers:?}");
        }
    }
}

/// Sends a request whose body comes behind its head, and reads the answer.
fn answer_to(stream: &TcpStream, line: &str, headers: &str, body: &str) -> Answer {
    let head = format!("{line} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    (&*stream).write_all(head.as_bytes()).expect("sent");
    (&*stream).write_all(body.as_bytes()).expect("sent");
    read_answer(&mut BufReader::new(stream), line).expect("an answer")
}

#[test]
fn refusals_that_do_not_depend_on_the_body_keep_the_connection() {
    let node = node(&[("spring.security.user.name", "u"), ("spring.security.user.password", "p")]);
    let (text, credentials) = ("Content-Type: text/plain\r\n", "Authorization: Basic dTpw\r\n");
    let both = format!("{text}{credentials}");
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    stream.set_nodelay(true).expect("an option");
    for (line, headers, status) in [
        ("POST /eureka/apps/ORDERS", &*both, 415),
        ("POST /eureka/peerreplication/batch", &*both, 415),
        ("POST /eureka/apps/ORDERS", text, 401),
        ("POST /eureka/peerreplication/batch", text, 401),
        ("POST /eureka/apps", credentials, 405),
        ("PUT /eureka/apps/ORDERS/i-1", credentials, 404),
        ("GET /eureka/apps", credentials, 200),
    ] {
        for body in ["", "body", &"long ".repeat(100_000)] {
            let answer = answer_to(&stream, line, headers, body);
            assert_eq!((answer.status, answer.header("connection")), (status, None), "{line}");
        }
    }
}

#[test]
fn a_refusal_because_too_many_passwords_wait_keeps_the_connection_too() {
    let hash = format!("{{bcrypt}}{}", bcrypt::hash("p", 8).expect("a hash"));
    let node = node(&[
        ("spring.security.user.name", "u"),
        ("spring.security.user.password", &hash),
        ("heureka.limits.max-waiting-password-checks", "1"),
    ]);
    let (wrong, is_done) = ("Basic dTp3cm9uZw==", AtomicBool::new(false));
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let (headers, body) = (format!("Authorization: {wrong}\r\n"), "long ".repeat(100_000));
    let answers = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                call(node.port(), "GET", "/eureka/apps", &[("Authorization", wrong)], b"");
            }
        });
        let mut answers = Vec::new();
        // Until it has come twice, or a connection has ended.
        while answers.iter().filter(|answer| **answer == (503, false)).count() < 2
            && !answers.iter().any(|(_, is_end)| *is_end)
        {
            let answer = answer_to(&stream, "POST /eureka/apps/ORDERS", &headers, &body);
            answers.push((answer.status, answer.header("connection").is_some()));
        }
        is_done.store(true, Ordering::Relaxed);
        answers
    });
    assert!(answers.iter().all(|answer| matches!(answer, (401 | 503, false))), "{answers:?}");
}

#[test]
fn the_connection_of_a_request_that_was_not_understood_is_closed() {
    let node = fresh_node();
    register(node.port(), "ORDERS", "i-1");
    let json = "Content-Type: application/json\r\n";
    for (line, headers, body) in [
        ("POST /eureka/apps/ORDERS", json, "{"),
        ("POST /eureka/peerreplication/batch", json, "[]"),
        ("GET /eureka/apps/%zz", "", ""),
        ("PUT /eureka/apps/ORDERS/i-1?lastDirtyTimestamp=x", "", ""),
        ("PUT /eureka/apps/ORDERS/i-1/status?value=no", "", ""),
    ] {
        let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let answer = answer_to(&stream, line, headers, body);
        assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{line}");
        until_closed(&mut &stream).expect("the node closes the connection");
    }
}

/// Sends a request that is answered 400 and, in the same packet, another. Nothing but the first answer must come.
fn is_cut_behind_bad_request(port: u16, first: &str, second: &str) {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let text = format!("{first} HTTP/1.1\r\nHost: x\r\n\r\n{second}");
    (&stream).write_all(text.as_bytes()).expect("sent");
    let mut reader = BufReader::new(&stream);
    let answer = read_answer(&mut reader, first).expect("an answer");
    assert_eq!((answer.status, answer.header("connection")), (400, Some("close")), "{first}");
    let mut rest = Vec::new();
    match reader.read_to_end(&mut rest) {
        // It closes without having read everything.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        read => drop(read.expect("the node closes the connection")),
    }
    assert_eq!(String::from_utf8_lossy(&rest), "", "{first}, {second}");
}

#[test]
fn what_came_together_with_a_request_that_was_not_understood_has_no_effect() {
    let node =
        node(&[("eureka.server.use-read-only-response-cache", "false"), ("management.server.port", "0")]);
    register(node.port(), "ORDERS", "i-1");
    let body = instance("ORDERS", "i-2");
    let registration = format!(
        "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let first = "PUT /eureka/apps/ORDERS/i-1?lastDirtyTimestamp=x";
    for second in [
        "DELETE /eureka/apps/ORDERS/i-1 HTTP/1.1\r\nHost: x\r\n\r\n",
        &format!("{registration}{body}"),
        // Its body never comes.
        &registration,
        &format!("{registration}{}", " ".repeat(100_000)),
    ] {
        is_cut_behind_bad_request(node.port(), first, second);
    }
    assert_eq!(get(node.port(), "/eureka/apps/ORDERS/i-1").status, 200);
    assert_eq!(get(node.port(), "/eureka/apps/ORDERS/i-2").status, 404);
    let port = node.management_port().expect("a listener of its own");
    is_cut_behind_bad_request(port, "GET /%zz", "GET /actuator/health HTTP/1.1\r\nHost: x\r\n\r\n");
}

#[test]
fn however_many_requests_stand_behind_each_other_all_are_answered_in_order() {
    let node = fresh_node();
    register(node.port(), "ORDERS", "i-1");
    let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let exchanges = [
        ("PUT /eureka/apps/ORDERS/i-1", 200),
        ("GET /eureka/apps/ORDERS/i-2", 404),
        ("POST /eureka/apps", 405),
        ("GET /eureka/apps/ORDERS/i-1", 200),
    ];
    let requests = exchanges.map(|(line, _)| format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n")).concat();
    let writer = stream.try_clone().expect("the same connection");
    let sending = std::thread::spawn(move || (&writer).write_all(requests.repeat(500).as_bytes()));
    let mut reader = BufReader::new(&stream);
    for turn in 0..500 {
        for (line, status) in exchanges {
            let answer = read_answer(&mut reader, line).expect("an answer");
            assert_eq!(answer.status, status, "{line} in turn {turn}");
        }
    }
    sending.join().expect("no panic").expect("sent");
}
