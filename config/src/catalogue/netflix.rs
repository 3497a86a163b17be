//! Netflix' own names of the same keys (`spec/registry.md` 8.6, `spec/client.md` 7.2 to 7.4).
//!
//! They count in files, `-D`, JSON and arguments, never as upper-case variables: Kubernetes puts `EUREKA_PORT=tcp://...` into the
//! environment of every pod next to a service called `eureka`. If one source has both names, Spring's wins.

use super::Place;
use crate::key::{self, Element};
use std::collections::HashMap;
use std::sync::LazyLock;

/// How a value changes on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transform {
    /// Not at all.
    Same,
    /// Netflix counts milliseconds, Spring seconds.
    MillisToSecs,
    /// `name;url,name;url` instead of a map.
    NamedUrls,
}

/// A Netflix name that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// Spring's name.
    pub name: &'static str,
    pub place: Place,
    pub transform: Transform,
}

/// Netflix name without `eureka.`, Spring name.
const NAMES: &[(&str, &str)] = &[
    ("enableSelfPreservation", "eureka.server.enable-self-preservation"),
    ("renewalPercentThreshold", "eureka.server.renewal-percent-threshold"),
    ("renewalThresholdUpdateIntervalMs", "eureka.server.renewal-threshold-update-interval-ms"),
    ("expectedClientRenewalIntervalSeconds", "eureka.server.expected-client-renewal-interval-seconds"),
    ("evictionIntervalTimerInMs", "eureka.server.eviction-interval-timer-in-ms"),
    ("numberRegistrySyncRetries", "eureka.server.registry-sync-retries"),
    ("registrySyncRetryWaitMs", "eureka.server.registry-sync-retry-wait-ms"),
    ("waitTimeInMsWhenSyncEmpty", "eureka.server.wait-time-in-ms-when-sync-empty"),
    ("primeAwsReplicaConnections", "eureka.server.prime-aws-replica-connections"),
    ("responseCacheAutoExpirationInSeconds", "eureka.server.response-cache-auto-expiration-in-seconds"),
    ("responseCacheUpdateIntervalMs", "eureka.server.response-cache-update-interval-ms"),
    ("shouldUseReadOnlyResponseCache", "eureka.server.use-read-only-response-cache"),
    ("initialCapacityOfResponseCache", "eureka.server.initial-capacity-of-response-cache"),
    ("retentionTimeInMSInDeltaQueue", "eureka.server.retention-time-in-m-s-in-delta-queue"),
    ("deltaRetentionTimerIntervalInMs", "eureka.server.delta-retention-timer-interval-in-ms"),
    ("peerEurekaNodesUpdateIntervalMs", "eureka.server.peer-eureka-nodes-update-interval-ms"),
    ("peerEurekaStatusRefreshTimeIntervalMs", "eureka.server.peer-eureka-status-refresh-time-interval-ms"),
    ("peerNodeConnectTimeoutMs", "eureka.server.peer-node-connect-timeout-ms"),
    ("peerNodeReadTimeoutMs", "eureka.server.peer-node-read-timeout-ms"),
    ("peerNodeTotalConnections", "eureka.server.peer-node-total-connections"),
    ("peerNodeTotalConnectionsPerHost", "eureka.server.peer-node-total-connections-per-host"),
    ("peerNodeConnectionIdleTimeoutSeconds", "eureka.server.peer-node-connection-idle-timeout-seconds"),
    ("enableReplicatedRequestCompression", "eureka.server.enable-replicated-request-compression"),
    ("numberOfReplicationRetries", "eureka.server.number-of-replication-retries"),
    ("shouldBatchReplication", "eureka.server.batch-replication"),
    ("maxElementsInPeerReplicationPool", "eureka.server.max-elements-in-peer-replication-pool"),
    ("minThreadsForPeerReplication", "eureka.server.min-threads-for-peer-replication"),
    ("maxThreadsForPeerReplication", "eureka.server.max-threads-for-peer-replication"),
    (
        "maxIdleThreadAgeInMinutesForPeerReplication",
        "eureka.server.max-idle-thread-age-in-minutes-for-peer-replication",
    ),
    ("maxElementsInStatusReplicationPool", "eureka.server.max-elements-in-status-replication-pool"),
    ("minThreadsForStatusReplication", "eureka.server.min-threads-for-status-replication"),
    ("maxThreadsForStatusReplication", "eureka.server.max-threads-for-status-replication"),
    (
        "maxIdleThreadAgeInMinutesForStatusReplication",
        "eureka.server.max-idle-thread-in-minutes-age-for-status-replication",
    ),
    ("maxTimeForReplication", "eureka.server.max-time-for-replication"),
    ("syncWhenTimestampDiffers", "eureka.server.sync-when-timestamp-differs"),
    ("minAvailableInstancesForPeerReplication", "eureka.server.min-available-instances-for-peer-replication"),
    ("myUrl", "eureka.server.my-url"),
    ("remoteRegionUrls", "eureka.server.remote-region-urls"),
    ("remoteRegion.registryFetchIntervalInSeconds", "eureka.server.remote-region-registry-fetch-interval"),
    ("remoteRegion.fetchThreadPoolSize", "eureka.server.remote-region-fetch-thread-pool-size"),
    ("remoteRegion.trustStoreFileName", "eureka.server.remote-region-trust-store"),
    ("remoteRegion.trustStorePassword", "eureka.server.remote-region-trust-store-password"),
    (
        "remoteRegion.disable.transparent.fallback",
        "eureka.server.disable-transparent-fallback-to-other-region",
    ),
    ("remoteRegion.gzipContent", "eureka.server.g-zip-content-from-remote-region"),
    ("remoteRegionConnectTimeoutMs", "eureka.server.remote-region-connect-timeout-ms"),
    ("remoteRegionReadTimeoutMs", "eureka.server.remote-region-read-timeout-ms"),
    ("remoteRegionTotalConnections", "eureka.server.remote-region-total-connections"),
    ("remoteRegionTotalConnectionsPerHost", "eureka.server.remote-region-total-connections-per-host"),
    (
        "remoteRegionConnectionIdleTimeoutSeconds",
        "eureka.server.remote-region-connection-idle-timeout-seconds",
    ),
    ("disableDeltaForRemoteRegions", "eureka.server.disable-delta-for-remote-regions"),
    ("rateLimiter.enabled", "eureka.server.rate-limiter-enabled"),
    ("rateLimiter.throttleStandardClients", "eureka.server.rate-limiter-throttle-standard-clients"),
    ("rateLimiter.privilegedClients", "eureka.server.rate-limiter-privileged-clients"),
    ("rateLimiter.burstSize", "eureka.server.rate-limiter-burst-size"),
    ("rateLimiter.registryFetchAverageRate", "eureka.server.rate-limiter-registry-fetch-average-rate"),
    ("rateLimiter.fullFetchAverageRate", "eureka.server.rate-limiter-full-fetch-average-rate"),
    ("auth.shouldLogIdentityHeaders", "eureka.server.log-identity-headers"),
    ("jsonCodecName", "eureka.server.json-codec-name"),
    ("xmlCodecName", "eureka.server.xml-codec-name"),
    ("awsAccessId", "eureka.server.a-w-s-access-id"),
    ("awsSecretKey", "eureka.server.a-w-s-secret-key"),
    ("awsBindingStrategy", "eureka.server.binding-strategy"),
    ("eipBindRebindRetries", "eureka.server.e-i-p-bind-rebind-retries"),
    ("eipBindRebindRetryIntervalMs", "eureka.server.e-i-p-binding-retry-interval-ms"),
    ("eipBindRebindRetryIntervalMsWhenUnbound", "eureka.server.e-i-p-binding-retry-interval-ms-when-unbound"),
    ("route53BindRebindRetries", "eureka.server.route53-bind-rebind-retries"),
    ("route53BindRebindRetryIntervalMs", "eureka.server.route53-binding-retry-interval-ms"),
    ("route53DomainTTL", "eureka.server.route53-domain-t-t-l"),
    ("shouldUseAwsAsgApi", "eureka.server.use-aws-asg-api"),
    ("asgQueryTimeoutMs", "eureka.server.a-s-g-query-timeout-ms"),
    ("asgUpdateIntervalMs", "eureka.server.a-s-g-update-interval-ms"),
    ("asgCacheExpiryTimeoutMs", "eureka.server.a-s-g-cache-expiry-timeout-ms"),
    ("listAutoScalingGroupsRoleName", "eureka.server.list-auto-scaling-groups-role-name"),
    (
        "experimental.registration.validation.dataCenterInfoId",
        "eureka.server.experimental.registration.validation.dataCenterInfoId",
    ),
    ("experimental.bugfix.934", "eureka.server.experimental.bugfix.934"),
    ("experimental.transport.enabled", "eureka.server.experimental.transport.enabled"),
    ("disableDelta", "eureka.server.disable-delta"),
    ("region", "eureka.client.region"),
    ("client.refresh.interval", "eureka.client.registry-fetch-interval-seconds"),
    ("registration.enabled", "eureka.client.register-with-eureka"),
    ("shouldFetchRegistry", "eureka.client.fetch-registry"),
    ("shouldEnforceRegistrationAtInit", "eureka.client.should-enforce-registration-at-init"),
    ("appinfo.replicate.interval", "eureka.client.instance-info-replication-interval-seconds"),
    ("appinfo.initial.replicate.time", "eureka.client.initial-instance-info-replication-interval-seconds"),
    ("shouldUnregisterOnShutdown", "eureka.client.should-unregister-on-shutdown"),
    ("shouldFilterOnlyUpInstances", "eureka.client.filter-only-up-instances"),
    ("shouldOnDemandUpdateStatusChange", "eureka.client.on-demand-update-status-change"),
    ("printDeltaFullDiff", "eureka.client.log-delta-diff"),
    ("fetchRemoteRegionsRegistry", "eureka.client.fetch-remote-regions-registry"),
    ("registryRefreshSingleVipAddress", "eureka.client.registry-refresh-single-vip-address"),
    ("backupregistry", "eureka.client.backup-registry-impl"),
    ("encoderName", "eureka.client.encoder-name"),
    ("decoderName", "eureka.client.decoder-name"),
    ("clientDataAccept", "eureka.client.client-data-accept"),
    ("preferSameZone", "eureka.client.prefer-same-zone-eureka"),
    ("allowRedirects", "eureka.client.allow-redirects"),
    ("shouldUseDns", "eureka.client.use-dns-for-fetching-service-urls"),
    ("eurekaServer.domainName", "eureka.client.eureka-server-d-n-s-name"),
    ("domainName", "eureka.client.eureka-server-d-n-s-name"),
    ("eurekaServer.port", "eureka.client.eureka-server-port"),
    ("eurekaServer.context", "eureka.client.eureka-server-u-r-l-context"),
    ("context", "eureka.client.eureka-server-u-r-l-context"),
    ("eurekaServer.proxyHost", "eureka.client.proxy-host"),
    ("eurekaServer.proxyPort", "eureka.client.proxy-port"),
    ("eurekaServer.proxyUserName", "eureka.client.proxy-user-name"),
    ("eurekaServer.proxyPassword", "eureka.client.proxy-password"),
    ("eurekaServer.gzipContent", "eureka.client.g-zip-content"),
    ("eurekaServer.readTimeout", "eureka.client.eureka-server-read-timeout-seconds"),
    ("eurekaServer.connectTimeout", "eureka.client.eureka-server-connect-timeout-seconds"),
    ("eurekaServer.maxTotalConnections", "eureka.client.eureka-server-total-connections"),
    ("eurekaServer.maxConnectionsPerHost", "eureka.client.eureka-server-total-connections-per-host"),
    ("eurekaServer.connectionIdleTimeoutInSeconds", "eureka.client.eureka-connection-idle-timeout-seconds"),
    ("dollarReplacement", "eureka.client.dollar-replacement"),
    ("escapeCharReplacement", "eureka.client.escape-char-replacement"),
    ("client.heartbeat.threadPoolSize", "eureka.client.heartbeat-executor-thread-pool-size"),
    (
        "client.heartbeat.exponentialBackOffBound",
        "eureka.client.heartbeat-executor-exponential-back-off-bound",
    ),
    ("client.cacheRefresh.threadPoolSize", "eureka.client.cache-refresh-executor-thread-pool-size"),
    (
        "client.cacheRefresh.exponentialBackOffBound",
        "eureka.client.cache-refresh-executor-exponential-back-off-bound",
    ),
    ("transport.applicationsResolverUseIp", "eureka.client.transport.applications-resolver-use-ip"),
    ("instanceId", "eureka.instance.instance-id"),
    ("name", "eureka.instance.appname"),
    ("appGroup", "eureka.instance.app-group-name"),
    ("asgName", "eureka.instance.a-s-g-name"),
    ("port", "eureka.instance.non-secure-port"),
    ("port.enabled", "eureka.instance.non-secure-port-enabled"),
    ("securePort", "eureka.instance.secure-port"),
    ("securePort.enabled", "eureka.instance.secure-port-enabled"),
    ("vipAddress", "eureka.instance.virtual-host-name"),
    ("secureVipAddress", "eureka.instance.secure-virtual-host-name"),
    ("statusPageUrlPath", "eureka.instance.status-page-url-path"),
    ("statusPageUrl", "eureka.instance.status-page-url"),
    ("homePageUrlPath", "eureka.instance.home-page-url-path"),
    ("homePageUrl", "eureka.instance.home-page-url"),
    ("healthCheckUrlPath", "eureka.instance.health-check-url-path"),
    ("healthCheckUrl", "eureka.instance.health-check-url"),
    ("secureHealthCheckUrl", "eureka.instance.secure-health-check-url"),
    ("lease.renewalInterval", "eureka.instance.lease-renewal-interval-in-seconds"),
    ("lease.duration", "eureka.instance.lease-expiration-duration-in-seconds"),
    ("traffic.enabled", "eureka.instance.instance-enabled-onit"),
    ("defaultAddressResolutionOrder", "eureka.instance.default-address-resolution-order"),
];

