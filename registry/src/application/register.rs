//! Registration, for the first time or again (`registry.md` 2).

use std::sync::Arc;

use heureka_protocol::{Instance, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::lease::Lease;
use crate::record::Record;
use crate::rules::Rules;
use crate::sender::Sender;
use crate::time::Now;

use super::replace::Event;
use super::{Application, CancelledHere, Mark, Override};

/// A registration after the comparison of dirty timestamps: what is stored, and for how long.
pub(super) struct Accepted {
    pub(super) instance: Instance,
    pub(super) reported_status: Status,
    pub(super) duration_ms: u64,
    /// False if what was there is newer and stays.
    pub(super) is_taken: bool,
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
        Some(self.enter(incoming, origin, now, rules))
    }

    /// Registers what nothing stands against.
    fn enter(&mut self, incoming: Instance, origin: Origin, now: Now, rules: &Rules) -> Change {
        self.tombstones.lift(&incoming.instance_id);
        let accepted = self.accept(incoming, origin);
        let change = self.start_lease(accepted, origin, now, rules);
        if origin == Origin::Client {
            change.record.lease.note_direct_contact(now.mono_ms);
        }
        change
    }

    /// Registers what a peer has sent in a batch. A sender whose own cancel is remembered here ends that with it.
    pub fn register_from(
        &mut self,
        incoming: Instance,
        sender: Sender,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let (id, dirty) = (&incoming.instance_id, incoming.last_dirty_timestamp);
        if self.tombstones.get(id, now).is_some_and(|t| t.is_followed_by(dirty, sender)) {
            self.tombstones.lift(id);
        }
        self.register(incoming, Origin::Peer, now, rules)
    }

    /// Registers what a peer's list says, for which it was asked at a certain time (`replication.md` 6.4). `None` if
    /// something later is known here: a cancel, or the same registration with what was done to it since.
    pub fn register_copy(
        &mut self,
        copy: Instance,
        asked_mono_ms: u64,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let (id, dirty) = (&copy.instance_id, copy.last_dirty_timestamp);
        if self.tombstones.get(id, now).is_some_and(|t| t.bars_list_of(asked_mono_ms)) {
            return None;
        }
        let is_later_here = self.leases.get(id).is_some_and(|slot| {
            slot.record.instance.last_dirty_timestamp == dirty && slot.has_changed_since(asked_mono_ms)
        });
        if is_later_here { None } else { self.register(copy, Origin::StartUp, now, rules) }
    }

    /// Takes over the newer record that a peer has sent in answer to our heartbeat (409, `replication.md` 4.2): its
    /// override replaces ours, then it registers.
    ///
    /// # Errors
    /// If the instance was cancelled here with a dirty timestamp that is not older: then the peer needs to hear of that.
    pub fn adopt(&mut self, theirs: Instance, now: Now, rules: &Rules) -> Result<Change, CancelledHere> {
        let id = &theirs.instance_id;
        let stone = self.tombstones.get(id, now);
        if let Some(stone) = stone.filter(|t| t.last_dirty_timestamp >= theirs.last_dirty_timestamp) {
            return Err(CancelledHere {
                last_dirty_timestamp: stone.last_dirty_timestamp,
                lease_duration_ms: Lease::duration_ms_of(&theirs.lease),
            });
        }
        let differs = self.override_status(id) != Some(theirs.overridden_status);
        if differs && theirs.overridden_status != Status::Unknown {
            self.overrides.insert(Arc::clone(id), Override::new(theirs.overridden_status, Origin::Peer));
        }
        Ok(self.enter(theirs, Origin::Peer, now, rules))
    }

    /// Compares dirty timestamps: strictly newer content that is there stays (invariants ).
    fn accept(&self, incoming: Instance, origin: Origin) -> Accepted {
        let duration_ms = Lease::duration_ms_of(&incoming.lease);
        let existing = self.get(&incoming.instance_id);
        match existing {
            Some(old) if old.instance.last_dirty_timestamp > incoming.last_dirty_timestamp => {
                let (instance, reported_status) = (old.instance.clone(), old.reported_status);
                Accepted { instance, reported_status, duration_ms, is_taken: false }
            }
            _ => {
                let known = existing.map(|old| old.reported_status);
                Accepted {
                    reported_status: reported(&incoming, known, origin),
                    instance: incoming,
                    duration_ms,
                    is_taken: true,
                }
            }
        }
    }

    /// Starts a fresh lease for content that is decided.
    pub(super) fn start_lease(
        &mut self,
        accepted: Accepted,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Change {
        let Accepted { mut instance, reported_status, duration_ms, is_taken } = accepted;
        let existing = self.get(&instance.instance_id).map(Arc::clone);
        instance.app = self.name.clone();
        if let Some(old) = &existing {
            // One allocation per living id, however often it registers.
            instance.instance_id = Arc::clone(&old.instance.instance_id);
        }
        self.settle_override(&mut instance, origin);
        let existing_status = existing.as_ref().map(|old| old.instance.status);
        instance.status = self.status_by_rules(&instance, existing_status, origin.is_replicated(), rules);
        let lease = fresh_lease(existing.as_deref(), instance.status, duration_ms, now);
        let record = Record { instance, reported_status, lease };
        let change = self.put_record(record, Event { kind: ChangeKind::Registered, origin, now });
        if is_taken {
            self.mark_content(&change.id, Mark::of(origin, now));
        }
        change
    }

    /// Seeds the override from the record if there is none, and writes the one in force into the record.
    fn settle_override(&mut self, instance: &mut Instance, origin: Origin) {
        let seed = instance.overridden_status;
        if seed != Status::Unknown && !self.overrides.contains_key(&instance.instance_id) {
            self.overrides.insert(Arc::clone(&instance.instance_id), Override::new(seed, origin));
        }
        if let Some(entry) = self.overrides.get_mut(&instance.instance_id) {
            instance.overridden_status = entry.status;
            entry.adopt_lease();
        }
    }
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
