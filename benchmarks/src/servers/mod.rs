//! Servers as child processes: Heureka, the Java server, and the actix-web baselines; what they cost in CPU and memory.

mod baseline;
mod launch;
mod process;
mod usage;

pub use baseline::{Baseline, serve_baseline};
pub use launch::{Launcher, Server};
pub use process::{Process, first_answer};
pub use usage::{CpuTime, Memory};
