//! Follows the registry: takes what has changed and keeps one store equal to it, a little behind.
//!
//! Everything happens in rounds. Before the node has opened for traffic nothing is written: an empty or partial start must
//! not harm a fuller snapshot. A failure never leaves this file as a panic and never loses a change: the caller keeps what
//! was not written, the store is dropped and opened again after a while (`recovery.rs`). Stores are
//! written anew in `rewriting.rs`.

use std::path::PathBuf;
use std::sync::Arc;

use heureka_registry::{Now, Record};

use crate::contents::{Owner, SeenTimes};
use crate::deadlines::Deadlines;
use crate::edits::Editor;
use crate::failure_points::FailurePoints;
use crate::folder::DataFolder;
use crate::growth::{Growth, GrowthLimits};
use crate::lock_file::Holder;
use crate::mirror::{Edit, Mirror};
use crate::news::{News, WriterState, WriterStats};
use crate::pending::Latest;
use crate::recovery::Problem;
use crate::restore::{Leftovers, RecoveredMark};
use crate::rewrite::Rewrite;
use crate::room;
use crate::seen_table::SeenTable;
use crate::store::{OpenStore, StoreError};
use crate::stored::{StoredMeta, TombstoneLife};

/// Deadlines that are met in one round.
const DEADLINES_PER_ROUND: usize = 400;

/// Settings of a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterSettings {
    /// How long tombstones live.
    pub tombstones: TombstoneLife,
    /// Most tombstones and waiting overrides that are kept; beyond it those that are over first are dropped.
    pub deadlines_max: usize,
    /// A store that equals the registry says so at least this often, in milliseconds: its age counts from then.
    pub touch_interval_ms: u64,
    /// How large a store may be.
    pub growth: GrowthLimits,
    /// A store that has taken so many bytes is opened again when nothing waits to be written.
    pub reopen_after_bytes: u64,
    /// First wait after a failure, milliseconds; doubled with each further one.
    pub first_retry_ms: u64,
    /// Longest wait after failures, milliseconds.
    pub last_retry_ms: u64,
}

impl Default for WriterSettings {
    fn default() -> Self {
        Self {
            tombstones: TombstoneLife { ttl_ms: 300_000, eviction_interval_ms: 60_000 },
            deadlines_max: 200_000,
            touch_interval_ms: 30_000,
            growth: GrowthLimits::default(),
            reopen_after_bytes: 4 * 1024 * 1024,
            first_retry_ms: 1_000,
            last_retry_ms: 60_000,
        }
    }
}

/// Where a writer finds its folder again after a failure.
#[derive(Clone)]
pub struct Place {
    /// The folder of the node.
    pub path: PathBuf,
    /// Who locks it.
    pub holder: Holder,
    /// Kind of the stores.
    pub opener: Arc<dyn OpenStore>,
    /// For tests.
    pub failure_points: Arc<dyn FailurePoints>,
}

/// With what a writer starts: what the opening of a folder has left over.
pub struct Start {
    /// Where.
    pub place: Place,
    /// The folder, if it could be locked.
    pub folder: Option<Arc<DataFolder>>,
    /// True if the stores in it are known: loaded, made or judged by this process. Others are never removed, but moved aside
    /// when something takes their place.
    pub knows_folder: bool,
    /// A store that equals what was restored.
    pub current: Option<Mirror>,
    /// Or an empty store to fill.
    pub target: Option<Mirror>,
    /// Identity for stores to come.
    pub identity: StoredMeta,
    /// Work to do first.
    pub leftovers: Leftovers,
    /// Tells instances apart that have given no sign of life since the start.
    pub recovered: Option<RecoveredMark>,
    /// Why there is neither a store in use nor one to fill.
    pub problem: Option<String>,
}

