//! `eureka.server.*` (`spec/spring.md` 3.5).

use super::reader::{Reader, Sourced};
use super::regions::regions;
use crate::secret::{Secret, mask_mistyped_url};
use crate::settings::{
    AsgSettings, CacheSettings, DeltaSettings, ExpectedRenewals, ExperimentalSettings, LeaseExpiry,
    PeerSettings, RateLimiterSettings, RegistrySettings, SelfPreservationSettings, ServiceUrl, SyncSettings,
};

const EXPIRY: &[(&str, LeaseExpiry)] = &[("java", LeaseExpiry::Java), ("exact", LeaseExpiry::Exact)];

/// `registers` says if this server registers with peers, which decides how often it tries to copy from them.
pub(super) fn registry(r: &mut Reader<'_>, registers: bool, region: &str) -> RegistrySettings {
    let d = RegistrySettings::default();
    RegistrySettings {
        self_preservation: self_preservation(r),
        eviction_interval_ms: r.number("eureka.server.eviction-interval-timer-in-ms", d.eviction_interval_ms),
        lease_expiry: r.word("heureka.lease-expiry", EXPIRY).unwrap_or_default(),
        sync: sync(r, registers),
        cache: cache(r),
        delta: delta(r),
        sync_when_timestamp_differs: r
            .flag("eureka.server.sync-when-timestamp-differs", d.sync_when_timestamp_differs),
        peers: peers(r),
        asg: asg(r),
        regions: regions(r, region),
        rate_limiter: rate_limiter(r),
        metrics_enabled: r.flag("eureka.server.metrics.enabled", d.metrics_enabled),
        log_identity_headers: r.flag("eureka.server.log-identity-headers", d.log_identity_headers),
        experimental: experimental(r),
    }
}

fn self_preservation(r: &mut Reader<'_>) -> SelfPreservationSettings {
    let d = SelfPreservationSettings::default();
    SelfPreservationSettings {
        enabled: r.flag("eureka.server.enable-self-preservation", d.enabled),
        renewal_percent_threshold: r
            .decimal("eureka.server.renewal-percent-threshold", d.renewal_percent_threshold),
        threshold_update_interval_ms: r
            .number("eureka.server.renewal-threshold-update-interval-ms", d.threshold_update_interval_ms),
        expected_renewals: expected_renewals(r),
    }
}

/// Any of the three keys brings Java's formula back; the modern name of a twin wins.
fn expected_renewals(r: &mut Reader<'_>) -> ExpectedRenewals {
    let interval = r.optional_number("eureka.server.expected-client-renewal-interval-seconds");
    let modern = r.optional_number("eureka.instance.registry.expected-number-of-clients-sending-renews");
    let old = r.optional_number("eureka.server.expected-number-of-renews-per-min");
    let clients = modern.or(old);
    if interval.is_none() && clients.is_none() {
        return ExpectedRenewals::FromLeases;
    }
    ExpectedRenewals::JavaFormula {
        renewal_interval_secs: interval.unwrap_or(30),
        initial_clients: clients.unwrap_or(1),
    }
}

fn sync(r: &mut Reader<'_>, registers: bool) -> SyncSettings {
    let d = SyncSettings::default();
    let retries = r.optional_number("eureka.server.registry-sync-retries");
    let old = r.optional_number("eureka.server.default-open-for-traffic-count");
    let modern = r.optional_number("eureka.instance.registry.default-open-for-traffic-count");
    SyncSettings {
        retries: retries.unwrap_or(if registers { 5 } else { 0 }),
        retry_wait_ms: r.number("eureka.server.registry-sync-retry-wait-ms", d.retry_wait_ms),
        wait_time_when_empty_ms: r
            .number("eureka.server.wait-time-in-ms-when-sync-empty", d.wait_time_when_empty_ms),
        default_open_for_traffic_count: modern.or(old).unwrap_or(d.default_open_for_traffic_count),
    }
}

fn cache(r: &mut Reader<'_>) -> CacheSettings {
    let d = CacheSettings::default();
    CacheSettings {
        use_read_only: r.flag("eureka.server.use-read-only-response-cache", d.use_read_only),
        update_interval_ms: r.number("eureka.server.response-cache-update-interval-ms", d.update_interval_ms),
        auto_expiration_secs: r
            .number("eureka.server.response-cache-auto-expiration-in-seconds", d.auto_expiration_secs),
    }
}

