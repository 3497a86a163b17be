//! May queries be answered yet? (`registry.md` 4.6, defect D19.)
//!
//! Writes and look-ups of single instances never ask. The gate is a small value: its owner changes it and publishes it.

use crate::time::Now;

/// What the node started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartedFrom {
    /// It has no peers to ask: nothing to wait for.
    Nothing,
    /// A snapshot of its own.
    Snapshot,
    /// Peers, which gave this many instances.
    Peers(u64),
}

/// Verdict of the gate; everything but [`Access::Allowed`] is 403.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Answer.
    Allowed,
    /// The node has not opened for traffic.
    NotOpened,
    /// No peer gave an instance at start; clients get time to register before an empty list is believed.
    WaitingForInstances {
        /// Milliseconds until the gate opens.
        remaining_ms: u64,
    },
    /// The request covers remote regions and one of them has not been fetched yet.
    RemoteRegionsNotReady,
}

/// State of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessGate {
    opened_mono_ms: Option<u64>,
    has_started_empty: bool,
    wait_ms: u64,
    remote_regions_ready: bool,
}

impl AccessGate {
    /// A closed gate. `wait_ms` is `wait-time-in-ms-when-sync-empty`.
    #[must_use]
    pub const fn new(wait_ms: u64) -> Self {
        Self { opened_mono_ms: None, has_started_empty: true, wait_ms, remote_regions_ready: true }
    }

    /// Opens for traffic. After a start that brought nothing from peers, queries wait; once the wait was lifted it never
    /// comes back (invariants G-5, G-6).
    pub const fn open(&mut self, from: StartedFrom, now: Now) {
        self.opened_mono_ms = Some(now.mono_ms);
        if !matches!(from, StartedFrom::Peers(0)) {
            self.has_started_empty = false;
        }
    }

    /// Says whether every configured remote region has been fetched at least once. True if there is none.
    pub const fn set_remote_regions_ready(&mut self, ready: bool) {
        self.remote_regions_ready = ready;
    }

    /// True once the node has opened for traffic, whether or not queries still wait.
    #[must_use]
    pub const fn is_opened(&self) -> bool {
        self.opened_mono_ms.is_some()
    }

    /// Monotonic time of the last opening, milliseconds.
    #[must_use]
    pub const fn opened_mono_ms(&self) -> Option<u64> {
        self.opened_mono_ms
    }

    /// The verdict for a query; `remote_required` if it names regions.
    #[must_use]
    pub const fn check(&self, remote_required: bool, now: Now) -> Access {
        let Some(opened_mono_ms) = self.opened_mono_ms else { return Access::NotOpened };
        let wait_end_ms = opened_mono_ms.saturating_add(self.wait_ms);
        if self.has_started_empty && now.mono_ms <= wait_end_ms {
            return Access::WaitingForInstances { remaining_ms: wait_end_ms - now.mono_ms + 1 };
        }
        if remote_required && !self.remote_regions_ready {
            return Access::RemoteRegionsNotReady;
        }
        Access::Allowed
    }
}
