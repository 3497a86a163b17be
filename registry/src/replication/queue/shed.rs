//! What is given up: what no longer matters, and what there is no room for (`replication.md` 9.3.2, 9.3.8).

use crate::replication::batch::DropReason;
use crate::replication::intents::{Intents, Weight};
use crate::replication::key::Key;
use crate::replication::lanes::Lane;

use super::PeerQueue;

/// How often expired entries are looked for besides when they are about to be sent.
const SWEEP_INTERVAL_MS: u64 = 10_000;

impl PeerQueue {
    /// Makes room for one more slot; false if the newcomer weighs too little for that.
    pub(super) fn make_room(&mut self, newcomer: Intents) -> bool {
        if self.slots.len() < self.settings.slots_max {
            return true;
        }
        let Some(weight) = newcomer.weight() else { return false };
        let lists = [
            (Weight::Heartbeat, &self.lanes.heartbeats),
            (Weight::Register, &self.lanes.registers),
            (Weight::Override, &self.lanes.overrides),
        ];
        let lightest = lists.into_iter().find(|(other, list)| *other <= weight && !list.is_empty());
        let victim = lightest.and_then(|(_, list)| list.first_key_value()).map(|(_, key)| key.clone());
        if let Some(key) = victim {
            self.drop_pending(&key, DropReason::Overflow);
            return true;
        }
        if weight < Weight::Cancel {
            return false;
        }
        if self.slots.len() >= self.settings.slots_limit {
            let oldest = self.lanes.cancels.first_key_value().map(|(_, key)| key.clone());
            let Some(key) = oldest else { return false };
            self.drop_pending(&key, DropReason::Overflow);
        }
        true
    }

    /// Drops everything that waits for an instance that is in a list, and with it the slot.
    fn drop_pending(&mut self, key: &Key, reason: DropReason) {
        if let Some(slot) = self.slots.remove(key) {
            self.lanes.remove(slot.lane, slot.ticket);
            self.tally.drop_all(slot.pending, reason);
        }
    }

    /// Looks for expired entries now and then, so that a peer that is down does not keep them in memory.
    pub(super) fn sweep(&mut self, now_ms: u64) {
        if now_ms < self.next_sweep_ms {
            return;
        }
        self.next_sweep_ms = now_ms.saturating_add(SWEEP_INTERVAL_MS);
        let is_over = |lane: Lane, deadline_ms: u64| lane != Lane::Nowhere && deadline_ms <= now_ms;
        let slots = self.slots.iter();
        let expired: Vec<Key> = slots
            .filter(|(_, slot)| is_over(slot.lane, slot.deadline_ms))
            .map(|(key, _)| key.clone())
            .collect();
        for key in expired {
            self.expire(&key, now_ms);
        }
        if self.slots.capacity() > 4 * self.slots.len() + 1024 {
            self.slots.shrink_to_fit();
        }
    }

    pub(super) const fn next_sweep_ms(&self) -> u64 {
        self.next_sweep_ms
    }

    /// Gives up what a slot has waited with for too long. A registration stays: it ends with its instance only.
    pub(super) fn expire(&mut self, key: &Key, now_ms: u64) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        let all = slot.pending;
        slot.pending = if all.has_register() { Intents::REGISTER } else { Intents::NONE };
        slot.deadline_ms = u64::MAX;
        let given_up = if all.has_register() { all.without_register() } else { all };
        self.tally.drop_all(given_up, DropReason::Expired);
        self.place(key, now_ms);
    }

    /// Begins to empty the queue before the node stops: nothing waits for company any more, heartbeats are dropped.
    pub fn start_draining(&mut self, now_ms: u64) {
        self.is_draining = true;
        let slots = self.slots.iter().filter(|(_, slot)| slot.pending == Intents::HEARTBEAT);
        let keys: Vec<Key> = slots.map(|(key, _)| key.clone()).collect();
        for key in keys {
            self.tally.drop_all(Intents::HEARTBEAT, DropReason::Shutdown);
            if let Some(slot) = self.slots.get_mut(&key) {
                slot.pending = Intents::NONE;
            }
            self.place(&key, now_ms);
        }
    }

    /// Drops the rest, when the time for draining is over; returns how many instances that concerns.
    pub fn give_up(&mut self) -> usize {
        let count = self.slots.len();
        for slot in self.slots.values() {
            let all = slot.flying().then(slot.pending);
            self.tally.drop_all(all, DropReason::Shutdown);
        }
        self.slots.clear();
        self.flights.clear();
        self.lanes = super::Lanes::default();
        count
    }
}
