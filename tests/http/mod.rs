//! The node over HTTP: what is not a recorded exchange.

mod client;
mod pages;
mod pages_actuator;
mod pages_banners;
mod pages_credentials;
mod pages_escaping;
mod pages_metrics;
mod pages_size;
