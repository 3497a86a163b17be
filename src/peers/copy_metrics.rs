//! What is counted of the copies that a node makes of its peers at its start, and why there is none yet.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use heureka_config::settings::ServiceUrl;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Lists of peers, and what was wrong with them.
#[derive(Debug, Default)]
pub struct CopyMetrics {
    lists: Family<Labels, Counter>,
    /// Of lists that were none, by URL without credentials, as long as nobody has given an instance.
    problems: Mutex<BTreeMap<String, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    result: &'static str,
}

/// Why a peer's registry could not be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// It gave no answer, or none that can be read.
    #[error("{0}")]
    Failed(String),
    /// What it gave is no list of all instances.
    #[error(transparent)]
    NotWhole(#[from] heureka_protocol::NotWhole),
}

impl CopyMetrics {
    /// Counts what has come of asking a peer, and remembers what was wrong.
    pub fn count<T>(&self, peer: &ServiceUrl, outcome: &Result<T, CopyError>) {
        let result = match outcome {
            Ok(_) => "ok",
            Err(CopyError::Failed(_)) => "failed",
            Err(CopyError::NotWhole(_)) => "not_whole",
        };
        self.lists.get_or_create(&Labels { result }).inc();
        let (mut problems, peer) = (self.problems(), peer.without_credentials());
        match outcome {
            Err(CopyError::NotWhole(error)) => problems.insert(peer, error.to_string()),
            // That a peer is away is shown with the peers.
            Ok(_) | Err(CopyError::Failed(_)) => problems.remove(&peer),
        };
    }

    /// Somebody has given instances: what the others lack matters no more.
    pub fn settle(&self) {
        self.problems().clear();
    }

    fn problems(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was wrong with the lists of peers that gave one, if nothing has been copied from anybody.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let problems = self.problems();
        let words: Vec<String> = problems.iter().map(|(peer, error)| format!("{peer}: {error}")).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// Adds them to those of a node.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "peer_copies",
            "Lists of peers that were asked for at the start",
            self.lists.clone(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_shown_until_somebody_gives_something() {
        let metrics = CopyMetrics::default();
        let url = |host: &str| ServiceUrl::parse(&format!("http://u:secret@{host}/")).expect("a URL");
        assert_eq!(metrics.problem(), None);
        metrics.count::<()>(&url("a"), &Err(CopyError::Failed("away".to_owned())));
        metrics.count::<()>(&url("b"), &Err(heureka_protocol::NotWhole::NoHash.into()));
        let shown = metrics.problem().expect("problems");
        assert!(shown.starts_with("http://b/: apps__hashcode: found none"), "{shown}");
        metrics.count(&url("b"), &Ok(()));
        assert_eq!(metrics.problem(), None);
        metrics.count::<()>(&url("b"), &Err(heureka_protocol::NotWhole::NoHash.into()));
        assert!(metrics.problem().is_some());
        metrics.settle();
        assert_eq!(metrics.problem(), None);
        let count = |result| metrics.lists.get_or_create(&Labels { result }).get();
        assert_eq!(["ok", "failed", "not_whole"].map(count), [1, 1, 2]);
    }
}
