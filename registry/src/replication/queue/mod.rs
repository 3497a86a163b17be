//! The queue of one peer: what is offered to it, and its lists.
//!
//! Taking batches out is in `take`, what happens to them afterwards in `settle`, what is given up in `shed`.

mod settle;
mod shed;
mod take;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use heureka_protocol::{Instance, InstanceId, Status};

use crate::application::CancelledHere;
use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;

use super::backoff::Backoff;
use super::batch::{Cancelled, Item};
use super::intents::{Intents, OverrideKind, Weight};
use super::key::{Key, Named};
use super::lanes::{Lane, Lanes};
use super::repair::{Remedy, Repair};
use super::settings::QueueSettings;
use super::slot::Slot;
use super::tally::Tally;

type Slots = HashMap<Key, Slot, foldhash::fast::RandomState>;

/// Everything that a node still has to tell one peer.
///
/// Times are monotonic milliseconds and never go back. The number of slots is bounded by [`QueueSettings::slots_limit`],
/// a slot holds at most three waiting and three flying intents.
#[derive(Debug)]
pub struct PeerQueue {
    settings: QueueSettings,
    link: u64,
    slots: Slots,
    lanes: Lanes,
    flights: BTreeMap<u64, Flight>,
    backoff: Backoff,
    /// Batches that the peer has answered item by item.
    successes: u64,
    /// Batches refused as a whole since the last success.
    refusals_in_row: u32,
    /// Items of a batch at most: halved by time-outs, doubled by successes.
    batch_limit: usize,
    /// When a batch last left without waiting for company.
    early_sent_ms: Option<u64>,
    /// The batch that left last had suspects in it.
    were_suspects_last: bool,
    next_ticket: u64,
    next_batch: u64,
    next_sweep_ms: u64,
    is_draining: bool,
    tally: Tally,
}

/// A batch on its way.
#[derive(Debug)]
struct Flight {
    items: Arc<[Item]>,
    has_suspects: bool,
}

impl PeerQueue {
    /// An empty queue.
    #[must_use]
    pub fn new(settings: QueueSettings) -> Self {
        Self::on_link(settings, 0, 0)
    }

    /// An empty queue of one of several links of a node. Its batches have higher numbers than `last_batch`, the last one
    /// that an earlier queue on the same link can have sent.
    #[must_use]
    pub fn on_link(settings: QueueSettings, link: u64, last_batch: u64) -> Self {
        Self {
            settings,
            link,
            slots: Slots::default(),
            lanes: Lanes::default(),
            flights: BTreeMap::new(),
            backoff: Backoff::default(),
            successes: 0,
            refusals_in_row: 0,
            batch_limit: settings.batch_items_max,
            early_sent_ms: None,
            were_suspects_last: false,
            next_ticket: 0,
            next_batch: last_batch,
            next_sweep_ms: 0,
            is_draining: false,
            tally: Tally::default(),
        }
    }

    /// Takes a change of the registry, whatever its origin. Only a client's is told to the peer; the others say what has
    /// become of the instances that wait here.
    pub fn offer(&mut self, change: &Change, now_ms: u64) {
        if change.origin.is_sent_on() {
            let key = Key::new(change.app.clone(), InstanceId::clone(&change.id));
            let intents = intents_of(change.kind);
            let slot = self.merge(key, intents, Some(&change.record), now_ms);
            if let Some(slot) = slot.filter(|_| intents.has_cancel()) {
                let stamp = change.tombstone.as_ref().and_then(|stone| stone.override_stamp);
                let Instance { last_dirty_timestamp: dirty, overridden_status, .. } = change.record.instance;
                let had_override = overridden_status != Status::Unknown;
                slot.note_cancelled(Cancelled { dirty, stamp, had_override });
            }
        } else {
            self.observe(change, now_ms);
        }
    }

    /// Takes a client's heartbeat that changed nothing visible. One for a record that has been replaced meanwhile is
    /// ignored: what replaced it has been offered too.
    pub fn offer_heartbeat(&mut self, record: &Arc<Record>, now_ms: u64) {
        if record.lease.clock.get().is_some() && !self.is_draining {
            self.merge(Key::of(&record.instance), Intents::HEARTBEAT, Some(record), now_ms);
        }
    }

    /// Takes a client's operation on an override that changed nothing here: Java tells its peers all the same, and one
    /// of them may have missed the first time (`replication.md` 2.1).
    pub fn offer_override(&mut self, record: &Arc<Record>, kind: OverrideKind, now_ms: u64) {
        let is_stored = record.instance.overridden_status == record.instance.status;
        let kind = if kind == OverrideKind::Set && !is_stored { OverrideKind::Stated } else { kind };
        self.merge(Key::of(&record.instance), Intents::override_op(kind), Some(record), now_ms);
    }

