//! What to tell once at the start: keys without a meaning here, unknown keys with the nearest known name, misspelt zones.

use super::lookup::Everything;
use crate::binding::Bound;
use crate::catalogue;
use crate::key;
use crate::nearest::{nearest, probably_meant};
use crate::property::{Origin, Property};
use crate::report::Notice;
use std::collections::BTreeSet;

/// All remarks on the names that were written. `used` are names that placeholders read: those are nobody's mistake.
pub(super) fn remarks(bound: &Bound, lookup: &Everything<'_>, used: &BTreeSet<String>) -> Vec<Notice> {
    let used: BTreeSet<String> = used.iter().map(|name| key::canonical(name)).collect();
    let mut notices = Vec::new();
    let mut told = BTreeSet::new();
    for (property, meant) in &bound.misspelt_zones {
        let message =
            format!("probably means the zone {meant}, and is taken for it; Java would ignore it silently");
        notices.push(Notice::warning(&property.name, &property.origin, message));
    }
    for (property, name) in &bound.shortened {
        let message = format!(
            "is taken for the name {name:?}: without brackets, as in [a/b], only letters, digits, dashes, dots and underscores \
             are kept; Java says nothing"
        );
        notices.push(Notice::warning(&property.name, &property.origin, message));
    }
    for (property, reason) in &bound.inert {
        if told.insert(key::canonical(&property.name)) {
            notices.push(Notice::info(
                &property.name,
                &property.origin,
                format!("has no effect here: {reason}"),
            ));
            notices.extend(unresolved(property, lookup));
        }
    }
    for property in &bound.unknown {
        let canonical = key::canonical(&property.name);
        // A list is one mistake, however many items it has.
        let mistake = section(property).unwrap_or(&canonical).to_owned();
        if !used.contains(&canonical) && told.insert(mistake) {
            notices.extend(unknown(property));
        }
    }
    notices
}

/// The section that was given one value or a list, as it was written. An empty value is an empty section, and variables are
/// shared with the rest of the world.
fn section(property: &Property) -> Option<&str> {
    if property.value.trim().is_empty() || matches!(property.origin, Origin::Environment(_)) {
        return None;
    }
    let name = property.name.split('[').next().unwrap_or_default();
    catalogue::has_keys_below(&key::canonical(name)).then_some(name)
}

/// A placeholder of a key that does nothing cannot stop a start.
fn unresolved(property: &Property, lookup: &Everything<'_>) -> Option<Notice> {
    let why = lookup.resolve(&property.value).err()?;
    Some(Notice::warning(&property.name, &property.origin, why.to_string()))
}

/// A key of ours or Eureka's that nobody knows; one of Spring's only if it is nearly one that is known.
fn unknown(property: &Property) -> Option<Notice> {
    if matches!(property.origin, Origin::Environment(_)) && !property.name.contains('.') {
        return unknown_variable(property);
    }
    if let Some(section) = section(property) {
        let message = format!("sets nothing: keys such as {section}.NAME belong there, no value and no list");
        return Some(Notice::warning(&property.name, &property.origin, message));
    }
    let canonical = key::canonical(&property.name);
    let is_ours = canonical.starts_with("eureka.") || canonical.starts_with("heureka.");
    let message = match is_ours {
        true => unknown_message(&canonical),
        false => hint(probably_meant(&canonical)?),
    };
    Some(Notice::warning(&property.name, &property.origin, message))
}

/// Variables are shared with the rest of the world: only those inside a section of ours are taken for keys.
fn unknown_variable(property: &Property) -> Option<Notice> {
    let dotted = property.name.to_lowercase().replace(['_', '-'], ".");
    let mut parts = dotted.splitn(3, '.');
    let (first, second) = (parts.next()?, parts.next()?);
    parts.next()?;
    let section = format!("{first}.{second}.");
    let is_section = |spec: &catalogue::KeySpec| key::canonical(spec.name).starts_with(&section);
    if !matches!(first, "eureka" | "heureka") || !catalogue::all().any(is_section) {
        return None;
    }
    let flat = dotted.replacen('.', "\u{0}", 2).replace('.', "").replace('\u{0}', ".");
    Some(Notice::warning(&property.name, &property.origin, unknown_message(&flat)))
}

/// A name that differs in more than half of what stands behind its section helps nobody.
fn unknown_message(canonical: &str) -> String {
    let own_part = canonical.splitn(3, '.').last().unwrap_or_default();
    match nearest(canonical, own_part.chars().count() / 2) {
        Some(near) => hint(near),
        None => "is unknown and ignored".to_owned(),
    }
}

fn hint(near: &str) -> String {
    format!("is unknown and ignored; the nearest known name is {near}")
}
