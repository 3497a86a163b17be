//! Peers, own registration and own fetch: `eureka.client.*` (3.6).

use super::service_url::ServiceUrl;
use super::tls::ClientTls;
use crate::secret::Secret;
use std::collections::BTreeMap;

/// The zone every Eureka user knows.
pub const DEFAULT_ZONE: &str = "defaultZone";

/// `eureka.client.*`, as far as it matters to a server.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientSettings {
    /// `service-url.<zone>`: normalised, without duplicates, own URL still in it. Empty means no peers.
    pub service_urls: BTreeMap<String, Vec<ServiceUrl>>,
    /// `register-with-eureka`; false too if `eureka.client.enabled` or `spring.cloud.discovery.enabled` is false.
    pub register_with_eureka: bool,
    /// `fetch-registry`; false too if `eureka.client.enabled` or `spring.cloud.discovery.enabled` is false.
    pub fetch_registry: bool,
    /// `region`.
    pub region: String,
    /// `availability-zones.<region>` for the own region, never empty; the first is the own zone.
    pub zones: Vec<String>,
    /// `prefer-same-zone-eureka`: changes the order of peers only.
    pub prefer_same_zone: bool,
    /// `use-dns-for-fetching-service-urls` with its three companions; absent means off.
    pub dns: Option<DnsPeers>,
    /// `eureka-service-url-poll-interval-seconds`.
    pub service_url_poll_interval_secs: u64,
    /// `registry-fetch-interval-seconds`.
    pub registry_fetch_interval_secs: u64,
    /// `initial-instance-info-replication-interval-seconds`.
    pub initial_registration_delay_secs: u64,
    /// `instance-info-replication-interval-seconds`.
    pub registration_interval_secs: u64,
    /// `disable-delta`: the own fetch is always full.
    pub disable_delta: bool,
    /// `filter-only-up-instances`.
    pub filter_only_up_instances: bool,
    /// `log-delta-diff`.
    pub log_delta_diff: bool,
    /// `should-unregister-on-shutdown`.
    pub unregister_on_shutdown: bool,
    /// `should-enforce-registration-at-init`: a failed first registration fails the start.
    pub enforce_registration_at_init: bool,
    /// Timeouts of own calls.
    pub timeouts: ClientTimeouts,
    /// `proxy-*`; absent means direct.
    pub proxy: Option<Proxy>,
    /// `tls.*`; absent means the system's roots and no certificate of our own.
    pub tls: Option<ClientTls>,
    /// `transport.applications-resolver-use-ip`: compare by address instead of host name.
    pub resolve_by_ip: bool,
    /// `healthcheck.enabled`: the own health becomes the own status.
    pub healthcheck_enabled: bool,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            service_urls: BTreeMap::new(),
            register_with_eureka: true,
            fetch_registry: true,
            region: "us-east-1".into(),
            zones: vec![DEFAULT_ZONE.into()],
            prefer_same_zone: true,
            dns: None,
            service_url_poll_interval_secs: 300,
            registry_fetch_interval_secs: 30,
            initial_registration_delay_secs: 40,
            registration_interval_secs: 30,
            disable_delta: false,
            filter_only_up_instances: true,
            log_delta_diff: false,
            unregister_on_shutdown: true,
            enforce_registration_at_init: false,
            timeouts: ClientTimeouts::default(),
            proxy: None,
            tls: None,
            resolve_by_ip: false,
            healthcheck_enabled: false,
        }
    }
}

impl ClientSettings {
    /// The peer list in Java's order (3.6): own zone first, the other zones in ring order, a zone without an entry
    /// stands for `defaultZone`. No duplicates. The own URL is still in it; only the node knows which one that is.
    pub fn peer_urls(&self) -> Vec<ServiceUrl> {
        let start = if self.prefer_same_zone || self.zones.len() < 2 { 0 } else { 1 };
        let ring = self.zones.iter().skip(start).chain(self.zones.iter().take(start));
        let mut urls: Vec<ServiceUrl> = Vec::new();
        for zone in ring {
            let of_zone = self.service_urls.get(zone).or_else(|| self.service_urls.get(DEFAULT_ZONE));
            for url in of_zone.into_iter().flatten() {
                if !urls.contains(url) {
                    urls.push(url.clone());
                }
            }
        }
        urls
    }

    /// The zone this server is in, as far as peers are concerned. `metadata-map.zone` plays no role here.
    pub fn own_zone(&self) -> &str {
        self.zones.first().map_or(DEFAULT_ZONE, String::as_str)
    }
}

/// Peers from DNS TXT records (`spec/replication.md` 1.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsPeers {
    /// `eureka-server-d-n-s-name`.
    pub domain: String,
    /// `eureka-server-port`.
    pub port: u16,
    /// `eureka-server-u-r-l-context`, without slashes at the ends.
    pub context: String,
}

/// Timeouts of calls to other servers, other than replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTimeouts {
    /// `eureka-server-connect-timeout-seconds`.
    pub connect_secs: u64,
    /// `eureka-server-read-timeout-seconds`.
    pub read_secs: u64,
    /// `eureka-connection-idle-timeout-seconds`.
    pub idle_secs: u64,
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        Self { connect_secs: 5, read_secs: 8, idle_secs: 30 }
    }
}

/// `proxy-*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// `proxy-host`.
    pub host: String,
    /// `proxy-port`.
    pub port: u16,
    /// `proxy-user-name`; empty means none.
    pub user: String,
    /// `proxy-password`.
    pub password: Secret,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(zones: &[&str], urls: &[(&str, &str)]) -> ClientSettings {
        let service_urls = urls
            .iter()
            .map(|(zone, url)| ((*zone).to_owned(), vec![ServiceUrl::parse(url).unwrap()]))
            .collect();
        ClientSettings {
            zones: zones.iter().map(|z| (*z).to_owned()).collect(),
            service_urls,
            ..Default::default()
        }
    }

    #[test]
    fn peers_start_with_the_own_zone_and_fall_back_to_the_default_zone() {
        let urls = [("a", "http://a/"), ("b", "http://b/"), ("defaultZone", "http://d/")];
        let shown = |c: &ClientSettings| c.peer_urls().iter().map(ToString::to_string).collect::<Vec<_>>();
        let near = client(&["b", "c", "a"], &urls);
        assert_eq!(shown(&near), ["http://b/", "http://d/", "http://a/"]);
        let far = ClientSettings { prefer_same_zone: false, ..near };
        assert_eq!(shown(&far), ["http://d/", "http://a/", "http://b/"]);
    }
}
