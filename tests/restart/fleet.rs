//! Clients that live through restarts of their server as Java clients do: each renews its lease and follows the registry by
//! deltas, on a connection of its own. Whatever they must never see ends them with words.

use std::collections::BTreeSet;
use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::node::{Client, Node};

const APPS: [&str; 2] = ["SHOP", "CART"];
const DIRTY: i64 = 1_000;
/// Between two turns of one client.
const PAUSE: Duration = Duration::from_millis(250);
/// Every so often a client fetches everything, besides the first time on each connection.
const TURNS_PER_FETCH: usize = 8;
const PATIENCE: Duration = Duration::from_secs(180);

/// The clients, each on a thread.
pub(super) struct Fleet {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Where the server listens; what was there before it ended does not answer any more.
    port: AtomicU16,
    is_over: AtomicBool,
    turns: Vec<AtomicUsize>,
}

impl Fleet {
    /// Registers so many clients and waits until a node shows them all; then they begin.
    pub(super) fn start(node: &Node, size: usize) -> Self {
        let mut registrar = node.client();
        (0..size).for_each(|index| registrar.register(app(index), &id(index), DIRTY));
        let mut fetches = std::iter::repeat_with(|| node.fetch());
        assert!(fetches.any(|fetched| fetched.ids().len() == size));
        let (port, is_over) = (AtomicU16::new(node.port), AtomicBool::new(false));
        let shared =
            Arc::new(Shared { port, is_over, turns: (0..size).map(|_| AtomicUsize::new(0)).collect() });
        let live = |index| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || Member { index, shared, connection: None, view: BTreeSet::new() }.live())
        };
        let threads = (0..size).map(live).collect();
        Self { shared, threads }
    }

    /// The server is there from now on.
    pub(super) fn moves_to(&self, node: &Node) {
        self.shared.port.store(node.port, Ordering::SeqCst);
    }

    /// Waits until every client has renewed and looked several times more.
    pub(super) fn goes_on(&self) {
        let turns = || self.shared.turns.iter().map(|turns| turns.load(Ordering::SeqCst));
        let wanted: Vec<usize> = turns().map(|turns| turns + 3).collect();
        let begin = Instant::now();
        while turns().zip(&wanted).any(|(turns, wanted)| turns < *wanted) {
            let has_ended = self.threads.iter().any(JoinHandle::is_finished);
            assert!(!has_ended, "a client has seen what it must not, see above");
            assert!(begin.elapsed() < PATIENCE, "the clients do not go on");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends them.
    pub(super) fn end(self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().expect("a client that saw nothing wrong"));
    }
}

fn app(index: usize) -> &'static str {
    APPS[index % APPS.len()]
}

fn id(index: usize) -> String {
    format!("id-{index:03}")
}

struct Member {
    index: usize,
    shared: Arc<Shared>,
    connection: Option<Client>,
    /// All instances that it knows of.
    view: BTreeSet<String>,
}

impl Member {
    fn live(mut self) {
        for turn in 0.. {
            if self.shared.is_over.load(Ordering::SeqCst) {
                return;
            }
            match self.turn(turn) {
                Ok(()) => {
                    self.shared.turns[self.index].fetch_add(1, Ordering::SeqCst);
                }
                // The server is away: what is known stays, and the next turn asks again.
                Err(_) => self.connection = None,
            }
            thread::sleep(PAUSE);
        }
    }

    fn turn(&mut self, turn: usize) -> Result<()> {
        let is_new = self.connection.is_none();
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Client::try_to(self.shared.port.load(Ordering::SeqCst))?,
        };
        if is_new || turn % TURNS_PER_FETCH == self.index % TURNS_PER_FETCH {
            self.fetch(&mut connection)?;
        }
        let beat = format!(
            "/eureka/apps/{}/{}?status=UP&lastDirtyTimestamp={DIRTY}",
            app(self.index),
            id(self.index)
        );
        let answer = connection.send("PUT", &beat, "")?;
        assert_eq!(answer.status, 200, "{} would have to register again", id(self.index));
        self.follow(&mut connection)?;
        self.connection = Some(connection);
        Ok(())
    }

    fn fetch(&mut self, connection: &mut Client) -> Result<()> {
        let (document, _) = Self::read(connection, "/eureka/apps")?;
        self.view = instances(&document).map(|(id, _)| id).collect();
        self.assert_whole("a full document");
        Ok(())
    }

    /// Applies a delta; if that does not lead to the hash of the server, everything is fetched.
    fn follow(&mut self, connection: &mut Client) -> Result<()> {
        let (delta, hash) = Self::read(connection, "/eureka/apps/delta")?;
        for (id, action) in instances(&delta) {
            let _ = if action == "DELETED" { self.view.remove(&id) } else { self.view.insert(id) };
        }
        self.assert_whole("a delta");
        if hash == format!("UP_{}_", self.view.len()) { Ok(()) } else { self.fetch(connection) }
    }

    fn read(connection: &mut Client, path: &str) -> Result<(Value, String)> {
        let answer = connection.send("GET", path, "")?;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let hash = document["applications"]["apps__hashcode"].as_str().expect("a hash").to_owned();
        Ok((document, hash))
    }

    fn assert_whole(&self, what: &str) {
        let (found, size) = (self.view.len(), self.shared.turns.len());
        assert_eq!(found, size, "{} knows of {found} instances after {what}", id(self.index));
    }
}

/// Ids and actions in a document.
fn instances(document: &Value) -> impl Iterator<Item = (String, &str)> {
    let applications = document["applications"]["application"].as_array().into_iter().flatten();
    let all = applications.flat_map(|app| app["instance"].as_array().into_iter().flatten());
    all.map(|instance| {
        let text = |name: &str| instance[name].as_str().unwrap_or_default();
        (text("instanceId").to_owned(), text("actionType"))
    })
}
