//! Keeping the registry for the next start (spec: issue of the warm restart; design, idea 6).
//!
//! - [`Snapshots`] is the sink that hears of every change and merges it into a bounded queue; it also knows how the start
//!   went and what the writer is at, for pages and metrics.
//! - [`SnapshotActor`] takes from that queue and writes, on a thread of its own that may block.
//!
//! What is written, how, and what a start believes of it is decided in `heureka-snapshots`. Nothing here ever makes a
//! request wait: a change is merged where it happens, under a lock that is held for one look-up.

mod actor;
mod metrics;
mod queue;

pub use actor::{RunningSnapshots, SnapshotActor, SnapshotOptions};
pub use queue::{SnapshotStatus, Snapshots};
