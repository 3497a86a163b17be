//! Changes: what an application tells the cache, the replicators, the snapshots and watchers, in order.

use std::sync::Arc;

use heureka_protocol::{ActionType, AppName, InstanceId, Status};

use crate::application::Tombstone;
use crate::record::Record;

/// Where a change came from. It decides whether peers are told; the instance itself never does (design, idea 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A client's call to this node: replicated to the peers.
    Client,
    /// A peer's call or batch item, or a peer's newer record in an answer: not replicated.
    Peer,
    /// Copied from a peer or loaded from a snapshot at start: not replicated.
    StartUp,
    /// This node's own eviction: not replicated, every peer evicts on its own.
    Eviction,
}

impl Origin {
    /// True if the rules must treat the call as a replica call (spec `registry.md`, "replicated").
    #[must_use]
    pub const fn is_replicated(self) -> bool {
        matches!(self, Self::Peer | Self::StartUp)
    }

    /// True if the change must be sent on to the peers.
    #[must_use]
    pub const fn is_sent_on(self) -> bool {
        matches!(self, Self::Client)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Registered, again or for the first time, also by a metadata change.
    Registered,
    /// An override was set.
    StatusOverridden,
    /// An override was removed.
    OverrideRemoved,
    /// The effective status changed by a heartbeat or a peer's stored override.
    StatusCorrected,
    /// Cancelled by its client or a peer.
    Cancelled,
    /// Evicted because its lease had expired.
    Evicted,
}

impl ChangeKind {
    /// How a delta shows it.
    #[must_use]
    pub const fn action(self) -> ActionType {
        match self {
            Self::Registered => ActionType::Added,
            Self::StatusOverridden | Self::OverrideRemoved | Self::StatusCorrected => ActionType::Modified,
            Self::Cancelled | Self::Evicted => ActionType::Deleted,
        }
    }

    /// True if the instance is gone after the change.
    #[must_use]
    pub const fn is_removal(self) -> bool {
        matches!(self, Self::Cancelled | Self::Evicted)
    }
}

/// One visible change of one instance. A heartbeat that changes nothing visible makes no change.
#[derive(Clone, Debug)]
pub struct Change {
    /// Application.
    pub app: AppName,
    /// Instance.
    pub id: InstanceId,
    /// Position in the stream of this application, from 1, without gaps.
    pub sequence: u64,
    /// What happened.
    pub kind: ChangeKind,
    /// Where it came from.
    pub origin: Origin,
    /// The record after the change; for a removal the last one, marked DELETED and with its eviction time.
    pub record: Arc<Record>,
    /// The status before the change; `None` if the instance is new.
    pub previous_status: Option<Status>,
    /// Monotonic time of the change, milliseconds.
    pub at_mono_ms: u64,
    /// For a cancel, what is remembered of it.
    pub tombstone: Option<Box<Tombstone>>,
}
