//! The rules of the registry: self-preservation, eviction, start, cache, delta, rate limits (3.5).

use super::asg::AsgSettings;
use super::peers::PeerSettings;
use super::regions::RegionSettings;
use std::collections::BTreeSet;

/// Every key of `eureka.server.*` that acts.
#[derive(Clone, Debug, PartialEq)]
pub struct RegistrySettings {
    /// Protection against mass expiry.
    pub self_preservation: SelfPreservationSettings,
    /// `eviction-interval-timer-in-ms`: period of the eviction run.
    pub eviction_interval_ms: u64,
    /// `heureka.lease-expiry`: when a lease is over.
    pub lease_expiry: LeaseExpiry,
    /// What happens between start and opening for traffic (4.3).
    pub sync: SyncSettings,
    /// Both tiers of the response cache.
    pub cache: CacheSettings,
    /// The delta log.
    pub delta: DeltaSettings,
    /// `sync-when-timestamp-differs`: compare dirty timestamps on heartbeats.
    pub sync_when_timestamp_differs: bool,
    /// Replication to peers.
    pub peers: PeerSettings,
    /// Auto-scaling groups.
    pub asg: AsgSettings,
    /// Mirrors of other regions.
    pub regions: RegionSettings,
    /// `eureka.server.rate-limiter-*`. They work here; Spring never installs the filter.
    pub rate_limiter: RateLimiterSettings,
    /// `metrics.enabled`: the gauge `eureka_server_instances` (1.6).
    pub metrics_enabled: bool,
    /// `log-identity-headers`: count callers by their identity headers.
    pub log_identity_headers: bool,
    /// `experimental.*`.
    pub experimental: ExperimentalSettings,
}

impl Default for RegistrySettings {
    fn default() -> Self {
        Self {
            self_preservation: SelfPreservationSettings::default(),
            eviction_interval_ms: 60_000,
            lease_expiry: LeaseExpiry::Java,
            sync: SyncSettings::default(),
            cache: CacheSettings::default(),
            delta: DeltaSettings::default(),
            sync_when_timestamp_differs: true,
            peers: PeerSettings::default(),
            asg: AsgSettings::default(),
            regions: RegionSettings::default(),
            rate_limiter: RateLimiterSettings::default(),
            metrics_enabled: false,
            log_identity_headers: true,
            experimental: ExperimentalSettings::default(),
        }
    }
}

/// Self-preservation (2.2, 2.3; `spec/registry.md` section 4).
#[derive(Clone, Debug, PartialEq)]
pub struct SelfPreservationSettings {
    /// `enable-self-preservation`.
    pub enabled: bool,
    /// `renewal-percent-threshold`: a fraction, used for the threshold and for the cap of one eviction run.
    pub renewal_percent_threshold: f64,
    /// `renewal-threshold-update-interval-ms`: period of the task that counts expected clients.
    pub threshold_update_interval_ms: u64,
    /// Where the number of expected renewals comes from.
    pub expected_renewals: ExpectedRenewals,
}

impl Default for SelfPreservationSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            renewal_percent_threshold: 0.85,
            threshold_update_interval_ms: 900_000,
            expected_renewals: ExpectedRenewals::FromLeases,
        }
    }
}

/// How many renewals a minute are expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectedRenewals {
    /// From the interval of each live lease; no phantom client.
    #[default]
    FromLeases,
    /// Java's formula, because the user set `expected-client-renewal-interval-seconds` or
    /// `expected-number-of-clients-sending-renews` (or its old twin `expectedNumberOfRenewsPerMin`).
    JavaFormula {
        /// The one interval all clients are taken to have, in seconds, at least 1.
        renewal_interval_secs: u32,
        /// Expected clients before the registry opens.
        initial_clients: u32,
    },
}

/// When a lease that is no longer renewed is over (`design.md`, decisions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LeaseExpiry {
    /// Twice the duration after the last renewal, as the Java servers do.
    #[default]
    Java,
    /// Once the duration.
    Exact,
}

/// The way from an empty registry to an open one (4.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncSettings {
    /// `registry-sync-retries`: attempts to copy from peers. 0, or 5 if this server registers with its peers.
    pub retries: u32,
    /// `registry-sync-retry-wait-ms`: pause between them.
    pub retry_wait_ms: u64,
    /// `wait-time-in-ms-when-sync-empty`: how long a node with a count of 0 refuses reads; also the grace of the banner.
    pub wait_time_when_empty_ms: u64,
    /// `eureka.instance.registry.default-open-for-traffic-count`, or the old `defaultOpenForTrafficCount`: stands in for
    /// a copy of 0 instances. 0 brings back Netflix's lock-out after an empty start.
    pub default_open_for_traffic_count: u32,
}

impl Default for SyncSettings {
    fn default() -> Self {
        Self {
            retries: 0,
            retry_wait_ms: 30_000,
            wait_time_when_empty_ms: 300_000,
            default_open_for_traffic_count: 1,
        }
    }
}

/// The two tiers of the response cache (`design.md` idea 3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheSettings {
    /// `use-read-only-response-cache`: off sends every read through the read-write tier.
    pub use_read_only: bool,
    /// `response-cache-update-interval-ms`: merge window of the read-only tier. 100 here, 30000 in Java.
    pub update_interval_ms: u64,
    /// `response-cache-auto-expiration-in-seconds`: how long an unused document is kept.
    pub auto_expiration_secs: u64,
}

impl Default for CacheSettings {
    fn default() -> Self {
        Self { use_read_only: true, update_interval_ms: 100, auto_expiration_secs: 180 }
    }
}

/// The delta log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeltaSettings {
    /// `disable-delta`: the delta end point answers 403.
    pub disabled: bool,
    /// `retention-time-in-m-s-in-delta-queue`: age of an entry that is still sent.
    pub retention_ms: u64,
    /// `delta-retention-timer-interval-in-ms`: period of the sweep.
    pub sweep_interval_ms: u64,
}

impl Default for DeltaSettings {
    fn default() -> Self {
        Self { disabled: false, retention_ms: 180_000, sweep_interval_ms: 30_000 }
    }
}

/// Java's rate limiter (`spec/registry.md` 8.8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimiterSettings {
    /// Refuse with 503, rather than only count.
    pub enabled: bool,
    /// Nobody is privileged.
    pub throttle_standard_clients: bool,
    /// Identity names that are never limited, besides the standard ones.
    pub privileged_clients: BTreeSet<String>,
    /// Size of both buckets, in requests; 0 lets everything pass.
    pub burst_size: u32,
    /// Fetches of any kind per second; 0 lets everything pass.
    pub registry_fetch_average_rate: u32,
    /// Full fetches per second; 0 lets everything pass.
    pub full_fetch_average_rate: u32,
}

impl Default for RateLimiterSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            throttle_standard_clients: false,
            privileged_clients: BTreeSet::new(),
            burst_size: 10,
            registry_fetch_average_rate: 500,
            full_fetch_average_rate: 100,
        }
    }
}

/// `eureka.server.experimental.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentalSettings {
    /// `registration.validation.dataCenterInfoId`: refuse a unique-id data center without an id.
    pub require_data_center_id: bool,
    /// `bugfix.934`: a batch heartbeat carries the record also with 409. Only `false` turns it off.
    pub entity_on_conflict: bool,
}

impl Default for ExperimentalSettings {
    fn default() -> Self {
        Self { require_data_center_id: false, entity_on_conflict: true }
    }
}
