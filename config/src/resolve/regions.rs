//! `eureka.server.remote-region-*` (`spec/replication.md` 7.6).

use std::collections::{BTreeMap, BTreeSet};

use super::reader::{Reader, Sourced};
use super::{registry, tls};
use crate::report::Notice;
use crate::secret::mask_mistyped_url;
use crate::settings::{RegionSettings, RemoteRegion};

const URLS: &str = "eureka.server.remote-region-urls-with-name";
const WHITELIST: &str = "eureka.server.remote-region-app-whitelist";
/// The list that holds for regions without one of their own.
const GLOBAL: &str = "global";

/// `own` is the region of this server.
pub(super) fn regions(r: &mut Reader<'_>, own: &str) -> RegionSettings {
    let d = RegionSettings::default();
    RegionSettings {
        regions: named(r, &folded(own)),
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
fn named(r: &mut Reader<'_>, own: &str) -> Vec<RemoteRegion> {
    let lists = r.lists(WHITELIST);
    let origin = |apps: &[Sourced]| apps.first().map_or_else(String::new, |app| app.origin.clone());
    let listed: BTreeMap<String, String> =
        lists.iter().map(|(region, apps)| (folded(region), origin(apps))).collect();
    let whitelists: BTreeMap<String, BTreeSet<String>> =
        lists.into_iter().map(|(region, apps)| (folded(&region), names(&apps))).collect();
    let mut regions: BTreeMap<String, RemoteRegion> = BTreeMap::new();
    for (region, found) in r.texts(URLS) {
        let name = folded(&region);
        let key = format!("{URLS}.{region}");
        let Some(url) = registry::url(r, &key, &found) else { continue };
        // The first element of a list; a variable in upper case writes dots for the dashes of a name, so others are fine.
        let is_listed = name == "0" || name.ends_with(".0");
        if name.is_empty() || is_listed || found.text.contains(',') {
            let hidden = Sourced { shown: mask_mistyped_url(&found.text), ..found };
            r.wrong(&key, &hidden, "must be a name with one URL");
            continue;
        }
        if !is_name(&name) {
            let expected = "must have a name that requests can list behind regions=, such as eu-west-1: letters, digits, \
                            dashes, dots and underscores";
            r.wrong(&key, &found, expected);
            continue;
        }
        if regions.contains_key(&name) {
            r.wrong(&key, &found, "names a region twice; letter case does not tell regions apart");
            continue;
        }
        if name == own {
            let message = "is the name of this server's own region; its instances are shown twice over";
            r.notices.push(Notice::warning(&key, &found.origin, message));
        }
        let whitelist = whitelists.get(&name).or_else(|| whitelists.get(GLOBAL)).cloned();
        regions.insert(name.clone(), RemoteRegion { name, url, whitelist });
    }
    for (region, origin) in listed
        .iter()
        .filter(|(region, _)| region.as_str() != GLOBAL && !regions.contains_key(region.as_str()))
    {
        let message = format!("is a list for the region {region}, which has no URL; it is not used");
        r.notices.push(Notice::warning(WHITELIST, origin, message));
    }
    regions.into_values().collect()
}

fn is_name(region: &str) -> bool {
    region.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn folded(region: &str) -> String {
    region.trim().to_lowercase()
}

fn names(apps: &[Sourced]) -> BTreeSet<String> {
    apps.iter().map(|app| app.text.trim().to_uppercase()).filter(|app| !app.is_empty()).collect()
}
