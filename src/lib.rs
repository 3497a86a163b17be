//! A Heureka node: the HTTP edge, the pages, the command line, and the wiring of everything else.
//!
//! No rule of the registry lives here; those are in `heureka-registry`. This crate turns requests into calls on the
//! registry's [`heureka_actors::Handle`] and answers into bytes.

pub mod actuator;
pub mod aws;
pub mod cli;
pub mod dashboard;
pub mod host;
pub mod http;
pub mod limits;
pub mod listener;
pub mod node;
pub mod options;
pub mod peers;
pub mod process;
pub mod refresh;
pub mod regions;
pub mod snapshots;
pub mod status_report;
pub mod telemetry;
pub mod testing;
pub mod tls;
