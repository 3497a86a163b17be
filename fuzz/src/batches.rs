//! Replication lists and the answers to them: what can be sent on is written, and read again the same.

use crate::documents::WIDE;
use heureka_protocol::batch::{
    Action, ItemResponse, OutgoingItem, OutgoingResponse, ReplicationItem, ReplicationTask, read_list,
    read_responses, write_list, write_responses,
};
use heureka_protocol::{Instance, Status};

/// An item as a registry would keep it.
#[derive(Debug, PartialEq)]
struct Kept {
    item: ReplicationItem,
    instance: Option<Instance>,
}

impl Kept {
    /// `None` if the item registers an instance that is refused.
    fn new(mut item: ReplicationItem) -> Option<Self> {
        let ReplicationTask::Register(draft) = item.task else { return Some(Self { item, instance: None }) };
        let instance = draft.into_listed(&item.app).ok()?;
        item.task = ReplicationTask::Cancel { last_dirty_timestamp: None }; // a draft is compared by the instance that it makes
        Some(Self { item, instance: Some(instance) })
    }

    fn outgoing(&self) -> OutgoingItem<'_> {
        let (last_dirty_timestamp, overridden_status, status): (Option<i64>, Option<Status>, Option<Status>) =
            match &self.item.task {
                ReplicationTask::Heartbeat { last_dirty_timestamp, overridden_status, status } => {
                    (*last_dirty_timestamp, *overridden_status, *status)
                }
                ReplicationTask::StatusUpdate { status, overridden_status, last_dirty_timestamp } => {
                    (*last_dirty_timestamp, *overridden_status, Some(*status))
                }
                ReplicationTask::Cancel { last_dirty_timestamp } => (*last_dirty_timestamp, None, None),
                ReplicationTask::DeleteStatusOverride { status, last_dirty_timestamp } => {
                    (*last_dirty_timestamp, None, *status)
                }
                ReplicationTask::Register(_) => (None, None, None),
            };
        OutgoingItem {
            app: &self.item.app,
            id: &self.item.id,
            action: if self.instance.is_some() { Action::Register } else { self.item.task.action() },
            last_dirty_timestamp,
            overridden_status,
            status,
            instance: self.instance.as_ref().map(|instance| (instance, &instance.lease)),
        }
    }
}

/// Items that were read are sent on and arrive the same, in the same order.
pub fn check_items(items: Vec<ReplicationItem>) {
    let kept: Vec<Kept> = items.into_iter().filter_map(Kept::new).collect();
    let mut out = Vec::new();
    write_list(&kept.iter().map(Kept::outgoing).collect::<Vec<_>>(), &mut out);
    let again = read_list(&out, &WIDE).expect("a list that we wrote");
    let again: Vec<Kept> =
        again.into_iter().filter_map(|item| Kept::new(item.expect("an item that we wrote"))).collect();
    assert_eq!(again, kept);
}

/// Answers that were read are written and read again: the same codes, and every instance that passes the checks.
pub fn check_responses(responses: Vec<ItemResponse>) {
    let kept = instances(responses);
    let outgoing = kept.iter().map(|(status_code, instance)| OutgoingResponse {
        status_code: *status_code,
        entity: instance.as_ref().map(|instance| (instance, &instance.lease)),
    });
    let mut out = Vec::new();
    write_responses(outgoing, &mut out);
    assert_eq!(instances(read_responses(&out, &WIDE).expect("answers that we wrote")), kept);
}

fn instances(responses: Vec<ItemResponse>) -> Vec<(u16, Option<Instance>)> {
    let instance = |response: ItemResponse| response.entity.and_then(|draft| draft.into_listed("A").ok());
    responses.into_iter().map(|response| (response.status_code, instance(response))).collect()
}