    /// Takes what anti-entropy has found to be missing at this peer. A repair of a record that has been replaced meanwhile
    /// is ignored.
    pub fn offer_repair(&mut self, repair: &Repair, now_ms: u64) {
        let intents = match repair.remedy {
            Remedy::Register => Intents::REGISTER,
            Remedy::Heartbeat => Intents::HEARTBEAT,
            // The heartbeat says what is shown beside the override, which may have come before a report of DOWN. A
            // registration would say so too, but bring the content along, and that of the peer may be later than ours.
            Remedy::SetOverride => Intents::HEARTBEAT.then(Intents::override_op(OverrideKind::Set)),
            Remedy::RemoveOverride => Intents::HEARTBEAT.then(Intents::override_op(OverrideKind::Removed)),
            Remedy::ForgetCancel => return,
            Remedy::Cancel => {
                return self.offer_cancel(&repair.key, repair.cancelled, now_ms);
            }
        };
        if let Some(record) = &repair.record
            && record.lease.clock.get().is_some()
        {
            self.merge(repair.key.clone(), intents, Some(record), now_ms);
        }
    }

    /// Takes a cancel for this peer only: it holds what was cancelled here (`replication.md` 9.3.3, 409 body).
    pub fn offer_cancel(&mut self, key: &Key, cancelled: CancelledHere, now_ms: u64) {
        let settings = self.settings;
        if let Some(slot) = self.merge(key.clone(), Intents::CANCEL, None, now_ms) {
            slot.lease_life_ms = slot.lease_life_ms.max(cancelled.lease_duration_ms.saturating_mul(2));
            slot.deadline_ms = slot.new_deadline_ms(&settings, now_ms);
            // What the peer holds may have one.
            let CancelledHere { last_dirty_timestamp: dirty, override_stamp: stamp, .. } = cancelled;
            slot.note_cancelled(Cancelled { dirty, stamp, had_override: true });
        }
    }

    fn merge(
        &mut self,
        key: Key,
        intents: Intents,
        record: Option<&Arc<Record>>,
        now_ms: u64,
    ) -> Option<&mut Slot> {
        self.tally.offered += 1;
        if !self.slots.contains_key(&key) && !self.make_room(intents) {
            self.tally.drop_all(intents, super::DropReason::Overflow);
            return None;
        }
        let ticket = self.new_ticket();
        let slot = self.slots.entry(key.clone()).or_insert_with(|| Slot::new(ticket, now_ms));
        match record {
            Some(record) => slot.learn(record),
            None => slot.record = None,
        }
        let before = slot.pending;
        let after = before.then(intents);
        if before.is_empty() {
            self.lanes.remove(slot.lane, slot.ticket);
            (slot.lane, slot.ticket, slot.since_ms) = (Lane::Nowhere, ticket, now_ms);
        } else {
            self.tally.merged += 1;
        }
        slot.pending = after;
        // Another cancel or operation on the override has its own time, also if it looks like the one that waits.
        if after != before || intents.weight() >= Some(Weight::Override) || after == Intents::HEARTBEAT {
            slot.deadline_ms = slot.new_deadline_ms(&self.settings, now_ms);
        }
        self.place(&key, now_ms);
        self.slots.get_mut(&key)
    }

    /// Learns what became of an instance by somebody else's doing.
    fn observe(&mut self, change: &Change, now_ms: u64) {
        let name: (&str, &str) = (&change.app, &change.id);
        let Some((key, _)) = self.slots.get_key_value(&name as &dyn Named) else { return };
        let key = key.clone();
        let Some(slot) = self.slots.get_mut(&key) else { return };
        slot.learn(&change.record);
        let had_override = slot.cancelled.as_ref().is_some_and(|cancelled| cancelled.had_override);
        slot.pending = overtaken_by(change, slot.pending, had_override);
        if let Some(flight) = &mut slot.in_flight {
            flight.intents = overtaken_by(change, flight.intents, had_override);
        }
        self.place(&key, now_ms);
    }

