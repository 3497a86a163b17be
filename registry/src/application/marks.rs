//! Since when things are as they are at this node, and by whose doing: what two nodes that differ ask each other
//! (`replication.md` 9.3.4).

use std::sync::Arc;

use crate::change::Origin;
use crate::record::Record;
use crate::time::Now;

use super::{Application, Slot};

/// Since when something is as it is here, and whether a client has done it at this node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Monotonic time, milliseconds; `None` if it came with a snapshot or a copy: then it is older than all that is known.
    pub since_mono_ms: Option<u64>,
    /// A client did it by a call to this node.
    pub is_own: bool,
}

impl Mark {
    pub(super) fn of(origin: Origin, now: Now) -> Self {
        let since_mono_ms = (origin != Origin::StartUp).then_some(now.mono_ms);
        Self { since_mono_ms, is_own: origin == Origin::Client }
    }

    /// How long ago, milliseconds; `None` for ever.
    #[must_use]
    pub fn age_ms(self, now: Now) -> Option<u64> {
        self.since_mono_ms.map(|since_ms| now.mono_ms.saturating_sub(since_ms))
    }
}

/// A record with its mark, for a comparison.
#[derive(Clone, Debug)]
pub struct MarkedRecord {
    /// The record.
    pub record: Arc<Record>,
    /// Since when the instance says of itself what it says.
    pub content: Mark,
}

impl Slot {
    /// True if anything of it has changed at this node since then.
    pub(super) fn has_changed_since(&self, mono_ms: u64) -> bool {
        [self.content, self.overridden].iter().any(|mark| mark.since_mono_ms >= Some(mono_ms))
    }
}

impl Application {
    /// All records with their mark, in the order of their ids.
    pub fn marked_records(&self) -> impl Iterator<Item = MarkedRecord> {
        self.leases
            .values()
            .map(|slot| MarkedRecord { record: Arc::clone(&slot.record), content: slot.content })
    }

    pub(super) fn mark_content(&mut self, id: &str, mark: Mark) {
        if let Some(slot) = self.leases.get_mut(id) {
            slot.content = mark;
        }
    }
}
