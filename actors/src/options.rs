//! What the actors need to know, resolved; defaults are those of a Spring server unless the design says otherwise.

use std::time::Duration;

use heureka_registry::Rules;
use heureka_registry::self_preservation::ProtectionSettings;

/// All options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Rules of the leases.
    pub rules: Rules,
    /// Cache tiers and delta.
    pub cache: CacheOptions,
    /// Period of the eviction run.
    pub eviction_interval: Duration,
    /// Self-preservation.
    pub protection: ProtectionSettings,
    /// Period of the task that raises or lowers the expected number of clients (spec `registry.md` 4.3).
    pub threshold_update_interval: Duration,
    /// Bounds.
    pub limits: LimitOptions,
    /// Threads.
    pub placement: Placement,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            cache: CacheOptions::default(),
            eviction_interval: Duration::from_secs(60),
            protection: ProtectionSettings::default(),
            threshold_update_interval: Duration::from_secs(900),
            limits: LimitOptions::default(),
            placement: Placement::default(),
        }
    }
}

/// Cache tiers and delta (spec `registry.md` 5, 6).
#[derive(Clone, Debug)]
pub struct CacheOptions {
    /// Time within which changes share one publication; Java's `response-cache-update-interval-ms`.
    pub merge_window: Duration,
    /// False: list queries go through the read-write tier.
    pub use_read_only_tier: bool,
    /// How long a delta shows a change.
    pub delta_retention: Duration,
    /// Period of the sweep that enforces the retention.
    pub delta_sweep_interval: Duration,
    /// Time after which published lease times are renewed; Java's `response-cache-auto-expiration-in-seconds`.
    pub lease_time_refresh: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            merge_window: Duration::from_millis(100),
            use_read_only_tier: true,
            delta_retention: Duration::from_secs(180),
            delta_sweep_interval: Duration::from_secs(30),
            lease_time_refresh: Duration::from_secs(180),
        }
    }
}

/// Bounds on what is queued and kept; every one has an answer when it is reached.
#[derive(Clone, Copy, Debug)]
pub struct LimitOptions {
    /// Changes on their way to the cache; above it writes are answered 503.
    pub cache_backlog: usize,
    /// Writes that wait for an application's actor; above it writes are answered 503.
    pub writes_in_flight: usize,
    /// Applications; a registration that would make one more is refused.
    pub applications: usize,
    /// Instances of all applications together; a registration that would make one more is refused.
    pub instances: usize,
    /// Instances of one application; a registration that would make one more is refused.
    pub instances_per_application: usize,
    /// Removals that deltas show, about so many bytes in memory; above it deltas lose the oldest.
    pub delta_removal_bytes: usize,
}

impl Default for LimitOptions {
    fn default() -> Self {
        Self {
            cache_backlog: 65_536,
            writes_in_flight: 16_384,
            applications: 100_000,
            instances: 1_000_000,
            instances_per_application: 100_000,
            delta_removal_bytes: 128 << 20,
        }
    }
}

/// Where actors run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Everything on the caller's arbiter: for tests under paused time.
    OneArbiter,
    /// So many arbiters for applications, one for the registry actor (shared with the first), one for the cache.
    Threads {
        /// Arbiters over which applications are spread.
        lease_arbiters: usize,
    },
}

impl Default for Placement {
    fn default() -> Self {
        Self::Threads { lease_arbiters: 1 }
    }
}
