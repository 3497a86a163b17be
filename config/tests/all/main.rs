//! Tests of the crate from outside: files, variables and arguments in, settings and report out.

#![allow(clippy::unwrap_used, reason = "a test that cannot prepare its folder has failed")]

mod checklist;
mod deployments;
mod documentation;
mod forms;
mod locations;
mod precedence;
mod refreshing;
mod remarks;
mod robustness;
mod sample;
mod secrets;
mod spelling;
mod support;
