//! Warm restart: `heureka.snapshots.*`.

use std::path::PathBuf;

/// Where and how the registry is kept over a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotSettings {
    /// Off: every start is cold.
    pub enabled: bool,
    /// Folder of the store; relative paths are relative to the working directory.
    pub folder: PathBuf,
    /// A change is on disk after at most this long.
    pub write_behind_ms: u64,
    /// An older snapshot gives back overrides only.
    pub max_age_secs: u64,
}

impl Default for SnapshotSettings {
    fn default() -> Self {
        Self { enabled: true, folder: "heureka-data".into(), write_behind_ms: 1_000, max_age_secs: 3_600 }
    }
}
