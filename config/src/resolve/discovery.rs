//! `heureka.peers.*`.

use super::reader::{Reader, Sourced};
use super::registry::url;
use crate::settings::{DiscoverySettings, ServiceUrl};

const DNS_URLS: &str = "heureka.peers.dns-urls";

pub(super) fn discovery(r: &mut Reader<'_>) -> DiscoverySettings {
    let d = DiscoverySettings::default();
    let mut dns_urls: Vec<ServiceUrl> = Vec::new();
    for item in r.items(DNS_URLS) {
        if let Some(url) = dns_url(r, &item).filter(|url| !dns_urls.contains(url)) {
            dns_urls.push(url);
        }
    }
    DiscoverySettings {
        file: r.path("heureka.peers.file"),
        dns_urls,
        dns_interval_ms: r.number("heureka.peers.dns-interval-ms", d.dns_interval_ms),
    }
}

/// A name of SRV records brings the ports; any other needs one in the URL or that of the scheme.
fn dns_url(r: &mut Reader<'_>, item: &Sourced) -> Option<ServiceUrl> {
    let url = url(r, DNS_URLS, item)?;
    if url.names_services() && url.has_port() {
        r.wrong(DNS_URLS, item, "must not name a port: SRV records, as this name has, say the ports");
        return None;
    }
    if url.host().parse::<std::net::IpAddr>().is_ok() {
        r.wrong(
            DNS_URLS,
            item,
            "must have a name as its host; an address belongs into eureka.client.service-url",
        );
        return None;
    }
    Some(url)
}
