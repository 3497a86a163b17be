//! A stand-in server for the harness's own tests: it gives the answers that it was told, one for each connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::case::Case;
use super::expected::Expected;
use super::http::{Answer, gzip};
use super::recording::Scenario;

/// Starts a server that gives answers in order and ends with the last one. They are made when the port is known.
pub(crate) fn start(answers: impl FnOnce(u16) -> Vec<Vec<u8>>) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let answers = answers(port);
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            read_request(&stream);
            stream.write_all(&answer).expect("an answer");
        }
    });
    port
}

/// Starts a server that answers a whole scenario exactly as required.
pub(crate) fn start_as_required(all: &[Scenario], scenario: &Scenario) -> u16 {
    let asked = scenario.exchanges.iter().filter(|exchange| exchange.request.is_some());
    start(|port| {
        let answers = asked.map(|exchange| {
            let case = Case { all, scenario, exchange, port };
            encode(&answer(&case.required().0), case.request().method == "HEAD")
        });
        answers.collect()
    })
}

/// An answer that fulfils the requirement.
pub(crate) fn answer(expected: &Expected) -> Answer {
    let mut headers = Vec::new();
    let mut add = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            headers.push((name.to_owned(), value.clone()));
        }
    };
    add("Content-Type", expected.content_type.as_ref());
    add("Content-Encoding", expected.content_encoding.as_ref());
    add("Allow", expected.allow.as_ref().map(|methods| methods.join(", ")).as_ref());
    add("Location", expected.location.as_ref());
    let closes = expected.closes.is_some_and(|(status, closes)| closes && expected.status == Some(status));
    add("Connection", closes.then(|| "close".to_owned()).as_ref());
    Answer { status: expected.status.expect("a status"), headers, body: expected.sample().into_bytes() }
}

/// The bytes of an answer, compressed if it says so. Odd statuses are sent in chunks, so that both forms are read.
pub(crate) fn encode(answer: &Answer, is_head: bool) -> Vec<u8> {
    let mut out = format!("HTTP/1.1 {} Reason\r\n", answer.status).into_bytes();
    for (name, value) in &answer.headers {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    let is_gzip = answer.header("Content-Encoding") == Some("gzip") && !answer.body.is_empty();
    let body = if is_gzip { gzip(&answer.body).expect("gzip") } else { answer.body.clone() };
    if answer.status == 204 || is_head {
        out.extend_from_slice(b"\r\n");
    } else if answer.status == 200 {
        out.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
        out.extend_from_slice(&body);
    } else {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        if !body.is_empty() {
            out.extend(format!("{:x}\r\n", body.len()).into_bytes());
            out.extend_from_slice(&body);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\n\r\n");
    }
    out
}

fn read_request(stream: &TcpStream) {
    let mut reader = BufReader::new(stream);
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a header");
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        is_chunked |= line.starts_with("transfer-encoding:");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    while is_chunked {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a chunk");
        is_chunked = line != "0\r\n";
    }
}