static BY_NAME: LazyLock<HashMap<String, &'static str>> =
    LazyLock::new(|| NAMES.iter().map(|(netflix, spring)| (key::canonical(netflix), *spring)).collect());

/// Every fixed Netflix name with the key it stands for.
pub(crate) fn netflix_names() -> impl Iterator<Item = (String, &'static str)> {
    NAMES.iter().map(|(netflix, spring)| (format!("eureka.{netflix}"), *spring))
}

/// Recognises a Netflix name in any spelling.
pub(crate) fn find_alias(elements: &[Element]) -> Option<Alias> {
    let (prefix, rest) = elements.split_first()?;
    if prefix.canonical != "eureka" || rest.is_empty() {
        return None;
    }
    let whole = |name, transform| Some(Alias { name, place: Place::Whole, transform });
    let canonical = key::join(rest);
    if let Some(name) = BY_NAME.get(&canonical) {
        return whole(name, Transform::Same);
    }
    match canonical.as_str() {
        "serviceurlpollintervalms" => {
            whole("eureka.client.eureka-service-url-poll-interval-seconds", Transform::MillisToSecs)
        }
        "remoteregionurlswithname" => {
            whole("eureka.server.remote-region-urls-with-name", Transform::NamedUrls)
        }
        _ => find_entry(rest),
    }
}

