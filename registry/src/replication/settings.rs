//! Bounds and times of a queue. The defaults follow `replication.md` 9.3.

/// Settings of a [`super::PeerQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Items of one batch at most; Java's constant.
    pub batch_items_max: usize,
    /// Batches in flight at the same time while the peer is well.
    pub batches_in_flight_max: usize,
    /// How long a heartbeat waits for others, and anything else while a batch is on its way.
    pub max_delay_ms: u64,
    /// Least time between two batches that leave early, so that a storm of changes travels in company.
    pub early_spacing_ms: u64,
    /// Instances in the queue above which heartbeats, registrations and override operations are shed, in this order.
    pub slots_max: usize,
    /// Instances in the queue above which even cancels are shed: only memory is worth more than a cancel.
    pub slots_limit: usize,
    /// First and longest pause after a failure of the network.
    pub network_pause_ms: (u64, u64),
    /// First and longest pause after a 503, a read time-out or any other answer that helps nobody.
    pub congestion_pause_ms: (u64, u64),
    /// Eviction interval of the peers, part of the longest time that they may hold a lease.
    pub eviction_interval_ms: u64,
    /// What is added to the longest life of a lease before a cancel or an override operation is given up.
    pub margin_ms: u64,
    /// Whether a peer's newer record is taken over (`sync-when-timestamp-differs`).
    pub sync_when_timestamp_differs: bool,
}

impl QueueSettings {
    /// How long a cancel or an override operation may be on its way: afterwards no peer can hold the lease any more.
    #[must_use]
    pub const fn longest_way_ms(&self, lease_duration_ms: u64) -> u64 {
        let life_ms = lease_duration_ms.saturating_mul(2);
        life_ms.saturating_add(self.eviction_interval_ms).saturating_add(self.margin_ms)
    }
}

impl Default for QueueSettings {
    fn default() -> Self {
        Self {
            batch_items_max: 250,
            batches_in_flight_max: 4,
            max_delay_ms: 500,
            early_spacing_ms: 10,
            slots_max: 100_000,
            slots_limit: 1_000_000,
            network_pause_ms: (100, 5_000),
            congestion_pause_ms: (1_000, 10_000),
            eviction_interval_ms: 60_000,
            margin_ms: 60_000,
            sync_when_timestamp_differs: true,
        }
    }
}