fn delta(r: &mut Reader<'_>) -> DeltaSettings {
    let d = DeltaSettings::default();
    DeltaSettings {
        disabled: r.flag("eureka.server.disable-delta", d.disabled),
        retention_ms: r.number("eureka.server.retention-time-in-m-s-in-delta-queue", d.retention_ms),
        sweep_interval_ms: r
            .number("eureka.server.delta-retention-timer-interval-in-ms", d.sweep_interval_ms),
    }
}

fn asg(r: &mut Reader<'_>) -> AsgSettings {
    let d = AsgSettings::default();
    let access_id = r.optional("eureka.server.a-w-s-access-id");
    let secret_key = r.optional("eureka.server.a-w-s-secret-key");
    AsgSettings {
        enabled: r.flag("heureka.asg.enabled", d.enabled),
        asks_cloud: r.flag("eureka.server.use-aws-asg-api", d.asks_cloud),
        update_interval_ms: r.number("eureka.server.a-s-g-update-interval-ms", d.update_interval_ms),
        cache_expiry_ms: r.number("eureka.server.a-s-g-cache-expiry-timeout-ms", d.cache_expiry_ms),
        query_timeout_ms: r.number("eureka.server.a-s-g-query-timeout-ms", d.query_timeout_ms),
        keys: access_id.zip(secret_key).map(|(id, key)| (id.text, Secret::new(key.text))),
    }
}

fn peers(r: &mut Reader<'_>) -> PeerSettings {
    let d = PeerSettings::default();
    let min_available: i64 = r.number("eureka.server.min-available-instances-for-peer-replication", -1);
    PeerSettings {
        update_interval_ms: r
            .number("eureka.server.peer-eureka-nodes-update-interval-ms", d.update_interval_ms),
        connect_timeout_ms: r.number("eureka.server.peer-node-connect-timeout-ms", d.connect_timeout_ms),
        read_timeout_ms: r.number("eureka.server.peer-node-read-timeout-ms", d.read_timeout_ms),
        connection_idle_timeout_secs: r.number(
            "eureka.server.peer-node-connection-idle-timeout-seconds",
            d.connection_idle_timeout_secs,
        ),
        max_queue_items: r.number("eureka.server.max-elements-in-peer-replication-pool", d.max_queue_items),
        min_available: u32::try_from(min_available).ok(),
        my_url: r.optional("eureka.server.my-url").and_then(|found| url(r, "eureka.server.my-url", &found)),
        compress_requests: r.flag("eureka.server.enable-replicated-request-compression", d.compress_requests),
    }
}

/// Reads a URL or notes why it is none.
pub(super) fn url(r: &mut Reader<'_>, key: &str, found: &Sourced) -> Option<ServiceUrl> {
    match ServiceUrl::parse(&found.text) {
        Ok(url) => Some(url),
        Err(reason) => {
            let hidden = Sourced { shown: mask_mistyped_url(&found.text), ..found.clone() };
            r.wrong(key, &hidden, format!("{reason}; a URL looks like http://peer2:8761/eureka/"));
            None
        }
    }
}

fn rate_limiter(r: &mut Reader<'_>) -> RateLimiterSettings {
    let d = RateLimiterSettings::default();
    RateLimiterSettings {
        enabled: r.flag("eureka.server.rate-limiter-enabled", d.enabled),
        throttle_standard_clients: r
            .flag("eureka.server.rate-limiter-throttle-standard-clients", d.throttle_standard_clients),
        privileged_clients: r
            .list("eureka.server.rate-limiter-privileged-clients", &[])
            .into_iter()
            .collect(),
        burst_size: r.number("eureka.server.rate-limiter-burst-size", d.burst_size),
        registry_fetch_average_rate: r
            .number("eureka.server.rate-limiter-registry-fetch-average-rate", d.registry_fetch_average_rate),
        full_fetch_average_rate: r
            .number("eureka.server.rate-limiter-full-fetch-average-rate", d.full_fetch_average_rate),
    }
}

fn experimental(r: &mut Reader<'_>) -> ExperimentalSettings {
    let d = ExperimentalSettings::default();
    ExperimentalSettings {
        require_data_center_id: r.flag(
            "eureka.server.experimental.registration.validation.dataCenterInfoId",
            d.require_data_center_id,
        ),
        entity_on_conflict: r.flag("eureka.server.experimental.bugfix.934", d.entity_on_conflict),
    }
}
