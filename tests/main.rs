//! The integration tests of the node, in one binary: each folder is one concern.

mod golden;
mod tidy;
