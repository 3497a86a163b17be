//! Tombstones: cancelled instances that a late replicated registration must not bring back (`replication.md` 9.3.3).

use std::collections::{BTreeMap, BTreeSet};

use heureka_protocol::InstanceId;

use crate::change::Origin;
use crate::rules::Rules;
use crate::time::Now;

/// What is remembered of a cancelled instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Dirty timestamp of the instance when it was cancelled.
    pub last_dirty_timestamp: i64,
    /// Monotonic time of the cancel, milliseconds.
    pub cancelled_mono_ms: u64,
    /// Monotonic time until which the tombstone counts, milliseconds.
    pub until_mono_ms: u64,
}

/// The tombstones of one application, bounded in number and in age.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    by_id: BTreeMap<InstanceId, Tombstone>,
    by_age: BTreeSet<(u64, InstanceId)>,
}

impl Tombstones {
    /// Remembers a cancelled instance until no peer can hold its lease any more.
    pub(super) fn add(&mut self, id: InstanceId, dirty: i64, duration_ms: u64, now: Now, rules: &Rules) {
        let lease_end_ms = duration_ms.saturating_mul(2).saturating_add(rules.eviction_interval_ms);
        let tombstone = Tombstone {
            last_dirty_timestamp: dirty,
            cancelled_mono_ms: now.mono_ms,
            until_mono_ms: now.mono_ms.saturating_add(rules.tombstone_ttl_ms.max(lease_end_ms)),
        };
        self.put(id, tombstone, rules);
    }

    /// Puts a tombstone in place; the oldest one goes if there are too many.
    pub(super) fn put(&mut self, id: InstanceId, tombstone: Tombstone, rules: &Rules) {
        self.lift(&id);
        self.by_age.insert((tombstone.cancelled_mono_ms, id.clone()));
        self.by_id.insert(id, tombstone);
        while self.by_id.len() > rules.tombstones_max {
            let Some((_, oldest)) = self.by_age.pop_first() else { return };
            self.by_id.remove(&oldest);
        }
    }

    /// Forgets the tombstone of an instance.
    pub(super) fn lift(&mut self, id: &str) {
        if let Some((id, tombstone)) = self.by_id.remove_entry(id) {
            self.by_age.remove(&(tombstone.cancelled_mono_ms, id));
        }
    }

    /// Forgets all whose time has passed.
    pub(super) fn expire(&mut self, now: Now) {
        let by_age = &mut self.by_age;
        self.by_id.retain(|id, tombstone| {
            let is_current = tombstone.counts(now);
            if !is_current {
                by_age.remove(&(tombstone.cancelled_mono_ms, id.clone()));
            }
            is_current
        });
    }

    /// The tombstone of an instance, if it still counts.
    pub(super) fn get(&self, id: &str, now: Now) -> Option<Tombstone> {
        self.by_id.get(id).copied().filter(|tombstone| tombstone.counts(now))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&InstanceId, &Tombstone)> {
        self.by_id.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }
}

impl Tombstone {
    const fn counts(&self, now: Now) -> bool {
        now.mono_ms < self.until_mono_ms
    }

    /// True if a registration from this origin must not be applied. A client's own always may.
    ///
    /// An older dirty timestamp is refused for the whole life of the tombstone. An equal one cannot be told from a
    /// registration that the cancel overtook: from a peer it is refused during the quarantine only, since a living
    /// instance comes back through its next heartbeat; from a copy at start-up always, since that has no order at all.
    pub(super) fn refuses(&self, dirty: i64, origin: Origin, now: Now, rules: &Rules) -> bool {
        if !origin.is_replicated() || dirty > self.last_dirty_timestamp {
            return false;
        }
        let age_ms = now.mono_ms.saturating_sub(self.cancelled_mono_ms);
        dirty < self.last_dirty_timestamp
            || origin == Origin::StartUp
            || age_ms < rules.tombstone_quarantine_ms
    }
}
