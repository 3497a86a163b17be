//! What is known of a whole store.

use serde::{Deserialize, Serialize};

/// Written with every batch, so it always describes exactly what the store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredMeta {
    /// Identity of the node, kept over restarts.
    pub node_id: String,
    /// How often the node has started with this identity.
    pub starts: u64,
    /// True once a node that had opened for traffic has written here. Before, the store is empty on purpose.
    pub opened: bool,
    /// Wall clock of the last moment at which the store equalled the registry, but for what is on its way.
    pub saved_timestamp: i64,
    /// True if the node stopped in order: nothing was on its way.
    pub clean: bool,
    /// Number of the last batch.
    pub generation: u64,
    /// Number of keys besides this one.
    pub keys: u64,
    /// Sum of the fingerprints of their frames, see `seal.rs`.
    pub seal: u64,
    /// Version of the program that wrote it, for people.
    pub software: String,
}