/// Names with a zone, a region or a metadata key in them.
fn find_entry(rest: &[Element]) -> Option<Alias> {
    let entry =
        |name, key: String| Some(Alias { name, place: Place::Entry(key), transform: Transform::Same });
    let (first, behind) = rest.split_first()?;
    match (first.canonical.as_str(), behind) {
        (_, []) => None,
        ("serviceurl", [zone]) if zone.canonical == "default" => {
            entry("eureka.client.service-url", "defaultZone".into())
        }
        ("serviceurl", zone) => entry("eureka.client.service-url", key::map_key(zone)),
        ("metadata", name) => entry("eureka.instance.metadata-map", key::map_key(name)),
        ("remoteregion", [region, list]) if list.canonical == "appwhitelist" => {
            entry("eureka.server.remote-region-app-whitelist", region.written.clone())
        }
        ("client" | "server" | "instance", _) => None,
        (_, [list]) if list.canonical == "availabilityzones" => {
            entry("eureka.client.availability-zones", first.written.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alias(name: &str) -> Option<Alias> {
        find_alias(&key::elements(name))
    }

    #[test]
    fn every_alias_names_a_known_key() {
        for (netflix, spring) in netflix_names() {
            assert!(super::super::find(spring).is_some(), "{netflix} stands for {spring}, which is unknown");
            assert!(
                super::super::locate(&key::elements(&netflix)).is_none(),
                "{netflix} is a Spring name too"
            );
        }
    }

    #[test]
    fn names_with_data_in_them_are_recognised() {
        let entry = |name, key: &str| {
            Some(Alias { name, place: Place::Entry(key.into()), transform: Transform::Same })
        };
        assert_eq!(alias("eureka.serviceUrl.default"), entry("eureka.client.service-url", "defaultZone"));
        assert_eq!(alias("eureka.serviceUrl.us-east-1a"), entry("eureka.client.service-url", "us-east-1a"));
        assert_eq!(
            alias("eureka.us-east-1.availabilityZones"),
            entry("eureka.client.availability-zones", "us-east-1")
        );
        assert_eq!(alias("eureka.metadata.my.key"), entry("eureka.instance.metadata-map", "my.key"));
        let list = "eureka.server.remote-region-app-whitelist";
        assert_eq!(alias("eureka.remoteRegion.eu.appWhiteList"), entry(list, "eu"));
        assert_eq!(alias("eureka.client.availabilityZones"), None);
        assert_eq!(alias("eureka.nope"), None);
        assert_eq!(alias("other.region"), None);
    }
}
