//! Replication to peers and mirrors of other regions (3.5). Who the peers are stands in [`super::client`].

use super::service_url::ServiceUrl;
use crate::secret::Secret;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// How this node talks to its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerSettings {
    /// `peer-eureka-nodes-update-interval-ms`: the peer list is resolved anew this often.
    pub update_interval_ms: u64,
    /// `peer-node-connect-timeout-ms`.
    pub connect_timeout_ms: u64,
    /// `peer-node-read-timeout-ms`.
    pub read_timeout_ms: u64,
    /// `peer-node-total-connections`.
    pub total_connections: usize,
    /// `peer-node-total-connections-per-host`.
    pub connections_per_host: usize,
    /// `peer-node-connection-idle-timeout-seconds`.
    pub connection_idle_timeout_secs: u64,
    /// `max-elements-in-peer-replication-pool`: bound of the queue of one peer.
    pub max_queue_items: usize,
    /// `max-threads-for-peer-replication`: batches in flight to one peer at the same time.
    pub max_batches_in_flight: usize,
    /// `max-elements-in-status-replication-pool`: bound of the queue of Auto Scaling group changes.
    pub max_asg_queue_items: usize,
    /// `max-threads-for-status-replication`.
    pub max_asg_in_flight: usize,
    /// `max-time-for-replication`: a queued cancel or status change is dropped after this.
    pub max_replication_time_ms: u64,
    /// `min-available-instances-for-peer-replication`: peers needed to be called healthy; absent (-1) makes no statement.
    pub min_available: Option<u32>,
    /// `my-url`: the peer URL that is this node. If set, host names are not compared.
    pub my_url: Option<ServiceUrl>,
    /// `enable-replicated-request-compression`: gzip the bodies of batches. Java's key is dead, ours acts.
    pub compress_requests: bool,
}

impl Default for PeerSettings {
    fn default() -> Self {
        Self {
            update_interval_ms: 600_000,
            connect_timeout_ms: 200,
            read_timeout_ms: 200,
            total_connections: 1_000,
            connections_per_host: 500,
            connection_idle_timeout_secs: 30,
            max_queue_items: 10_000,
            max_batches_in_flight: 20,
            max_asg_queue_items: 10_000,
            max_asg_in_flight: 1,
            max_replication_time_ms: 30_000,
            min_available: None,
            my_url: None,
            compress_requests: false,
        }
    }
}

/// Mirrors of other regions (`spec/replication.md` section 7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRegionSettings {
    /// `remote-region-urls-with-name`: region to URL.
    pub urls: BTreeMap<String, ServiceUrl>,
    /// `remote-region-app-whitelist`: region (or `global`) to application names.
    pub app_whitelist: BTreeMap<String, BTreeSet<String>>,
    /// `remote-region-connect-timeout-ms`.
    pub connect_timeout_ms: u64,
    /// `remote-region-read-timeout-ms`.
    pub read_timeout_ms: u64,
    /// `remote-region-total-connections`.
    pub total_connections: usize,
    /// `remote-region-total-connections-per-host`.
    pub connections_per_host: usize,
    /// `remote-region-connection-idle-timeout-seconds`.
    pub connection_idle_timeout_secs: u64,
    /// `remote-region-registry-fetch-interval`, seconds.
    pub fetch_interval_secs: u64,
    /// `remote-region-fetch-thread-pool-size`: regions fetched at the same time.
    pub fetches_in_flight: usize,
    /// `remote-region-trust-store`: absent means the system's roots.
    pub trust_store: Option<PathBuf>,
    /// `remote-region-trust-store-password`.
    pub trust_store_password: Secret,
    /// `g-zip-content-from-remote-region`.
    pub gzip: bool,
    /// `disable-delta-for-remote-regions`.
    pub delta_disabled: bool,
    /// `disable-transparent-fallback-to-other-region`.
    pub fallback_disabled: bool,
}

impl Default for RemoteRegionSettings {
    fn default() -> Self {
        Self {
            urls: BTreeMap::new(),
            app_whitelist: BTreeMap::new(),
            connect_timeout_ms: 1_000,
            read_timeout_ms: 1_000,
            total_connections: 1_000,
            connections_per_host: 500,
            connection_idle_timeout_secs: 30,
            fetch_interval_secs: 30,
            fetches_in_flight: 20,
            trust_store: None,
            trust_store_password: Secret::new("changeit"),
            gzip: true,
            delta_disabled: false,
            fallback_disabled: false,
        }
    }
}
