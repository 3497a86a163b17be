//! Counts per minute: two buckets, ticked from outside (`registry.md` 4.4). Knows no timer.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter whose readers see the last completed minute only (invariant G-4).
///
/// Shared by many threads; a count that races with the tick falls into the minute before or after, never into none or
/// both. `Relaxed` suffices: no other memory is published by it.
#[derive(Debug, Default)]
pub struct MinuteCounter {
    current: AtomicU64,
    last: AtomicU64,
}

impl MinuteCounter {
    /// A counter at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { current: AtomicU64::new(0), last: AtomicU64::new(0) }
    }

    /// Counts `events` in the current minute.
    pub fn add(&self, events: u64) {
        self.current.fetch_add(events, Ordering::Relaxed);
    }

    /// Ends the current minute and returns what it counted. Call it once a minute, from one place.
    pub fn tick(&self) -> u64 {
        let completed = self.current.swap(0, Ordering::Relaxed);
        self.last.store(completed, Ordering::Relaxed);
        completed
    }

    /// What the last completed minute counted: `R` for the renewals.
    #[must_use]
    pub fn last_minute(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }
}
