//! The integration tests of the node, in one binary: each folder is one concern.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod cluster;
mod edge;
mod golden;
mod http;
mod processes;
mod restart;
mod tidy;
mod waiting;
