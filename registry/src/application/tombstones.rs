//! Tombstones: cancelled instances that a late replicated registration must not bring back (`replication.md` 9.3.3).

use std::collections::{BTreeMap, BTreeSet};

use heureka_protocol::InstanceId;

use crate::change::Origin;
use crate::rules::Rules;
use crate::sender::Sender;
use crate::stamp::Stamp;
use crate::time::Now;

/// What is remembered of a cancelled instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// Dirty timestamp of the instance when it was cancelled; the lowest number if nobody knows it.
    pub last_dirty_timestamp: i64,
    /// Monotonic time of the cancel, milliseconds.
    pub cancelled_mono_ms: u64,
    /// Monotonic time until which the tombstone counts, milliseconds.
    pub until_mono_ms: u64,
    /// Whose cancel it was; `None` for a client's call to this node, and after a restart.
    pub told_by: Option<Sender>,
    /// The cancel named no dirty timestamp: which copies it meant, only the time at which it came can tell.
    pub is_blank: bool,
    /// The cancel as an operation on the override: it removed it.
    pub override_stamp: Option<Stamp>,
}

impl Tombstone {
    /// One that a snapshot has kept.
    #[must_use]
    pub const fn restored(last_dirty_timestamp: i64, cancelled_mono_ms: u64, until_mono_ms: u64) -> Self {
        Self {
            last_dirty_timestamp,
            cancelled_mono_ms,
            until_mono_ms,
            told_by: None,
            is_blank: false,
            override_stamp: None,
        }
    }
}

/// The tombstones of one application, bounded in number and in age.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    by_id: BTreeMap<InstanceId, Tombstone>,
    by_age: BTreeSet<(u64, InstanceId)>,
}

impl Tombstones {
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

    /// True if a registration comes from whoever told of the cancel, and after it: then it ends the tombstone.
    ///
    /// A node of our kind keeps order, so whatever dirty timestamp the instance has now, it is back. Another server is
    /// known again only within one batch, where it may put a late registration behind a cancel: there an older timestamp
    /// does not count (defect D4).
    pub(super) fn is_followed_by(&self, dirty: i64, sender: Sender) -> bool {
        self.told_by == Some(sender) && (sender.keeps_order() || dirty >= self.last_dirty_timestamp)
    }

    /// True if it stands against a list for which the peer was asked at a certain time. Whatever the list says of the
    /// instance was true before the cancel came; only a cancel that names its record leaves that to the timestamps.
    pub(super) fn bars_list_of(&self, asked_mono_ms: u64) -> bool {
        self.is_blank && self.cancelled_mono_ms >= asked_mono_ms
    }
}
