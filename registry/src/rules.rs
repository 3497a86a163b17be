//! What the operations of an application need from the settings, and from the outside world: nothing else.

use std::fmt;
use std::sync::Arc;

use crate::lease::LeaseExpiry;
use crate::stamp::StampClock;

/// State of auto-scaling groups as somebody else has cached it; the rules never ask AWS themselves.
pub trait GroupStates: fmt::Debug + Send + Sync {
    /// True if the group takes traffic. Unknown groups and failed queries count as enabled (`registry.md` 3.7).
    fn is_enabled(&self, asg_name: &str) -> bool;
}

/// Settings of the operations on an application. The default is what a Spring server does without any property.
#[derive(Clone, Debug)]
pub struct Rules {
    /// When a renewed lease ends (defect D1).
    pub lease_expiry: LeaseExpiry,
    /// `sync-when-timestamp-differs`: compare dirty timestamps on heartbeats (`registry.md` 3.1).
    pub sync_when_timestamp_differs: bool,
    /// Store an override even if the instance has that status already (defect D18). Java does not.
    pub store_equal_override: bool,
    /// Shortest life of a tombstone in milliseconds; it never dies before the lease that a peer may still hold.
    pub tombstone_ttl_ms: u64,
    /// How long a replicated registration with exactly the dirty timestamp of a tombstone is refused
    /// (`replication.md` 9.3.3): it cannot be told from a registration that the cancel has overtaken.
    pub tombstone_quarantine_ms: u64,
    /// Tombstones that one application keeps at most; the oldest go first.
    pub tombstones_max: usize,
    /// Life of an override whose instance has no lease, milliseconds (defect D13).
    pub orphan_override_ttl_ms: u64,
    /// `eviction-interval-timer-in-ms`: part of the longest time that a peer may hold a dead lease.
    pub eviction_interval_ms: u64,
    /// State of auto-scaling groups; `None` outside AWS, where the rule does not exist.
    pub groups: Option<Arc<dyn GroupStates>>,
    /// The clock that operations on overrides are ordered by, one for each node.
    pub stamps: Arc<StampClock>,
}

impl Rules {
    /// How long it is remembered that an instance was cancelled, or that its override was removed: no peer holds the lease any
    /// more after that.
    pub(crate) fn remembered_ms(&self, duration_ms: u64) -> u64 {
        let lease_end_ms = duration_ms.saturating_mul(2).saturating_add(self.eviction_interval_ms);
        self.tombstone_ttl_ms.max(lease_end_ms)
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            lease_expiry: LeaseExpiry::Java,
            sync_when_timestamp_differs: true,
            store_equal_override: false,
            tombstone_ttl_ms: 300_000,
            tombstone_quarantine_ms: 10_000,
            tombstones_max: 10_000,
            orphan_override_ttl_ms: 3_600_000,
            eviction_interval_ms: 60_000,
            groups: None,
            stamps: Arc::default(),
        }
    }
}
