//! What the writer does to write its store anew: when, from what, and how the new one takes the place of the old.

use std::sync::Arc;

use heureka_registry::{Now, Record, Tombstone};

use crate::contents::{Owner, SeenTimes};
use crate::failure_points::Step;
use crate::key::Kind;
use crate::limited::Cancelled;
use crate::mirror::Mirror;
use crate::news::News;
use crate::pending::rough_bytes;
use crate::rewrite::{ALL_KINDS, BESIDE_RECORDS, Rewrite, make_target, reach};
use crate::room;
use crate::seen_table::SeenTable;
use crate::store::StoreError;
use crate::stored::StoredTombstone;
use crate::writer::Writer;

/// The store is measured this often: until then it grows unseen, by a megabyte a second if 500 instances register.
const MEASURE_INTERVAL_MS: u64 = 5_000;

/// A fresh store takes at most so many times the bytes of its keys and values.
const FRESH_FACTOR: u64 = 3;

impl Writer {
    /// Takes all records of the registry, and the cancels that it remembers, to write the store anew from them. Changes that
    /// come in later go on top.
    pub fn take_records(
        &mut self,
        records: Vec<Arc<Record>>,
        cancels: impl IntoIterator<Item = (Owner, Tombstone)>,
        now: Now,
    ) {
        if !self.wants_records() {
            return;
        }
        self.rewrite = None;
        let kinds = if self.current.is_some() { BESIDE_RECORDS } else { &[] };
        if self.current.is_none() {
            self.seen = SeenTable::of(SeenTimes::default());
        }
        // A store to copy them from may lack the last ones.
        let stored = |(owner, known): (Owner, Tombstone)| {
            (owner, StoredTombstone::of_known(&known, now), known.until_mono_ms)
        };
        let leftovers = self.leftovers.get_or_insert_default();
        leftovers.tombstones = cancels.into_iter().map(stored).collect();
        let stored_bytes = self.current.as_ref().map_or(0, |current| current.index().live_bytes());
        let live_bytes = stored_bytes.max(records.iter().map(|record| rough_bytes(record) as u64).sum());
        let begun = self
            .check_folder()
            .and_then(|()| self.require_room_beside(live_bytes))
            .and_then(|()| self.begin_rewrite(kinds, Some(records), now));
        if self.settle(begun, now).is_ok() {
            self.needs_records = false;
        }
    }

    fn begin_rewrite(
        &mut self,
        kinds: &'static [Kind],
        records: Option<Vec<Arc<Record>>>,
        now: Now,
    ) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else {
            return Err(StoreError::new("make", "the folder is not locked"));
        };
        let identity = self.current.as_ref().map_or(&self.identity, Mirror::meta).clone();
        let target = make_target(folder, &*self.place.opener, identity, now.wall_ms, &Cancelled::default())?;
        self.rewrite = Some(Rewrite::new(target, kinds, records));
        Ok(())
    }

    /// Refuses to make a second store with so many bytes if there is no room for it.
    fn require_room_beside(&self, live_bytes: u64) -> Result<(), StoreError> {
        let needed_bytes = live_bytes.saturating_mul(FRESH_FACTOR).saturating_add(room::RESERVE_BYTES);
        room::require("make", self.place.opener.free_bytes(&self.place.path)?, needed_bytes)
    }

    pub(crate) fn go_on_with_rewrite(&mut self, now: Now) -> Result<(), StoreError> {
        let Some(mut rewrite) = self.rewrite.take() else { return Ok(()) };
        if let Some(current) = &self.current {
            rewrite.copy_slice(current, now.wall_ms)?;
        }
        let records = rewrite.next_records();
        let is_exhausted = rewrite.is_exhausted();
        self.rewrite = Some(rewrite);
        for (owner, latest) in &records {
            self.write_latest(owner, latest, now)?;
        }
        if let Some(folder) = &self.folder {
            reach(folder, Step::SliceCopied)?;
        }
        match self.rewrite.take() {
            Some(rewrite) if is_exhausted && !self.needs_records => self.finish_rewrite(rewrite, now),
            rewrite => {
                self.rewrite = rewrite;
                Ok(())
            }
        }
    }

    fn finish_rewrite(&mut self, rewrite: Rewrite, now: Now) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else {
            return Err(StoreError::new("make", "the folder is not locked"));
        };
        let mut target = rewrite.target;
        target.set_opened(true);
        target.commit(now.wall_ms)?;
        target.flush()?;
        reach(folder, Step::StoreComplete)?;
        folder.point_to(target.name()).map_err(|error| StoreError::new("exchange", error))?;
        let name = target.name();
        let old = self.current.replace(target);
        let before_bytes = old.map(|old| old.size_on_disk().unwrap_or(0));
        if self.knows_folder {
            folder.remove_all_but(&[name]);
        } else {
            let to = folder.move_aside_all_but(name, now.wall_ms);
            self.knows_folder = true;
            self.news.push(News::Replaced { to });
        }
        let Some(target) = &self.current else { return Ok(()) };
        let after_bytes = target.size_on_disk()?;
        self.growth.note_rewritten(after_bytes, target.index().live_bytes(), target.written_bytes());
        self.stats.disk_bytes = after_bytes;
        self.stats.saved_wall_ms = now.wall_ms;
        if let Some(before_bytes) = before_bytes {
            self.stats.rewrites += 1;
            self.news.push(News::Rewritten { before_bytes, after_bytes });
        }
        Ok(())
    }

    /// Measures the store now and then, in a round with so many changes, and begins to write it anew when it has grown out of
    /// proportion.
    pub(crate) fn measure(&mut self, changes: usize, now: Now) -> Result<(), StoreError> {
        let age_ms = now.mono_ms.saturating_sub(self.last_measure_mono_ms);
        let Some(current) = &self.current else { return Ok(()) };
        if age_ms < MEASURE_INTERVAL_MS {
            return Ok(());
        }
        self.last_measure_mono_ms = now.mono_ms;
        self.stats.disk_bytes = current.size_on_disk()?;
        let live_bytes = current.index().live_bytes();
        let is_too_large = self.growth.is_too_large(self.stats.disk_bytes, live_bytes, changes);
        if is_too_large && self.rewrite.is_none() && !self.needs_records {
            // Without room for two stores, or if it fails, the next attempt waits until this one has grown again.
            self.growth.note_fresh(self.stats.disk_bytes);
            if self.require_room_beside(live_bytes).is_err() {
                return Ok(());
            }
            self.begin_rewrite(ALL_KINDS, None, now)?;
        }
        Ok(())
    }
}
