//! Other regions whose registries are mirrored: `eureka.server.remote-region-*` (`spec/replication.md` 7.6).

use std::collections::BTreeSet;

use super::service_url::ServiceUrl;
use super::tls::TlsTrust;

/// Mirrors of other regions.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionSettings {
    /// `remote-region-urls-with-name` with `remote-region-app-whitelist`, in the order of the names.
    pub regions: Vec<RemoteRegion>,
    /// `remote-region-registry-fetch-interval`.
    pub fetch_interval_secs: u64,
    /// `remote-region-connect-timeout-ms`.
    pub connect_timeout_ms: u64,
    /// `remote-region-read-timeout-ms`.
    pub read_timeout_ms: u64,
    /// `remote-region-connection-idle-timeout-seconds`.
    pub connection_idle_timeout_secs: u64,
    /// `g-zip-content-from-remote-region`: ask for compressed answers.
    pub gzip: bool,
    /// `disable-delta-for-remote-regions`: always fetch in full.
    pub deltas_disabled: bool,
    /// `disable-transparent-fallback-to-other-region`: answers to requests that name no region are of this one only.
    pub fallback_disabled: bool,
    /// `remote-region-trust-store`; absent means the system's roots.
    pub trust: Option<TlsTrust>,
}

impl Default for RegionSettings {
    fn default() -> Self {
        Self {
            regions: Vec::new(),
            fetch_interval_secs: 30,
            connect_timeout_ms: 1000,
            read_timeout_ms: 1000,
            connection_idle_timeout_secs: 30,
            gzip: true,
            deltas_disabled: false,
            fallback_disabled: false,
            trust: None,
        }
    }
}

/// One other region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteRegion {
    /// Its name, lower case, as requests name it.
    pub name: String,
    /// Where its registry is read.
    pub url: ServiceUrl,
    /// Applications that are taken from it, upper case; `None` means all.
    pub whitelist: Option<BTreeSet<String>>,
}
