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
/// Bytes of entries that are kept without looking for superseded ones.
const COMPACT_FROM_BYTES: usize = 64 * 1024;

/// What a log keeps: a record, or something that carries one.
pub trait Logged {
    /// Id of the instance: a later entry with the same id supersedes an earlier one.
    fn instance_id(&self) -> &str;

    /// About what it takes in memory if nobody but the log holds it.
    fn bytes(&self) -> usize;
}

impl Logged for Record {
    fn instance_id(&self) -> &str {
        &self.instance.instance_id
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.instance.text_bytes()
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
/// Superseded entries stay until they are half of it, in number or in bytes, so an instance that flaps cannot make it grow
/// without bound. Entries of live instances are as many as these; those of removed ones have no bound here, so whoever keeps
/// logs gives up the oldest with [`DeltaLog::drop_removals`].
#[derive(Debug)]
pub struct DeltaLog<R = Record> {
    /// Oldest first.
    entries: Vec<DeltaEntry<R>>,
    compact_at: usize,
    /// Of all entries, superseded ones included.
    bytes: usize,
    compact_at_bytes: usize,
    /// Of the removals, superseded ones included.
    removal_bytes: usize,
}

impl<R> Clone for DeltaLog<R> {
    fn clone(&self) -> Self {
        Self { entries: self.entries.clone(), ..*self }
    }
}

impl<R> Default for DeltaLog<R> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            compact_at: COMPACT_FROM,
            bytes: 0,
            compact_at_bytes: COMPACT_FROM_BYTES,
            removal_bytes: 0,
        }
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
        self.keep(DeltaEntry { record, action, at_mono_ms });
        if self.entries.len() >= self.compact_at || self.bytes >= self.compact_at_bytes {
            self.compact();
        }
    }

    fn keep(&mut self, entry: DeltaEntry<R>) {
        let bytes = entry.record.bytes();
        self.bytes += bytes;
        if entry.action == ActionType::Deleted {
            self.removal_bytes += bytes;
        }
        self.entries.push(entry);
    }

    /// Keeps nothing but these.
    fn keep_only(&mut self, entries: Vec<DeltaEntry<R>>) {
        (self.bytes, self.removal_bytes) = (0, 0);
        self.entries = Vec::with_capacity(entries.len());
        entries.into_iter().for_each(|entry| self.keep(entry));
    }

    /// About what the removals take in memory: nobody else needs their records.
    #[must_use]
    pub fn removal_bytes(&self) -> usize {
        self.removal_bytes
    }

    /// When each removal was and what it takes, superseded ones included.
    pub fn removals(&self) -> impl Iterator<Item = (u64, usize)> {
        let removals = self.entries.iter().filter(|entry| entry.action == ActionType::Deleted);
        removals.map(|entry| (entry.at_mono_ms, entry.record.bytes()))
    }

    /// Gives up the removals up to this time, before they are too old; returns how many counted.
    ///
    /// Only removals may be given up, because then nobody can miss it: a client that does not hear of one keeps an instance
    /// too many, and no other change makes up for it, so its hash code differs and it fetches everything. Without an
    /// addition as well, the two could cancel each other out.
    pub fn drop_removals(&mut self, up_to_mono_ms: u64) -> usize {
        let is_dropped =
            |entry: &DeltaEntry<R>| entry.action == ActionType::Deleted && entry.at_mono_ms <= up_to_mono_ms;
        // Superseded entries go first: what a dropped removal has superseded must not come back.
        let counting: Vec<_> = self.counting().into_iter().cloned().collect();
        let length = counting.len();
        self.keep_only(counting.into_iter().filter(|entry| !is_dropped(entry)).collect());
        length - self.entries.len()
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
        let mut entries = std::mem::take(&mut self.entries);
        entries.retain(|entry| entry.at_mono_ms >= before_mono_ms);
        self.keep_only(entries);
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
        self.keep_only(self.counting().into_iter().cloned().collect());
        self.compact_at = (self.entries.len() * 2).max(COMPACT_FROM);
        self.compact_at_bytes = (self.bytes * 2).max(COMPACT_FROM_BYTES);
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
        assert_eq!(log.bytes, 0);
    }

    fn large_record(id: usize) -> Arc<Record> {
        let mut record = Arc::into_inner(record(id)).unwrap();
        record.instance.home_page_url = Some("x".repeat(8_000).into());
        Arc::new(record)
    }

    #[test]
    fn superseded_entries_with_much_text_do_not_pile_up() {
        let mut log = DeltaLog::new();
        for _ in 0..1_000 {
            log.push(large_record(7), ActionType::Modified, 0);
            assert!(log.bytes < 2 * COMPACT_FROM_BYTES, "{} bytes are kept", log.bytes);
        }
    }

    #[test]
    fn a_removal_that_is_given_up_brings_nothing_back() {
        let mut log = DeltaLog::new();
        for (at, id, action) in [
            (1, 1, ActionType::Added),
            (2, 2, ActionType::Added),
            (3, 1, ActionType::Deleted),
            (4, 2, ActionType::Deleted),
            (5, 3, ActionType::Deleted),
            (6, 2, ActionType::Added),
        ] {
            log.push(large_record(id), action, at);
        }
        assert_eq!(log.removals().map(|(at, _)| at).collect::<Vec<_>>(), [3, 4, 5]);
        assert!(log.removal_bytes() > 24_000);
        assert_eq!(log.drop_removals(4), 1, "that of 2 counts no more");
        let left: Vec<_> = log.entries().map(|entry| (entry.record.instance_id(), entry.action)).collect();
        assert_eq!(left, [("2", ActionType::Added), ("3", ActionType::Deleted)]);
        assert_eq!(log.removal_bytes(), log.removals().map(|(_, bytes)| bytes).sum::<usize>());
    }
}
