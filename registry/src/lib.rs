//! The rules of a Eureka registry as plain structs: leases, overrides, eviction, self-preservation, delta log.
//!
//! Nothing here knows an actor, a runtime, a clock or a socket. Time, randomness and the outside world come in as
//! arguments, so every rule can be tested without waiting. The chapter that this crate implements is `registry.md` of
//! the specification; its invariants carry ids (`L-1`, `D-1`, ...).

pub mod access_gate;
pub mod application;
pub mod change;
pub mod delta_log;
pub mod error;
pub mod eviction_plan;
pub mod explanation;
pub mod groups;
pub mod histories;
pub mod invariants;
pub mod lease;
pub mod minute_counter;
pub mod override_rules;
pub mod random;
pub mod record;
pub mod replication;
pub mod rules;
pub mod self_preservation;
pub mod sender;
pub mod stamp;
pub mod time;
pub mod totals;
pub mod vip;

pub use access_gate::{Access, AccessGate, StartedFrom};
pub use application::{
    Application, Cancel, CancelOutcome, CancelledHere, Heartbeat, LookUp, Mark, MarkedRecord, MetadataLimits,
    Override, Renewal, RenewalAnswer, StatusOutcome, Told, Tombstone,
};
pub use change::{Change, ChangeKind, Origin};
pub use delta_log::{DeltaEntry, DeltaLog, Logged};
pub use error::RegistryError;
pub use eviction_plan::{Compensation, EvictionPlan};
pub use explanation::{Explanation, ProtectionState};
pub use groups::GroupTable;
pub use histories::{Histories, History, HistoryEntry};
pub use lease::{Lease, LeaseClock, LeaseExpiry};
pub use minute_counter::MinuteCounter;
pub use random::{Random, SplitMix64};
pub use record::{QuickRenewal, Record};
pub use rules::{GroupStates, Rules};
pub use self_preservation::{ProtectionSettings, SelfPreservation};
pub use sender::Sender;
pub use stamp::{ClockReading, OverrideState, Stamp, StampCell, StampClock};
pub use time::Now;
pub use totals::LeaseTotals;
