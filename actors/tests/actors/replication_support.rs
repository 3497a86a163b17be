//! A peer of the test's own: it keeps what it was sent and answers as it was told.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix::{Actor, Addr};
use bytes::Bytes;
use heureka_actors::replicator::{
    BatchHead, PeerIdentity, PeerLink, PeerReplicatorActor, PeerReply, PeerTransport, PlacedStamps,
    Replication, Sending, TransportError,
};
use heureka_actors::{ChangeSink, Clock, Handle, Options, Running, start};
use heureka_protocol::Limits;
use heureka_registry::StartedFrom;
use heureka_registry::replication::QueueSettings;

use crate::support::{WALL_START_MS, options};

/// What the peer does with one batch.
#[derive(Clone)]
pub enum Plan {
    /// This status for every item.
    Codes(&'static [u16]),
    /// This body with 200.
    Body(String),
    /// This status for the whole batch.
    Status(u16),
    Unreachable,
    TimedOut,
    Panic,
    /// As `Codes(&[200])`, but after so long.
    Slow(Duration),
    /// It says who it is.
    Says(PeerIdentity),
    /// This answer.
    Tells(Box<PeerReply>),
}

/// A batch as the peer saw it: tokio's time in milliseconds, and the items' actions and ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub at_ms: u64,
    pub items: Vec<String>,
    pub body: String,
    pub head: BatchHead,
}

pub struct FakePeer {
    clock: Clock,
    plans: Mutex<VecDeque<Plan>>,
    received: Mutex<Vec<Received>>,
}

impl FakePeer {
    fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Self { clock, plans: Mutex::default(), received: Mutex::default() })
    }

    /// What it does with the next batches; afterwards it answers 200 to everything.
    pub fn plan(&self, plans: impl IntoIterator<Item = Plan>) {
        self.plans.lock().unwrap().extend(plans);
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// All items in order.
    pub fn items(&self) -> Vec<String> {
        self.received().into_iter().flat_map(|batch| batch.items).collect()
    }

    fn reply(status: u16, body: String, identity: Option<PeerIdentity>) -> PeerReply {
        let content_type = Some("application/json".to_owned());
        let (clock, stamps) = (None, PlacedStamps::default());
        PeerReply { status, content_type, body: body.into(), identity, clock, stamps }
    }
}

fn answers(codes: &[u16], items: usize) -> String {
    let codes = codes.iter().copied().cycle().take(items);
    let list: Vec<String> = codes.map(|code| format!("{{\"statusCode\":{code}}}")).collect();
    format!("{{\"responseList\":[{}]}}", list.join(","))
}

/// `Action id` of each item.
fn items_of(body: &str) -> Vec<String> {
    let items = heureka_protocol::batch::read_list(body.as_bytes(), &Limits::default()).unwrap();
    items
        .into_iter()
        .map(|item| item.unwrap())
        .map(|item| format!("{} {}", item.task.action().as_str(), item.id))
        .collect()
}

impl PeerTransport for FakePeer {
    fn send(&self, body: Bytes, head: BatchHead) -> Sending {
        let body = String::from_utf8(body.to_vec()).unwrap();
        let items = items_of(&body);
        let count = items.len();
        let at_ms = self.clock.uptime_ms();
        self.received.lock().unwrap().push(Received { at_ms, items, body, head });
        let plan = self.plans.lock().unwrap().pop_front().unwrap_or(Plan::Codes(&[200]));
        Box::pin(async move {
            match plan {
                Plan::Codes(codes) => Ok(Self::reply(200, answers(codes, count), None)),
                Plan::Body(body) => Ok(Self::reply(200, body, None)),
                Plan::Status(status) => Ok(Self::reply(status, String::new(), None)),
                Plan::Unreachable => Err(TransportError::Unreachable("connection refused".to_owned())),
                Plan::TimedOut => Err(TransportError::TimedOut("200 ms".to_owned())),
                Plan::Panic => panic!("a transport that panics"),
                Plan::Slow(time) => {
                    tokio::time::sleep(time).await;
                    Ok(Self::reply(200, answers(&[200], count), None))
                }
                Plan::Says(identity) => Ok(Self::reply(200, answers(&[200], count), Some(identity))),
                Plan::Tells(reply) => Ok(*reply),
            }
        })
    }
}

/// A registry with peers.
pub struct Cluster {
    pub handle: Handle,
    pub replication: Arc<Replication>,
    pub peers: Vec<Arc<FakePeer>>,
    pub links: Vec<Arc<PeerLink>>,
    pub senders: Vec<Addr<PeerReplicatorActor>>,
}

impl Cluster {
    pub fn new(peer_count: usize) -> Self {
        Self::with(peer_count, options(), QueueSettings::default())
    }

    pub fn with(peer_count: usize, options: Options, settings: QueueSettings) -> Self {
        tokio::time::pause();
        let clock = Clock::starting_at(WALL_START_MS);
        let own = PeerIdentity { node: "me".to_owned(), epoch: 1 };
        let replication = Arc::new(Replication::new(clock.clone(), own));
        let sinks: Vec<Arc<dyn ChangeSink>> = vec![replication.clone()];
        let Running { handle, .. } = start(clock.clone(), options, sinks, 7);
        handle.open_for_traffic(StartedFrom::Nothing);
        actix::spawn(replication.clone().carry_renewals());
        let (mut peers, mut links, mut senders) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..peer_count {
            let peer = FakePeer::new(clock.clone());
            let link = Arc::new(PeerLink::new(format!("http://peer-{n}/eureka/"), settings, 0));
            let limits = Limits::default();
            let sender = PeerReplicatorActor::new(
                replication.clone(),
                link.clone(),
                peer.clone(),
                handle.clone(),
                limits,
                u64::try_from(n).unwrap(),
            )
            .start();
            senders.push(sender);
            peers.push(peer);
            links.push(link);
        }
        replication.set_links(links.clone());
        Self { handle, replication, peers, links, senders }
    }
}

/// Lets tokio's paused clock run.
pub async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}
