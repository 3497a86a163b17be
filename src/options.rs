//! From settings, as users write them, to the options of the actors.

use std::sync::Arc;
use std::time::Duration;

use heureka_actors::{CacheOptions, LimitOptions, Options, Placement};
use heureka_config::Settings;
use heureka_config::settings::{ExpectedRenewals, LeaseExpiry as ConfiguredExpiry};
use heureka_registry::{GroupStates, LeaseExpiry, ProtectionSettings, Rules};

/// Options of the actors for a node with these settings, and auto-scaling groups if they exist there.
#[must_use]
pub fn actor_options(settings: &Settings, groups: Option<Arc<dyn GroupStates>>) -> Options {
    let registry = &settings.registry;
    Options {
        rules: Rules { groups, ..rules(settings) },
        cache: CacheOptions {
            merge_window: Duration::from_millis(registry.cache.update_interval_ms),
            use_read_only_tier: registry.cache.use_read_only,
            delta_retention: Duration::from_millis(registry.delta.retention_ms),
            delta_sweep_interval: at_least_one(registry.delta.sweep_interval_ms),
            lease_time_refresh: Duration::from_secs(registry.cache.auto_expiration_secs.max(1)),
        },
        eviction_interval: at_least_one(registry.eviction_interval_ms),
        protection: protection(settings),
        threshold_update_interval: at_least_one(registry.self_preservation.threshold_update_interval_ms),
        limits: LimitOptions {
            cache_backlog: settings.limits.cache_backlog,
            applications: settings.limits.max_applications,
            instances: settings.limits.max_instances,
            instances_per_application: settings.limits.max_instances_per_application,
            delta_removal_bytes: settings.limits.delta_removal_bytes,
            ..LimitOptions::default()
        },
        placement: Placement::Threads { lease_arbiters: settings.placement.lease_arbiters },
    }
}

/// A timer needs a period.
fn at_least_one(period_ms: u64) -> Duration {
    Duration::from_millis(period_ms.max(1))
}

fn rules(settings: &Settings) -> Rules {
    let registry = &settings.registry;
    Rules {
        lease_expiry: match registry.lease_expiry {
            ConfiguredExpiry::Java => LeaseExpiry::Java,
            ConfiguredExpiry::Exact => LeaseExpiry::Exact,
        },
        sync_when_timestamp_differs: registry.sync_when_timestamp_differs,
        eviction_interval_ms: registry.eviction_interval_ms,
        ..Rules::default()
    }
}

fn protection(settings: &Settings) -> ProtectionSettings {
    let configured = &settings.registry.self_preservation;
    let (interval, clients) = match configured.expected_renewals {
        ExpectedRenewals::FromLeases => (None, None),
        ExpectedRenewals::JavaFormula { renewal_interval_secs, initial_clients } => {
            (i32::try_from(renewal_interval_secs).ok(), i32::try_from(initial_clients).ok())
        }
    };
    let sync = &settings.registry.sync;
    ProtectionSettings {
        enabled: configured.enabled,
        renewal_percent_threshold: configured.renewal_percent_threshold,
        expected_interval_secs: interval,
        expected_clients: clients,
        open_for_traffic_count: i32::try_from(sync.default_open_for_traffic_count).unwrap_or(i32::MAX),
        wait_ms: sync.wait_time_when_empty_ms,
    }
}
