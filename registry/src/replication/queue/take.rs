//! Which batch leaves when (`replication.md` 9.3.1).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::record::Record;
use crate::replication::arrivals::BatchOrder;
use crate::replication::batch::{Batch, DropReason, Item};
use crate::replication::intents::{Intents, OverrideKind};
use crate::replication::key::Key;
use crate::replication::lanes::Lane;
use crate::replication::slot::{InFlight, Slot};

use super::{Flight, PeerQueue};

use heureka_protocol::Status;
use heureka_protocol::batch::Action;

impl PeerQueue {
    /// The next batch to send, if one should leave now. Call it until it gives none.
    ///
    /// A lone change leaves at once. While a batch is on its way others gather, until there are enough for a batch or the
    /// oldest has waited for [`super::QueueSettings::max_delay_ms`]; heartbeats always gather. While the peer fails, one
    /// batch at a time is tried.
    pub fn next_batch(&mut self, now_ms: u64) -> Option<Batch> {
        self.sweep(now_ms);
        while let Some(key) = self.lanes.next_due(now_ms) {
            self.place(&key, now_ms);
        }
        loop {
            let chosen = self.choose(now_ms)?;
            let has_suspects = chosen.has_suspects;
            let (items, waited_ms) = self.pack(chosen.keys, now_ms);
            if !items.is_empty() {
                return Some(self.launch(items, waited_ms, has_suspects));
            }
        }
    }

    /// When [`PeerQueue::next_batch`] should be asked again, if nothing else happens before.
    #[must_use]
    pub fn next_wake(&self) -> Option<u64> {
        if self.slots.is_empty() || self.is_busy() {
            return None;
        }
        let base_ms = self.backoff.until_ms();
        let full = |list: &BTreeMap<u64, Key>| list.len() >= self.batch_limit;
        let company_ms = |key: &Key| self.since_ms(key).saturating_add(self.settings.max_delay_ms);
        let suspects = (!self.lanes.suspects.is_empty() && !self.has_suspects_in_flight()).then_some(0);
        let early = self.lanes.first_early().map(|(_, key)| {
            if self.is_draining || self.lanes.early_len() >= self.batch_limit {
                0
            } else if self.flights.is_empty() {
                self.early_from_ms().min(company_ms(key))
            } else {
                company_ms(key)
            }
        });
        let beats = &self.lanes.heartbeats;
        let beat = beats.first_key_value().map(|(_, key)| if full(beats) { 0 } else { company_ms(key) });
        let times = [suspects, early, beat, self.lanes.next_due_ms(), Some(self.next_sweep_ms())];
        times.into_iter().flatten().min().map(|ms| ms.max(base_ms))
    }

