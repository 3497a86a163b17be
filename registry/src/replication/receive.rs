//! What an item of a peer's batch does here: the mapping of `replication.md` 5, with what section 9.3 adds to it.
//!
//! Every item is a replica call and is answered in its place. Reading items and writing answers is somebody else's work.

use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_protocol::{Instance, Status};

use crate::application::{Application, Cancel, CancelOutcome, Heartbeat, RenewalAnswer, StatusOutcome, Told};
use crate::change::{Change, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::sender::Sender;
use crate::stamp::Stamp;
use crate::time::Now;

/// What an item asks for, read and checked.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// Register the instance.
    Register(Box<Instance>),
    /// Renew the lease.
    Heartbeat(Heartbeat),
    /// Cancel the lease.
    Cancel {
        /// Dirty timestamp of what was cancelled; Java does not tell it.
        last_dirty: Option<i64>,
    },
    /// Set an override.
    SetStatus {
        /// The status.
        status: Status,
        /// The override that the sender has stored. Java does not tell it.
        stored: Option<Status>,
        /// The sender's dirty timestamp.
        last_dirty: Option<i64>,
    },
    /// Remove an override.
    RemoveOverride {
        /// The status afterwards.
        status: Option<Status>,
        /// The sender's dirty timestamp.
        last_dirty: Option<i64>,
    },
}

impl Incoming {
    /// The action behind it.
    #[must_use]
    pub const fn action(&self) -> Action {
        match self {
            Self::Register(_) => Action::Register,
            Self::Heartbeat(_) => Action::Heartbeat,
            Self::Cancel { .. } => Action::Cancel,
            Self::SetStatus { .. } => Action::StatusUpdate,
            Self::RemoveOverride { .. } => Action::DeleteStatusOverride,
        }
    }
}

/// From whom an item came, what was told beside it, and what this node is about.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances {
    /// Who sent the batch.
    pub sender: Sender,
    /// The lists of the peers are on their way here.
    pub is_copying: bool,
    /// When the override was last set or removed at the sender; for a cancel, when that was done. Only nodes of our kind
    /// tell it, in a header.
    pub stamp: Option<Stamp>,
}

/// What came of an item.
#[derive(Clone, Debug)]
pub struct Applied {
    /// HTTP status of the item.
    pub code: u16,
    /// Our newer record, with 409.
    pub conflict: Option<Arc<Record>>,
    /// The change, if something visible has changed.
    pub change: Option<Change>,
    /// The lease was renewed by a heartbeat: it counts in the renew rate.
    pub is_renewal: bool,
}

impl Applied {
    const fn answered(code: u16, change: Option<Change>) -> Self {
        Self { code, conflict: None, change, is_renewal: false }
    }
}

const OK: u16 = 200;
const NOT_FOUND: u16 = 404;
const CONFLICT: u16 = 409;

/// Applies one item to its application. A registration that a tombstone refuses is answered like one that was accepted.
pub fn apply(
    app: &mut Application,
    id: &str,
    incoming: Incoming,
    circumstances: Circumstances,
    now: Now,
    rules: &Rules,
) -> Applied {
    let origin = Origin::Peer;
    let Circumstances { sender, is_copying, stamp } = circumstances;
    match incoming {
        Incoming::Register(instance) => {
            Applied::answered(OK, app.register_from(*instance, stamp, sender, now, rules))
        }
        Incoming::Heartbeat(beat) => renewed(app.renew(id, &Heartbeat { stamp, ..beat }, origin, now, rules)),
        Incoming::Cancel { last_dirty } => {
            let cancel = Cancel { origin, told_by: Some(sender), last_dirty, is_copying, stamp };
            match app.cancel_as(id, cancel, now, rules) {
                CancelOutcome::NotFound => Applied::answered(NOT_FOUND, None),
                CancelOutcome::NewerStays(change) => Applied::answered(OK, change),
                CancelOutcome::Cancelled(change) => Applied::answered(OK, Some(change)),
            }
        }
        Incoming::SetStatus { status, stored, last_dirty } => {
            let stored = stored.filter(|status| *status != Status::Unknown);
            status_set(match (stored, stamp) {
                (Some(_), Some(stamp)) => {
                    app.take_told(id, Told { overridden: stored, shown: None, stamp }, now, rules)
                }
                (Some(_), None) => app.take_unstamped(id, stored, None, now, rules),
                // A node of our kind would have said what it stored: it stored nothing.
                (None, _) if sender.keeps_order() => app.touch(id, now, rules),
                (None, _) => app.set_status(id, status, last_dirty, origin, now, rules),
            })
        }
        Incoming::RemoveOverride { status, last_dirty } => {
            // As for a stored override: an operation on a newer record does not make our older one newer. If it seemed so,
            // no heartbeat would ever bring the content that belongs to that timestamp.
            status_set(match stamp {
                Some(stamp) => app.take_told(id, Told { shown: status, ..Told::removed(stamp) }, now, rules),
                None if sender.keeps_order() => app.take_unstamped(id, None, status, now, rules),
                None => app.remove_override(id, status, last_dirty, origin, now, rules),
            })
        }
    }
}

fn renewed(renewal: crate::application::Renewal) -> Applied {
    let is_renewal = renewal.counts();
    let (code, conflict) = match renewal.answer {
        RenewalAnswer::Renewed => (OK, None),
        RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus | RenewalAnswer::RenewedSendAgain => {
            (NOT_FOUND, None)
        }
        RenewalAnswer::Conflict(record) => (CONFLICT, Some(record)),
    };
    Applied { code, conflict, change: renewal.change, is_renewal }
}

fn status_set(outcome: StatusOutcome) -> Applied {
    match outcome {
        StatusOutcome::NotFound => Applied::answered(NOT_FOUND, None),
        StatusOutcome::Unchanged => Applied::answered(OK, None),
        StatusOutcome::Changed(change) => Applied::answered(OK, Some(change)),
    }
}
