//! What the protocol crate reads and writes, rule by rule. Tests named `wNN_...` follow the conformance list, spec
//! `wire.md` section 10.

mod documents;
mod samples;