/// The writer. Not shared; its owner calls it from one thread, which may block.
pub struct Writer {
    pub(crate) settings: WriterSettings,
    pub(crate) place: Place,
    pub(crate) folder: Option<Arc<DataFolder>>,
    pub(crate) knows_folder: bool,
    /// Identity of the node, with the number of this start.
    pub(crate) identity: StoredMeta,
    pub(crate) current: Option<Mirror>,
    pub(crate) rewrite: Option<Rewrite>,
    pub(crate) problem: Option<Problem>,
    pub(crate) seen: SeenTable,
    recovered: Option<RecoveredMark>,
    /// True if the store misses changes that nobody holds any more.
    pub(crate) needs_records: bool,
    pub(crate) leftovers: Option<Leftovers>,
    deadlines: Deadlines,
    is_open: bool,
    last_commit_mono_ms: u64,
    pub(crate) last_measure_mono_ms: u64,
    pub(crate) growth: Growth,
    pub(crate) news: Vec<News>,
    pub(crate) stats: WriterStats,
}

impl Writer {
    /// A writer that waits for the node to open for traffic.
    #[must_use]
    pub fn new(settings: WriterSettings, start: Start) -> Self {
        let Start { place, folder, knows_folder, current, target, .. } = start;
        let Start { mut identity, mut leftovers, recovered, problem, .. } = start;
        let seen = std::mem::take(&mut leftovers.seen);
        let seen = if current.is_some() { seen } else { SeenTimes::default() };
        let problem = problem.map(Problem::at_start);
        identity.starts += 1;
        Self {
            needs_records: problem.is_some(),
            settings,
            place,
            folder,
            knows_folder,
            identity,
            current,
            rewrite: target.map(|target| Rewrite::new(target, &[], None)),
            problem,
            seen: SeenTable::of(seen),
            recovered,
            leftovers: Some(leftovers),
            deadlines: Deadlines::with_limit(settings.deadlines_max),
            is_open: false,
            last_commit_mono_ms: 0,
            last_measure_mono_ms: 0,
            growth: Growth::new(settings.growth),
            news: Vec::new(),
            stats: WriterStats::default(),
        }
    }

    /// The node has opened for traffic: from now on the registry is worth keeping.
    pub const fn open_for_traffic(&mut self) {
        self.is_open = true;
    }

    /// True if the stores in the folder are known; see [`Start::knows_folder`].
    #[must_use]
    pub const fn knows_folder(&self) -> bool {
        self.knows_folder
    }

