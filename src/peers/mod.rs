//! The peers of a node: who they are, how they are reached, what is copied from them at the start.
//!
//! - `source`, `dns`, `names`, `file`: where the list of peers comes from; `combined`, `current`: several of them, and
//!   another one while the node runs; `system_dns`: the resolvers of the system.
//! - `aside`: a thread for what may hang, such as reading that file.
//! - `own`: which of the listed URLs is this node itself.
//! - `directory`: the list over time; starts and stops a sender for each peer.
//! - `http`: requests to peers.
//! - `sync`: the copy at the start, before the node opens for traffic; `first_copy`: when it is asked for, and whom.
//! - `start_copy`: whether that copy is still on its way; `stragglers`: who is not waited for.
//! - `anti_entropy`, `digest`: comparing with peers of our kind, and mending; `listing`: the same with Java servers.
//! - `group_words`: what the peers are told of auto-scaling groups.
//! - `own_lease`: this node as an instance among others.
//! - `membership`: all of that in order, from start to stop.
//!
//! The rules of replication are in `heureka-registry`, its actors in `heureka-actors`.

pub mod anti_entropy;
pub mod aside;
pub mod combined;
pub mod complaint;
pub mod copy_metrics;
pub mod current;
pub mod digest;
pub mod directory;
pub mod dns;
pub mod file;
pub mod first_copy;
pub mod group_words;
pub mod http;
pub mod identity;
pub mod list_metrics;
pub mod listing;
pub mod membership;
pub mod names;
pub mod own;
pub mod own_lease;
pub mod source;
pub mod start_copy;
pub mod stragglers;
pub mod sync;
pub mod system_dns;
pub mod tls;

pub use membership::Membership;
