//! Words for statuses and actions, spelled as on the wire.

use heureka_protocol::{ActionType, Status};
use serde::{Deserialize, Serialize};

/// A status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StoredStatus {
    /// Takes traffic.
    Up,
    /// Does not work.
    Down,
    /// Not ready yet.
    Starting,
    /// Taken out of traffic.
    OutOfService,
    /// Not known, or no override.
    #[default]
    Unknown,
}

/// What happened last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StoredAction {
    /// Registered.
    Added,
    /// Status changed.
    Modified,
    /// Gone.
    Deleted,
}

impl From<Status> for StoredStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Up => Self::Up,
            Status::Down => Self::Down,
            Status::Starting => Self::Starting,
            Status::OutOfService => Self::OutOfService,
            Status::Unknown => Self::Unknown,
        }
    }
}

impl From<StoredStatus> for Status {
    fn from(status: StoredStatus) -> Self {
        match status {
            StoredStatus::Up => Self::Up,
            StoredStatus::Down => Self::Down,
            StoredStatus::Starting => Self::Starting,
            StoredStatus::OutOfService => Self::OutOfService,
            StoredStatus::Unknown => Self::Unknown,
        }
    }
}

impl From<ActionType> for StoredAction {
    fn from(action: ActionType) -> Self {
        match action {
            ActionType::Added => Self::Added,
            ActionType::Modified => Self::Modified,
            ActionType::Deleted => Self::Deleted,
        }
    }
}

impl From<StoredAction> for ActionType {
    fn from(action: StoredAction) -> Self {
        match action {
            StoredAction::Added => Self::Added,
            StoredAction::Modified => Self::Modified,
            StoredAction::Deleted => Self::Deleted,
        }
    }
}
