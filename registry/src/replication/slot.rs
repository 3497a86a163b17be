//! All that a queue knows of one instance.

use std::sync::Arc;

use heureka_protocol::instance::DEFAULT_RENEWAL_INTERVAL_SECS;

use crate::record::Record;

use super::batch::Cancelled;
use super::intents::{Intents, Weight};
use super::lanes::Lane;
use super::settings::QueueSettings;

/// One instance in the queue. While a peer is away there may be one for every instance of the registry, so what few slots
/// have stands outside of it.
#[derive(Debug)]
pub(super) struct Slot {
    /// Newest record that the queue has heard of; `None` once the instance is gone.
    pub(super) record: Option<Arc<Record>>,
    /// What was cancelled, as long as the slot lives.
    pub(super) cancelled: Option<Box<Cancelled>>,
    /// What waits.
    pub(super) pending: Intents,
    /// What is on its way, without what has become pointless meanwhile.
    pub(super) in_flight: Option<Box<InFlight>>,
    /// Place in the order of sending; merging does not change it (defect D24).
    pub(super) ticket: u64,
    /// Since when the oldest of `pending` waits.
    pub(super) since_ms: u64,
    /// When `pending` is given up.
    pub(super) deadline_ms: u64,
    /// Which list of the queue it stands in.
    pub(super) lane: Lane,
    /// Longest life that a lease of the instance can have at a peer.
    pub(super) lease_life_ms: u64,
    /// What went wrong with it so far.
    pub(super) trouble: Option<Box<Trouble>>,
}

/// What a peer that is away costs, per instance: under 200 bytes with its key and its place in a list.
const _: () = assert!(size_of::<Slot>() <= 72);

/// What is on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) intents: Intents,
    pub(super) ticket: u64,
    pub(super) since_ms: u64,
    pub(super) deadline_ms: u64,
}

/// What went wrong with one instance, while others got through.
#[derive(Clone, Debug, Default)]
pub(super) struct Trouble {
    /// Size of the largest batch that it may travel in while a poisonous item is looked for.
    pub(super) batch_cap: Option<usize>,
    /// Successes of the peer when the search began, or when the instance was last refused alone.
    pub(super) successes_before: u64,
    /// How often others have got through between two refusals of the instance alone.
    pub(super) proofs: u32,
    /// Batches with it that were refused without a word about the items, since one was answered.
    pub(super) batch_refusals: u32,
    /// Refusals of the instance itself, alone in a batch or by the status of its item.
    pub(super) refusals: u32,
    /// Not to be sent before.
    pub(super) not_before_ms: u64,
}

impl Slot {
    /// An empty slot.
    pub(super) fn new(ticket: u64, now_ms: u64) -> Self {
        Self {
            record: None,
            cancelled: None,
            pending: Intents::NONE,
            in_flight: None,
            ticket,
            since_ms: now_ms,
            deadline_ms: u64::MAX,
            lane: Lane::Nowhere,
            lease_life_ms: 0,
            trouble: None,
        }
    }

    /// Remembers the newest record. A cancelled one is not kept, only how long its lease may live elsewhere.
    pub(super) fn learn(&mut self, record: &Arc<Record>) {
        self.lease_life_ms = record.lease.duration_ms.saturating_mul(2);
        self.record = (record.lease.eviction_timestamp == 0).then(|| Arc::clone(record));
    }

    /// Remembers which record was cancelled. What was cancelled before stays cancelled: the highest counts.
    pub(super) fn note_cancelled(&mut self, later: Cancelled) {
        let noted = self.cancelled.get_or_insert_with(|| Box::new(later));
        **noted = Cancelled {
            dirty: noted.dirty.max(later.dirty),
            stamp: noted.stamp.max(later.stamp),
            had_override: noted.had_override || later.had_override,
        };
    }

    /// What is on its way.
    pub(super) fn flying(&self) -> Intents {
        self.in_flight.as_ref().map_or(Intents::NONE, |flight| flight.intents)
    }

    /// True if nothing waits and nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.in_flight.is_none()
    }

    /// The largest batch that it may travel in, if it is under suspicion.
    pub(super) fn batch_cap(&self) -> Option<usize> {
        self.trouble.as_ref().and_then(|trouble| trouble.batch_cap)
    }

    /// The list that it belongs in.
    pub(super) fn lane_wanted(&self, now_ms: u64) -> Lane {
        if self.in_flight.is_some() {
            return Lane::Nowhere;
        }
        let Some(weight) = self.pending.weight() else { return Lane::Nowhere };
        if let Some(trouble) = &self.trouble {
            if trouble.not_before_ms > now_ms {
                return Lane::Delayed;
            }
            if trouble.batch_cap.is_some() {
                return Lane::Suspects;
            }
        }
        match weight {
            Weight::Heartbeat => Lane::Heartbeats,
            Weight::Register => Lane::Registers,
            Weight::Override => Lane::Overrides,
            Weight::Cancel => Lane::Cancels,
        }
    }

    /// When what waits is given up (`replication.md` 9.3.2): a heartbeat when the next one is due; a registration only
    /// with its instance; anything else when no peer can hold the lease any more.
    pub(super) fn new_deadline_ms(&self, settings: &QueueSettings, now_ms: u64) -> u64 {
        match self.pending.weight() {
            None | Some(Weight::Register) => u64::MAX,
            Some(Weight::Heartbeat) => now_ms.saturating_add(self.renewal_interval_ms()),
            Some(Weight::Override | Weight::Cancel) => {
                now_ms.saturating_add(settings.longest_way_ms(self.lease_life_ms / 2))
            }
        }
    }

    fn renewal_interval_ms(&self) -> u64 {
        let secs = self.record.as_ref().map_or(DEFAULT_RENEWAL_INTERVAL_SECS, |record| {
            record.instance.lease.renewal_interval_secs.max(1)
        });
        u64::from(secs.unsigned_abs()) * 1000
    }

    /// Notes that the instance itself was refused, and puts it off.
    pub(super) fn put_off(&mut self, until_ms: u64) {
        let trouble = self.trouble.get_or_insert_default();
        trouble.refusals = trouble.refusals.saturating_add(1);
        trouble.not_before_ms = until_ms;
    }

    /// Until when it is put off; 0 if it is not.
    pub(super) fn not_before_ms(&self) -> u64 {
        self.trouble.as_ref().map_or(0, |trouble| trouble.not_before_ms)
    }

    /// How often the instance itself was refused.
    pub(super) fn refusals(&self) -> u32 {
        self.trouble.as_ref().map_or(0, |trouble| trouble.refusals)
    }
}