    /// True if a round would write. Otherwise changes should wait where they are.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        let is_made_good = match &self.rewrite {
            Some(rewrite) => rewrite.is_from_records() || !self.needs_records,
            None => self.current.is_some() && !self.needs_records,
        };
        self.is_open && is_made_good
    }

    /// True if the store in use lacks changes. Until another one takes its place it stays as it is: old but whole.
    pub(crate) fn is_behind(&self) -> bool {
        self.needs_records || self.rewrite.as_ref().is_some_and(Rewrite::is_from_records)
    }

    /// True if rounds should follow each other without a pause.
    #[must_use]
    pub fn has_more_to_do(&self) -> bool {
        self.is_ready() && self.rewrite.as_ref().is_some_and(|rewrite| !rewrite.is_exhausted())
    }

    /// True if [`Writer::take_records`] must be called, with all records of the registry.
    #[must_use]
    pub fn wants_records(&self) -> bool {
        let is_usable = self.problem.as_ref().is_none_or(|problem| problem.is_on_trial);
        // Once is enough, unless more was lost meanwhile: then again, at the end.
        let is_under_way =
            self.rewrite.as_ref().is_some_and(|rewrite| rewrite.is_from_records() && !rewrite.is_exhausted());
        self.is_open && self.needs_records && self.folder.is_some() && is_usable && !is_under_way
    }

    /// The wall clock was set: the next round says when the store was saved, also if nothing else has changed.
    pub const fn note_clock_set(&mut self) {
        self.last_commit_mono_ms = 0;
    }

    /// Gives up a rewrite that only makes a store smaller that is whole: there is no time left for it.
    pub fn give_up_needless_rewrite(&mut self) {
        if self.current.is_some() && !self.needs_records {
            self.rewrite.take_if(|rewrite| !rewrite.is_from_records());
        }
    }

    /// Changes were lost on their way here. The store stays as it is until another one, with everything, takes its place.
    pub fn note_incomplete(&mut self) {
        if !self.needs_records {
            self.needs_records = true;
            self.news.push(News::Incomplete);
        }
    }

    /// One round: writes these changes, meets deadlines, goes on with a rewrite. On an error the caller keeps the changes
    /// and gives them again, merged with newer ones.
    ///
    /// # Errors
    /// If they were not all written, or may be lost in a crash.
    pub fn round(&mut self, latest: &[(Owner, Latest)], now: Now) -> Result<(), StoreError> {
        if !self.is_ready() {
            return Err(StoreError::new("use", "it is not open"));
        }
        let was_behind = self.is_behind();
        let leftovers = self.leftovers.take();
        let result = self.check_folder().and_then(|()| self.try_round(leftovers.as_ref(), latest, now));
        match result {
            // A rewrite that makes good what the store in use lacks has not succeeded before its end.
            Ok(()) if !self.is_behind() => self.note_success(),
            Ok(()) => {}
            Err(_) => {
                self.leftovers = leftovers;
                // The rewrite that was to make it good is over, wherever it has failed.
                self.needs_records |= was_behind;
            }
        }
        self.settle(result, now)
    }

    /// The pointer, other stores and the lock are found by their names, which may stand for something else by now.
    pub(crate) fn check_folder(&self) -> Result<(), StoreError> {
        let Some(folder) = &self.folder else {
            return Err(StoreError::new("use", "the folder is not locked"));
        };
        match folder.is_held() {
            Ok(true) => Ok(()),
            Ok(false) => {
                Err(StoreError::new("use", "the folder was removed or replaced while it was in use"))
            }
            Err(error) => Err(StoreError::new("use", error)),
        }
    }

    fn try_round(
        &mut self,
        leftovers: Option<&Leftovers>,
        latest: &[(Owner, Latest)],
        now: Now,
    ) -> Result<(), StoreError> {
        if let Some(leftovers) = leftovers {
            self.give_memory_back()?;
            self.write_leftovers(leftovers, now)?;
        }
        for (owner, latest) in latest {
            if let Some(rewrite) = &mut self.rewrite {
                rewrite.note_change(owner);
            }
            self.write_latest(owner, latest, now)?;
        }
        let has_met_deadlines = self.meet_deadlines(now)?;
        let is_due = now.mono_ms.saturating_sub(self.last_commit_mono_ms) >= self.settings.touch_interval_ms;
        if leftovers.is_some() || !latest.is_empty() || has_met_deadlines || is_due {
            self.commit(now)?;
        }
        self.go_on_with_rewrite(now)?;
        self.measure(latest.len(), now)?;
        let is_idle = latest.is_empty() && self.rewrite.is_none();
        let is_fat = |current: &Mirror| current.written_bytes() >= self.settings.reopen_after_bytes;
        if is_idle && self.current.as_ref().is_some_and(is_fat) {
            self.give_memory_back()?;
        }
        Ok(())
    }

    /// Looks over the clocks of all living records for signs of life that are worth writing.
    ///
    /// # Errors
    /// As for [`Writer::round`].
    pub fn sweep<'r>(
        &mut self,
        records: impl IntoIterator<Item = &'r Record>,
        now: Now,
    ) -> Result<(), StoreError> {
        if !self.is_ready() {
            return Ok(());
        }
        let edits = self.seen.update(records, self.recovered, now);
        let mut written = || {
            self.check_folder()?;
            for edit in &edits {
                self.stage(std::slice::from_ref(edit), now)?;
            }
            if edits.is_empty() { Ok(()) } else { self.commit(now) }
        };
        let result = written();
        self.settle(result, now)
    }

    /// Ends the writer: it holds neither store nor folder afterwards. `is_complete` says that everything that waited was
    /// given to a last round. True if the store then equals the registry; otherwise the next start does not call this one
    /// clean.
    ///
    /// # Errors
    /// If the last changes may be lost; the next start does not call this one clean then either.
    pub fn close(&mut self, is_complete: bool, now: Now) -> Result<bool, StoreError> {
        let is_behind = self.is_behind();
        let is_following = is_complete && !is_behind && self.problem.is_none() && self.current.is_some();
        self.rewrite = None;
        let closed = match self.current.take() {
            Some(current) if self.is_open && !is_behind => current.close(is_following, now.wall_ms),
            _ => Ok(()),
        };
        self.folder = None;
        closed.map(|()| is_following)
    }

    /// News since the last call, for the log.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Figures.
    #[must_use]
    pub fn stats(&self) -> WriterStats {
        let state = match () {
            () if self.problem.is_some() => WriterState::Failing,
            () if !self.is_open => WriterState::Waiting,
            () if self.rewrite.is_some() || self.needs_records => WriterState::Rewriting,
            () => WriterState::Following,
        };
        let mut stats = WriterStats { state, ..self.stats.clone() };
        stats.problem = self.problem.as_ref().map(|problem| problem.cause.clone());
        if let Some(mirror) = self.current.as_ref().or(self.rewrite.as_ref().map(|rewrite| &rewrite.target)) {
            stats.counts = mirror.index().counts();
            stats.live_bytes = mirror.index().live_bytes();
        }
        stats
    }

    /// sled keeps a copy of most of what was read or written, twice the bytes of the records and whatever its cache is told
    /// to hold. Opening the store again ends that; it takes some milliseconds, also if the store is large. Without
    /// room on the disk the store stays open, since it may not open again. Everything must have been committed.
    fn give_memory_back(&mut self) -> Result<(), StoreError> {
        if let Some(folder) = &self.folder
            && self.place.opener.free_bytes(folder.path())? >= room::needed_for(0)
            && let Some(current) = &mut self.current
        {
            current.reopen(folder, &*self.place.opener)?;
        }
        Ok(())
    }

    fn write_leftovers(&mut self, leftovers: &Leftovers, now: Now) -> Result<(), StoreError> {
        let identity = self.identity.clone();
        self.mirrors().for_each(|mirror| mirror.set_running(&identity));
        let edits = self.with_editor(now, |editor| editor.edits_of_leftovers(leftovers));
        edits.iter().try_for_each(|edit| self.stage(std::slice::from_ref(edit), now))
    }

    pub(crate) fn write_latest(
        &mut self,
        owner: &Owner,
        latest: &Latest,
        now: Now,
    ) -> Result<(), StoreError> {
        let edits = self.with_editor(now, |editor| editor.edits_of(owner, latest));
        match edits {
            Some(edits) => self.stage(&edits, now),
            None => {
                self.stats.oversized += 1;
                Ok(())
            }
        }
    }

    fn meet_deadlines(&mut self, now: Now) -> Result<bool, StoreError> {
        let due = self.deadlines.take_due(now.mono_ms, DEADLINES_PER_ROUND);
        for key in &due {
            self.stage(&[Edit::Remove { key: key.to_vec() }], now)?;
        }
        Ok(!due.is_empty())
    }

    fn with_editor<R>(&mut self, now: Now, work: impl FnOnce(&mut Editor<'_>) -> R) -> R {
        let is_behind = self.is_behind();
        let (current, target) = (&self.current, self.rewrite.as_ref().map(|rewrite| &rewrite.target));
        let is_stored = |key: &[u8]| current.iter().chain(target).any(|mirror| mirror.index().contains(key));
        work(&mut Editor {
            is_stored: &is_stored,
            deadlines: &mut self.deadlines,
            seen: &self.seen,
            recovered: self.recovered,
            is_behind,
            life: self.settings.tombstones,
            now,
        })
    }

    /// The stores that follow the registry.
    fn mirrors(&mut self) -> impl Iterator<Item = &mut Mirror> {
        let is_behind = self.is_behind();
        self.current
            .iter_mut()
            .filter(move |_| !is_behind)
            .chain(self.rewrite.as_mut().map(|rewrite| &mut rewrite.target))
    }

    fn stage(&mut self, edits: &[Edit], now: Now) -> Result<(), StoreError> {
        let mut oversized = 0;
        for mirror in self.mirrors() {
            oversized = mirror.stage(edits, now.wall_ms)?;
        }
        self.stats.oversized += oversized;
        if let Some(rewrite) = &mut self.rewrite {
            rewrite.note_edits(edits);
        }
        Ok(())
    }

    fn commit(&mut self, now: Now) -> Result<(), StoreError> {
        for mirror in self.mirrors() {
            mirror.commit(now.wall_ms)?;
            mirror.flush()?;
        }
        self.last_commit_mono_ms = now.mono_ms;
        self.stats.rounds += 1;
        if self.rewrite.is_none() && !self.needs_records {
            self.stats.saved_wall_ms = now.wall_ms;
        }
        Ok(())
    }
}
