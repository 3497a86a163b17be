//! Who calls: Java's clients and peers name themselves in headers, which are counted and trusted in nothing (spec
//! `wire.md` 8.1, `registry.md` 8.5).

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::node::Node;

const NAME: &str = "discoveryidentity-name";
const VERSION: &str = "discoveryidentity-version";
/// Pairs of name and version that are counted apart. The headers come from outside: the rest is counted as `other`.
const PAIRS_MAX: usize = 32;
/// Longest name or version that is shown.
const TEXT_MAX: usize = 40;

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    name: String,
    version: String,
}

/// Requests by the identity that their sender claims.
#[derive(Debug, Default)]
pub struct Identities {
    requests: Family<Labels, Counter>,
    /// Handles by the header texts as sent, so that counting allocates nothing.
    known: Mutex<HashMap<String, HashMap<String, Counter>>>,
}

impl Identities {
    /// Puts the counters into a metric registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Requests by the client name and version that their headers claim";
        registry.register("requests_by_client", help, self.requests.clone());
    }
}

impl Identities {
    fn count(&self, name: &str, version: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = known.get(name).and_then(|versions| versions.get(version)) {
            counter.inc();
            return;
        }
        let has_room = known.values().map(HashMap::len).sum::<usize>() < PAIRS_MAX;
        let (name, version) = if has_room { (name, version) } else { ("other", "other") };
        let labels = Labels { name: name.to_owned(), version: version.to_owned() };
        let counter = self.requests.get_or_create(&labels).clone();
        counter.inc();
        known.entry(name.to_owned()).or_default().insert(version.to_owned(), counter);
    }
}

/// Counts the sender of a request, if it names itself.
pub fn count(request: &HttpRequest, node: &Node) {
    if !node.settings.registry.log_identity_headers {
        return;
    }
    if let Some(name) = text(request.headers(), NAME) {
        node.metrics.identities.count(name, text(request.headers(), VERSION).unwrap_or("unknown"));
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let text = headers.get(name)?.to_str().ok()?;
    let end = text.char_indices().nth(TEXT_MAX).map_or(text.len(), |(end, _)| end);
    Some(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_names_is_counted_together() {
        let identities = Identities::default();
        for index in 0..1000 {
            identities.count(&format!("client-{index}"), "1");
        }
        identities.count("client-0", "1");
        let count = |name: &str, version: &str| {
            identities.requests.get_or_create(&Labels { name: name.into(), version: version.into() }).get()
        };
        assert_eq!(count("client-0", "1"), 2);
        assert_eq!(count("other", "other"), 1000 - PAIRS_MAX as u64);
        assert_eq!(
            identities.known.lock().expect("a lock").values().map(HashMap::len).sum::<usize>(),
            PAIRS_MAX + 1
        );
    }
}
