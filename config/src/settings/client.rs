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
    /// `fetch-registry`, what health tells of it; false too if `eureka.client.enabled` or `spring.cloud.discovery.enabled` is false.
    pub fetch_registry: bool,
    /// `region`.
    pub region: String,
    /// `availability-zones.<region>` for the own region, never empty; the first is the own zone.
    pub zones: Vec<String>,
    /// `prefer-same-zone-eureka`: changes the order of peers only.
    pub prefer_same_zone: bool,
    /// `use-dns-for-fetching-service-urls` with its three companions; absent means off.
    pub dns: Option<DnsPeers>,
    /// `should-unregister-on-shutdown`.
    pub unregister_on_shutdown: bool,
    /// Timeouts of own calls.
    pub timeouts: ClientTimeouts,
    /// `proxy-*`; absent means direct.
    pub proxy: Option<Proxy>,
    /// `tls.*`; absent means the system's roots and no certificate of our own.
    pub tls: Option<ClientTls>,
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
            unregister_on_shutdown: true,
            timeouts: ClientTimeouts::default(),
            proxy: None,
            tls: None,
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
}

impl Default for ClientTimeouts {
    fn default() -> Self {
        Self { connect_secs: 5, read_secs: 8 }
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
