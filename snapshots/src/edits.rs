//! From the latest state of an instance to the changes of its keys, which go into the store together.

use heureka_registry::{Now, Record};

use crate::contents::Owner;
use crate::deadlines::Deadlines;
use crate::key::{Key, Name};
use crate::mirror::Edit;
use crate::pending::{Cancelled, Latest};
use crate::restore::{Leftovers, RecoveredMark};
use crate::seen_table::SeenTable;
use crate::stored::{
    StoredInstance, StoredOverride, StoredTombstone, TombstoneLife, seen_wall_ms, to_payload,
};

/// Makes edits. It knows which keys are worth removing, and remembers which must go later.
pub struct Editor<'e> {
    /// True if something stands under a key in any of the stores that the edits are for.
    pub is_stored: &'e dyn Fn(&[u8]) -> bool,
    /// Gets the deadlines of tombstones and loses those of what is replaced.
    pub deadlines: &'e mut Deadlines,
    /// Signs of life that are stored, for instances that have given none since the start.
    pub seen: &'e SeenTable,
    /// Tells those apart.
    pub recovered: Option<RecoveredMark>,
    /// True if the store in use lacks changes: what stands in it may be older than what is given here.
    pub is_behind: bool,
    /// How long tombstones live.
    pub life: TombstoneLife,
    /// This moment.
    pub now: Now,
}

impl Editor<'_> {
    /// Edits for an instance; `None` if its name is too long to be stored.
    pub fn edits_of(&mut self, (app, id): &Owner, latest: &Latest) -> Option<Vec<Edit>> {
        let name = Name { app, id };
        let keys = Keys {
            instance: Key::Instance(name).to_bytes()?,
            overridden: Key::Override(name).to_bytes()?,
            tombstone: Key::Tombstone(name).to_bytes()?,
        };
        let mut edits = Vec::with_capacity(2);
        match latest {
            Latest::Present(record) => self.present(record, keys, &mut edits),
            Latest::Cancelled(cancelled) => self.cancelled(cancelled, keys, &mut edits),
            Latest::Evicted => self.evicted(keys, &mut edits),
        }
        Some(edits)
    }

    fn present(&mut self, record: &Record, keys: Keys, edits: &mut Vec<Edit>) {
        let seen_timestamp = self.seen_timestamp(record, &keys.instance);
        edits.extend(put(keys.instance, &StoredInstance::of(record, seen_timestamp)));
        self.deadlines.clear(&keys.overridden);
        self.deadlines.clear(&keys.tombstone);
        match StoredOverride::of(record.override_state()) {
            Some(stored) => edits.extend(put(keys.overridden, &stored)),
            None => self.remove(keys.overridden, edits),
        }
        self.remove(keys.tombstone, edits);
    }

    fn seen_timestamp(&self, record: &Record, key: &[u8]) -> i64 {
        let is_recovered = self.recovered.is_some_and(|mark| mark.is_recovered(record));
        let stored_secs = self.seen.get(key).filter(|_| is_recovered);
        let stored_ms = stored_secs.map(|secs| (i64::from(secs) * 1000).min(self.now.wall_ms));
        stored_ms.unwrap_or_else(|| seen_wall_ms(&record.lease, self.now))
    }

    fn cancelled(&mut self, cancelled: &Cancelled, keys: Keys, edits: &mut Vec<Edit>) {
        let Cancelled { record, tombstone, at_mono_ms } = cancelled;
        let stored = StoredTombstone::of(record, tombstone.as_ref(), *at_mono_ms, self.now, self.life);
        let until_mono_ms = at_mono_ms.saturating_add(self.life.of_lease(record.lease.duration_ms));
        self.deadlines.set(&keys.tombstone, until_mono_ms);
        edits.extend(put(keys.tombstone.clone(), &stored));
        self.gone(keys, edits);
    }

    /// It was alive, so whatever was cancelled before is over; an eviction leaves no tombstone.
    fn evicted(&mut self, keys: Keys, edits: &mut Vec<Edit>) {
        self.deadlines.clear(&keys.tombstone);
        self.remove(keys.tombstone.clone(), edits);
        self.gone(keys, edits);
    }

    fn gone(&mut self, keys: Keys, edits: &mut Vec<Edit>) {
        self.deadlines.clear(&keys.overridden);
        self.remove(keys.instance, edits);
        self.remove(keys.overridden, edits);
    }

    fn remove(&self, key: Vec<u8>, edits: &mut Vec<Edit>) {
        if (self.is_stored)(&key) {
            edits.push(Edit::Remove { key });
        }
    }

    /// Edits for what a start has left over: unreadable keys first, in the batch that the others follow.
    pub fn edits_of_leftovers(&mut self, leftovers: &Leftovers) -> Vec<Edit> {
        let mut edits: Vec<Edit> =
            leftovers.remove.iter().map(|key| Edit::Remove { key: key.clone() }).collect();
        for ((app, id), stored, until_mono_ms) in &leftovers.orphans {
            let Some(key) = Key::Override(Name { app, id }).to_bytes() else { continue };
            self.deadlines.set(&key, *until_mono_ms);
            edits.extend(put(key, stored));
        }
        for ((app, id), stored, until_mono_ms) in &leftovers.tombstones {
            let Some(key) = Key::Tombstone(Name { app, id }).to_bytes() else { continue };
            self.deadlines.set(&key, *until_mono_ms);
            if self.is_behind || !(self.is_stored)(&key) {
                edits.extend(put(key, stored));
            }
        }
        edits
    }
}

struct Keys {
    instance: Vec<u8>,
    overridden: Vec<u8>,
    tombstone: Vec<u8>,
}

/// `None` never happens: the stored types can always be written.
fn put(key: Vec<u8>, value: &impl serde::Serialize) -> Option<Edit> {
    to_payload(value).ok().map(|payload| Edit::Put { key, payload })
}
