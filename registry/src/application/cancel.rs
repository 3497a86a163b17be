//! Cancels, and the tombstones that they leave (`registry.md` 3.2, `replication.md` 9.3.3).

use std::sync::Arc;

use heureka_protocol::InstanceId;

use crate::change::{Change, ChangeKind, Origin};
use crate::rules::Rules;
use crate::time::Now;

use super::replace::Event;
use super::{Application, Tombstone};

impl Application {
    /// Cancels a lease; `None` if there is none (invariants C-1 to C-3). No override remains in either case.
    pub fn cancel(&mut self, id: &str, origin: Origin, now: Now, rules: &Rules) -> Option<Change> {
        self.overrides.remove(id);
        let last_clock_ms = self.get(id)?.lease.clock.retire().unwrap_or(now.mono_ms);
        let change =
            self.take_record(id, last_clock_ms, Event { kind: ChangeKind::Cancelled, origin, now })?;
        let record = &change.record;
        let dirty = record.instance.last_dirty_timestamp;
        self.tombstones.add(Arc::clone(&change.id), dirty, record.lease.duration_ms, now, rules);
        Some(change)
    }

    /// The tombstone of a cancelled instance, as long as it counts.
    #[must_use]
    pub fn tombstone(&self, id: &str, now: Now) -> Option<Tombstone> {
        self.tombstones.get(id, now)
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

    /// Forgets a tombstone that is not newer than `dirty`. For a registration with an equal timestamp that certainly
    /// comes after the cancel: it followed it in the same batch, or its sender keeps order (`replication.md` 9.3.3).
    pub fn lift_tombstone(&mut self, id: &str, dirty: i64, now: Now) {
        if self.tombstones.get(id, now).is_some_and(|t| t.last_dirty_timestamp <= dirty) {
            self.tombstones.lift(id);
        }
    }
}
