//! Peers besides the service URLs: `heureka.peers.*`. All that are found, here and there, are peers.

use super::service_url::ServiceUrl;
use std::path::PathBuf;

/// `heureka.peers.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoverySettings {
    /// `file`: a file with URLs that is watched.
    pub file: Option<PathBuf>,
    /// `dns-urls`: the host of each stands for every server that DNS knows under it.
    pub dns_urls: Vec<ServiceUrl>,
    /// `dns-interval-ms`: how often DNS is asked.
    pub dns_interval_ms: u64,
}

impl DiscoverySettings {
    /// True if peers may come from here.
    pub fn is_used(&self) -> bool {
        self.file.is_some() || !self.dns_urls.is_empty()
    }
}

impl Default for DiscoverySettings {
    fn default() -> Self {
        Self { file: None, dns_urls: Vec::new(), dns_interval_ms: 10_000 }
    }
}
