//! The actors as a whole, on one arbiter under paused time: what is written is shown, what expires is evicted, a panic
//! loses nothing, full queues refuse.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod cache;
mod overload;
mod panics;
mod regions;
mod replication;
mod replication_support;
mod replication_wire;
mod restore;
mod retirement;
mod snapshots;
mod support;
mod time;
