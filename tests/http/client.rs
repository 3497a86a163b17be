//! A node under test and a plain HTTP client for it: one connection, kept open, no library that tidies anything up.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::time::Duration;

use heureka::testing::TestServer;
use serde_json::{Value, json};

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Answer {
    /// Value of a header, in any letter case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

/// A connection to a listener.
pub(super) struct Client {
    port: u16,
    connection: RefCell<BufReader<TcpStream>>,
}

impl Client {
    fn to(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        Self { port, connection: RefCell::new(BufReader::new(stream)) }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Sends a request and reads its answer.
    pub(super) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\n", self.port);
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut connection = self.connection.borrow_mut();
        connection.get_mut().write_all(text.as_bytes()).expect("the request is sent");
        read_answer(&mut connection, method)
    }

    /// A GET without headers.
    pub(super) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// A GET as browsers send it.
    pub(super) fn browse(&self, path: &str) -> Answer {
        self.send("GET", path, &[("Accept", "text/html,application/xml;q=0.9,*/*;q=0.8")], "")
    }

    /// Body of a GET that must succeed.
    pub(super) fn page(&self, path: &str) -> String {
        let answer = self.browse(path);
        assert_eq!(answer.status, 200, "{path}");
        answer.body
    }
}

/// A running node and a connection to it.
pub(super) struct Site {
    // Dropped first: a node that stops waits for open connections.
    client: Client,
    server: TestServer,
}

impl Deref for Site {
    type Target = Client;
    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Site {
    /// Starts a node with these properties. Reads show at once what was written.
    pub(super) fn start(properties: &[(&str, &str)]) -> Self {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let mut all: Vec<(String, String)> = properties.iter().map(owned).collect();
        all.push(owned(&("eureka.server.use-read-only-response-cache", "false")));
        let server = TestServer::start(&all);
        Self { client: Client::to(server.port()), server }
    }

    /// A client of the actuator's own listener.
    pub(super) fn management(&self) -> Client {
        Client::to(self.server.management_port().expect("a listener of its own"))
    }

    /// Registers an instance.
    pub(super) fn register(&self, app: &str, id: &str, members: &Value) {
        let mut instance = json!({
            "instanceId": id,
            "app": app,
            "hostName": "host",
            "ipAddr": "10.0.0.1",
            "status": "UP",
            "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
        });
        for (name, value) in members.as_object().expect("an object") {
            instance[name] = value.clone();
        }
        let path = format!("/eureka/apps/{}", encoded(app));
        let body = json!({ "instance": instance }).to_string();
        let answer = self.send("POST", &path, &[("Content-Type", "application/json")], &body);
        assert_eq!(answer.status, 204, "{}", answer.body);
    }
}

/// A name as one path segment.
pub(super) fn encoded(name: &str) -> String {
    name.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

fn read_answer(connection: &mut BufReader<TcpStream>, method: &str) -> Answer {
    let mut line = || {
        let mut line = String::new();
        connection.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    };
    let first = line();
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line");
    let mut headers = Vec::new();
    loop {
        let line = line();
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut answer = Answer { status, headers, body: String::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    if method != "HEAD" {
        let mut body = vec![0; length];
        connection.read_exact(&mut body).expect("a body");
        answer.body = String::from_utf8_lossy(&body).into_owned();
    }
    answer
}
