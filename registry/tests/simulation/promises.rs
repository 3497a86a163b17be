//! What must be true of every item of a batch that was applied, reckoned apart from the rules that applied it.

use std::collections::BTreeSet;

use heureka_protocol::batch::{Action, ItemResponse};
use heureka_registry::{Sender, Tombstone};

use crate::receiving::Before;
use crate::wire::{Parcel, WireItem};
use crate::world::World;

/// How long a registration with the dirty timestamp of a tombstone is refused.
const QUARANTINE_MS: u64 = 10_000;

impl World {
    /// 9.3.1: of the batches of one node of our kind none is applied twice, and none after one that was sent later because
    /// it had been given up.
    pub fn check_turn(&mut self, parcel: &Parcel) {
        if !self.plan.are_ours {
            return;
        }
        let clients: BTreeSet<usize> = parcel.items.iter().map(|item| item.who).collect();
        for who in clients {
            let last = self.nodes[parcel.to].seen.last_batches.insert((parcel.from, who), parcel.number);
            let is_in_turn = last.is_none_or(|last| last < parcel.number);
            self.require(is_in_turn, || {
                format!("9.3.1: #{} of {:?} with client {who} after {last:?}", parcel.number, parcel.from)
            });
        }
    }

    /// 9.3.3: a cancelled instance comes back with the same dirty timestamp only by the node whose cancel it was, or after
    /// the quarantine.
    pub fn check_revival(&mut self, n: usize, item: &WireItem, sender: Sender, stone: Option<Tombstone>) {
        let now = self.node_now(n);
        let Some(stone) = stone.filter(|stone| Some(stone.last_dirty_timestamp) == item.dirty) else {
            return;
        };
        let is_its_own = stone.told_by == Some(sender);
        let is_over = now.mono_ms - stone.cancelled_mono_ms >= QUARANTINE_MS;
        self.require(is_its_own || is_over, || format!("9.3.3: {} came back at {n} by {sender:?}", item.id));
    }

    /// What holds after every single item.
    pub fn check_item(&mut self, n: usize, item: &WireItem, before: &Before) {
        let after = self.known(n, item);
        let dirty = |known: &Before| known.record.as_ref().map(|r| r.instance.last_dirty_timestamp);
        if item.action == Action::Cancel && item.dirty.is_some() {
            let is_newer = dirty(&after) > item.dirty;
            let is_buried = after.stone.is_some_and(|stone| Some(stone.last_dirty_timestamp) >= item.dirty);
            self.require(is_newer || is_buried, || {
                format!("9.3.3: nothing remembers at {n} that {} was cancelled", item.id)
            });
        }
        let is_operation = matches!(item.action, Action::StatusUpdate | Action::DeleteStatusOverride);
        if is_operation && self.plan.are_ours {
            self.require(dirty(&after) == dirty(before), || {
                format!("D12: an operation on {} at {n} made its content look newer", item.id)
            });
        }
        if let (Some(before), Some(after)) = (&before.record, &after.record) {
            let (before, after) = (before.override_state(), after.override_state());
            let goes_back = after.stamp.is_some() && before.stamp.is_some() && after.yields_to(before);
            self.require(!goes_back, || {
                format!("9.3.5: the override of {} at {n} went back from {before:?} to {after:?}", item.id)
            });
        }
        if let (Some(record), Some(instance)) = (&before.record, &item.instance)
            && record.instance.last_dirty_timestamp > instance.last_dirty_timestamp
        {
            let kept = after.record.map(|record| record.instance.metadata.clone());
            self.require(kept.as_ref() == Some(&record.instance.metadata), || {
                format!("R-3: an older registration replaced {} at {n}", item.id)
            });
        }
    }

    /// A batch that was answered in time has had its effect: the last item of each instance holds.
    pub fn check_effects(&mut self, parcel: &Parcel, answers: &[ItemResponse]) {
        let n = parcel.to;
        for (place, (item, answer)) in parcel.items.iter().zip(answers).enumerate() {
            let is_last = parcel.items[place + 1..].iter().all(|later| later.who != item.who);
            if !is_last || answer.status_code != 200 || self.is_lost(item) {
                continue;
            }
            let record = self.record(n, item.who);
            let holds = match item.action {
                // The next life of the instance stays.
                Action::Cancel => record.is_none_or(|r| Some(r.instance.last_dirty_timestamp) > item.dirty),
                Action::Register => {
                    let is_refused = self.nodes[n]
                        .app(&item.app)
                        .is_some_and(|app| app.tombstone(&item.id, self.node_now(n)).is_some());
                    is_refused || record.is_some_and(|r| Some(r.instance.last_dirty_timestamp) >= item.dirty)
                }
                Action::StatusUpdate => record.is_some_and(|record| {
                    let changes_nothing = self.plan.are_ours && item.overridden.is_none();
                    let is_known = item.stamp.is_some() && record.override_stamp.get() >= item.stamp;
                    changes_nothing || is_known || Some(record.instance.status) == item.status
                }),
                Action::Heartbeat | Action::DeleteStatusOverride => record.is_some(),
            };
            self.require(holds, || format!("5: {} had no effect at {n}", item.text()));
        }
    }
}
