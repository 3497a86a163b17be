//! Expired leases: found by a scan, removed later only if they are still expired (`registry.md` 3.6, defect D5).

use heureka_protocol::InstanceId;

use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::stamp::OverrideState;
use crate::time::Now;

use super::Application;
use super::replace::Event;

impl Application {
    /// Ids of the leases that are expired even with `extra_ms` more to live, in order.
    #[must_use]
    pub fn expired(&self, now: Now, extra_ms: u64) -> Vec<InstanceId> {
        let slots = self.leases.iter();
        slots
            .filter(|(_, slot)| slot.record.lease.is_expired(now.mono_ms, extra_ms))
            .map(|(id, _)| InstanceId::clone(id))
            .collect()
    }

    /// Removes those of the given leases that are still there and still expired (invariant C-7). A heartbeat that comes
    /// in at the same moment either saves its lease or is told to ask the owner, never both. No tombstones: peers
    /// evict on their own. Only that an override was removed is remembered for a while.
    pub fn evict(&mut self, ids: &[InstanceId], now: Now, extra_ms: u64, rules: &Rules) -> Vec<Change> {
        self.settle_stamps(rules);
        ids.iter().filter_map(|id| self.evict_one(id, now, extra_ms, rules)).collect()
    }

    fn evict_one(&mut self, id: &str, now: Now, extra_ms: u64, rules: &Rules) -> Option<Change> {
        let lease = &self.get(id)?.lease;
        let is_expired = |since_ms| lease.is_expired_since(since_ms, now.mono_ms, extra_ms);
        let last_clock_ms = lease.clock.retire_if(is_expired)?;
        let event = Event { kind: ChangeKind::Evicted, origin: Origin::Eviction, now };
        let change = self.take_record(id, last_clock_ms, event)?;
        let Record { lease, .. } = &*change.record;
        if let OverrideState { status: None, stamp: Some(stamp) } = change.record.override_state() {
            self.removals.put(InstanceId::clone(&change.id), stamp, lease.duration_ms, now, rules);
        }
        Some(change)
    }
}
