//! A status override, kept beside the instance because it may outlive its lease.

use heureka_registry::{OverrideState, Stamp};
use serde::{Deserialize, Serialize};

use super::StoredStatus;

/// An override of one instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredOverride {
    /// The status in force.
    pub status: StoredStatus,
    /// Wall clock since when there is no lease for it; `None` while there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphaned_timestamp: Option<i64>,
    /// When it was set, on the clock of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stamp: Option<i64>,
}

impl StoredOverride {
    /// An override whose instance has a lease. `None` if there is no override.
    #[must_use]
    pub fn of(state: OverrideState) -> Option<Self> {
        let stamp = state.stamp.map(Stamp::ms);
        state.status.map(|status| Self { status: status.into(), orphaned_timestamp: None, stamp })
    }
}
