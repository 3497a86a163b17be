//! The node over HTTP: what is not a recorded exchange.
#![allow(clippy::expect_used, reason = "a helper of tests may panic: it is how a test fails")]

mod client;
mod pages;
mod pages_actuator;
mod pages_banners;
mod pages_credentials;
mod pages_escaping;
mod pages_metrics;
mod pages_size;
