//! What a node does with an item of a peer's batch: the mapping of `replication.md` 5, as the HTTP edge applies it.

use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_protocol::{Instance, Status};
use heureka_registry::{
    Application, Change, Heartbeat, Now, Origin, Record, RenewalAnswer, Rules, StatusOutcome,
};

use crate::wire::WireItem;

/// What came of an item.
#[derive(Debug)]
pub struct Applied {
    pub code: u16,
    /// Our newer record, with 409.
    pub conflict: Option<Arc<Record>>,
    pub change: Option<Change>,
    /// A renewal that counts in the renew rate.
    pub is_renewal: bool,
}

impl Applied {
    pub fn answered(code: u16, change: Option<Change>) -> Self {
        Self { code, conflict: None, change, is_renewal: false }
    }
}

/// Applies one item. `keeps_order` if the sender keeps the order of events and is the one whose cancel made the tombstone:
/// only then is it sure that a registration with the same dirty timestamp is the later event (`replication.md` 9.3.3).
pub fn apply_item(
    app: &mut Application,
    item: &WireItem,
    keeps_order: bool,
    now: Now,
    rules: &Rules,
) -> Applied {
    let (id, dirty) = (&*item.id, item.dirty);
    match item.action {
        Action::Register => {
            let Some(instance) = &item.instance else { return Applied::answered(500, None) };
            if keeps_order {
                app.lift_tombstone(id, instance.last_dirty_timestamp, now);
            }
            Applied::answered(200, app.register(Instance::clone(instance), Origin::Peer, now, rules))
        }
        Action::Heartbeat => {
            let beat = Heartbeat { last_dirty: dirty, overridden: item.overridden };
            let renewal = app.renew(id, &beat, Origin::Peer, now, rules);
            let is_renewal = renewal.counts();
            let (code, conflict) = match renewal.answer {
                RenewalAnswer::Renewed => (200, None),
                RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus | RenewalAnswer::RenewedSendAgain => {
                    (404, None)
                }
                RenewalAnswer::Conflict(record) => (409, Some(record)),
            };
            Applied { code, conflict, change: renewal.change, is_renewal }
        }
        Action::Cancel => {
            let change = app.cancel(id, Origin::Peer, now, rules);
            Applied::answered(if change.is_some() { 200 } else { 404 }, change)
        }
        Action::StatusUpdate => {
            let status = item.status.unwrap_or(Status::Unknown);
            status_answer(app.set_status(id, status, dirty, Origin::Peer, now, rules))
        }
        Action::DeleteStatusOverride => {
            status_answer(app.remove_override(id, item.status, dirty, Origin::Peer, now, rules))
        }
    }
}

fn status_answer(outcome: StatusOutcome) -> Applied {
    match outcome {
        StatusOutcome::NotFound => Applied::answered(404, None),
        StatusOutcome::Unchanged => Applied::answered(200, None),
        StatusOutcome::Changed(change) => Applied::answered(200, Some(change)),
    }
}
