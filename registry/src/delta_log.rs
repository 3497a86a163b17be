//! The changes of one application in the last minutes, as deltas offer them (`registry.md` 6.1, 6.2).
//!
//! Everybody gets the same entries again and again and must be able to apply them twice. The log keeps records by value,
//! so an entry shows what was true at its change. It builds no document and knows no hash.

use std::collections::HashSet;
use std::sync::Arc;

use foldhash::quality::RandomState;
use heureka_protocol::ActionType;

use crate::record::Record;

/// Entries that are kept without looking for superseded ones.
const COMPACT_FROM: usize = 64;

/// What a log keeps: a record, or something that carries one.
pub trait Logged {
    /// Id of the instance: a later entry with the same id supersedes an earlier one.
    fn instance_id(&self) -> &str;
}

impl Logged for Record {
    fn instance_id(&self) -> &str {
        &self.instance.instance_id
    }
}

/// One change that a delta shows.
#[derive(Debug)]
pub struct DeltaEntry<R = Record> {
    /// The record after the change.
    pub record: Arc<R>,
    /// What happened.
    pub action: ActionType,
    /// Monotonic time of the change, milliseconds.
    pub at_mono_ms: u64,
}

impl<R> Clone for DeltaEntry<R> {
    fn clone(&self) -> Self {
        Self { record: Arc::clone(&self.record), action: self.action, at_mono_ms: self.at_mono_ms }
    }
}

/// Log of one application: at most one entry per instance counts, the last change wins (invariants D-4 to D-7).
///
/// A plain list that is only appended to, because it is copied with every published version of its application.
/// Superseded entries stay until they are half of it, so an instance that flaps cannot make it grow without bound.
#[derive(Debug)]
pub struct DeltaLog<R = Record> {
    /// Oldest first.
    entries: Vec<DeltaEntry<R>>,
    compact_at: usize,
}

impl<R> Clone for DeltaLog<R> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), compact_at: self.compact_at }
    }
}

impl<R> Default for DeltaLog<R> {
    fn default() -> Self {
        Self { entries: Vec::new(), compact_at: COMPACT_FROM }
    }
}

impl<R: Logged> DeltaLog<R> {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a change; an earlier entry of the same instance no longer counts.
    pub fn push(&mut self, record: Arc<R>, action: ActionType, at_mono_ms: u64) {
        self.entries.push(DeltaEntry { record, action, at_mono_ms });
        if self.entries.len() >= self.compact_at {
            self.compact();
        }
    }

    /// True if [`DeltaLog::expire`] with this time may drop something; costs nothing.
    #[must_use]
    pub fn may_expire(&self, before_mono_ms: u64) -> bool {
        self.entries.first().is_some_and(|entry| entry.at_mono_ms < before_mono_ms)
    }

    /// Drops the entries that are strictly older than `before_mono_ms`; true if any of them counted.
    pub fn expire(&mut self, before_mono_ms: u64) -> bool {
        if !self.may_expire(before_mono_ms) {
            return false;
        }
        self.compact();
        let length = self.entries.len();
        self.entries.retain(|entry| entry.at_mono_ms >= before_mono_ms);
        self.entries.len() < length
    }

    /// The entries as a delta must list them: ADDED and MODIFIED in the order of their changes, then DELETED. Java
    /// clients mishandle a removal that comes before an addition (defect D10).
    pub fn entries(&self) -> impl Iterator<Item = &DeltaEntry<R>> {
        let (removals, others): (Vec<_>, Vec<_>) =
            self.counting().into_iter().partition(|entry| entry.action == ActionType::Deleted);
        others.into_iter().chain(removals)
    }

    /// Number of entries that count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counting().len()
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The last entry of every instance, oldest first.
    fn counting(&self) -> Vec<&DeltaEntry<R>> {
        let mut seen = HashSet::with_capacity_and_hasher(self.entries.len(), RandomState::default());
        let newest_first = self.entries.iter().rev().filter(|entry| seen.insert(entry.record.instance_id()));
        let mut counting: Vec<_> = newest_first.collect();
        counting.reverse();
        counting
    }

    fn compact(&mut self) {
        self.entries = self.counting().into_iter().cloned().collect();
        self.compact_at = (self.entries.len() * 2).max(COMPACT_FROM);
    }
}

#[cfg(test)]
mod tests {
    use heureka_protocol::{AppName, Instance, Status};

    use super::*;
    use crate::lease::Lease;
    use crate::time::Now;

    fn record(id: usize) -> Arc<Record> {
        let instance =
            Instance::with_defaults(AppName::new("A"), Arc::from(id.to_string()), "host", "10.0.0.1");
        let lease = Lease::starting(Now { mono_ms: 0, wall_ms: 0 }, 90_000);
        let override_stamp = crate::stamp::StampCell::default();
        Arc::new(Record { instance, reported_status: Status::Up, lease, override_stamp })
    }

    #[test]
    fn superseded_entries_do_not_pile_up() {
        let mut log = DeltaLog::new();
        for change in 0..10_000 {
            log.push(record(change % 10), ActionType::Added, 0);
        }
        assert_eq!(log.len(), 10);
        assert!(log.entries.len() <= COMPACT_FROM, "{} entries are kept", log.entries.len());
        assert!(log.expire(1) && log.is_empty());
    }
}
