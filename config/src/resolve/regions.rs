//! `eureka.server.remote-region-*` (`spec/replication.md` 7.6).

use std::collections::{BTreeMap, BTreeSet};

use super::reader::{Reader, Sourced};
use super::{registry, tls};
use crate::settings::{RegionSettings, RemoteRegion};

const URLS: &str = "eureka.server.remote-region-urls-with-name";
const WHITELIST: &str = "eureka.server.remote-region-app-whitelist";
/// The list that holds for regions without one of their own.
const GLOBAL: &str = "global";

pub(super) fn regions(r: &mut Reader<'_>) -> RegionSettings {
    let d = RegionSettings::default();
    RegionSettings {
        regions: named(r),
        fetch_interval_secs: r
            .number("eureka.server.remote-region-registry-fetch-interval", d.fetch_interval_secs),
        connect_timeout_ms: r.number("eureka.server.remote-region-connect-timeout-ms", d.connect_timeout_ms),
        read_timeout_ms: r.number("eureka.server.remote-region-read-timeout-ms", d.read_timeout_ms),
        connection_idle_timeout_secs: r.number(
            "eureka.server.remote-region-connection-idle-timeout-seconds",
            d.connection_idle_timeout_secs,
        ),
        gzip: r.flag("eureka.server.g-zip-content-from-remote-region", d.gzip),
        deltas_disabled: r.flag("eureka.server.disable-delta-for-remote-regions", d.deltas_disabled),
        fallback_disabled: r
            .flag("eureka.server.disable-transparent-fallback-to-other-region", d.fallback_disabled),
        trust: tls::region_trust(r),
    }
}

/// Regions are asked for in lower case, whatever they are called in the file.
fn named(r: &mut Reader<'_>) -> Vec<RemoteRegion> {
    let whitelists: BTreeMap<String, BTreeSet<String>> =
        r.lists(WHITELIST).into_iter().map(|(region, apps)| (folded(&region), names(&apps))).collect();
    let mut regions: BTreeMap<String, RemoteRegion> = BTreeMap::new();
    for (region, found) in r.texts(URLS) {
        let name = folded(&region);
        let key = format!("{URLS}.{region}");
        let Some(url) = registry::url(r, &key, &found) else { continue };
        if regions.contains_key(&name) {
            r.wrong(&key, &found, "names a region twice; letter case does not tell regions apart");
            continue;
        }
        let whitelist = whitelists.get(&name).or_else(|| whitelists.get(GLOBAL)).cloned();
        regions.insert(name.clone(), RemoteRegion { name, url, whitelist });
    }
    regions.into_values().collect()
}

fn folded(region: &str) -> String {
    region.trim().to_lowercase()
}

fn names(apps: &[Sourced]) -> BTreeSet<String> {
    apps.iter().map(|app| app.text.trim().to_uppercase()).filter(|app| !app.is_empty()).collect()
}
