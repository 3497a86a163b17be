//! Snapshots: what survives a restart, in a store that may be lost, torn or old at any time.
//!
//! A snapshot is an expendable cache (design, idea 6): it makes restarts warm; it never stops a start, blocks a request or
//! brings back what was cancelled. Nothing here knows an actor, a runtime or a clock. The layers, from below:
//!
//! - [`store`]: ordered keys and atomic batches; [`sled_store`] on disk, [`memory_store`] for tests.
//! - [`key`], [`frame`], [`stored`]: the format. [`seal`]: proof that a store is exactly what was once written.

pub mod frame;
pub mod key;
pub mod memory_store;
pub mod seal;
pub mod sled_store;
pub mod store;
pub mod stored;
