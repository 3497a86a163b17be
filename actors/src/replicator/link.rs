//! One peer as everybody but its actor sees it: the queue, and what is known of the peer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use heureka_registry::replication::{Batch, Outcome, OverrideKind, PeerQueue, QueueSettings, Settled};
use heureka_registry::{Change, Now, Random, Record, Sender};
use tokio::sync::Notify;

use super::identity::PeerIdentity;
use super::status::{PeerError, PeerState, PeerStatus};

/// More batches than a link can send.
const BATCHES_PER_MS_MAX: u64 = 1_000;

/// A peer: shared by the sink that fills its queue, the actor that empties it and the pages that show it.
///
/// The lock is held for one merge, for packing one batch or for settling one: some microseconds, never across an await.
#[derive(Debug)]
pub struct PeerLink {
    url: String,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug)]
struct State {
    queue: PeerQueue,
    peer: PeerState,
    identity: Option<PeerIdentity>,
    last_success_wall_ms: Option<i64>,
    last_error: Option<PeerError>,
    sending: Sends,
}

/// Whether anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sends {
    Yes,
    /// Not as long as it is this node itself that answers.
    NotToItself,
    /// Never again.
    NoMore,
}

impl PeerLink {
    /// A peer that has not been contacted. `url` must not hold credentials. The uptime of the node gives the batches higher
    /// numbers than those that an earlier link to the same peer can have had.
    #[must_use]
    pub fn new(url: String, settings: QueueSettings, uptime_ms: u64) -> Self {
        let last_batch = uptime_ms.saturating_mul(BATCHES_PER_MS_MAX);
        let state = State {
            queue: PeerQueue::on_link(settings, link_id(&url), last_batch),
            peer: PeerState::NotContacted,
            identity: None,
            last_success_wall_ms: None,
            last_error: None,
            sending: Sends::Yes,
        };
        Self { url, state: Mutex::new(state), wake: Notify::new() }
    }

    /// The URL without credentials.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// A step that panicked leaves a queue that is still a queue: the next step goes on with it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the queue and wakes the actor.
    fn feed(&self, step: impl FnOnce(&mut PeerQueue)) {
        let mut state = self.state();
        if state.sending == Sends::Yes {
            step(&mut state.queue);
            drop(state);
            self.wake.notify_one();
        }
    }

    /// Takes a change of the registry, whatever its origin.
    pub fn offer(&self, change: &Change) {
        self.feed(|queue| queue.offer(change, change.at_mono_ms));
    }

    /// Takes heartbeats that changed nothing visible.
    pub fn offer_heartbeats(&self, records: &[Arc<Record>], now: Now) {
        self.feed(|queue| records.iter().for_each(|record| queue.offer_heartbeat(record, now.mono_ms)));
    }

    /// Takes an operation on an override that changed nothing.
    pub fn offer_override(&self, record: &Arc<Record>, kind: OverrideKind, now: Now) {
        self.feed(|queue| queue.offer_override(record, kind, now.mono_ms));
    }

    /// Gives the queue to somebody who repairs this peer only.
    pub fn repair(&self, step: impl FnOnce(&mut PeerQueue)) {
        self.feed(step);
    }

    /// Waits until there may be something to send.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// The next batch, if one should leave now, and when to ask again.
    pub(super) fn next_batch(&self, now: Now) -> (Option<Batch>, Option<u64>) {
        let mut state = self.state();
        if state.sending != Sends::Yes {
            return (None, None);
        }
        let batch = state.queue.next_batch(now.mono_ms);
        let wake_ms = if batch.is_none() { state.queue.next_wake() } else { None };
        (batch, wake_ms)
    }

    /// Takes a batch back.
    pub(super) fn settle(
        &self,
        batch: &Batch,
        outcome: Outcome,
        error: Option<String>,
        now: Now,
        random: &mut dyn Random,
    ) -> Settled {
        let mut state = self.state();
        if state.sending != Sends::Yes {
            return Settled::default();
        }
        match error {
            None => {
                state.peer = PeerState::Available;
                state.last_success_wall_ms = Some(now.wall_ms);
            }
            Some(words) => {
                state.peer = PeerState::Failing;
                state.last_error = Some(PeerError { words, wall_ms: now.wall_ms });
            }
        }
        state.queue.on_result(batch, outcome, now.mono_ms, random)
    }

