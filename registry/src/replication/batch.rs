//! What leaves a queue, and what comes back.

use std::sync::Arc;

use heureka_protocol::batch::{Action, ItemResponse};
use heureka_protocol::draft::InstanceDraft;

use crate::record::Record;
use crate::stamp::Stamp;

use super::arrivals::BatchOrder;
use super::key::Key;

/// One item to send.
#[derive(Clone, Debug)]
pub struct Item {
    /// Whose.
    pub key: Key,
    /// What.
    pub action: Action,
    /// The newest record that the queue has heard of; `None` for a cancel.
    pub record: Option<Arc<Record>>,
    /// For a status update: nothing was stored, because the instance had that status already.
    pub is_stated: bool,
    /// For a cancel: what was cancelled, if it is known.
    pub cancelled: Option<Cancelled>,
}

/// What was cancelled.
#[derive(Clone, Copy, Debug)]
pub struct Cancelled {
    /// Dirty timestamp of the newest record.
    pub dirty: i64,
    /// When the last cancel was done.
    pub stamp: Option<Stamp>,
    /// A cancel has removed an override, or may have.
    pub had_override: bool,
}

/// Items that travel together. Give it back to the queue with its outcome.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(super) order: BatchOrder,
    pub(super) items: Arc<[Item]>,
    pub(super) waited_ms: Arc<[u64]>,
}

impl Batch {
    /// Its items in order; those of one instance are neighbours.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The place of the heartbeat of an instance, which a peer answers with its newer record.
    #[must_use]
    pub fn heartbeat_place(&self, key: &Key) -> Option<usize> {
        let is_it = |item: &Item| item.action == Action::Heartbeat && item.key == *key;
        self.items.iter().position(is_it)
    }

    /// For each instance in it, how long it had waited when the batch left, milliseconds.
    #[must_use]
    pub fn waited_ms(&self) -> &[u64] {
        &self.waited_ms
    }

    /// Number of the batch in the life of the queue.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.order.number
    }

    /// Its place among the batches of the queue.
    #[must_use]
    pub const fn order(&self) -> BatchOrder {
        self.order
    }
}

/// Why a whole batch failed: what the pause after it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sick {
    /// No connection, or it broke: the peer may never have seen the batch.
    Unreachable,
    /// 503 or no answer in time: the peer is slow and must not be flooded.
    Congested,
    /// Any other answer that says nothing about single items: a redirect, 401, 502, a page of HTML. If it goes on, the
    /// reason is looked for among them all the same: a firewall may refuse one of them.
    Refusing,
}

/// How a batch ended (`replication.md` 2.5 as changed by 9.3.2).
#[derive(Clone, Debug)]
pub enum Outcome {
    /// 2xx with readable answers, one per item. Another number of answers counts as [`Sick::Refusing`].
    Answered(Vec<ItemResponse>),
    /// 400, 413, 431 or 500: one of the items may be the reason, or how many they are.
    Rejected(u16),
    /// Everything else.
    Failed(Sick),
}

/// Why something was dropped without the peer having it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// It waited longer than it could matter.
    Expired,
    /// The queue was full.
    Overflow,
    /// The peer refuses every batch with it.
    Poison,
    /// The peer answered the item with a status that a retry does not change.
    Rejected(u16),
    /// The node stops.
    Shutdown,
}

impl DropReason {
    /// Number of reasons.
    pub const COUNT: usize = 5;
    /// All reasons; the code of a rejection stands for any.
    pub const ALL: [Self; Self::COUNT] =
        [Self::Expired, Self::Overflow, Self::Poison, Self::Rejected(0), Self::Shutdown];

    /// The word for it in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Overflow => "overflow",
            Self::Poison => "poison",
            Self::Rejected(_) => "rejected",
            Self::Shutdown => "shutdown",
        }
    }

    pub(super) const fn index(self) -> usize {
        match self {
            Self::Expired => 0,
            Self::Overflow => 1,
            Self::Poison => 2,
            Self::Rejected(_) => 3,
            Self::Shutdown => 4,
        }
    }
}

/// What the owner of the queue must do or say.
#[derive(Clone, Debug)]
pub enum Effect {
    /// The peer has a newer record of this instance: take it over (`replication.md` 4.2).
    Adopt {
        /// Whose.
        key: Key,
        /// The peer's record, not checked yet.
        instance: Box<InstanceDraft>,
    },
    /// Something was dropped.
    Dropped {
        /// Whose.
        key: Key,
        /// What.
        action: Action,
        /// Why.
        reason: DropReason,
    },
}

/// What a finished batch has changed.
#[derive(Debug, Default)]
pub struct Settled {
    /// To do or to say.
    pub effects: Vec<Effect>,
    /// Action and status of each item that was answered.
    pub answers: Vec<(Action, u16)>,
    /// For each instance that the peer has confirmed: milliseconds since it first waited.
    pub propagation_ms: Vec<u64>,
}