    /// Puts a slot into the list that it belongs in, or forgets it if nothing is left to do.
    fn place(&mut self, key: &Key, now_ms: u64) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        let wanted = slot.lane_wanted(now_ms);
        // Who is put off may be so until another time than before.
        if slot.lane != wanted || wanted == Lane::Delayed {
            self.lanes.remove(slot.lane, slot.ticket);
            match wanted {
                Lane::Delayed => self.lanes.insert_delayed(slot.not_before_ms(), slot.ticket, key.clone()),
                _ => self.lanes.insert(wanted, slot.ticket, key.clone()),
            }
            slot.lane = wanted;
        }
        if slot.is_idle() {
            self.slots.remove(key);
        }
    }

    fn new_ticket(&mut self) -> u64 {
        self.next_ticket += 1;
        self.next_ticket
    }

    /// Instances that wait or are on their way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if nothing waits and nothing is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Batches on their way.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// What waits for one instance, for tests and pages.
    #[must_use]
    pub fn waiting(&self, app: &str, id: &str) -> Intents {
        let name = (app, id);
        self.slots.get(&name as &dyn Named).map_or(Intents::NONE, |slot| slot.pending)
    }

    /// True if the peer is about to be told what has become of an instance, or is being told: more than that it lives.
    #[must_use]
    pub fn is_telling(&self, key: &Key) -> bool {
        let Some(slot) = self.slots.get(key as &dyn Named) else { return false };
        [slot.pending, slot.flying()].iter().any(|intents| intents.weight() > Some(Weight::Heartbeat))
    }

    /// Length of the pause that the peer's failures have caused; 0 if it is well.
    #[must_use]
    pub const fn backoff_ms(&self) -> u64 {
        self.backoff.pause_ms()
    }

    /// True from a failure until the next success.
    #[must_use]
    pub const fn is_failing(&self) -> bool {
        self.backoff.is_failing()
    }

    /// Counts.
    #[must_use]
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Since when the oldest unconfirmed event waits, monotonic milliseconds.
    #[must_use]
    pub fn oldest_since_ms(&self) -> Option<u64> {
        let age = |slot: &Slot| slot.in_flight.as_ref().map_or(slot.since_ms, |flight| flight.since_ms);
        self.slots.values().map(age).min()
    }

    /// Checks the bookkeeping: every slot stands in the list where it belongs, and nowhere else.
    ///
    /// # Errors
    /// Names the first contradiction. For tests and simulations.
    pub fn check(&self) -> Result<(), String> {
        let in_lists = self.lanes.len();
        let mut waiting = 0;
        for (key, slot) in &self.slots {
            let is_listed = slot.lane != Lane::Nowhere;
            waiting += usize::from(is_listed);
            if is_listed && self.lanes.get(slot.lane, slot.ticket) != Some(key) {
                return Err(format!("{key:?} is not in {:?}", slot.lane));
            }
            if is_listed == (slot.pending.is_empty() || slot.in_flight.is_some()) {
                return Err(format!("{key:?} waits with {:?} in {:?}", slot.pending, slot.lane));
            }
        }
        if in_lists != waiting {
            return Err(format!("{in_lists} keys in lists, {waiting} slots wait"));
        }
        Ok(())
    }
}

/// What a client's change means to a peer (`replication.md` 2.1).
const fn intents_of(kind: ChangeKind) -> Intents {
    match kind {
        ChangeKind::Registered => Intents::REGISTER,
        ChangeKind::StatusOverridden => Intents::override_op(OverrideKind::Set),
        ChangeKind::OverrideRemoved => Intents::override_op(OverrideKind::Removed),
        ChangeKind::StatusCorrected => Intents::HEARTBEAT,
        // An eviction never is a client's.
        ChangeKind::Cancelled | ChangeKind::Evicted => Intents::CANCEL,
    }
}

/// What somebody else's change leaves of our intents for the same instance.
fn overtaken_by(change: &Change, intents: Intents, had_override: bool) -> Intents {
    debug_assert_ne!(change.origin, Origin::Client);
    match change.kind {
        ChangeKind::Cancelled | ChangeKind::Evicted => intents.without_instance(),
        // The rules let a replicated registration past a cancel only if it is newer, or long after it: the cancel must not
        // follow it. But if the cancel has removed an override, that is still to be told.
        ChangeKind::Registered if intents.has_cancel() && !intents.has_register() => {
            let state = change.record.override_state();
            let is_removed = had_override && state.status.is_none() && state.stamp.is_some();
            let removal = Intents::override_op(OverrideKind::Removed);
            let rest = intents.without_cancel();
            if is_removed { rest.then(removal) } else { rest }
        }
        ChangeKind::StatusOverridden | ChangeKind::OverrideRemoved => intents.without_override(),
        ChangeKind::Registered | ChangeKind::StatusCorrected => intents,
    }
}
