//! The rules of a Eureka registry as plain structs: leases, overrides, eviction, self-preservation, delta log.
//!
//! Nothing here knows an actor, a runtime, a clock or a socket. Time, randomness and the outside world come in as
//! arguments, so every rule can be tested without waiting. The chapter that this crate implements is `registry.md` of
//! the specification; its invariants carry ids (`L-1`, `D-1`, ...).

pub mod change;
pub mod lease;
pub mod record;
pub mod time;

pub use change::{Change, ChangeKind, Origin};
pub use lease::{Lease, LeaseClock, LeaseExpiry};
pub use record::{QuickRenewal, Record};
pub use time::Now;
