//! Replication to peers: what clients told this node is told to every other node (spec `replication.md` 2, 4, 9.3).
//!
//! - [`Replication`] is the sink that hears of every change and heartbeat, and the list of peers.
//! - [`PeerLink`] is one peer as everybody else sees it: its queue and what is known of it.
//! - [`PeerReplicatorActor`] takes batches from the queue of one link, sends them and acts on the answers.
//! - [`PeerTransport`] carries a batch; the real one is HTTP and lives in the node, tests bring their own.
//!
//! The rules of the queue are in `heureka_registry::replication`. A queue belongs to its link, not to the actor, behind a
//! lock that is held for a merge or for packing one batch: so a change is merged where it happens, nothing piles up in a
//! mailbox, and the death of an actor loses nothing.

mod actor;
mod adoption;
mod identity;
mod link;
mod metric_words;
mod metrics;
mod outcome;
mod renewals;
mod replication;
mod stamps;
mod status;
mod transport;
mod wire;

pub use actor::{PeerReplicatorActor, Probe, SetTransport};
pub use adoption::{Adoption, adopt_all};
pub use identity::{ORDER_HEADER, PEER_HEADER, PeerIdentity, order_from_text, order_to_text};
pub use link::PeerLink;
pub use metric_words::Comparison;
pub use metrics::ReplicationMetrics;
pub use outcome::outcome_of;
pub use replication::Replication;
pub use stamps::{BatchHead, CLOCK_HEADER, PlacedStamps, STAMPS_HEADER, clock_from_text, clock_to_text};
pub use status::{PeerError, PeerState, PeerStatus};
pub use transport::{PeerReply, PeerTransport, Sending, TransportError};
pub use wire::encode;
