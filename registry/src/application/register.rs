//! Registration, for the first time or again (`registry.md` 2).

use std::sync::Arc;

use heureka_protocol::{Instance, InstanceId, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::lease::Lease;
use crate::record::Record;
use crate::rules::Rules;
use crate::sender::Sender;
use crate::stamp::{OverrideState, Stamp, StampCell};
use crate::time::Now;

use super::replace::Event;
use super::{Application, CancelledHere, Mark, Override, Told};

/// A registration after the comparison of dirty timestamps: what is stored, and for how long.
pub(super) struct Accepted {
    pub(super) instance: Instance,
    pub(super) reported_status: Status,
    pub(super) duration_ms: u64,
    /// False if what was there is newer and stays.
    pub(super) is_taken: bool,
    /// The override that came with it.
    pub(super) told: OverrideState,
    /// The stamp of that, if it has none and there is no other.
    pub(super) seed_stamp: Option<Stamp>,
}

/// How an instance comes in.
#[derive(Clone, Copy)]
struct Entry {
    origin: Origin,
    /// Stamp of the override that it comes with.
    stamp: Option<Stamp>,
    /// The override that is known here.
    known: OverrideState,
    /// Stamp of an override that comes without one and is new here; `None` if it may have been set at any time.
    seed_stamp: Option<Stamp>,
}

impl Application {
    /// Registers an instance. `None` only if a replicated registration met the tombstone of a cancel that is newer: then
    /// nothing has changed and the answer is the usual success (invariants ).
    ///
    /// A stale registration is no refusal: it restarts the lease with its own duration and keeps the newer content.
    /// The caller has checked that the instance belongs to this application.
    pub fn register(
        &mut self,
        incoming: Instance,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let tombstone = self.tombstones.get(&incoming.instance_id, now);
        if tombstone.is_some_and(|t| t.refuses(incoming.last_dirty_timestamp, origin, now, rules)) {
            return None;
        }
        self.settle_stamps(rules);
        let known = self.override_state(&incoming.instance_id, now);
        // It counts as set now, but for a copy, which may be of any age.
        let is_set_now = origin != Origin::StartUp && incoming.overridden_status != Status::Unknown;
        let seed_stamp = is_set_now.then(|| rules.stamps.stamp(known.stamp, now));
        let entry = Entry { origin, stamp: None, known, seed_stamp: seed_stamp.flatten() };
        Some(self.enter(incoming, entry, now, rules))
    }

    /// Registers what nothing stands against.
    fn enter(&mut self, incoming: Instance, entry: Entry, now: Now, rules: &Rules) -> Change {
        let Entry { origin, known, .. } = entry;
        self.tombstones.lift(&incoming.instance_id);
        self.removals.lift(&incoming.instance_id);
        let accepted = self.accept(incoming, entry);
        let change = self.start_lease(accepted, known, origin, now, rules);
        if origin == Origin::Client {
            change.record.lease.note_direct_contact(now.mono_ms);
        }
        change
    }

    /// Registers what a peer has sent in a batch. A sender whose own cancel is remembered here ends that with it. `stamp` is
    /// that of the override that the instance has there, or had.
    pub fn register_from(
        &mut self,
        incoming: Instance,
        stamp: Option<Stamp>,
        sender: Sender,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let (origin, dirty) = (Origin::Peer, incoming.last_dirty_timestamp);
        let stone = self.tombstones.get(&incoming.instance_id, now);
        let is_refused =
            stone.is_some_and(|t| !t.is_followed_by(dirty, sender) && t.refuses(dirty, origin, now, rules));
        self.settle_stamps(rules);
        let known = self.override_state(&incoming.instance_id, now);
        let is_ours = sender.keeps_order();
        // Nodes of our kind know since when, unless that is long ago or nobody does. What others send counts as set now.
        let seed_stamp = if is_ours { None } else { rules.stamps.stamp(known.stamp, now) };
        let entry = Entry { origin, stamp, known, seed_stamp };
        (!is_refused).then(|| self.enter(incoming, entry, now, rules))
    }

    /// Registers what a peer's list says, for which it was asked at a certain time (`replication.md` 6.4). `None` if
    /// something later is known here: a cancel, or the same registration with what was done to it since. `stamp` is that of
    /// the override in the copy, or of its removal, if the peer has told it.
    pub fn register_copy(
        &mut self,
        copy: Instance,
        stamp: Option<Stamp>,
        asked_mono_ms: u64,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let (id, dirty, origin) = (&copy.instance_id, copy.last_dirty_timestamp, Origin::StartUp);
        let stone = self.tombstones.get(id, now);
        if stone.is_some_and(|t| t.bars_list_of(asked_mono_ms) || t.refuses(dirty, origin, now, rules)) {
            return None;
        }
        let is_later_here = self.leases.get(id).is_some_and(|slot| {
            slot.record.instance.last_dirty_timestamp == dirty && slot.has_changed_since(asked_mono_ms)
        });
        self.settle_stamps(rules);
        if !is_later_here {
            let known = self.override_state(&copy.instance_id, now);
            let entry = Entry { origin, stamp, known, seed_stamp: None };
            return Some(self.enter(copy, entry, now, rules));
        }
        let theirs = OverrideState::of(copy.overridden_status, stamp);
        let told = Told { overridden: theirs.status, shown: Some(copy.status), stamp: stamp? };
        self.take_told(&copy.instance_id, told, now, rules).change()
    }

    /// Takes over the newer record that a peer has sent in answer to our heartbeat (409, `replication.md` 4.2): its
    /// override replaces ours, unless stamps say that ours is later; then it registers.
    ///
    /// # Errors
    /// If the instance was cancelled here with a dirty timestamp that is not older: then the peer needs to hear of that.
    pub fn adopt(
        &mut self,
        theirs: Instance,
        stamp: Option<Stamp>,
        now: Now,
        rules: &Rules,
    ) -> Result<Change, CancelledHere> {
        let id = &theirs.instance_id;
        let stone = self.tombstones.get(id, now);
        if let Some(stone) = stone.filter(|t| t.last_dirty_timestamp >= theirs.last_dirty_timestamp) {
            return Err(CancelledHere {
                last_dirty_timestamp: stone.last_dirty_timestamp,
                lease_duration_ms: Lease::duration_ms_of(&theirs.lease),
                override_stamp: stone.override_stamp,
            });
        }
        self.settle_stamps(rules);
        let mut known = self.override_state(id, now);
        let told = OverrideState::of(theirs.overridden_status, stamp);
        if stamp.is_none() && told.status.is_some() && told.status != known.status {
            known = OverrideState { stamp: Stamp::after(known.stamp), ..told };
        }
        let entry = Entry { origin: Origin::Peer, stamp, known, seed_stamp: None };
        Ok(self.enter(theirs, entry, now, rules))
    }

    /// Compares dirty timestamps: strictly newer content that is there stays (invariants ). Without a stamp the
    /// override counts with the content only.
    fn accept(&self, incoming: Instance, entry: Entry) -> Accepted {
        let Entry { origin, stamp, seed_stamp, .. } = entry;
        let told = OverrideState::of(incoming.overridden_status, stamp);
        let duration_ms = Lease::duration_ms_of(&incoming.lease);
        let existing = self.get(&incoming.instance_id);
        match existing {
            Some(old) if old.instance.last_dirty_timestamp > incoming.last_dirty_timestamp => {
                let (instance, reported_status) = (old.instance.clone(), old.reported_status);
                let told = if stamp.is_some() { told } else { OverrideState::default() };
                Accepted { instance, reported_status, duration_ms, is_taken: false, told, seed_stamp }
            }
            _ => {
                let known = existing.map(|old| old.reported_status);
                Accepted {
                    reported_status: reported(&incoming, known, origin),
                    instance: incoming,
                    duration_ms,
                    is_taken: true,
                    told,
                    seed_stamp,
                }
            }
        }
    }

    /// Starts a fresh lease for content that is decided.
    pub(super) fn start_lease(
        &mut self,
        accepted: Accepted,
        known: OverrideState,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Change {
        let Accepted { mut instance, reported_status, duration_ms, is_taken, told, seed_stamp } = accepted;
        let existing = self.get(&instance.instance_id).map(Arc::clone);
        instance.app = self.name.clone();
        if let Some(old) = &existing {
            // One allocation per living id, however often it registers.
            instance.instance_id = Arc::clone(&old.instance.instance_id);
        }
        let settled = settled(known, told, seed_stamp);
        self.store_settled(&instance.instance_id, settled.status, origin);
        let overridden = settled.status.unwrap_or(Status::Unknown);
        let is_hidden = instance.overridden_status == instance.status;
        if told.stamp.is_some() && overridden != instance.overridden_status && is_hidden {
            // It shows an override that is not in force.
            let is_known = reported_status != Status::Unknown;
            instance.status = if is_known { reported_status } else { overridden };
        }
        instance.overridden_status = overridden;
        let existing_status = existing.as_ref().map(|old| old.instance.status);
        instance.status = self.status_by_rules(&instance, instance.status, existing_status, origin, rules);
        let lease = fresh_lease(existing.as_deref(), instance.status, duration_ms, now);
        let override_stamp = match &existing {
            Some(old) if settled == old.override_state() => old.override_stamp.carried(),
            _ if settled.status.is_some() => self.cell_of_operation(settled.stamp, origin, now),
            _ => StampCell::new(settled.stamp),
        };
        let record = Record { instance, reported_status, lease, override_stamp };
        let change = self.put_record(record, Event { kind: ChangeKind::Registered, origin, now });
        if is_taken {
            self.mark_content(&change.id, Mark::of(origin, now));
        }
        change
    }

    fn store_settled(&mut self, id: &InstanceId, status: Option<Status>, origin: Origin) {
        let Some(status) = status else {
            self.overrides.remove(id);
            return;
        };
        match self.overrides.get_mut(id) {
            Some(entry) if entry.status == status => entry.adopt_lease(),
            _ => {
                self.overrides.insert(Arc::clone(id), Override::new(status, origin));
            }
        }
    }
}

/// The override after a registration: the later one if both have a stamp. Without a stamp the registration seeds it if there
/// is none, as in Java; but not if it was set at no known time, and is known to have been removed.
fn settled(known: OverrideState, told: OverrideState, seed_stamp: Option<Stamp>) -> OverrideState {
    if told.stamp.is_some() {
        return if known.yields_to(told) { told } else { known };
    }
    let is_removed = seed_stamp.is_none() && known.stamp.is_some();
    if known.status.is_some() || told.status.is_none() || is_removed {
        return known;
    }
    OverrideState { status: told.status, stamp: seed_stamp }
}

/// What the instance itself reported. A peer sends the effective status: where that equals the override, the peer's
/// word hides the report, so the one we know stays; if we know none, it is unknown and the client will be asked.
fn reported(incoming: &Instance, known: Option<Status>, origin: Origin) -> Status {
    let is_hidden = origin.is_replicated()
        && incoming.overridden_status != Status::Unknown
        && incoming.status == incoming.overridden_status;
    if is_hidden { known.unwrap_or(Status::Unknown) } else { incoming.status }
}

/// A lease that counts from now. The time of service survives a re-registration (invariant L-6).
fn fresh_lease(old: Option<&Record>, status: Status, duration_ms: u64, now: Now) -> Lease {
    let mut lease = Lease::starting(now, duration_ms);
    if let Some(old) = old {
        lease.service_up_timestamp = old.lease.service_up_timestamp;
        if let Some(contact_ms) = old.lease.direct_contact_ms() {
            lease.note_direct_contact(contact_ms);
        }
    }
    if status == Status::Up && lease.service_up_timestamp == 0 {
        lease.service_up_timestamp = now.wall_ms;
    }
    lease
}
