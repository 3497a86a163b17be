//! Replays exchanges recorded from a real Spring Cloud Eureka server and from real clients.
//!
//! `recordings/` holds what the Java server answered to a fixed list of requests, `clients/` what client libraries sent in
//! their life. `differences.rs` is the one list of what Heureka answers otherwise. The harness is itself tested against a
//! stand-in server (`self_test.rs`): a test that cannot fail is worth nothing.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a harness may panic: it is how a test fails")]

mod case;
mod changes_documents;
mod changes_errors;
mod changes_pages;
mod changes_registry;
mod client_world;
mod clients;
mod clients_test;
mod compare;
mod decode_test;
mod difference;
mod differences;
mod edit;
mod expected;
pub(crate) mod http;
mod http_test;
mod mutation_test;
mod node;
mod recording;
mod replay;
mod replay_test;
mod self_test;
mod stub;
mod xml;
