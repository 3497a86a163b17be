//! What travels: items with exactly the members that the wire has for their action (`replication.md` 2.7), as they were
//! when the batch left. Only a peer's newer record really becomes JSON and is read again.

use heureka_protocol::batch::{Action, ItemResponse, OutgoingResponse, read_responses, write_responses};
use heureka_protocol::{AppName, Instance, InstanceId, Limits, Status};
use heureka_registry::replication::{Batch, Item};
use heureka_registry::{Now, Record};

use crate::agenda::Life;
use crate::plan::Plan;

/// A batch on its way.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub from: Life,
    pub to: usize,
    pub number: u64,
    pub launched_ms: u64,
    pub items: Vec<WireItem>,
    /// A repetition by the network; nobody waits for its answer.
    pub is_copy: bool,
    /// When the sender gives up waiting.
    pub patience_ms: u64,
}

/// One item.
#[derive(Clone, Debug)]
pub struct WireItem {
    pub app: AppName,
    pub id: InstanceId,
    pub who: usize,
    pub action: Action,
    pub dirty: Option<i64>,
    pub overridden: Option<Status>,
    pub status: Option<Status>,
    pub instance: Option<Box<Instance>>,
}

impl WireItem {
    fn of(item: &Item) -> Self {
        let instance = item.record.as_ref().map(|record| &record.instance);
        let overridden = instance.map(|instance| instance.overridden_status);
        Self {
            app: item.key.app().clone(),
            id: InstanceId::clone(item.key.id()),
            who: Plan::who(item.key.id()),
            action: item.action,
            dirty: instance.map(|instance| instance.last_dirty_timestamp),
            overridden: overridden
                .filter(|status| item.action == Action::Heartbeat && *status != Status::Unknown),
            status: instance.map(|instance| status_of(instance, item.action)),
            instance: instance.filter(|_| item.action == Action::Register).cloned().map(Box::new),
        }
    }

    pub fn text(&self) -> String {
        let dirty = self.dirty.map_or(String::new(), |dirty| format!("@{}", short(dirty)));
        let status = self.status.map_or("", Status::as_str);
        let overridden = self.overridden.map_or("", Status::as_str);
        format!("{} {}{dirty} {status} {overridden}", self.action.as_str(), self.id)
    }
}

/// An override operation tells the override: the instance may have reported DOWN since, and then shows that instead.
fn status_of(instance: &Instance, action: Action) -> Status {
    match (action, instance.overridden_status) {
        (Action::StatusUpdate, overridden) if overridden != Status::Unknown => overridden,
        _ => instance.status,
    }
}

/// A dirty timestamp as people can read it.
pub fn short(dirty: i64) -> i64 {
    dirty - crate::world::EPOCH_MS
}

/// The items of a batch.
pub fn pack(batch: &Batch) -> Vec<WireItem> {
    batch.items().iter().map(WireItem::of).collect()
}

/// Answers without a record.
pub fn plain(code: u16) -> ItemResponse {
    ItemResponse { status_code: code, entity: None }
}

/// An answer with a record, written and read as the protocol does it.
pub fn conflict(record: &Record, now: Now) -> ItemResponse {
    let lease = record.lease_info(now);
    let mut text = Vec::new();
    let answer = OutgoingResponse { status_code: 409, entity: Some((&record.instance, &lease)) };
    write_responses([answer], &mut text);
    read_responses(&text, &Limits::default()).unwrap().remove(0)
}
