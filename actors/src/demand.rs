//! Which whole-registry documents readers ask for, so that only those are built ahead.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cache::Variant;

/// When each document was last asked for, on the monotonic clock; 0 for never.
#[derive(Debug)]
pub struct Demand([AtomicU64; Variant::COUNT]);

impl Default for Demand {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Demand {
    /// Notes that a document was asked for.
    pub fn note(&self, variant: Variant, mono_ms: u64) {
        let slot = &self.0[variant.index()];
        // A plain store would make every reader write to one cache line; a coarse time is enough.
        if mono_ms > slot.load(Ordering::Relaxed).saturating_add(1000) {
            slot.store(mono_ms, Ordering::Relaxed);
        }
    }

    /// The documents asked for within a time.
    pub fn wanted(&self, mono_ms: u64, within: Duration) -> impl Iterator<Item = Variant> {
        let within_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        Variant::all().filter(move |variant| {
            let asked = self.0[variant.index()].load(Ordering::Relaxed);
            asked > 0 && mono_ms.saturating_sub(asked) <= within_ms
        })
    }
}
