//! After every step: what a change does to log, counts and queues, and the invariants that one can see at once.

use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_protocol::{ActionType, StatusCounts};
use heureka_registry::invariants::{check_application, check_change, check_delta};
use heureka_registry::replication::{Batch, Key};
use heureka_registry::{Change, ChangeKind, Origin, Record};

use crate::agenda::Event;
use crate::bugs::Bug;
use crate::world::World;

/// How long deltas show a change.
const RETENTION_MS: u64 = 180_000;
/// Heartbeats reach the queues after this time.
const CARRY_MS: u64 = 100;

impl World {
    /// A client's write has been done at a node.
    pub fn wrote(&mut self, n: usize, who: usize, is_renewal: bool, change: Option<Change>) {
        let told = self.nodes[n].told();
        self.nodes[n].note_lease(who, is_renewal, self.now_ms, &self.plan);
        self.nodes[n].seen.last_sent_ms.insert(who, self.now_ms);
        if let Some(change) = change {
            self.absorb(n, change);
            self.require_told(n, told, 1);
        }
        self.pump(n);
    }

    pub fn wrote_removal(&mut self, n: usize, who: usize, change: Change) {
        let told = self.nodes[n].told();
        self.nodes[n].seen.last_sent_ms.insert(who, self.now_ms);
        self.absorb(n, change);
        self.require_told(n, told, 1);
        self.pump(n);
    }

    /// P-1: a client's change is offered once to each peer, anything else to nobody.
    pub fn require_told(&mut self, n: usize, before: u64, times: u64) {
        let links = u64::try_from(self.nodes[n].links.len()).unwrap();
        let told = self.nodes[n].told() - before;
        self.require(told == links * times, || {
            format!("P-1: node {n} told its peers {told} times, {} were due", links * times)
        });
    }

    pub fn require_tombstone(&mut self, n: usize, who: usize) {
        let is_dropped = self.has(Bug::TombstoneDropped);
        let id = Arc::clone(&self.ids[who]);
        let dirty = self.on_app(n, who, |app, now, _| {
            if is_dropped {
                app.lift_tombstone(&id, i64::MAX, now);
            }
            app.tombstone(&id, now).map(|tombstone| tombstone.last_dirty_timestamp)
        });
        let truth = &mut self.truths[who];
        truth.cancelled = truth.cancelled.max(dirty.unwrap_or(0));
        self.require(dirty.is_some(), || {
            format!("9.3.3: the cancel of client {who} left no tombstone at {n}")
        });
    }

    /// A client's heartbeat was accepted, directly or by way of a peer.
    pub fn renewed(&mut self, n: usize, who: usize) {
        self.nodes[n].note_lease(who, true, self.now_ms, &self.plan);
        self.nodes[n].minute.add(1);
        self.nodes[n].seen.renewals.0 += 1;
    }

    pub fn carry_later(&mut self, n: usize, record: Arc<Record>) {
        if self.nodes[n].beats.is_empty() {
            let life = self.nodes[n].life();
            self.agenda.put(self.now_ms + CARRY_MS, Event::Carry { life });
        }
        self.nodes[n].beats.push(record);
    }

    /// Whether a call for this instance finds it, as the actors decide it.
    pub fn is_visible(&mut self, n: usize, who: usize) -> bool {
        let is_expiration_enabled = self.nodes[n].is_expiration_enabled();
        let now = self.node_now(n);
        let app = self.nodes[n].app(self.plan.app_of(who));
        app.is_some_and(|app| app.is_visible(&self.ids[who], now, is_expiration_enabled))
    }

    /// One change: into delta log, counts and queues, and checked.
    pub fn absorb(&mut self, n: usize, change: Change) {
        self.absorb_all(n, vec![change]);
    }

    /// Changes of one application that one step has made.
    pub fn absorb_all(&mut self, n: usize, changes: Vec<Change>) {
        let Some(last) = changes.last().cloned() else { return };
        let mono_ms = self.node_now(n).mono_ms;
        for change in changes {
            self.tell(n, &change, mono_ms);
            if self.is_traced() {
                self.note(format_args!("    {n}: {:?} of {} by {:?}", change.kind, change.id, change.origin));
            }
            let now = self.node_now(n);
            let node = &mut self.nodes[n];
            node.cancels.take(&change, now, &self.plan.rules);
            let log = node.logs.entry(change.app.clone()).or_default();
            log.push(Arc::clone(&change.record), change.kind.action(), mono_ms);
            log.expire(mono_ms.saturating_sub(RETENTION_MS));
            let is_forgotten = matches!(change.kind, ChangeKind::Evicted | ChangeKind::StatusCorrected);
            if !(is_forgotten && self.bug == Some(Bug::HashNotUpdated)) {
                recount(&mut node.counts, &change);
            }
        }
        self.check_step(n, &last);
    }

