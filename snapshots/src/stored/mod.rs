//! What is written into a store, as types of their own: the protocol and the rules may change, these must not.
//!
//! Every type is written as named MessagePack. A reader ignores members that it does not know and gives missing ones the
//! default that stands here, so versions can be rolled back and forth; only a change of meaning needs a new format number
//! (`frame.rs`). Members at their default are not written. Conversions are explicit and judge what they read: a record
//! that could never have been registered is refused.

mod data_center;
mod instance;
mod meta;
mod seen;
mod status;
mod status_override;
mod text;
mod tombstone;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use data_center::StoredDataCenter;
pub use instance::{StoredInstance, StoredPort, seen_wall_ms};
pub use meta::StoredMeta;
pub use seen::{SEEN_PARTS, StoredSeen, seen_hash, seen_part};
pub use status::{StoredAction, StoredStatus};
pub use status_override::StoredOverride;
pub use text::Text;
pub use tombstone::{StoredTombstone, TombstoneLife};

/// Why a payload cannot be used. It never can be later either.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PayloadError {
    /// Not MessagePack, or a member of the wrong type.
    #[error("the payload cannot be read: {0}")]
    Unreadable(String),
    /// A member that every valid record has is missing or empty.
    #[error("the record has no {0}")]
    Missing(&'static str),
}

/// Writes a payload.
///
/// # Errors
/// If the type cannot be written, which no type of this module brings about.
pub fn to_payload(value: &impl Serialize) -> Result<Vec<u8>, PayloadError> {
    rmp_serde::to_vec_named(value).map_err(|error| PayloadError::Unreadable(error.to_string()))
}

/// Reads a payload.
///
/// # Errors
/// If it is not what [`to_payload`] writes for this type.
pub fn from_payload<'de, T: Deserialize<'de>>(payload: &'de [u8]) -> Result<T, PayloadError> {
    rmp_serde::from_slice(payload).map_err(|error| PayloadError::Unreadable(error.to_string()))
}

/// For `skip_serializing_if`.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
