//! A snapshot as one JSON document.

use serde::{Deserialize, Serialize};

use crate::stored::{StoredInstance, StoredMeta, StoredOverride, StoredTombstone};

/// Everything in a snapshot. Members have the names of the stored format; missing ones have its defaults, but a document
/// without `instances`, or with something else beside them, is not one of ours.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotDocument<'a> {
    /// Format of the store, for people; documents of all formats look alike.
    #[serde(default)]
    pub format: u16,
    /// What the store says of itself.
    #[serde(default)]
    pub meta: StoredMeta,
    /// Why a node would not believe the store, if so. An import takes what is there: whoever imports has looked at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// Records that could not be read.
    #[serde(default)]
    pub bad_records: u64,
    /// Instances, with their last sign of life.
    #[serde(borrow)]
    pub instances: Vec<ExportedInstance<'a>>,
    /// Overrides.
    #[serde(default)]
    pub overrides: Vec<ExportedOverride>,
    /// Tombstones.
    #[serde(default)]
    pub tombstones: Vec<ExportedTombstone>,
}

/// An instance and its names.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportedInstance<'a> {
    /// Application.
    pub app: String,
    /// Instance.
    pub id: String,
    /// The record.
    #[serde(borrow)]
    pub record: StoredInstance<'a>,
}

/// An override and whose it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportedOverride {
    /// Application.
    pub app: String,
    /// Instance.
    pub id: String,
    /// The override.
    pub record: StoredOverride,
}

/// A tombstone and whose it is.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExportedTombstone {
    /// Application.
    pub app: String,
    /// Instance.
    pub id: String,
    /// The tombstone.
    pub record: StoredTombstone,
}
