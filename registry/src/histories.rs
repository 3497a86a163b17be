//! The last registrations and cancels, as the start page lists them (`registry.md` 7.5).

use std::collections::VecDeque;

use heureka_protocol::{AppName, InstanceId};

/// Entries that each history keeps, as in Java.
pub const HISTORY_CAPACITY: usize = 1000;

/// One entry of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryEntry {
    /// Wall clock, milliseconds since the epoch.
    pub at_wall_ms: i64,
    /// Application.
    pub app: AppName,
    /// Instance.
    pub id: InstanceId,
}

/// A ring: when it is full, the oldest entry goes (invariant Q-4).
#[derive(Clone, Debug)]
pub struct History<T = HistoryEntry> {
    entries: VecDeque<T>,
    capacity: usize,
}

impl<T> History<T> {
    /// An empty ring for at most `capacity` entries. It grows as needed.
    #[must_use]
    pub const fn with_capacity(capacity: usize) -> Self {
        Self { entries: VecDeque::new(), capacity }
    }

    /// Adds the newest entry.
    pub fn push(&mut self, entry: T) {
        if self.capacity == 0 {
            return;
        }
        if self.entries.len() == self.capacity {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Takes the oldest entry out.
    pub fn pop_oldest(&mut self) -> Option<T> {
        self.entries.pop_front()
    }

    /// Entries, newest first.
    pub fn newest_first(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.entries.iter().rev()
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self::with_capacity(HISTORY_CAPACITY)
    }
}

/// Both histories. Repeated registrations count; so do evictions and cancels that found nothing (defect D15).
#[derive(Clone, Debug, Default)]
pub struct Histories {
    /// Last registered.
    pub registered: History,
    /// Last cancelled.
    pub cancelled: History,
}
