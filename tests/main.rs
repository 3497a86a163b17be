//! The integration tests of the node, in one binary: each folder is one concern.

mod edge;
mod golden;
mod http;
mod tidy;