    /// True when everything that can be saved before a stop has been confirmed.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.slots.is_empty()
    }

    fn is_busy(&self) -> bool {
        let limit = if self.backoff.is_failing() { 1 } else { self.settings.batches_in_flight_max.max(1) };
        self.flights.len() >= limit
    }

    fn has_suspects_in_flight(&self) -> bool {
        self.flights.values().any(|flight| flight.has_suspects)
    }

    fn early_from_ms(&self) -> u64 {
        self.early_sent_ms.map_or(0, |ms| ms.saturating_add(self.settings.early_spacing_ms))
    }

    fn since_ms(&self, key: &Key) -> u64 {
        self.slots.get(key).map_or(0, |slot| slot.since_ms)
    }

    fn has_waited(&self, key: &Key, times: u64, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.since_ms(key)) >= self.settings.max_delay_ms * times
    }

    fn choose(&mut self, now_ms: u64) -> Option<Chosen> {
        if self.is_busy() || now_ms < self.backoff.until_ms() {
            return None;
        }
        let have_suspects = !self.lanes.suspects.is_empty() && !self.has_suspects_in_flight();
        // While a peer fails only one batch is tried at a time: then suspects and others take turns.
        let is_turn_of_others = self.backoff.is_failing() && self.were_suspects_last;
        if have_suspects && !is_turn_of_others {
            return Some(self.suspects());
        }
        let early = self.lanes.first_early().is_some_and(|(_, key)| {
            self.is_draining
                || self.lanes.early_len() >= self.batch_limit
                || (self.flights.is_empty() && now_ms >= self.early_from_ms())
                || self.has_waited(key, 1, now_ms)
        });
        let oldest_beat = self.lanes.heartbeats.first_key_value();
        let beats = self.lanes.heartbeats.len() >= self.batch_limit
            || oldest_beat.is_some_and(|(_, key)| self.has_waited(key, 1, now_ms));
        if !early && !beats {
            return have_suspects.then(|| self.suspects());
        }
        if early {
            self.early_sent_ms = Some(now_ms);
        }
        Some(Chosen { keys: self.choose_ordinary(now_ms), has_suspects: false })
    }

    fn suspects(&self) -> Chosen {
        Chosen { keys: self.choose_suspects(), has_suspects: true }
    }

    /// The oldest suspects, no more than the most suspicious of them allows, and no more items than a batch may have.
    fn choose_suspects(&self) -> Vec<Key> {
        let mut cap = usize::MAX;
        let mut room = self.batch_limit;
        let mut keys = Vec::new();
        for key in self.lanes.suspects.values() {
            let Some(slot) = self.slots.get(key) else { continue };
            cap = cap.min(slot.batch_cap().unwrap_or(1).max(1));
            let count = slot.pending.actions().count();
            if keys.len() >= cap || (count > room && !keys.is_empty()) {
                break;
            }
            room = room.saturating_sub(count);
            keys.push(key.clone());
        }
        keys
    }

    /// Changes first, by age, then heartbeats; but heartbeats that have waited long get half of the places.
    fn choose_ordinary(&self, now_ms: u64) -> Vec<Key> {
        let mut room = self.batch_limit;
        let mut keys = Vec::with_capacity(room.min(self.slots.len()));
        let mut beats = self.lanes.heartbeats.values().peekable();
        if beats.peek().is_some_and(|key| self.has_waited(key, 2, now_ms)) {
            keys.extend(beats.by_ref().take(room.div_ceil(2)).cloned());
            room -= keys.len();
        }
        let mut lists = [&self.lanes.registers, &self.lanes.overrides, &self.lanes.cancels]
            .map(|list| list.iter().peekable());
        while room > 0 {
            let heads = lists.iter_mut().enumerate().filter_map(|(n, list)| Some((*list.peek()?.0, n)));
            let Some((_, n)) = heads.min() else { break };
            let Some((_, key)) = lists[n].next() else { break };
            let count = self.slots.get(key).map_or(0, |slot| slot.pending.actions().count());
            if count > room && !keys.is_empty() {
                break;
            }
            room = room.saturating_sub(count);
            keys.push(key.clone());
        }
        keys.extend(beats.take(room).cloned());
        keys
    }

    /// Turns what waits for the chosen instances into items, and marks it as being on its way. Tells how long each waited.
    fn pack(&mut self, keys: Vec<Key>, now_ms: u64) -> (Vec<Item>, Vec<u64>) {
        let mut items = Vec::with_capacity(keys.len());
        let mut waited_ms = Vec::with_capacity(keys.len());
        for key in keys {
            if self.slots.get(&key).is_some_and(|slot| slot.deadline_ms <= now_ms) {
                self.expire(&key, now_ms);
            }
            let Some(slot) = self.slots.get_mut(&key) else { continue };
            let record = slot.record.clone();
            if is_pointless(slot.pending, record.as_deref()) {
                self.tally.drop_all(slot.pending, DropReason::Expired);
                slot.pending = Intents::NONE;
                self.place(&key, now_ms);
                continue;
            }
            if let Some(record) = &record {
                slot.pending = slot.pending.telling(record.instance.overridden_status != Status::Unknown);
            }
            items.extend(items_of(&key, slot, record.as_ref()));
            waited_ms.push(now_ms.saturating_sub(slot.since_ms));
            slot.in_flight = Some(Box::new(InFlight {
                intents: slot.pending,
                ticket: slot.ticket,
                since_ms: slot.since_ms,
                deadline_ms: slot.deadline_ms,
            }));
            slot.pending = Intents::NONE;
            self.lanes.remove(slot.lane, slot.ticket);
            slot.lane = Lane::Nowhere;
        }
        (items, waited_ms)
    }

    /// A batch without items, to see who answers. Nothing waits for it: it need not be settled.
    pub fn probe(&mut self) -> Batch {
        self.next_batch += 1;
        Batch { order: self.order_of(self.next_batch), items: [].into(), waited_ms: [].into() }
    }

    fn order_of(&self, number: u64) -> BatchOrder {
        let oldest = self.flights.first_key_value().map_or(number, |(oldest, _)| *oldest);
        BatchOrder { link: self.link, number, oldest }
    }

    fn launch(&mut self, items: Vec<Item>, waited_ms: Vec<u64>, has_suspects: bool) -> Batch {
        self.were_suspects_last = has_suspects;
        self.next_batch += 1;
        let number = self.next_batch;
        let order = self.order_of(number);
        let batch = Batch { order, items: items.into(), waited_ms: waited_ms.into() };
        self.flights.insert(number, Flight { items: Arc::clone(&batch.items), has_suspects });
        batch
    }
}

struct Chosen {
    keys: Vec<Key>,
    has_suspects: bool,
}

/// True if there is nothing left to say: a heartbeat of a record that has been replaced, or of an instance that is gone.
fn is_pointless(pending: Intents, record: Option<&Record>) -> bool {
    match record {
        None => !pending.has_cancel(),
        Some(record) => pending == Intents::HEARTBEAT && record.lease.clock.get().is_none(),
    }
}

fn items_of(key: &Key, slot: &Slot, record: Option<&Arc<Record>>) -> impl Iterator<Item = Item> {
    let cancelled = slot.cancelled.as_deref().copied();
    let is_stated = slot.pending.override_kind() == Some(OverrideKind::Stated);
    let sendable = slot.pending.actions().filter(move |action| *action == Action::Cancel || record.is_some());
    sendable.map(move |action| Item {
        key: key.clone(),
        action,
        record: record.filter(|_| action != Action::Cancel).map(Arc::clone),
        is_stated,
        cancelled: cancelled.filter(|_| action == Action::Cancel),
    })
}
