//! The edge of the node: what it refuses, and that a refusal costs nobody else anything.

mod bad_batches;
mod bad_input;
mod batches;
mod command_line;
mod connections;
mod endless_bodies;
mod limiter;
mod limits;
mod security;
mod support;
mod tls;
