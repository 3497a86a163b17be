//! Several real nodes on loopback that are peers, with a breakable link in every direction between them. Tests carry the
//! numbers of the scenarios in `replication.md` section 10; `docs/cluster.md` lists where the others are.

mod basics;
mod comparing;
mod comparing_lists;
mod conflicts;
mod discovery;
mod groups;
mod joining;
pub(crate) mod network;
mod nodes;
mod partitions;
mod regions;
mod sending;
