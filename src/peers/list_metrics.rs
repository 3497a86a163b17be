//! What is counted of the list of peers, and why the last one could not be made whole.

use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::source::SourceError;

/// Peers, and how often their list was made.
#[derive(Debug, Default)]
pub struct PeerListMetrics {
    peers: Gauge,
    lists: Family<Labels, Counter>,
    failure: Mutex<Option<SourceError>>,
}

/// How an attempt to make the list has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListResult {
    /// It counts.
    Ok,
    /// It counts, but one of several sources stood in with its last list.
    Partial,
    /// It was empty; the last one stays.
    Empty,
    /// There is none; the last one stays.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    result: &'static str,
}

impl PeerListMetrics {
    /// Counts an attempt.
    pub fn count(&self, result: ListResult) {
        let result = match result {
            ListResult::Ok => "ok",
            ListResult::Partial => "partial",
            ListResult::Empty => "empty",
            ListResult::Failed => "failed",
        };
        self.lists.get_or_create(&Labels { result }).inc();
    }

    /// So many peers are in force.
    pub fn set_peers(&self, count: usize) {
        self.peers.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// Notes why the list in force is an old one, wholly or in part; `None` if it is not.
    pub fn set_failure(&self, failure: Option<&SourceError>) {
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure.cloned();
    }

    /// Why the list in force is an old one, if it is.
    #[must_use]
    pub fn failure(&self) -> Option<SourceError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds them to those of a node.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("peers", "Peers that changes are sent to", self.peers.clone());
        registry.register("peer_lists", "Attempts to make the list of peers", self.lists.clone());
    }
}
