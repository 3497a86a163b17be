//! What a node sends to a peer, byte for byte where Java would notice (`replication.md` 2.7, 3.3; recording
//! `40-replication-sent`).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use heureka::testing::TestServer;

/// Headers and body of one request.
struct Sent {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Sent {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// A peer that answers every batch of one item with 200 and tells what it was sent; fetches get 404.
fn peer() -> (u16, Receiver<Sent>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                while let Some(sent) = read(&mut reader) {
                    let is_batch = sent.line.starts_with("POST");
                    let body = if is_batch { r#"{"responseList":[{"statusCode":200}]}"# } else { "" };
                    let status = if is_batch { "200 OK" } else { "404 Not Found" };
                    let head = "Content-Type: application/json\r\nContent-Length";
                    let answer = format!("HTTP/1.1 {status}\r\n{head}: {}\r\n\r\n{body}", body.len());
                    if reader.get_mut().write_all(answer.as_bytes()).is_err() || tell.send(sent).is_err() {
                        return;
                    }
                }
            });
        }
    });
    (port, told)
}

fn read(reader: &mut impl BufRead) -> Option<Sent> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    let mut sent = Sent { line: line.trim_end().to_owned(), headers, body: String::new() };
    let length: usize = sent.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    sent.body = String::from_utf8(body).ok()?;
    Some(sent)
}

#[test]
fn a_batch_has_the_headers_of_java_and_the_credentials_of_the_url() {
    let (port, told) = peer();
    let url = format!("http://user:p%40ss@127.0.0.1:{port}/eureka/");
    let properties = [
        ("eureka.client.service-url.defaultZone", url.as_str()),
        ("eureka.client.register-with-eureka", "false"),
        ("eureka.instance.ip-address", "127.0.0.1"),
        ("eureka.instance.hostname", "localhost"),
        ("eureka.server.peer-node-read-timeout-ms", "60000"),
    ];
    let owned: Vec<_> = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let node = TestServer::start(&owned);
    let next = |start: &str| {
        loop {
            let sent = told.recv_timeout(Duration::from_secs(60)).expect("a request");
            if sent.line.starts_with(start) {
                return sent;
            }
        }
    };
    let fetch = next("GET");
    assert_eq!(fetch.line, "GET /eureka/apps/ HTTP/1.1");
    assert_eq!(fetch.header("authorization"), Some("Basic dXNlcjpwQHNz"));
    let call = |method: &str, path: &str, body: &str| {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    };
    let instance = r#"{"instance":{"instanceId":"i-1","app":"ORDERS","hostName":"h1.example","ipAddr":"10.0.0.1","status":"UP","dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},"unknownToJava":{"an":["object"]},"lastDirtyTimestamp":"1700000000000"}}"#;
    call("POST", "/eureka/apps/ORDERS", instance);
    let batch = next("POST");
    assert_eq!(batch.line, "POST /eureka/peerreplication/batch/ HTTP/1.1");
    let expected = [
        ("authorization", "Basic dXNlcjpwQHNz"),
        ("accept", "application/json"),
        ("discoveryidentity-id", "127.0.0.1"),
        ("accept-encoding", "gzip"),
        ("discoveryidentity-name", "DefaultServer"),
        ("discoveryidentity-version", "1.0"),
        ("content-type", "application/json"),
    ];
    for (name, value) in expected {
        assert_eq!(batch.header(name), Some(value), "{name}");
    }
    assert!(batch.header("x-heureka-peer").is_some_and(|value| value.starts_with("1;node=")));
    assert!(batch.header("x-netflix-discovery-replication").is_none());
    assert_eq!(batch.header("host"), Some(format!("127.0.0.1:{port}").as_str()));
    assert!(batch.body.starts_with(r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000000,"status":"UP","instanceInfo":{"#));
    assert!(batch.body.ends_with(r#","action":"Register"}]}"#));
    assert!(!batch.body.contains("unknownToJava"));
    call("DELETE", "/eureka/apps/ORDERS/i-1", "");
    let batch = next("POST");
    assert_eq!(
        batch.body,
        r#"{"replicationList":[{"appName":"ORDERS","id":"i-1","lastDirtyTimestamp":1700000000000,"action":"Cancel"}]}"#
    );
}
