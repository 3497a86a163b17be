//! Replication to peers (3.5). Who the peers are stands in [`super::client`].

use super::service_url::ServiceUrl;

/// How this node talks to its peers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerSettings {
    /// `peer-eureka-nodes-update-interval-ms`: the peer list is resolved anew this often.
    pub update_interval_ms: u64,
    /// `peer-node-connect-timeout-ms`.
    pub connect_timeout_ms: u64,
    /// `peer-node-read-timeout-ms`.
    pub read_timeout_ms: u64,
    /// `peer-node-connection-idle-timeout-seconds`.
    pub connection_idle_timeout_secs: u64,
    /// `max-elements-in-peer-replication-pool`: bound of the queue of one peer.
    pub max_queue_items: usize,
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
            connection_idle_timeout_secs: 30,
            max_queue_items: 10_000,
            min_available: None,
            my_url: None,
            compress_requests: false,
        }
    }
}
