//! A status override, kept beside the instance because it may outlive its lease.

use heureka_protocol::Status;
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
}

impl StoredOverride {
    /// An override whose instance has a lease. `None` if the status says that there is no override.
    #[must_use]
    pub fn of(overridden: Status) -> Option<Self> {
        (overridden != Status::Unknown).then(|| Self { status: overridden.into(), orphaned_timestamp: None })
    }
}
