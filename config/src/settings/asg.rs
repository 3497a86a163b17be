//! Auto-scaling groups of Amazon (`spec/replication.md` 8.1, 8.7).

use crate::secret::Secret;

/// Groups that can be switched off with all their instances.
#[derive(Clone, Debug, PartialEq)]
pub struct AsgSettings {
    /// `heureka.asg.enabled`: the endpoint `asg/{name}/status` and the rule exist.
    pub enabled: bool,
    /// `use-aws-asg-api`: the cloud is asked, not only operators.
    pub asks_cloud: bool,
    /// `a-s-g-update-interval-ms`: how often.
    pub update_interval_ms: u64,
    /// `a-s-g-cache-expiry-timeout-ms`: how long a group is remembered that no instance names.
    pub cache_expiry_ms: u64,
    /// `a-s-g-query-timeout-ms`: time to connect to the cloud.
    pub query_timeout_ms: u64,
    /// `a-w-s-access-id` and `a-w-s-secret-key`.
    pub keys: Option<(String, Secret)>,
}

impl Default for AsgSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            asks_cloud: true,
            update_interval_ms: 300_000,
            cache_expiry_ms: 600_000,
            query_timeout_ms: 300,
            keys: None,
        }
    }
}
