//! The changes of one application in the last minutes, as deltas offer them (`registry.md` 6.1, 6.2).
//!
//! Everybody gets the same entries again and again and must be able to apply them twice. The log keeps records by value,
//! so an entry shows what was true at its change. It builds no document and knows no hash.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::quality::RandomState;
use heureka_protocol::{ActionType, InstanceId};

use crate::record::Record;

/// One change that a delta shows.
#[derive(Clone, Debug)]
pub struct DeltaEntry {
    /// The record after the change.
    pub record: Arc<Record>,
    /// What happened.
    pub action: ActionType,
    /// Monotonic time of the change, milliseconds.
    pub at_mono_ms: u64,
}

/// Log of one application: at most one entry per instance, the last change wins (invariants D-4 to D-7).
#[derive(Clone, Debug, Default)]
pub struct DeltaLog {
    by_position: BTreeMap<u64, DeltaEntry>,
    positions: HashMap<InstanceId, u64, RandomState>,
    next_position: u64,
}

impl DeltaLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a change; an earlier entry of the same instance goes.
    pub fn push(&mut self, record: Arc<Record>, action: ActionType, at_mono_ms: u64) {
        let position = self.next_position;
        self.next_position += 1;
        if let Some(old) = self.positions.insert(Arc::clone(&record.instance.instance_id), position) {
            self.by_position.remove(&old);
        }
        self.by_position.insert(position, DeltaEntry { record, action, at_mono_ms });
    }

    /// Drops the entries that are strictly older than `before_mono_ms`; true if there were any.
    pub fn expire(&mut self, before_mono_ms: u64) -> bool {
        let length = self.by_position.len();
        while let Some(oldest) = self.by_position.first_entry() {
            if oldest.get().at_mono_ms >= before_mono_ms {
                break;
            }
            self.positions.remove(&oldest.remove().record.instance.instance_id);
        }
        self.by_position.len() < length
    }

    /// The entries as a delta must list them: ADDED and MODIFIED in the order of their changes, then DELETED. Java
    /// clients mishandle a removal that comes before an addition (defect D10).
    pub fn entries(&self) -> impl Iterator<Item = &DeltaEntry> {
        let removals = |is_removal: bool| {
            let entries = self.by_position.values();
            entries.filter(move |entry| (entry.action == ActionType::Deleted) == is_removal)
        };
        removals(false).chain(removals(true))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_position.len()
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_position.is_empty()
    }
}
