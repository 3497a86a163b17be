//! A link in one direction between two nodes: a proxy that passes bytes on, refuses, or swallows them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const LOOK_AGAIN: Duration = Duration::from_millis(1);
const SLOWNESS: Duration = Duration::from_millis(300);

/// What the link does with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Bytes pass.
    Open,
    /// Connections are closed at once, those that exist too.
    Cut,
    /// Connections are taken, and nothing comes back.
    Silent,
    /// What is sent waits until the link is opened.
    Held,
    /// Bytes pass, each piece after a while: longer than a node waits for an answer.
    Slow,
    /// Batches are answered as if the peer had taken them, and get lost.
    Swallow,
    /// The same, and questions for a digest are answered with nonsense.
    Nonsense,
    /// What is sent arrives; the connection ends in the middle of the answer.
    Torn,
}

/// The link.
pub(crate) struct Link {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    target: AtomicU16,
    mode: AtomicU8,
    is_over: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
    sent: Sent,
}

/// What was sent, connection by connection: several are used at once, and their bytes must not be mixed.
#[derive(Default)]
struct Sent(Mutex<Vec<Vec<u8>>>);

impl Sent {
    /// A new connection; its place.
    fn begin(&self) -> usize {
        let mut all = self.0.lock().expect("what was sent");
        all.push(Vec::new());
        all.len() - 1
    }

    fn note(&self, place: usize, bytes: &[u8]) {
        self.0.lock().expect("what was sent")[place].extend_from_slice(bytes);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("what was sent").concat()).into_owned()
    }
}

impl Link {
    /// A link that leads nowhere yet.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let own = Arc::clone(&own);
                thread::spawn(move || own.carry(&stream));
            }
        });
        Self { port, shared }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Where it leads; 0 for nowhere.
    pub(crate) fn lead_to(&self, port: u16) {
        self.shared.target.store(port, Ordering::SeqCst);
        self.shared.close_all();
    }

    /// When it returns, nothing passes any more that passed before and should not now.
    pub(crate) fn set(&self, mode: Mode) {
        let before = self.shared.mode.swap(mode as u8, Ordering::SeqCst);
        let is_instead = |mode: u8| [Mode::Swallow as u8, Mode::Nonsense as u8].contains(&mode);
        if mode == Mode::Cut || is_instead(before) || is_instead(mode as u8) {
            self.shared.close_all();
        }
    }

    /// How many items of an action have been sent, whether they arrived or not.
    pub(crate) fn items(&self, action: &str) -> usize {
        self.sent().matches(&format!(r#""action":"{action}"}}"#)).count()
    }

    /// How many batches have been sent, besides the empty ones that ask for a digest.
    pub(crate) fn batches(&self) -> usize {
        let sent = self.sent();
        let requests = sent.matches("POST /eureka/peerreplication/batch/ HTTP/1.1").count();
        requests - sent.matches("x-heureka-digest: ").count()
    }

    /// Everything that was sent, as text.
    pub(crate) fn sent(&self) -> String {
        self.shared.sent.text()
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.close_all();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Shared {
    fn is(&self, mode: Mode) -> bool {
        self.mode.load(Ordering::SeqCst) == mode as u8
    }

    /// Notes connections, to be closed with all others; false if the link has become another one since they were opened. A
    /// change is made first and the connections are closed then, so that either this sees it or the closing finds them.
    fn hold<const N: usize>(&self, streams: [TcpStream; N], is_as_before: impl FnOnce() -> bool) -> bool {
        let mut connections = self.connections.lock().expect("connections");
        let holds = is_as_before();
        if holds {
            connections.extend(streams);
        }
        holds
    }

    fn close_all(&self) {
        for stream in self.connections.lock().expect("connections").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn carry(self: Arc<Self>, from: &TcpStream) {
        let target = self.target.load(Ordering::SeqCst);
        if self.is(Mode::Cut) || target == 0 {
            return;
        }
        if self.answers_itself() {
            return self.swallow(from);
        }
        let Ok(to) = TcpStream::connect(("127.0.0.1", target)) else { return };
        let _ = (from.set_nodelay(true), to.set_nodelay(true));
        let (Ok(from_too), Ok(to_too)) = (from.try_clone(), to.try_clone()) else { return };
        let leads_there = || self.target.load(Ordering::SeqCst) == target;
        let passes = || !self.is(Mode::Cut) && !self.answers_itself() && leads_there();
        if !self.hold([from_too, to_too], passes) {
            return;
        }
        let (Ok(back_from), Ok(back_to)) = (to.try_clone(), from.try_clone()) else { return };
        let back = Arc::clone(&self);
        let answers = thread::spawn(move || back.copy(back_from, back_to, None));
        let Ok(forth) = from.try_clone() else { return };
        self.copy(forth, to, Some(self.sent.begin()));
        let _ = answers.join();
    }

    fn answers_itself(&self) -> bool {
        self.is(Mode::Swallow) || self.is(Mode::Nonsense)
    }

    /// Takes batches in the place of the peer.
    fn swallow(&self, stream: &TcpStream) {
        let (Ok(too), Ok(mut answers)) = (stream.try_clone(), stream.try_clone()) else { return };
        if !self.hold([too], || self.answers_itself()) {
            return;
        }
        let place = self.sent.begin();
        let mut requests = BufReader::new(stream);
        while let Some(request) = read_request(&mut requests) {
            let items = request.matches(r#""action":""#).count();
            self.sent.note(place, request.as_bytes());
            let is_digest = self.is(Mode::Nonsense) && request.contains("x-heureka-digest: ");
            let mut body =
                format!(r#"{{"responseList":[{}]}}"#, vec![r#"{"statusCode":200}"#; items].join(","));
            let mut more = "";
            if is_digest {
                (body, more) = ("nonsense".to_owned(), "x-heureka-digest: 2\r\n");
            }
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nx-heureka-peer: 1;node=swallow;epoch=1\r\n{more}\
                 Content-Length: {}\r\n\r\n{body}",
                body.len()
            );
            if answers.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Passes bytes on in one direction. `place` is where requests are noted; answers have none.
    fn copy(&self, mut from: TcpStream, mut to: TcpStream, place: Option<usize>) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            if let Some(place) = place {
                self.sent.note(place, &buffer[..count]);
            }
            while self.is(Mode::Held) {
                thread::sleep(LOOK_AGAIN);
            }
            if self.is(Mode::Slow) {
                thread::sleep(SLOWNESS);
            }
            if self.is(Mode::Silent) {
                continue;
            }
            let is_torn = place.is_none() && self.is(Mode::Torn);
            let count = if is_torn { count / 2 } else { count };
            if to.write_all(&buffer[..count]).is_err() || is_torn {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
}

/// A request with its head and body; `None` at the end.
fn read_request(requests: &mut impl BufRead) -> Option<String> {
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let mut line = String::new();
        requests.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    requests.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8_lossy(&body))
}
