//! The rules of a Eureka registry as plain structs: leases, overrides, eviction, self-preservation, delta log.
//!
//! Nothing here knows an actor, a runtime, a clock or a socket. Time, randomness and the outside world come in as
//! arguments, so every rule can be tested without waiting. The chapter that this crate implements is `registry.md` of
//! the specification; its invariants carry ids (`L-1`, `D-1`, ...).

pub mod application;
pub mod change;
pub mod error;
pub mod lease;
pub mod override_rules;
pub mod record;
pub mod rules;
pub mod time;
pub mod totals;

pub use application::{
    Application, Heartbeat, LookUp, MetadataLimits, Renewal, RenewalAnswer, StatusOutcome,
};
pub use change::{Change, ChangeKind, Origin};
pub use error::RegistryError;
pub use lease::{Lease, LeaseClock, LeaseExpiry};
pub use record::{QuickRenewal, Record};
pub use rules::{GroupStates, Rules};
pub use time::Now;
pub use totals::LeaseTotals;
