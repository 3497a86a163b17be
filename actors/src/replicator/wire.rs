//! A batch as the bytes that Java sends: exact members for each action (spec `replication.md` 2.7).

use heureka_protocol::batch::{Action, OutgoingItem, write_list};
use heureka_protocol::{LeaseInfo, Status};
use heureka_registry::Now;
use heureka_registry::replication::{Batch, Item};

/// Bytes that an item without instance takes, about.
const PLAIN_ITEM_BYTES: usize = 160;
/// Bytes that an instance takes, about.
const INSTANCE_BYTES: usize = 1_400;

/// Writes the body of a batch. Never a member that Java does not know: one would cost the whole batch there.
#[must_use]
pub fn encode(batch: &Batch, now: Now) -> Vec<u8> {
    let leases: Vec<Option<LeaseInfo>> = batch.items().iter().map(|item| lease_of(item, now)).collect();
    let items: Vec<OutgoingItem<'_>> =
        batch.items().iter().zip(&leases).map(|(item, lease)| outgoing(item, lease.as_ref())).collect();
    let instances = leases.iter().flatten().count();
    let mut body = Vec::with_capacity(items.len() * PLAIN_ITEM_BYTES + instances * INSTANCE_BYTES);
    write_list(&items, &mut body);
    body
}

/// Only a registration shows the lease.
fn lease_of(item: &Item, now: Now) -> Option<LeaseInfo> {
    let record = item.record.as_ref().filter(|_| item.action == Action::Register)?;
    Some(record.lease_info(now))
}

fn outgoing<'a>(item: &'a Item, lease: Option<&'a LeaseInfo>) -> OutgoingItem<'a> {
    let instance = item.record.as_ref().map(|record| &record.instance);
    let overridden = instance.map(|instance| instance.overridden_status);
    OutgoingItem {
        app: item.key.app(),
        id: item.key.id(),
        action: item.action,
        last_dirty_timestamp: instance.map(|instance| instance.last_dirty_timestamp),
        overridden_status: overridden
            .filter(|status| item.action == Action::Heartbeat && *status != Status::Unknown),
        status: instance.map(|instance| instance.status),
        instance: instance.zip(lease),
    }
}
