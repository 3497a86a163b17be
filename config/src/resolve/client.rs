//! `eureka.client.*` (`spec/spring.md` 3.6).

use super::reader::Reader;
use super::registry::url;
use super::tls;
use crate::key;
use crate::report::Notice;
use crate::secret::Secret;
use crate::settings::client::DEFAULT_ZONE;
use crate::settings::{ClientSettings, ClientTimeouts, DnsPeers, Proxy, ServiceUrl};
use std::collections::BTreeMap;

pub(super) fn client(r: &mut Reader<'_>) -> ClientSettings {
    let d = ClientSettings::default();
    let enabled = r.flag("eureka.client.enabled", true) & r.flag("spring.cloud.discovery.enabled", true);
    let region = r.text("eureka.client.region", &d.region);
    let client = ClientSettings {
        service_urls: service_urls(r),
        register_with_eureka: r.flag("eureka.client.register-with-eureka", d.register_with_eureka) && enabled,
        fetch_registry: r.flag("eureka.client.fetch-registry", d.fetch_registry) && enabled,
        zones: zones(r, &region),
        region,
        prefer_same_zone: r.flag("eureka.client.prefer-same-zone-eureka", d.prefer_same_zone),
        dns: dns(r),
        unregister_on_shutdown: r
            .flag("eureka.client.should-unregister-on-shutdown", d.unregister_on_shutdown),
        timeouts: timeouts(r),
        proxy: proxy(r),
        tls: tls::client(r),
    };
    remark_zones(r, &client);
    client
}

/// Normalised URLs per zone, without duplicates. Zones without any URL stay, so that they do not fall back.
fn service_urls(r: &mut Reader<'_>) -> BTreeMap<String, Vec<ServiceUrl>> {
    let key = "eureka.client.service-url";
    let mut zones = BTreeMap::new();
    for (zone, items) in r.lists(key) {
        let mut urls: Vec<ServiceUrl> = Vec::new();
        for item in items {
            if let Some(url) = url(r, &format!("{key}.{zone}"), &item)
                && !urls.contains(&url)
            {
                urls.push(url);
            }
        }
        zones.insert(zone, urls);
    }
    zones
}

/// Zones of the own region: its exact name first, then any spelling.
fn zones(r: &mut Reader<'_>, region: &str) -> Vec<String> {
    let key = "eureka.client.availability-zones";
    let regions = r.lists(key);
    let same = |name: &&String| key::canonical_element(name) == key::canonical_element(region);
    let found = regions.get(region).or_else(|| regions.keys().find(same).and_then(|name| regions.get(name)));
    let zones: Vec<String> = found.into_iter().flatten().map(|zone| zone.text.clone()).collect();
    if !zones.is_empty() {
        return zones;
    }
    if let Some(other) = regions.values().flatten().next() {
        let message =
            format!("has no zones for eureka.client.region, which is {region}; only {DEFAULT_ZONE} is used");
        r.notices.push(Notice::warning(key, &other.origin, message));
    }
    vec![DEFAULT_ZONE.to_owned()]
}

/// Zones and URLs that miss each other, which Java passes over in silence.
fn remark_zones(r: &mut Reader<'_>, client: &ClientSettings) {
    let key = "eureka.client.service-url";
    let mut remark = |message: String| r.notices.push(Notice::warning(key, "zones and URLs", message));
    let used = |zone: &String| zone == DEFAULT_ZONE || client.zones.contains(zone);
    for zone in client.service_urls.keys().filter(|zone| !used(zone)) {
        remark(format!(
            "has URLs for {zone}, which is no zone of region {}; they are not used",
            client.region
        ));
    }
    if client.service_urls.is_empty() {
        return;
    }
    let has_default = client.service_urls.contains_key(DEFAULT_ZONE);
    // Netflix' name of the default zone is `default`
    let is_default = |zone: &str| matches!(zone, DEFAULT_ZONE | "default");
    let without = |zone: &&String| !is_default(zone) && !client.service_urls.contains_key(*zone);
    for zone in client.zones.iter().filter(without) {
        let instead =
            if has_default { "those of defaultZone are used" } else { "and there is no defaultZone" };
        remark(format!("has no URLs for the zone {zone}; {instead}"));
    }
}

fn dns(r: &mut Reader<'_>) -> Option<DnsPeers> {
    let switch = "eureka.client.use-dns-for-fetching-service-urls";
    let enabled = r.flag(switch, false);
    let domain = r.optional("eureka.client.eureka-server-d-n-s-name");
    let port = r.optional_number("eureka.client.eureka-server-port");
    let context = r.text("eureka.client.eureka-server-u-r-l-context", "");
    if !enabled {
        return None;
    }
    match (domain, port) {
        (Some(domain), Some(port)) => Some(DnsPeers {
            domain: domain.text.trim().trim_matches('.').to_owned(),
            port,
            context: context.trim_matches('/').to_owned(),
        }),
        _ => {
            let needs = "needs eureka.client.eureka-server-d-n-s-name and eureka.client.eureka-server-port";
            r.wrong_as_written(switch, needs);
            None
        }
    }
}

fn timeouts(r: &mut Reader<'_>) -> ClientTimeouts {
    let d = ClientTimeouts::default();
    ClientTimeouts {
        connect_secs: r.number("eureka.client.eureka-server-connect-timeout-seconds", d.connect_secs),
        read_secs: r.number("eureka.client.eureka-server-read-timeout-seconds", d.read_secs),
    }
}

fn proxy(r: &mut Reader<'_>) -> Option<Proxy> {
    let host = r.optional("eureka.client.proxy-host");
    let port = r.optional_number("eureka.client.proxy-port");
    let user = r.text("eureka.client.proxy-user-name", "");
    let password = r.secret("eureka.client.proxy-password", &Secret::default());
    let host = host?;
    match port {
        Some(port) => Some(Proxy { host: host.text.trim().to_owned(), port, user, password }),
        None => {
            r.wrong("eureka.client.proxy-host", &host, "needs eureka.client.proxy-port too");
            None
        }
    }
}
