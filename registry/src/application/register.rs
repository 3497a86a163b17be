//! Registration, for the first time or again (`registry.md` 2).

use std::sync::Arc;

use heureka_protocol::{Instance, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::lease::Lease;
use crate::record::Record;
use crate::rules::Rules;
use crate::time::Now;

use super::replace::Event;
use super::{Application, Override};

/// A registration after the comparison of dirty timestamps: what is stored, and for how long.
pub(super) struct Accepted {
    pub(super) instance: Instance,
    pub(super) reported_status: Status,
    pub(super) duration_ms: u64,
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
        let id = &incoming.instance_id;
        let tombstone = self.tombstones.get(id, now);
        if tombstone.is_some_and(|t| t.refuses(incoming.last_dirty_timestamp, origin, now, rules)) {
            return None;
        }
        self.tombstones.lift(id);
        let accepted = self.accept(incoming, origin);
        let change = self.start_lease(accepted, origin, now, rules);
        if origin == Origin::Client {
            change.record.lease.note_direct_contact(now.mono_ms);
        }
        Some(change)
    }

    /// Takes over the newer record that a peer has sent in answer to our heartbeat (409, `replication.md` 4.2): its
    /// override replaces ours, then it registers. `None` if the instance was cancelled here with a dirty timestamp that
    /// is not older: then the peer needs to hear of the cancel instead.
    pub fn adopt(&mut self, theirs: Instance, now: Now, rules: &Rules) -> Option<Change> {
        let id = &theirs.instance_id;
        let tombstone = self.tombstones.get(id, now);
        if tombstone.is_some_and(|t| t.last_dirty_timestamp >= theirs.last_dirty_timestamp) {
            return None;
        }
        let differs = self.override_status(id) != Some(theirs.overridden_status);
        if differs && theirs.overridden_status != Status::Unknown {
            self.overrides.insert(Arc::clone(id), Override::new(theirs.overridden_status, Origin::Peer, now));
        }
        self.register(theirs, Origin::Peer, now, rules)
    }

    /// Compares dirty timestamps: strictly newer content that is there stays (invariants ).
    fn accept(&self, incoming: Instance, origin: Origin) -> Accepted {
        let duration_ms = Lease::duration_ms_of(&incoming.lease);
        let existing = self.get(&incoming.instance_id);
        match existing {
            Some(old) if old.instance.last_dirty_timestamp > incoming.last_dirty_timestamp => {
                Accepted { instance: old.instance.clone(), reported_status: old.reported_status, duration_ms }
            }
            _ => {
                let known = existing.map(|old| old.reported_status);
                Accepted {
                    reported_status: reported(&incoming, known, origin),
                    instance: incoming,
                    duration_ms,
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
        let Accepted { mut instance, reported_status, duration_ms } = accepted;
        let existing = self.get(&instance.instance_id).map(Arc::clone);
        instance.app = self.name.clone();
        if let Some(old) = &existing {
            // One allocation per living id, however often it registers.
            instance.instance_id = Arc::clone(&old.instance.instance_id);
        }
        self.settle_override(&mut instance, origin, now);
        let existing_status = existing.as_ref().map(|old| old.instance.status);
        instance.status = self.status_by_rules(&instance, existing_status, origin.is_replicated(), rules);
        let lease = fresh_lease(existing.as_deref(), instance.status, duration_ms, now);
        let record = Record { instance, reported_status, lease };
        self.put_record(record, Event { kind: ChangeKind::Registered, origin, now })
    }

    /// Seeds the override from the record if there is none, and writes the one in force into the record.
    fn settle_override(&mut self, instance: &mut Instance, origin: Origin, now: Now) {
        let seed = instance.overridden_status;
        if seed != Status::Unknown && !self.overrides.contains_key(&instance.instance_id) {
            self.overrides.insert(Arc::clone(&instance.instance_id), Override::new(seed, origin, now));
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
