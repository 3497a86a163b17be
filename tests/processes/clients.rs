//! Clients that register, renew, are overridden and leave without a pause, each at its node or, if that does not answer, at
//! the next, as Java clients do. They remember what they were told.

use std::collections::BTreeMap;
use std::io::{BufReader, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use heureka_registry::random::{Random, SplitMix64};

use super::nodes::{NODES, Ports};
use crate::golden::http::{Answer, read_answer};
use crate::restart::node::registration;
use crate::waiting::until;

const APP: &str = "SHOP";
const INSTANCES_MAX: usize = 120;
/// How long a client waits for an answer before it asks another node: longer than a busy machine makes it wait for a node
/// that is well.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(1);
const DIRTY: i64 = 100;
const SEED: u64 = 7;
const MANY: usize = 100;

/// What a client knows of its instance.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The node that it asks first.
    node: usize,
    is_overridden: bool,
    is_gone: bool,
    /// A request got no answer: whether it will still be carried out, nobody knows.
    is_in_doubt: bool,
}

/// What clients were told of all instances.
#[derive(Debug, Default)]
pub(super) struct Truth(BTreeMap<String, Known>);

impl Truth {
    /// Id and status of what must be there.
    pub(super) fn shown(&self) -> BTreeMap<String, String> {
        let status = |known: &Known| if known.is_overridden { "OUT_OF_SERVICE" } else { "UP" };
        let there = self.0.iter().filter(|(_, known)| !known.is_gone);
        there.map(|(id, known)| (id.clone(), status(known).to_owned())).collect()
    }

    /// How many instances have left.
    pub(super) fn gone(&self) -> usize {
        self.0.values().filter(|known| known.is_gone).count()
    }
}

/// The clients, on a thread of their own.
pub(super) struct Clients {
    shared: Arc<Shared>,
    thread: JoinHandle<Truth>,
}

#[derive(Default)]
struct Shared {
    is_over: AtomicBool,
    only_living: AtomicBool,
    come_home: AtomicBool,
    answered: [AtomicUsize; NODES],
}

impl Clients {
    pub(super) fn start(ports: Ports) -> Self {
        let shared = Arc::<Shared>::default();
        let own = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            Work { ports, shared: own, random: SplitMix64::new(SEED), truth: Truth::default() }.run()
        });
        Self { shared, thread }
    }

    /// From now on nobody leaves and nothing is overridden.
    pub(super) fn only_live(&self) {
        self.shared.only_living.store(true, Ordering::SeqCst);
        // What has begun ends.
        self.go_on(&(0..NODES).collect::<Vec<_>>());
    }

    /// From now on every client asks its own node first again, as after the end of a session.
    pub(super) fn come_home(&self) {
        self.shared.come_home.store(true, Ordering::SeqCst);
    }

    /// From now on instances are overridden and leave again.
    pub(super) fn change(&self) {
        self.shared.only_living.store(false, Ordering::SeqCst);
    }

    /// Waits until each of these nodes has answered many more requests.
    pub(super) fn go_on(&self, nodes: &[usize]) {
        let answered = |node: &usize| self.shared.answered[*node].load(Ordering::SeqCst);
        let wanted: Vec<usize> = nodes.iter().map(|node| answered(node) + MANY).collect();
        let all_go_on = || nodes.iter().zip(&wanted).all(|(node, wanted)| answered(node) >= *wanted);
        until("clients go on", all_go_on);
    }

    /// Ends them.
    pub(super) fn end(self) -> Truth {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.thread.join().expect("clients do not fail")
    }
}

struct Work {
    ports: Ports,
    shared: Arc<Shared>,
    random: SplitMix64,
    truth: Truth,
}

impl Work {
    fn run(mut self) -> Truth {
        for turn in 0.. {
            if self.shared.is_over.load(Ordering::SeqCst) {
                break;
            }
            if self.shared.come_home.swap(false, Ordering::SeqCst) {
                for (place, known) in self.truth.0.values_mut().enumerate() {
                    known.node = place % NODES;
                }
            }
            self.step(turn);
            std::thread::sleep(PAUSE);
        }
        // A request in doubt may have been carried out after all, also a departure: everybody says once more that it lives.
        let there: Vec<String> = self.truth.shown().into_keys().collect();
        there.iter().for_each(|id| self.renew(id));
        self.truth
    }

    /// Mostly heartbeats; now and then an arrival, an override, a departure.
    fn step(&mut self, turn: usize) {
        let count = self.truth.0.len();
        if count < INSTANCES_MAX && turn.is_multiple_of(4) {
            let id = format!("i-{count:03}");
            // Where those of the same home are, which have noticed if a node is away.
            let same_home = count.checked_sub(NODES).map(|before| format!("i-{before:03}"));
            let node = same_home.map_or(count, |before| self.known(&before).node);
            self.truth.0.insert(id.clone(), Known { node, ..Known::default() });
            return self.register(&id);
        }
        let place = self.draw(count);
        let id = format!("i-{place:03}");
        let known = self.truth.0[&id].clone();
        if known.is_gone {
            return;
        }
        let may_change = !known.is_in_doubt && !self.shared.only_living.load(Ordering::SeqCst);
        let wish = self.draw(40);
        if may_change && wish < 2 {
            self.override_status(&id);
        } else if may_change && wish == 2 {
            let is_done = self.call(&id, "DELETE", &format!("/eureka/apps/{APP}/{id}"), "") == 200;
            self.known(&id).is_gone = is_done;
        } else {
            self.renew(&id);
        }
    }

    /// If a node that does not answer may do it all the same, it is done, whatever the next one knows of the instance.
    fn override_status(&mut self, id: &str) {
        let path = format!("/eureka/apps/{APP}/{id}/status?value=OUT_OF_SERVICE");
        loop {
            let is_done = self.call(id, "PUT", &path, "") == 200;
            self.known(id).is_overridden |= is_done;
            if is_done || !self.known(id).is_in_doubt {
                return;
            }
            self.register(id);
        }
    }

    fn renew(&mut self, id: &str) {
        let path = format!("/eureka/apps/{APP}/{id}?status=UP&lastDirtyTimestamp={DIRTY}");
        if self.call(id, "PUT", &path, "") == 404 {
            self.register(id);
        }
    }

    fn draw(&mut self, below: usize) -> usize {
        usize::try_from(self.random.below(below as u64)).expect("a small number")
    }

    fn known(&mut self, id: &str) -> &mut Known {
        self.truth.0.get_mut(id).expect("a known instance")
    }

    fn register(&mut self, id: &str) {
        let body = registration(APP, id, DIRTY);
        let status = self.call(id, "POST", &format!("/eureka/apps/{APP}"), &body);
        assert_eq!(status, 204, "{id}");
    }

    /// Asks one node after the other until one answers; its status. If a node does not, all its clients go to the next.
    fn call(&mut self, id: &str, method: &str, path: &str, body: &str) -> u16 {
        loop {
            let node = self.known(id).node;
            let port = self.ports[node].load(Ordering::SeqCst);
            if port != 0 {
                match send(port, method, path, body) {
                    Ok(answer) => {
                        self.shared.answered[node].fetch_add(1, Ordering::SeqCst);
                        return answer.status;
                    }
                    Err(_) => self.known(id).is_in_doubt = true,
                }
            }
            let leaving = self.truth.0.values_mut().filter(|known| known.node == node);
            leaving.for_each(|known| known.node = (node + 1) % NODES);
        }
    }
}

fn send(port: u16, method: &str, path: &str, body: &str) -> Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], port)), PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let head = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json";
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}")?;
    read_answer(&mut BufReader::new(stream), method)
}
