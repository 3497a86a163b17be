//! Three nodes, each a process of its own, as peers over links that can be broken, with clients that never rest. One node
//! is killed, paused, cut off or slow; the others go on, nothing that a client was told is lost, and all end up equal.

mod clients;
mod faults;
mod nodes;
