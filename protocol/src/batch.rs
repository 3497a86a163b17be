//! Replication batches between servers (spec `wire.md` 7.3, `replication.md` 2.7, 5).
//!
//! Reading is per item: an item that makes no sense costs itself, not the batch. Writing is exactly what Java writes,
//! because a Java receiver refuses a whole batch for one unknown member. What an item does to the registry is decided
//! elsewhere.

use crate::document::{Form, Place, write_instance};
use crate::draft::InstanceDraft;
use crate::error::ReadError;
use crate::instance::{Instance, LeaseInfo};
use crate::limits::Limits;
use crate::names::{AppName, InstanceId};
use crate::status::Status;
use crate::text::{push_decimal, push_json_string};

/// What a peer did and asks to be done here too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The instance renewed its lease.
    Heartbeat,
    /// The instance registered.
    Register,
    /// The instance was cancelled.
    Cancel,
    /// An override was set.
    StatusUpdate,
    /// An override was removed.
    DeleteStatusOverride,
}

impl Action {
    /// All actions; the position of one is the number that Java readers take for it.
    pub const ALL: [Self; 5] =
        [Self::Heartbeat, Self::Register, Self::Cancel, Self::StatusUpdate, Self::DeleteStatusOverride];

    /// The wire spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Heartbeat => "Heartbeat",
            Self::Register => "Register",
            Self::Cancel => "Cancel",
            Self::StatusUpdate => "StatusUpdate",
            Self::DeleteStatusOverride => "DeleteStatusOverride",
        }
    }

    /// Reads exactly one of the five names.
    #[must_use]
    pub fn from_exact(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// One item of a replication list that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicationItem {
    /// Application, upper case.
    pub app: AppName,
    /// Instance id; for a Register without one, the effective id of the instance.
    pub id: InstanceId,
    /// What to do.
    pub task: ReplicationTask,
}

/// What an item asks for, with only the members that count for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicationTask {
    /// Renew the lease.
    Heartbeat {
        /// The sender's dirty timestamp.
        last_dirty_timestamp: Option<i64>,
        /// The sender's override. A word that is no status counts as none: the lease must be renewed all the same.
        overridden_status: Option<Status>,
        /// The status that the instance has there, read in the same way. Java does not use it.
        status: Option<Status>,
    },
    /// Register the instance; it is read, but not yet checked.
    Register(Box<InstanceDraft>),
    /// Cancel the lease.
    Cancel {
        /// Dirty timestamp of what was cancelled. Java does not write it.
        last_dirty_timestamp: Option<i64>,
    },
    /// Set an override.
    StatusUpdate {
        /// The override.
        status: Status,
        /// The override that the sender has stored. Java does not write it.
        overridden_status: Option<Status>,
        /// The sender's dirty timestamp.
        last_dirty_timestamp: Option<i64>,
    },
    /// Remove an override.
    DeleteStatusOverride {
        /// The status afterwards, if the sender names one.
        status: Option<Status>,
        /// The sender's dirty timestamp. Java answers 500 without it; we do not need it (conformance 146).
        last_dirty_timestamp: Option<i64>,
    },
}

impl ReplicationTask {
    /// The action behind it.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Heartbeat { .. } => Action::Heartbeat,
            Self::Register(_) => Action::Register,
            Self::Cancel { .. } => Action::Cancel,
            Self::StatusUpdate { .. } => Action::StatusUpdate,
            Self::DeleteStatusOverride { .. } => Action::DeleteStatusOverride,
        }
    }
}

/// One answer of a peer to one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemResponse {
    /// HTTP status of the item. 500 if the answer was unreadable.
    pub status_code: u16,
    /// The peer's newer instance, for a Heartbeat answered 409.
    pub entity: Option<Box<InstanceDraft>>,
}

/// Reads a replication list, item by item in order. An item that cannot be used is an error in its place.
///
/// # Errors
///
/// Malformed JSON, `replicationList` missing, null or no list, an item that is no object, or more items than
/// [`Limits::batch_items`].
pub fn read_list(body: &[u8], limits: &Limits) -> Result<Vec<Result<ReplicationItem, ReadError>>, ReadError> {
    crate::json::read_list(body, limits)
}

/// Reads a peer's answers, in the order of the items.
///
/// # Errors
///
/// Malformed JSON, `responseList` missing, null or no list, or more answers than [`Limits::batch_items`].
pub fn read_responses(body: &[u8], limits: &Limits) -> Result<Vec<ItemResponse>, ReadError> {
    crate::json::read_responses(body, limits)
}

/// One item to send. A member that is `None` is not written; which ones an action has says `replication.md` 2.7.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingItem<'a> {
    /// Application.
    pub app: &'a AppName,
    /// Instance id.
    pub id: &'a str,
    /// What was done.
    pub action: Action,
    /// Dirty timestamp. Java writes none for a Cancel, and reads none there (recording `batch-more-codes`).
    pub last_dirty_timestamp: Option<i64>,
    /// For a Heartbeat while an override is in force. Java reads it nowhere else.
    pub overridden_status: Option<Status>,
    /// For all actions but Cancel.
    pub status: Option<Status>,
    /// For a Register.
    pub instance: Option<(&'a Instance, &'a LeaseInfo)>,
}

/// Appends a complete replication list.
pub fn write_list(items: &[OutgoingItem<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"replicationList\":[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_item(item, out);
    }
    out.extend_from_slice(b"]}");
}

fn write_item(item: &OutgoingItem<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"appName\":");
    push_json_string(item.app, out);
    out.extend_from_slice(b",\"id\":");
    push_json_string(item.id, out);
    if let Some(timestamp) = item.last_dirty_timestamp {
        out.extend_from_slice(b",\"lastDirtyTimestamp\":");
        push_decimal(timestamp, out);
    }
    if let Some(status) = item.overridden_status {
        push_word(",\"overriddenStatus\":\"", status.as_str(), out);
    }
    if let Some(status) = item.status {
        push_word(",\"status\":\"", status.as_str(), out);
    }
    if let Some((instance, lease)) = item.instance {
        out.extend_from_slice(b",\"instanceInfo\":");
        write_instance(Form::JsonFull, Place::Alone, instance, lease, out);
    }
    push_word(",\"action\":\"", item.action.as_str(), out);
    out.push(b'}');
}

fn push_word(before: &str, word: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(before.as_bytes());
    out.extend_from_slice(word.as_bytes());
    out.push(b'"');
}

/// One answer to send.
#[derive(Clone, Copy, Debug)]
pub struct OutgoingResponse<'a> {
    /// HTTP status of the item.
    pub status_code: u16,
    /// Our newer instance, for a Heartbeat answered 409 only.
    pub entity: Option<(&'a Instance, &'a LeaseInfo)>,
}

/// Appends a complete response list. There must be one response per item, in the order of the items: otherwise a Java
/// sender ignores them all.
pub fn write_responses<'a>(responses: impl IntoIterator<Item = OutgoingResponse<'a>>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"responseList\":[");
    for (index, response) in responses.into_iter().enumerate() {
        out.extend_from_slice(if index > 0 { b",{\"statusCode\":" } else { b"{\"statusCode\":" });
        push_decimal(response.status_code, out);
        if let Some((instance, lease)) = response.entity {
            out.extend_from_slice(b",\"responseEntity\":");
            write_instance(Form::JsonFull, Place::Alone, instance, lease, out);
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"]}");
}
