//! Cancels, and the tombstones that they leave (`registry.md` 3.2, `replication.md` 9.3.3).

use std::sync::Arc;

use heureka_protocol::InstanceId;

use crate::change::{Change, ChangeKind, Origin};
use crate::rules::Rules;
use crate::sender::Sender;
use crate::stamp::Stamp;
use crate::time::Now;

use super::replace::Event;
use super::{Application, Told, Tombstone};

/// A cancel, with all that is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// Where it came from.
    pub origin: Origin,
    /// The peer that told of it; `None` for a single call.
    pub told_by: Option<Sender>,
    /// Dirty timestamp of the record that was cancelled at the peer. Only nodes of our kind tell it.
    pub last_dirty: Option<i64>,
    /// The lists of the peers are on their way here: remember even the cancel of an instance that is not known yet.
    pub is_copying: bool,
    /// When it was done. Only nodes of our kind tell it.
    pub stamp: Option<Stamp>,
}

/// How a cancel ended.
#[derive(Clone, Debug)]
pub enum CancelOutcome {
    /// No such lease: 404.
    NotFound,
    /// The record here is newer than the one that was cancelled: it stays, and the answer is 200. The change, if it has
    /// lost an override that was older than itself.
    NewerStays(Option<Change>),
    /// 200.
    Cancelled(Change),
}

/// What a peer must be told of an instance that it holds and that was cancelled here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CancelledHere {
    /// Dirty timestamp of the record that was cancelled.
    pub last_dirty_timestamp: i64,
    /// How long the peer's lease lasts, milliseconds.
    pub lease_duration_ms: u64,
    /// When it was cancelled, as an operation on the override.
    pub override_stamp: Option<Stamp>,
}

impl Cancel {
    /// A single call that names nothing but the instance.
    #[must_use]
    pub const fn from(origin: Origin) -> Self {
        Self { origin, told_by: None, last_dirty: None, is_copying: false, stamp: None }
    }
}

/// When a cancel was done. One that says nothing was done now, unless a node of our kind tells of it: that one did not know
/// it, and whatever it has told since is later.
fn stamp_of(cancel: Cancel, last: Option<Stamp>, now: Now, rules: &Rules) -> Option<Stamp> {
    if cancel.stamp.is_some() || cancel.told_by.is_some_and(Sender::keeps_order) {
        return cancel.stamp;
    }
    rules.stamps.stamp(last, now).or(Stamp::after(last))
}

impl CancelOutcome {
    /// The change, if there was one.
    #[must_use]
    pub fn change(self) -> Option<Change> {
        match self {
            Self::Cancelled(change) => Some(change),
            Self::NewerStays(change) => change,
            Self::NotFound => None,
        }
    }
}

impl Application {
    /// Cancels a lease; `None` if there is none (invariants C-1 to C-3). No override remains in either case.
    pub fn cancel(&mut self, id: &str, origin: Origin, now: Now, rules: &Rules) -> Option<Change> {
        self.cancel_as(id, Cancel::from(origin), now, rules).change()
    }

    /// The same with what the sender of the cancel has said.
    ///
    /// A cancel that names its record ends that one and all older ones, known or not; a newer one is the next life of
    /// the instance. Without [`Rules::sync_when_timestamp_differs`] nobody makes the records equal again, so then a cancel
    /// ends whatever is there.
    pub fn cancel_as(&mut self, id: &str, cancel: Cancel, now: Now, rules: &Rules) -> CancelOutcome {
        self.settle_stamps(rules);
        let known = self.get(id).map(|record| record.instance.last_dirty_timestamp);
        let is_newer = cancel.last_dirty.zip(known).is_some_and(|(cancelled, known)| known > cancelled);
        if is_newer && rules.sync_when_timestamp_differs {
            return CancelOutcome::NewerStays(self.end_older_override(id, cancel, now, rules));
        }
        let last = self.override_state(id, now).stamp;
        let cancel = Cancel { stamp: last.max(stamp_of(cancel, last, now, rules)), ..cancel };
        self.overrides.remove(id);
        match self.end_lease(id, cancel.origin, now) {
            Some(mut change) => {
                let duration_ms = change.record.lease.duration_ms;
                let id = InstanceId::clone(&change.id);
                change.tombstone = Some(Box::new(self.bury(id, known, cancel, duration_ms, now, rules)));
                CancelOutcome::Cancelled(change)
            }
            None => {
                if self.is_worth_remembering(id, cancel, now) {
                    let _ = self.bury(InstanceId::from(id), None, cancel, 0, now, rules);
                }
                CancelOutcome::NotFound
            }
        }
    }

