//! `management.endpoints.web.exposure.*`: which end points answer, and what to tell of names that none has.

use super::reader::{Reader, Sourced};
use crate::key;
use crate::nearest::nearest_of;
use crate::report::Notice;
use crate::settings::Exposure;
use std::collections::BTreeSet;

const INCLUDE: &str = "management.endpoints.web.exposure.include";
const EXCLUDE: &str = "management.endpoints.web.exposure.exclude";

/// End points of Boot and Spring Cloud that look into a Java process, in comparable form.
const JAVA_ONLY: [&str; 28] = [
    "auditevents",
    "beans",
    "busenv",
    "busrefresh",
    "caches",
    "conditions",
    "configprops",
    "env",
    "features",
    "flyway",
    "heapdump",
    "httpexchanges",
    "httptrace",
    "integrationgraph",
    "jolokia",
    "liquibase",
    "logfile",
    "loggers",
    "mappings",
    "quartz",
    "sbom",
    "scheduledtasks",
    "serviceregistry",
    "sessions",
    "shutdown",
    "startup",
    "threaddump",
    "trace",
];

pub(super) fn exposure(r: &mut Reader<'_>) -> Exposure {
    let default = Exposure::default();
    Exposure { include: ids(r, INCLUDE, default.include), exclude: ids(r, EXCLUDE, default.exclude) }
}

fn ids(r: &mut Reader<'_>, key: &'static str, default: BTreeSet<String>) -> BTreeSet<String> {
    let Some(items) = r.optional_items(key) else { return default };
    let mut ids = BTreeSet::new();
    for item in items {
        let id = key::canonical_element(&item.text);
        let notice = notice(key, &item, &id);
        if ids.insert(id) {
            r.notices.extend(notice);
        }
    }
    ids
}

/// What to tell of a name: nothing if an end point has it.
fn notice(key: &str, item: &Sourced, id: &str) -> Option<Notice> {
    if id == "*" || Exposure::IDS.contains(&id) {
        return None;
    }
    let name = &item.shown;
    if JAVA_ONLY.contains(&id) {
        let message = format!("names the end point {name:?}, which does not exist here");
        return Some(Notice::info(key, &item.origin, message));
    }
    let hint = match nearest_of(id, &Exposure::IDS) {
        Some(near) => format!("the nearest known name is {near}"),
        None => format!("known are {} and *", Exposure::IDS.join(", ")),
    };
    let message = format!("names the end point {name:?}, which is unknown and ignored; {hint}");
    Some(Notice::warning(key, &item.origin, message))
}
