//! Keys of maps that mean the same although they are spelled differently (`spec/spring.md` 3.1, the `defaultZone` trap).
//!
//! An upper-case variable has lost the case of its map key, and users write `default-zone` because their editor does. Names are
//! compared exactly first and only then without case, dots, dashes and underscores.

use super::normalise::{Normalised, Value};
use crate::catalogue::Place;
use crate::property::Property;
use crate::settings::client::DEFAULT_ZONE;
use crate::sources::split_list;
use std::collections::{BTreeMap, BTreeSet};

const SERVICE_URL: &str = "eureka.client.service-url";
const ZONES: &str = "eureka.client.availability-zones";

/// Renames map keys so that equal ones are spelled equally. Returns the zones that were probably misspelt.
pub(super) fn unify(sources: &mut [Normalised]) -> Vec<(Property, String)> {
    let zones = zone_names(sources);
    let written = written_keys(sources, &zones);
    let mut misspelt = Vec::new();
    for value in sources.iter_mut().flat_map(|source| &mut source.values) {
        let Some(key) = entry_key(&value.place).map(str::to_owned) else { continue };
        let is_zone = value.spec.name == SERVICE_URL;
        if !value.from_variable && (!is_zone || zones.contains(&key)) {
            continue;
        }
        let known = written.get(value.spec.name);
        let meant = known.and_then(|keys| if keys.contains(&key) { None } else { same(keys, &key) });
        if let Some(meant) = meant.filter(|meant| *meant != key) {
            if is_zone && !value.from_variable {
                misspelt.push((value.property.clone(), meant.clone()));
            }
            rename(value, meant);
        }
    }
    misspelt
}

fn entry_key(place: &Place) -> Option<&str> {
    match place {
        Place::Entry(key) | Place::EntryItem(key, _) => Some(key),
        Place::Whole | Place::Item(_) => None,
    }
}

fn rename(value: &mut Value, key: String) {
    match &mut value.place {
        Place::Entry(old) | Place::EntryItem(old, _) => *old = key,
        Place::Whole | Place::Item(_) => {}
    }
}

/// Zones that are used: `defaultZone` and those of every region.
fn zone_names(sources: &[Normalised]) -> BTreeSet<String> {
    let values = sources.iter().flat_map(|source| &source.values);
    let lists = values.filter(|value| value.spec.name == ZONES).flat_map(|value| split_list(&value.text));
    lists.map(str::to_owned).chain([DEFAULT_ZONE.to_owned()]).collect()
}

/// Per map, the keys whose spelling is right: used zones, and what stands in sources that keep case. A zone that is only
/// another spelling of a used one is not right.
fn written_keys(
    sources: &[Normalised],
    zones: &BTreeSet<String>,
) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut written: BTreeMap<&'static str, BTreeSet<String>> =
        BTreeMap::from([(SERVICE_URL, zones.clone())]);
    for value in sources.iter().flat_map(|source| &source.values).filter(|value| !value.from_variable) {
        let Some(key) = entry_key(&value.place) else { continue };
        if value.spec.name != SERVICE_URL || zones.contains(key) || same(zones, key).is_none() {
            written.entry(value.spec.name).or_default().insert(key.to_owned());
        }
    }
    written
}

fn same(keys: &BTreeSet<String>, key: &str) -> Option<String> {
    keys.iter().find(|candidate| flat(candidate) == flat(key)).cloned()
}

fn flat(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