    fn tell(&mut self, n: usize, change: &Change, mono_ms: u64) {
        let is_sent_wrongly = match change.origin {
            Origin::Peer => self.has(Bug::ReplicaReplicated),
            Origin::Eviction => self.has(Bug::EvictionReplicated),
            Origin::Client | Origin::StartUp => false,
        };
        let mut offered = change.clone();
        if is_sent_wrongly {
            offered.origin = Origin::Client;
        }
        let is_bounded = matches!(
            change.kind,
            ChangeKind::Cancelled | ChangeKind::StatusOverridden | ChangeKind::OverrideRemoved
        );
        let key = Key::of(&change.record.instance);
        for link in self.nodes[n].links.values_mut() {
            if is_bounded && change.origin == Origin::Client {
                link.note_bounded(&key, mono_ms);
            }
            link.queue.offer(&offered, mono_ms);
        }
    }

    fn check_step(&mut self, n: usize, change: &Change) {
        let node = &self.nodes[n];
        let app = &node.apps[&change.app];
        let counted: StatusCounts = node.records().map(|record| record.instance.status).collect();
        let checked = check_change(app, change)
            .and_then(|()| check_application(app))
            .and_then(|()| check_delta(app, &node.logs[&change.app]))
            .map_err(|violation| violation.to_string());
        let (hash, expected) = (node.counts.hash_code(), counted.hash_code());
        self.require(checked.is_ok(), || format!("node {n}: {}", checked.unwrap_err()));
        self.require(hash == expected, || format!("D-8: node {n} shows the hash {hash}, it is {expected}"));
    }

    /// A node's queues, after whatever was done to them.
    pub fn check_queues(&mut self, n: usize) {
        let (clients, settings) = (self.plan.clients, self.plan.queue);
        let mut broken = None;
        for (peer, link) in &self.nodes[n].links {
            let queue = &link.queue;
            let words = match queue.check() {
                Err(words) => words,
                Ok(()) if queue.len() > clients => format!("{} slots for {clients} instances", queue.len()),
                Ok(()) if queue.in_flight() > settings.batches_in_flight_max => {
                    format!("{} batches on their way", queue.in_flight())
                }
                Ok(()) if link.flights.len() != queue.in_flight() => "a batch is missing".to_owned(),
                Ok(()) => continue,
            };
            broken = Some(format!("the queue of {n} towards {peer}: {words}"));
        }
        self.require(broken.is_none(), || broken.unwrap_or_default());
    }

    /// Two writes overlap if one node has not yet told of its own when another takes the next: nobody promises in which
    /// order a third one hears of them.
    pub fn doubt_if_overlapping(&mut self, who: usize, n: usize) {
        let overlaps = self.nodes.iter().any(|node| node.place != n && is_untold(node, who, self));
        if overlaps {
            self.truths[who].doubt("writes through two nodes at once");
        }
    }

    /// What a node still has to say of a client besides heartbeats, to any peer.
    pub fn untold(&self, n: usize, who: usize) -> Untold {
        let mut untold = Untold::default();
        for link in self.nodes[n].links.values() {
            let waiting = link.queue.waiting(self.plan.app_of(who), &self.ids[who]);
            waiting.actions().for_each(|action| untold.add(action));
            let flying = link.flights.values().flat_map(Batch::items);
            flying.filter(|item| *item.key.id() == self.ids[who]).for_each(|item| untold.add(item.action));
        }
        untold
    }
}

/// Kinds of writes that a node has not told all its peers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untold {
    pub register: bool,
    pub cancel: bool,
    pub override_op: bool,
}

impl Untold {
    fn add(&mut self, action: Action) {
        match action {
            Action::Heartbeat => {}
            Action::Register => self.register = true,
            Action::Cancel => self.cancel = true,
            Action::StatusUpdate | Action::DeleteStatusOverride => self.override_op = true,
        }
    }

    pub fn is_any(self) -> bool {
        self.register || self.cancel || self.override_op
    }
}

fn is_untold(node: &crate::node::Node, who: usize, world: &World) -> bool {
    world.untold(node.place, who).is_any()
}

fn recount(counts: &mut StatusCounts, change: &Change) {
    if let Some(previous) = change.previous_status {
        counts.remove(previous);
    }
    if change.kind.action() != ActionType::Deleted {
        counts.add(change.record.instance.status);
    }
}
