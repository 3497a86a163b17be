//! What must be true of every instance, as somebody knows it who sees all nodes at once.
//!
//! Without anti-entropy (`replication.md` 9.3.4) not everything is promised. The doubts below are the complete list of
//! what is not: writes that overlap at two nodes, memory that a crash destroyed, a snapshot older than what it is
//! compared with, what a queue gave up by its bounds, and messages that were overtaken. With anti-entropy there is no
//! doubt and all of it must heal: [`Promise::AntiEntropy`].

use heureka_protocol::Status;
use heureka_registry::Stamp;

use crate::agenda::Life;

/// What the cluster promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Queues, tombstones and heartbeats repair.
    Heartbeats,
    /// All nodes become equal, whatever happened.
    AntiEntropy,
}

impl Promise {
    /// From the environment: `HEUREKA_SIM_PROMISE=anti-entropy`.
    pub fn configured() -> Self {
        match std::env::var("HEUREKA_SIM_PROMISE").as_deref() {
            Ok("anti-entropy") => Self::AntiEntropy,
            _ => Self::Heartbeats,
        }
    }
}

/// In which part of its life an instance is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// Its client has registered and not said goodbye, dead or alive.
    #[default]
    Registered,
    /// A node has acknowledged the cancel.
    Cancelled,
}

/// What must be true of one instance.
#[derive(Debug, Default)]
pub struct Truth {
    pub stage: Stage,
    /// Override of the last acknowledged operation.
    pub wanted: Option<Status>,
    /// Its stamp, if it has one.
    pub stamp: Option<Stamp>,
    /// The node that did it, if it had heard of nobody since it started and could give no stamp.
    pub untimed_by: Option<Life>,
    /// Why its nodes may show different statuses, overrides or metadata.
    pub doubt: Option<&'static str>,
    /// Why it may still be found for the time of a lease although it was cancelled.
    pub weak: Option<&'static str>,
    /// Newest dirty timestamp that any node was told by the client.
    pub newest: i64,
    /// Newest dirty timestamp that was cancelled anywhere. A client whose clock is behind it must wait until the tombstones
    /// are over (defect D13).
    pub cancelled: i64,
}

impl Truth {
    pub fn doubt(&mut self, why: &'static str) {
        self.doubt.get_or_insert(why);
    }

    pub fn weaken(&mut self, why: &'static str) {
        self.weak.get_or_insert(why);
    }
}
