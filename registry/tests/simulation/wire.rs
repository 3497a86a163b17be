//! What travels: items with exactly the members that the wire has for their action, as they were when the batch left. A
//! peer's newer record really becomes JSON and is read again.

use heureka_protocol::batch::{Action, ItemResponse, OutgoingResponse, read_responses, write_responses};
use heureka_protocol::{AppName, Instance, InstanceId, Limits, Status};
use heureka_registry::replication::receive::Incoming;
use heureka_registry::replication::{Batch, BatchOrder, Item};
use heureka_registry::{ClockReading, Heartbeat, Now, Record, Stamp};

use crate::agenda::Life;
use crate::plan::Plan;

/// A batch on its way.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub from: Life,
    pub to: usize,
    pub number: u64,
    /// Its place among the others, which only nodes of our kind tell.
    pub order: Option<BatchOrder>,
    pub launched_ms: u64,
    /// What the sender's clock showed.
    pub clock: Option<ClockReading>,
    pub items: Vec<WireItem>,
    /// A repetition by the network; nobody waits for its answer.
    pub is_copy: bool,
    /// When the sender gives up waiting.
    pub patience_ms: u64,
}

/// What stands in the headers of an answer, between nodes of our kind.
#[derive(Clone, Debug, Default)]
pub struct AnswerHead {
    pub clock: Option<ClockReading>,
    /// For each item, the stamp of the override of the record in the answer.
    pub stamps: Vec<Option<Stamp>>,
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
    /// In a header.
    pub stamp: Option<Stamp>,
}

impl WireItem {
    fn of(item: &Item, are_ours: bool) -> Self {
        let message = item.message();
        // What a Java server does not write.
        let has_dirty = are_ours || item.action != Action::Cancel;
        let has_override = are_ours || item.action == Action::Heartbeat;
        Self {
            app: item.key.app().clone(),
            id: InstanceId::clone(item.key.id()),
            who: Plan::who(item.key.id()),
            action: item.action,
            dirty: message.last_dirty_timestamp.filter(|_| has_dirty),
            overridden: message.overridden_status.filter(|_| has_override),
            status: message.status,
            instance: message.record.map(|record| Box::new(record.instance.clone())),
            stamp: message.stamp.filter(|_| are_ours),
        }
    }

    /// What the receiver reads; `None` if it makes no sense.
    pub fn incoming(&self) -> Option<Incoming> {
        let last_dirty = self.dirty;
        Some(match self.action {
            Action::Register => Incoming::Register(self.instance.clone()?),
            Action::Heartbeat => {
                let (overridden, shown) = (self.overridden, self.status);
                Incoming::Heartbeat(Heartbeat { last_dirty, overridden, shown, stamp: None })
            }
            Action::Cancel => Incoming::Cancel { last_dirty },
            Action::StatusUpdate => {
                Incoming::SetStatus { status: self.status?, stored: self.overridden, last_dirty }
            }
            Action::DeleteStatusOverride => Incoming::RemoveOverride { status: self.status, last_dirty },
        })
    }

    pub fn text(&self) -> String {
        let dirty = self.dirty.map_or(String::new(), |dirty| format!("@{}", short(dirty)));
        let status = self.status.map_or("", Status::as_str);
        let overridden = self.overridden.map_or("", Status::as_str);
        let stamp = self.stamp.map_or(String::new(), |stamp| format!("#{}", short(stamp.ms())));
        format!("{} {}{dirty} {status} {overridden}{stamp}", self.action.as_str(), self.id)
    }
}

/// A dirty timestamp as people can read it.
pub fn short(dirty: i64) -> i64 {
    dirty - crate::world::EPOCH_MS
}

/// The items of a batch, between nodes of our kind or as Java servers write them.
pub fn pack(batch: &Batch, are_ours: bool) -> Vec<WireItem> {
    batch.items().iter().map(|item| WireItem::of(item, are_ours)).collect()
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
