//! A server that answers as badly as it is told to, until it shall behave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

const DRIP: Duration = Duration::from_millis(20);

/// How it answers, batches and all else.
#[derive(Clone, Copy, Debug)]
pub(super) enum Manner {
    /// Bytes that are no HTTP.
    Garbage,
    /// Nothing; the connection ends.
    Closes,
    /// Less than it has announced.
    Truncates,
    /// Headers without end.
    NeverEndingHead,
    /// Nothing, and the connection stays.
    Never,
    /// Byte by byte, for ever, in the head or in the body.
    DribblesHead,
    DribblesBody,
    /// This status, with a `Location` of its own.
    Status(&'static str),
    /// 200 with this type and body.
    Body(&'static str, &'static str),
    /// 200 with the answers to a longer batch.
    TooManyAnswers,
    /// 200 with a body that is not compressed as it says.
    BrokenGzip,
    /// 400 to every batch with this instance.
    RefusesWith(&'static str),
}

/// The server.
pub(super) struct BadPeer {
    pub(super) port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    manner: Mutex<Manner>,
    port: u16,
    behaves: AtomicBool,
    was_followed: AtomicBool,
    items: Mutex<Vec<Value>>,
}

impl BadPeer {
    pub(super) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (behaves, was_followed) = (AtomicBool::new(false), AtomicBool::new(false));
        let manner = Mutex::new(manner);
        let shared = Arc::new(Shared { manner, port, behaves, was_followed, items: Mutex::default() });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = Arc::clone(&own);
                thread::spawn(move || own.serve(stream));
            }
        });
        Self { port, shared }
    }

    pub(super) fn manner(&self) -> Manner {
        self.shared.manner()
    }

    pub(super) fn set(&self, manner: Manner) {
        *self.shared.manner.lock().expect("a manner") = manner;
    }

    /// From now on it answers 200 to every item.
    pub(super) fn behave(&self) {
        self.shared.behaves.store(true, Ordering::SeqCst);
    }

    /// True if somebody went where it had pointed to.
    pub(super) fn was_followed(&self) -> bool {
        self.shared.was_followed.load(Ordering::SeqCst)
    }

    /// All items that it has answered properly, in order.
    pub(super) fn items(&self) -> Vec<Value> {
        self.shared.items.lock().expect("items").clone()
    }
}

impl Shared {
    fn manner(&self) -> Manner {
        *self.manner.lock().expect("a manner")
    }

    /// Answers the requests of one connection. It ends when one side has had enough.
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some((path, body)) = read(&mut reader) {
            if path == "/followed" {
                self.was_followed.store(true, Ordering::SeqCst);
            }
            if self.answer(reader.get_mut(), &body).is_none() {
                return;
            }
        }
    }

    fn answer(&self, to: &mut TcpStream, body: &str) -> Option<()> {
        let list: Vec<Value> = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|document| document["replicationList"].as_array().cloned())
            .unwrap_or_default();
        let manner = self.manner();
        let refuses = matches!(manner, Manner::RefusesWith(id) if list.iter().any(|item| item["id"] == id));
        let is_bad = !matches!(manner, Manner::RefusesWith(_)) && !self.behaves.load(Ordering::SeqCst);
        if refuses {
            return send(to, "400 Bad Request", "text/plain", "", "no");
        }
        if is_bad {
            return self.misbehave(manner, to, list.len());
        }
        self.items.lock().expect("items").extend(list.iter().cloned());
        send(to, "200 OK", "application/json", "", &answers(list.len()))
    }

    fn misbehave(&self, manner: Manner, to: &mut TcpStream, items: usize) -> Option<()> {
        match manner {
            Manner::Garbage => to.write_all(b"\x16\x03\x01 no HTTP at all\r\n\r\n").ok().and(None),
            Manner::Closes | Manner::RefusesWith(_) => None,
            Manner::Truncates => to
                .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"responseList\":")
                .ok()
                .and(None),
            Manner::NeverEndingHead => {
                to.write_all(b"HTTP/1.1 200 OK\r\n").ok()?;
                while to.write_all(b"X-More: and more, and more, and more, and more\r\n").is_ok() {}
                None
            }
            Manner::Never => self.drip(to, b""),
            Manner::DribblesHead => {
                to.write_all(b"HTTP/1.1 200 OK\r\nX-More: ").ok()?;
                self.drip(to, b"x")
            }
            Manner::DribblesBody => {
                to.write_all(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
                )
                .ok()?;
                self.drip(to, b" ")
            }
            Manner::Status(status) => {
                let location = format!("Location: http://127.0.0.1:{}/followed\r\n", self.port);
                send(to, status, "text/plain", &location, "go away")
            }
            Manner::Body(kind, body) => send(to, "200 OK", kind, "", body),
            Manner::TooManyAnswers => send(to, "200 OK", "application/json", "", &answers(items + 1)),
            Manner::BrokenGzip => {
                send(to, "200 OK", "application/json", "Content-Encoding: gzip\r\n", &answers(items))
            }
        }
    }

    /// Sends a byte now and then until it shall behave or nobody listens.
    fn drip(&self, to: &mut TcpStream, drop: &[u8]) -> Option<()> {
        while !self.behaves.load(Ordering::SeqCst) {
            to.write_all(drop).ok()?;
            thread::sleep(DRIP);
        }
        None
    }
}

fn answers(items: usize) -> String {
    format!(r#"{{"responseList":[{}]}}"#, vec![r#"{"statusCode":200}"#; items].join(","))
}

fn send(to: &mut TcpStream, status: &str, kind: &str, more: &str, body: &str) -> Option<()> {
    let length = body.len();
    let text =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {length}\r\n\r\n{body}");
    to.write_all(text.as_bytes()).ok()
}

/// Path and body of the next request.
fn read(reader: &mut BufReader<TcpStream>) -> Option<(String, String)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let path = line.split(' ').nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, String::from_utf8(body).ok()?))
}
