//! Measures Heureka: beside actix-web handlers that do nothing, and beside a Java Eureka server.
//!
//! An open-loop load generator with a lean HTTP client ([`load`], [`http`]), instances made from a seed ([`fleet`]), servers
//! as child processes ([`servers`]), comparisons in alternating slices ([`measure`]), and the scenarios that use them.
//! `README.md` beside this crate says what the figures mean and what they do not.

pub mod fleet;
pub mod http;
pub mod load;
pub mod measure;
pub mod random;
pub mod report;
pub mod scenarios;
pub mod servers;
pub mod stats;
