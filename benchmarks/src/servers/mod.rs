//! Servers as child processes: Heureka, the Java server, and the actix-web baselines; what they cost in CPU and memory.

mod baseline;
mod cluster;
mod folder;
mod launch;
mod process;
mod usage;

pub use baseline::{Baseline, serve_baseline};
pub use cluster::Sites;
pub use folder::Folder;
pub use launch::{Launcher, Server};
pub use process::{Process, first_answer};
pub use usage::{CpuTime, Memory};
