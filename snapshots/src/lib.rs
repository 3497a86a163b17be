//! Snapshots: what survives a restart, in a store that may be lost, torn or old at any time.
//!
//! A snapshot is an expendable cache (design, idea 6): it makes restarts warm; it never stops a start, blocks a request or
//! brings back what was cancelled. Nothing here knows an actor, a runtime or a clock. The layers, from below:
//!
//! - [`store`]: ordered keys and atomic batches; [`sled_store`] on disk, [`memory_store`] for tests; [`room`]: is there some?
//! - [`key`], [`frame`], [`stored`]: the format. [`seal`]: proof that a store is exactly what was once written.
//! - [`folder`], [`lock_file`]: where stores live, one process at a time; [`mirror`]: a store of which all is known;
//!   [`growth`]: when it is written anew.

pub mod backlog;
mod chunks;
pub mod contents;
mod deadlines;
pub mod doubt;
mod edits;
pub mod failure_points;
pub mod folder;
pub mod frame;
pub mod growth;
pub mod key;
pub mod limited;
pub mod lock_file;
pub mod memory_store;
pub mod mirror;
pub mod news;
pub mod opening;
pub mod pending;
mod recovery;
pub mod report;
pub mod restore;
mod rewrite;
mod rewriting;
pub mod room;
pub mod seal;
mod seen_table;
pub mod sled_store;
pub mod store;
pub mod stored;
pub mod tools;
pub mod writer;
