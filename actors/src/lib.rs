//! The actors of Heureka: who owns what, and who is told.
//!
//! - [`registry_actor`]: which applications exist and where; eviction ticks; histories.
//! - [`app_actor`]: the single writer of one application.
//! - [`cache_actor`]: the single writer of the materialised view in [`cache`].
//! - [`replicator`]: one sender per peer.
//! - [`snapshots`]: the one writer of what survives a restart.
//!
//! Actors are thin: an actor receives, calls the rules of `heureka-registry`, replies and publishes. Callers use
//! [`Handle`] and never see an actor. Reads load the published view by pointer and enter no mailbox; a plain heartbeat
//! moves the lease clock in the published record and enters none either.

pub mod app_actor;
pub mod app_core;
mod arbiters;
pub mod backlog;
pub mod cache;
pub mod cache_actor;
pub mod clock;
pub mod demand;
pub mod directory;
pub mod error;
mod eviction;
mod guard;
mod handle;
mod history;
pub mod metrics;
pub mod options;
pub mod registry_actor;
pub mod replicator;
mod restore;
pub mod shared;
pub mod side_by_side;
pub mod snapshots;

pub use app_core::{AppCore, StatusAnswer};
pub use clock::Clock;
pub use error::Refused;
pub use handle::{Handle, Running, start, start_with};
pub use options::{CacheOptions, LimitOptions, Options, Placement};
pub use shared::{ChangeSink, Shared};
