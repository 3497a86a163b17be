//! Which signs of life are in the store, and which are worth writing: at most one per instance and lease duration.
//!
//! Heartbeats never come here. The writer looks over the clocks of all records now and then instead.

use std::collections::BTreeMap;

use heureka_registry::{Now, Record};

use crate::contents::SeenTimes;
use crate::key::{Key, Name};
use crate::mirror::Edit;
use crate::restore::RecoveredMark;
use crate::stored::{SEEN_PARTS, StoredSeen, seen_hash, seen_part, seen_wall_ms, to_payload};

type Part = BTreeMap<u64, u32>;

/// The signs of life that are in the store.
#[derive(Debug)]
pub struct SeenTable {
    parts: Vec<Part>,
}

impl SeenTable {
    /// The table of a store with these contents.
    #[must_use]
    pub fn of(seen: SeenTimes) -> Self {
        let mut parts = vec![Part::new(); usize::from(SEEN_PARTS)];
        for (hash, secs) in seen {
            parts[usize::from(seen_part(hash))].insert(hash, secs);
        }
        Self { parts }
    }

    /// Takes the clocks of all living records in and returns what has to be written. Instances that are not among the
    /// records are forgotten.
    ///
    /// The clock of a recovered instance says when this node started, not that the instance lives. No sign of life stays in
    /// the future: the wall clock was set back since.
    pub fn update<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record>,
        recovered: Option<RecoveredMark>,
        now: Now,
    ) -> Vec<Edit> {
        let now_secs = u32::try_from(now.wall_ms / 1000).unwrap_or(0);
        let mut next = vec![Part::new(); usize::from(SEEN_PARTS)];
        for record in records {
            let name = Name { app: &record.instance.app, id: &record.instance.instance_id };
            let Some(key) = Key::Instance(name).to_bytes() else { continue };
            let hash = seen_hash(&key);
            let index = usize::from(seen_part(hash));
            let stored_secs = self.parts[index].get(&hash).copied();
            let secs = match stored_secs {
                Some(secs) if recovered.is_some_and(|mark| mark.is_recovered(record)) => secs.min(now_secs),
                _ => worth_writing(stored_secs, record, now),
            };
            next[index].insert(hash, secs);
        }
        let changed: Vec<usize> =
            (0..next.len()).filter(|index| next[*index] != self.parts[*index]).collect();
        self.parts = next;
        changed.into_iter().filter_map(|index| self.edit(index)).collect()
    }

    /// The stored sign of life of an instance, in seconds since the epoch.
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let hash = seen_hash(key);
        self.parts[usize::from(seen_part(hash))].get(&hash).copied()
    }

    fn edit(&self, index: usize) -> Option<Edit> {
        let key = Key::Seen(u16::try_from(index).ok()?).to_bytes()?;
        let seconds = self.parts[index].clone();
        if seconds.is_empty() {
            return Some(Edit::Remove { key });
        }
        Some(Edit::Put { key, payload: to_payload(&StoredSeen { seconds }).ok()? })
    }
}

/// The new second if it is a whole lease duration away from the stored one, else the stored one. It is earlier if the wall
/// clock was set back.
fn worth_writing(stored_secs: Option<u32>, record: &Record, now: Now) -> u32 {
    let secs = u32::try_from(seen_wall_ms(&record.lease, now) / 1000).unwrap_or(0);
    let step_secs = record.lease.duration_ms / 1000;
    match stored_secs {
        Some(stored) if u64::from(secs.abs_diff(stored)) < step_secs => stored,
        _ => secs,
    }
}