    /// Remembers what went wrong beside the batches: single items, a comparison. The state of the peer stays.
    pub fn note_error(&self, words: String, now: Now) {
        self.state().last_error = Some(PeerError { words, wall_ms: now.wall_ms });
    }

    /// Counts something of this peer, unless the peer has left: nothing may bring its metrics back afterwards.
    pub(super) fn while_open(&self, count: impl FnOnce()) {
        let state = self.state();
        if state.sending != Sends::NoMore {
            count();
        }
    }

    /// Takes all batches back whose sender has died.
    pub(super) fn abandon_flights(&self, now: Now) {
        self.state().queue.abandon_flights(now.mono_ms);
    }

    /// Remembers who answered. True if it is new.
    pub(super) fn note_identity(&self, identity: Option<PeerIdentity>) -> bool {
        let mut state = self.state();
        let is_new = identity.is_some() && state.identity != identity;
        state.identity = identity;
        is_new
    }

    /// Who answered last, if it was one of ours.
    #[must_use]
    pub fn identity(&self) -> Option<PeerIdentity> {
        self.state().identity.clone()
    }

    /// Stops replication to what turned out to be this node itself, until somebody else answers there: a balancer or an
    /// address that moves may lead here at one time and to a peer at another. True if that is new.
    pub(super) fn close_to_itself(&self) -> bool {
        let mut state = self.state();
        let is_new = state.sending == Sends::Yes;
        if is_new {
            state.sending = Sends::NotToItself;
            state.peer = PeerState::Itself;
            state.queue.give_up();
        }
        is_new
    }

    /// True if it was this node itself that answered.
    #[must_use]
    pub fn is_itself(&self) -> bool {
        self.state().sending == Sends::NotToItself
    }

    /// A batch without items that shows who answers now; `None` unless it was this node itself.
    pub(super) fn next_probe(&self) -> Option<Batch> {
        let mut state = self.state();
        (state.sending == Sends::NotToItself).then(|| state.queue.probe())
    }

    /// Starts replication again: somebody else has answered. True if that is new.
    pub(super) fn open_to(&self, identity: Option<PeerIdentity>) -> bool {
        let mut state = self.state();
        let is_new = state.sending == Sends::NotToItself;
        if is_new {
            state.sending = Sends::Yes;
            state.peer = PeerState::NotContacted;
            state.identity = identity;
        }
        is_new
    }

    /// Stops replication to a peer that is no peer any more; what waited is counted as lost.
    pub fn close(&self) {
        let mut state = self.state();
        state.sending = Sends::NoMore;
        state.queue.give_up();
        drop(state);
        self.wake.notify_one();
    }

    /// True as long as nothing is sent: it is no peer any more, or it is this node itself.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state().sending != Sends::Yes
    }

    /// True once nothing will be sent any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.state().sending == Sends::NoMore
    }

    /// Begins to empty the queue before a stop.
    pub(super) fn start_draining(&self, now: Now) {
        self.feed(|queue| queue.start_draining(now.mono_ms));
    }

    /// True if nothing is left to confirm.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        let state = self.state();
        state.sending != Sends::Yes || state.queue.is_drained()
    }

    /// Reads the queue, for metrics.
    pub(super) fn read<R>(&self, ask: impl FnOnce(&PeerQueue) -> R) -> R {
        ask(&self.state().queue)
    }

    /// The peer as it stands now.
    #[must_use]
    pub fn status(&self, now: Now) -> PeerStatus {
        let state = self.state();
        let queue = &state.queue;
        PeerStatus {
            url: self.url.clone(),
            state: state.peer,
            is_heureka: state.identity.is_some(),
            queued_instances: queue.len(),
            batches_in_flight: queue.in_flight(),
            oldest_age_ms: queue.oldest_since_ms().map_or(0, |since_ms| now.mono_ms.saturating_sub(since_ms)),
            backoff_ms: queue.backoff_ms(),
            last_success_wall_ms: state.last_success_wall_ms,
            last_error: state.last_error.clone(),
        }
    }
}

/// Tells the links of one node apart for the peer, also if two of them lead to it under two names.
fn link_id(url: &str) -> u64 {
    Sender::node(url, 0).id()
}
