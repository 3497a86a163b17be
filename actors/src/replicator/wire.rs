//! A batch as bytes: the members that an item has (spec `replication.md` 2.7) are a rule of `heureka-registry`.

use heureka_protocol::LeaseInfo;
use heureka_protocol::batch::{OutgoingItem, write_list};
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
    item.message().record.map(|record| record.lease_info(now))
}

fn outgoing<'a>(item: &'a Item, lease: Option<&'a LeaseInfo>) -> OutgoingItem<'a> {
    let message = item.message();
    OutgoingItem {
        app: item.key.app(),
        id: item.key.id(),
        action: item.action,
        last_dirty_timestamp: message.last_dirty_timestamp,
        overridden_status: message.overridden_status,
        status: message.status,
        instance: message.record.map(|record| &record.instance).zip(lease),
    }
}
