//! What the protocol crate reads and writes, rule by rule. Tests named `wNN_...` follow the conformance list, spec
//! `wire.md` section 10; `qNN_...` its list of quirks, section 9.

// Clippy takes the functions beside the tests for product code.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod applications;
mod bad_input;
mod batches;
mod documents;
mod json_registration;
mod metadata_limits;
mod properties;
mod refusals;
mod samples;
mod xml_registration;
