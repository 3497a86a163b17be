//! The sink that hears of everything, and the list of peers that it feeds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use heureka_registry::replication::{Arrival, Arrivals, BatchOrder, OverrideKind};
use heureka_registry::{Change, Now, Record};

use super::identity::PeerIdentity;
use super::link::PeerLink;
use super::metrics::ReplicationMetrics;
use super::renewals::Renewals;
use super::status::PeerStatus;
use crate::clock::Clock;
use crate::shared::ChangeSink;

/// Heartbeats are carried to the queues this often; there they wait for company anyway.
const CARRY_INTERVAL: Duration = Duration::from_millis(100);
/// How often a draining queue is looked at.
const DRAIN_LOOK: Duration = Duration::from_millis(10);

/// Replication of one node to all its peers.
#[derive(Debug)]
pub struct Replication {
    clock: Clock,
    own: PeerIdentity,
    links: ArcSwap<Vec<Arc<PeerLink>>>,
    renewals: Renewals,
    arrivals: Mutex<Arrivals>,
    metrics: ReplicationMetrics,
}

impl Replication {
    /// Without peers.
    #[must_use]
    pub fn new(clock: Clock, own: PeerIdentity) -> Self {
        Self {
            clock,
            own,
            links: ArcSwap::default(),
            renewals: Renewals::default(),
            arrivals: Mutex::default(),
            metrics: ReplicationMetrics::default(),
        }
    }

    /// Who this node is to its peers.
    #[must_use]
    pub const fn own(&self) -> &PeerIdentity {
        &self.own
    }

    /// Counters and histograms of replication.
    #[must_use]
    pub const fn metrics(&self) -> &ReplicationMetrics {
        &self.metrics
    }

    /// The clock of the node.
    #[must_use]
    pub const fn clock(&self) -> &Clock {
        &self.clock
    }

    /// A batch of a peer has come in.
    pub fn enter(&self, sender: Option<&PeerIdentity>, order: Option<BatchOrder>) -> Arrival {
        self.arrivals().enter(sender.map(|sender| sender.node.as_str()), order)
    }

    /// True if the sender of a batch does not wait for it any more. Ask right before it is applied.
    #[must_use]
    pub fn is_overtaken(&self, arrival: Arrival) -> bool {
        self.arrivals().is_overtaken(arrival)
    }

    /// Held for a look into a map.
    fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The peers, in the order of their list.
    #[must_use]
    pub fn links(&self) -> Arc<Vec<Arc<PeerLink>>> {
        self.links.load_full()
    }

    /// Publishes a new list of peers. Who stays in it keeps its queue; [`Replication::retire`] those that leave.
    pub fn set_links(&self, links: Vec<Arc<PeerLink>>) {
        self.links.store(Arc::new(links));
    }

    /// Ends what concerns a peer that is in the list no more: what waits for it is lost, and its metrics end.
    pub fn retire(&self, link: &PeerLink) {
        link.close();
        self.metrics.forget(link.url());
    }

    /// The peers as they stand now.
    #[must_use]
    pub fn statuses(&self) -> Vec<PeerStatus> {
        let now = self.clock.now();
        self.links.load().iter().map(|link| link.status(now)).collect()
    }

    /// Heartbeats for which there was no room.
    #[must_use]
    pub fn dropped_renewals(&self) -> u64 {
        self.renewals.dropped().get()
    }

    /// Carries heartbeats from where they happen to the queues, for ever.
    pub async fn carry_renewals(self: Arc<Self>) {
        loop {
            self.renewals.announced().await;
            tokio::time::sleep(CARRY_INTERVAL).await;
            self.carry_once();
        }
    }

    fn carry_once(&self) {
        let records = self.renewals.take();
        let now = self.clock.now();
        for link in self.links.load().iter() {
            link.offer_heartbeats(&records, now);
        }
    }

    /// Sends what waits, for at most so long; what is left then is given up. Returns how many instances that concerns.
    pub async fn drain(&self, patience: Duration) -> usize {
        let links = self.links();
        let now = self.clock.now();
        links.iter().for_each(|link| link.start_draining(now));
        let drained = async {
            while !links.iter().all(|link| link.is_drained()) {
                tokio::time::sleep(DRAIN_LOOK).await;
            }
        };
        let _ = tokio::time::timeout(patience, drained).await;
        let left = links.iter().map(|link| link.status(now).queued_instances).sum();
        links.iter().for_each(|link| link.close());
        left
    }
}

impl ChangeSink for Replication {
    fn accept(&self, change: &Change) {
        for link in self.links.load().iter() {
            link.offer(change);
        }
    }

    fn accept_renewal(&self, record: &Arc<Record>) {
        if !self.links.load().is_empty() {
            self.renewals.push(record);
        }
    }

    fn accept_repeated_override(&self, record: &Arc<Record>, is_removal: bool, now: Now) {
        let kind = if is_removal { OverrideKind::Removed } else { OverrideKind::Set };
        for link in self.links.load().iter() {
            link.offer_override(record, kind, now);
        }
    }
}
