//! The lease of one instance and its clock (spec `registry.md` 1.3 to 1.6).

use std::sync::atomic::{AtomicU64, Ordering};

use heureka_protocol::LeaseInfo;
use heureka_protocol::instance::DEFAULT_LEASE_DURATION_SECS;

use crate::time::Now;

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
/// Largest moment that a living clock can hold.
const LAST_MOMENT: u64 = RETIRED - 1;

/// The moment from which a lease counts, shared between its owner and the heartbeat path.
///
/// With [`Lease::note_direct_contact`] the only mutable part of a published record: a heartbeat moves it with one
/// compare-and-swap, without asking the owner. The owner retires it before it replaces or removes the record, so a
/// heartbeat that holds an old view sees that and asks the owner instead. `SeqCst` keeps the argument simple; the cost
/// does not show beside an HTTP request.
#[derive(Debug)]
pub struct LeaseClock(AtomicU64);

impl LeaseClock {
    /// A clock that counts from the given monotonic moment.
    #[must_use]
    pub const fn starting_at(mono_ms: u64) -> Self {
        Self(AtomicU64::new(if mono_ms > LAST_MOMENT { LAST_MOMENT } else { mono_ms }))
    }

    /// Moves the clock to `mono_ms` unless that would move it back. False if the clock is retired: ask the owner.
    pub fn advance(&self, mono_ms: u64) -> bool {
        let target = mono_ms.min(LAST_MOMENT);
        let step = |current: u64| (current != RETIRED).then(|| current.max(target));
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, step).is_ok()
    }

    /// Ends the clock and returns its last value; `None` if it was retired before.
    pub fn retire(&self) -> Option<u64> {
        let last = self.0.swap(RETIRED, Ordering::SeqCst);
        (last != RETIRED).then_some(last)
    }

    /// Ends the clock if its value passes the test at that very moment, and returns that value. A heartbeat that
    /// arrives first makes the test see its renewal; one that arrives later finds the clock retired.
    pub fn retire_if(&self, test: impl Fn(u64) -> bool) -> Option<u64> {
        let step = |current: u64| (current != RETIRED && test(current)).then_some(RETIRED);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, step).ok()
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
    /// Monotonic time of the last call by the instance itself to this node, 0 if there was none. Anti-entropy asks it to
    /// find the owner of an instance (`replication.md` 9.3.4); no lease rule reads it.
    direct_contact_ms: AtomicU64,
}

impl Lease {
    /// A fresh lease that counts from now.
    #[must_use]
    pub const fn starting(now: Now, duration_ms: u64) -> Self {
        Self {
            registration_timestamp: now.wall_ms,
            service_up_timestamp: 0,
            eviction_timestamp: 0,
            duration_ms,
            clock: LeaseClock::starting_at(now.mono_ms),
            direct_contact_ms: AtomicU64::new(0),
        }
    }

    /// The same lease with a clock of its own that stands at `clock_ms`.
    #[must_use]
    pub fn with_clock(&self, clock_ms: u64) -> Self {
        Self {
            registration_timestamp: self.registration_timestamp,
            service_up_timestamp: self.service_up_timestamp,
            eviction_timestamp: self.eviction_timestamp,
            duration_ms: self.duration_ms,
            clock: LeaseClock::starting_at(clock_ms),
            direct_contact_ms: AtomicU64::new(self.direct_contact_ms.load(Ordering::Relaxed)),
        }
    }

    /// The duration that a client asks for: 90 s if it names none or one of 0 or less.
    #[must_use]
    pub fn duration_ms_of(settings: &LeaseInfo) -> u64 {
        let default_secs = u64::from(DEFAULT_LEASE_DURATION_SECS.unsigned_abs());
        let secs =
            u64::try_from(settings.duration_secs).ok().filter(|secs| *secs > 0).unwrap_or(default_secs);
        secs * 1000
    }

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
        self.eviction_timestamp > 0 || self.is_expired_since(since, mono_ms, extra_ms)
    }

    /// The same test for a clock value that the caller has read.
    #[must_use]
    pub const fn is_expired_since(&self, since_ms: u64, mono_ms: u64, extra_ms: u64) -> bool {
        mono_ms > since_ms.saturating_add(self.duration_ms).saturating_add(extra_ms)
    }

    /// Remembers a call that the instance itself made to this node.
    pub fn note_direct_contact(&self, mono_ms: u64) {
        // Relaxed: nothing is decided together with the lease clock.
        self.direct_contact_ms.fetch_max(mono_ms.max(1), Ordering::Relaxed);
    }

    /// Monotonic time of the last call that the instance itself made to this node.
    #[must_use]
    pub fn direct_contact_ms(&self) -> Option<u64> {
        let value = self.direct_contact_ms.load(Ordering::Relaxed);
        (value > 0).then_some(value)
    }
}
