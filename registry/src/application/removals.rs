//! Removed overrides whose instance has been evicted since: an earlier operation that comes late must not count when the
//! instance is back. A cancel is remembered by its tombstone; an eviction leaves none. Not kept in snapshots.

use std::collections::BTreeMap;

use heureka_protocol::InstanceId;

use crate::rules::Rules;
use crate::stamp::Stamp;
use crate::time::Now;

/// The removals of one application, bounded in number and in age.
#[derive(Clone, Debug, Default)]
pub(super) struct Removals(BTreeMap<InstanceId, Removal>);

#[derive(Clone, Copy, Debug)]
struct Removal {
    stamp: Stamp,
    until_mono_ms: u64,
}

impl Removals {
    /// Remembers one for as long as a word about the instance may be on its way. If there are too many it is not.
    pub(super) fn put(&mut self, id: InstanceId, stamp: Stamp, duration_ms: u64, now: Now, rules: &Rules) {
        if self.0.len() < rules.tombstones_max {
            let until_mono_ms = now.mono_ms.saturating_add(rules.remembered_ms(duration_ms));
            self.0.insert(id, Removal { stamp, until_mono_ms });
        }
    }

    /// When the override of an instance was removed, if that still counts.
    pub(super) fn get(&self, id: &str, now: Now) -> Option<Stamp> {
        self.0.get(id).filter(|removal| now.mono_ms < removal.until_mono_ms).map(|removal| removal.stamp)
    }

    /// The instance is back, and its record knows.
    pub(super) fn lift(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Forgets all whose time has passed.
    pub(super) fn expire(&mut self, now: Now) {
        self.0.retain(|_, removal| now.mono_ms < removal.until_mono_ms);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
