//! Nodes that are processes of their own, with what may happen to their peers.
//!
//! `faults`: three of them over links that can be broken, with clients that never rest. One is killed, paused, cut off or
//! slow; the others go on, nothing that a client was told is lost, and all end up equal. `bad_peers`: a node whose peers
//! answer as no peer should.

mod bad_peer;
mod bad_peers;
mod clients;
mod faults;
mod nodes;