    /// An override from before the cancel belonged to what was cancelled: it has come over to the next life only because
    /// that life was heard of before the end of the last one. If nobody knows when one of them was done, an override counts
    /// that was here before the record that stays.
    fn end_older_override(&mut self, id: &str, cancel: Cancel, now: Now, rules: &Rules) -> Option<Change> {
        let slot = self.leases.get(id)?;
        let (record, last) = (Arc::clone(&slot.record), slot.record.override_stamp.get());
        let outcome = match (last, cancel.stamp) {
            (Some(_), Some(stamp)) => self.take_told(id, Told::removed(stamp), now, rules),
            // It was done before its node had heard of anybody, and the override has a time: it is later.
            (Some(_), None) if cancel.told_by.is_some_and(Sender::keeps_order) => return None,
            _ if slot.overridden.since_mono_ms < slot.content.since_mono_ms => {
                record.override_state().status?;
                let stamp = stamp_of(cancel, last, now, rules).or(Stamp::after(last));
                self.lift_override(&record, (None, stamp), None, cancel.origin, now, rules)
            }
            _ => return None,
        };
        outcome.change()
    }

    /// Whether the cancel of what is not here says something new: a registration may still be on its way.
    fn is_worth_remembering(&self, id: &str, cancel: Cancel, now: Now) -> bool {
        let before = self.tombstones.get(id, now).map(|before| before.last_dirty_timestamp);
        match cancel.last_dirty {
            Some(cancelled) => before.is_none_or(|before| before < cancelled),
            None => cancel.is_copying,
        }
    }

    fn end_lease(&mut self, id: &str, origin: Origin, now: Now) -> Option<Change> {
        let last_clock_ms = self.get(id)?.lease.clock.retire().unwrap_or(now.mono_ms);
        self.take_record(id, last_clock_ms, Event { kind: ChangeKind::Cancelled, origin, now })
    }

    /// Leaves a tombstone until no peer can hold the lease any more. It stands against all that was ever cancelled.
    fn bury(
        &mut self,
        id: InstanceId,
        known: Option<i64>,
        cancel: Cancel,
        duration_ms: u64,
        now: Now,
        rules: &Rules,
    ) -> Tombstone {
        let before = self.tombstones.get(&id, now);
        let cancelled = [known, cancel.last_dirty, before.map(|before| before.last_dirty_timestamp)];
        let until_mono_ms = now.mono_ms.saturating_add(rules.remembered_ms(duration_ms));
        let tombstone = Tombstone {
            last_dirty_timestamp: cancelled.into_iter().flatten().max().unwrap_or(i64::MIN),
            cancelled_mono_ms: now.mono_ms,
            until_mono_ms: until_mono_ms.max(before.map_or(0, |before| before.until_mono_ms)),
            told_by: cancel.told_by,
            is_blank: cancel.last_dirty.is_none(),
            override_stamp: cancel.stamp,
        };
        self.tombstones.put(id, tombstone, rules);
        tombstone
    }

    /// The tombstone of a cancelled instance, as long as it counts.
    #[must_use]
    pub fn tombstone(&self, id: &str, now: Now) -> Option<Tombstone> {
        self.tombstones.get(id, now)
    }

    /// How many cancels are remembered; some may have just ended. Asking costs nothing.
    #[must_use]
    pub fn tombstone_count(&self) -> usize {
        self.tombstones.len()
    }

    /// All tombstones in the order of their ids, for snapshots and gauges; some may have just ended.
    pub fn tombstones(&self) -> impl Iterator<Item = (&InstanceId, &Tombstone)> {
        self.tombstones.iter()
    }

    /// Puts a tombstone back that a snapshot has kept. Without effect for a living instance.
    pub fn restore_tombstone(&mut self, id: InstanceId, tombstone: Tombstone, rules: &Rules) {
        if !self.leases.contains_key(&id) {
            self.tombstones.put(id, tombstone, rules);
        }
    }

    /// Forgets a tombstone that is not newer than `dirty`: the instance is known to live.
    pub fn lift_tombstone(&mut self, id: &str, dirty: i64, now: Now) {
        if self.tombstones.get(id, now).is_some_and(|t| t.last_dirty_timestamp <= dirty) {
            self.tombstones.lift(id);
        }
    }
}
