//! What one node still has to tell one peer, and in which order: the queue behind every replicator.
//!
//! It follows `replication.md` 9.3.1 to 9.3.3: one slot per instance that merges what happened to it, at most one batch
//! in flight per instance, bounded retry, bisection of a batch that the peer refuses, shedding when full. Nothing here
//! sends, waits or asks a clock: an owner offers changes, takes batches, and reports how they ended.
//!
//! The queue must hear of *every* change of the registry, also of those that are not sent on: they tell it that a queued
//! registration has become pointless or that a queued cancel has been overtaken. This is why it needs no look-up: the
//! newest record of every instance that it holds is in its slot.

mod arrivals;
mod backoff;
mod batch;
mod copies;
pub mod digest;
mod intents;
mod key;
mod lanes;
mod message;
mod queue;
pub mod receive;
mod repair;
mod settings;
mod slot;
mod tally;

pub use arrivals::{Arrival, Arrivals, BatchOrder};
pub use batch::{Batch, DropReason, Effect, Item, Outcome, Settled, Sick};
pub use copies::{PeerCopy, newest_copies};
pub use digest::{DigestRow, DigestTombstone, PeerApplication, Since};
pub use intents::{Intents, OverrideKind};
pub use key::Key;
pub use message::Message;
pub use queue::PeerQueue;
pub use repair::{OwnApplication, Remedy, Repair, Round, Rounds, repairs_of};
pub use settings::QueueSettings;
pub use tally::Tally;
