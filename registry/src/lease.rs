//! The lease of one instance and its clock (spec `registry.md` 1.3 to 1.6).

use std::sync::atomic::{AtomicU64, Ordering};

/// When a lease that was renewed ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseExpiry {
    /// As Java: a renewal adds the duration, and so does the expiry test, so a renewed lease lives twice its duration.
    #[default]
    Java,
    /// Once the duration after every event.
    Exact,
}

/// Value of a clock whose lease has been replaced or removed.
const RETIRED: u64 = u64::MAX;

/// The moment from which a lease counts, shared between its owner and the heartbeat path.
///
/// The only mutable part of a published record: a heartbeat moves it with one compare-and-swap, without asking the
/// owner. The owner retires it before it replaces or removes the record, so a heartbeat that holds an old view sees that
/// and asks the owner instead. `SeqCst` keeps the argument simple; the cost does not show beside an HTTP request.
#[derive(Debug)]
pub struct LeaseClock(AtomicU64);

impl LeaseClock {
    /// A clock that counts from the given monotonic moment.
    #[must_use]
    pub const fn starting_at(mono_ms: u64) -> Self {
        Self(AtomicU64::new(mono_ms))
    }

    /// Moves the clock to `mono_ms` unless that would move it back. False if the clock is retired: ask the owner.
    pub fn advance(&self, mono_ms: u64) -> bool {
        let step = |current| (current != RETIRED).then_some(if mono_ms > current { mono_ms } else { current });
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, step).is_ok()
    }

    /// Ends the clock and returns its last value; `None` if it was retired before.
    pub fn retire(&self) -> Option<u64> {
        let last = self.0.swap(RETIRED, Ordering::SeqCst);
        (last != RETIRED).then_some(last)
    }

    /// The current value; `None` once retired.
    #[must_use]
    pub fn get(&self) -> Option<u64> {
        let value = self.0.load(Ordering::SeqCst);
        (value != RETIRED).then_some(value)
    }
}

/// Lease of one registered instance. Everything but the clock is fixed; a change makes a new lease.
#[derive(Debug)]
pub struct Lease {
    /// Wall clock of the last registration, milliseconds since the epoch.
    pub registration_timestamp: i64,
    /// Wall clock of the first time with status UP, 0 before (rules in `registry.md` 1.6).
    pub service_up_timestamp: i64,
    /// Wall clock of cancellation or eviction, 0 while the lease lives.
    pub eviction_timestamp: i64,
    /// Lease duration in milliseconds; 64 bits, so no duration overflows (defect D24).
    pub duration_ms: u64,
    /// From when the duration counts, on the monotonic clock: Java's `lastUpdateTimestamp`.
    pub clock: LeaseClock,
}

impl Lease {
    /// Where a renewal at `mono_ms` sets the clock (invariants L-1, L-2).
    #[must_use]
    pub const fn renewed_clock(&self, mono_ms: u64, expiry: LeaseExpiry) -> u64 {
        match expiry {
            LeaseExpiry::Java => mono_ms.saturating_add(self.duration_ms),
            LeaseExpiry::Exact => mono_ms,
        }
    }

    /// True if the lease has ended: cancelled, or strictly more than its duration and `extra_ms` have passed.
    #[must_use]
    pub fn is_expired(&self, mono_ms: u64, extra_ms: u64) -> bool {
        let Some(since) = self.clock.get() else { return true };
        self.eviction_timestamp > 0
            || mono_ms > since.saturating_add(self.duration_ms).saturating_add(extra_ms)
    }
}
