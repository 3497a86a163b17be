//! What the writer does when a store fails: drop it, wait, look at the folder as a start would, go on.

use std::sync::Arc;

use heureka_registry::Now;

use crate::contents;
use crate::doubt::Doubt;
use crate::folder::{DataFolder, Found, StoreName};
use crate::limited::{Cancelled, caught};
use crate::mirror::Mirror;
use crate::news::News;
use crate::rewrite::Rewrite;
use crate::room;
use crate::seen_table::SeenTable;
use crate::store::StoreError;
use crate::writer::Writer;

/// A store that somebody has open is tried so often before another one takes its place: a tool may be reading it, or it has
/// failed and cannot be closed.
const BUSY_ATTEMPTS: u32 = 4;

/// Why nothing is written, and when it is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Words of the last failure.
    pub cause: String,
    /// Attempts that have failed.
    pub attempts: u32,
    /// When it is tried again.
    pub retry_mono_ms: u64,
    /// The folder can be used again; the next round will show whether it works.
    pub is_on_trial: bool,
}

impl Problem {
    /// The folder could not be used at start.
    pub(crate) const fn at_start(cause: String) -> Self {
        Self { cause, attempts: 1, retry_mono_ms: 0, is_on_trial: false }
    }
}

impl Writer {
    /// Takes note of how something ended. After a failure nothing that was open is trusted any more.
    pub(crate) fn settle(&mut self, result: Result<(), StoreError>, now: Now) -> Result<(), StoreError> {
        let Err(error) = &result else { return result };
        // Without a complete store, what was written before is lost with it.
        self.needs_records |=
            self.current.is_none() || self.rewrite.as_ref().is_some_and(Rewrite::is_from_records);
        self.current = None;
        self.rewrite = None;
        self.fail(error.to_string(), now);
        result
    }

    /// A round has succeeded: whatever was wrong is over.
    pub(crate) fn note_success(&mut self) {
        if let Some(problem) = self.problem.take() {
            self.news.push(News::Recovered { attempts: problem.attempts });
        }
    }

    fn fail(&mut self, cause: String, now: Now) {
        self.stats.failures += 1;
        let attempts = self.problem.as_ref().map_or(0, |problem| problem.attempts);
        if self.problem.is_none() {
            self.news.push(News::Failing(cause.clone()));
        }
        let doubled = self.settings.first_retry_ms.saturating_mul(1 << attempts.min(20));
        let retry_mono_ms = now.mono_ms.saturating_add(doubled.min(self.settings.last_retry_ms));
        let attempts = attempts.saturating_add(1);
        self.problem = Some(Problem { cause, attempts, retry_mono_ms, is_on_trial: false });
    }

    /// There is no later attempt: the next one is due.
    pub fn retry_now(&mut self) {
        if let Some(problem) = &mut self.problem {
            problem.retry_mono_ms = 0;
        }
    }

    /// Tries to use the folder again if it is time. Call it in every round, ready or not.
    pub fn recover(&mut self, now: Now) {
        let Some(problem) = &self.problem else { return };
        if problem.is_on_trial || now.mono_ms < problem.retry_mono_ms {
            return;
        }
        match self.reopen(now) {
            Ok(()) => {
                if let Some(problem) = &mut self.problem {
                    problem.is_on_trial = true;
                }
            }
            Err(cause) => self.fail(cause, now),
        }
    }

    fn reopen(&mut self, now: Now) -> Result<(), String> {
        let is_held = self.folder.as_ref().map(|folder| folder.is_held()).transpose();
        if is_held.map_err(|error| error.to_string())? == Some(false) {
            // Whatever is there now, this process has not written it.
            self.folder = None;
            self.knows_folder = false;
            self.needs_records = true;
        }
        if self.folder.is_none() {
            let place = self.place.clone();
            let folder = DataFolder::lock(&place.path, &place.holder, place.failure_points);
            self.folder = Some(Arc::new(folder.map_err(|error| error.to_string())?));
        }
        let free_bytes = self.place.opener.free_bytes(&self.place.path).map_err(|error| error.to_string())?;
        room::require("open", free_bytes, room::needed_for(0)).map_err(|error| error.to_string())?;
        let found = folder_of(&self.folder)?.find().map_err(|error| error.to_string())?;
        let doubt = match found {
            Found::Nothing => return self.begin_empty(),
            Found::Store(name) if !self.knows_folder => return self.leave_alone(name),
            Found::Store(name) => match self.open_again(name, now) {
                Ok(()) => return Ok(()),
                Err(doubt) => doubt,
            },
            // Between making a store and pointing to it: an attempt of this process.
            Found::Doubtful(Doubt::NoPointer) if self.knows_folder => return self.begin_empty(),
            Found::Doubtful(doubt) => doubt,
        };
        if let Doubt::Store(error) = &doubt
            && error.is_busy
        {
            return self.do_without(error);
        }
        if !doubt.blames_store() {
            return Err(doubt.to_string());
        }
        // While the disk takes nothing, a store that does not open need not be to blame.
        let folder = folder_of(&self.folder)?;
        folder.probe().map_err(|error| error.to_string())?;
        let moved = folder.move_aside(now.wall_ms, &Cancelled::default());
        let to = moved.map_err(|error| error.to_string())?;
        self.news.push(News::MovedAside { why: doubt.to_string(), to });
        self.begin_empty()
    }

    /// Nothing in the folder is worth keeping.
    fn begin_empty(&mut self) -> Result<(), String> {
        let folder = folder_of(&self.folder)?;
        folder.probe().map_err(|error| error.to_string())?;
        folder.remove_all_but(&[]);
        self.knows_folder = true;
        self.needs_records = true;
        Ok(())
    }

    /// A store that this process could not load, or has not written: a start may believe it until another one is complete.
    fn leave_alone(&mut self, name: StoreName) -> Result<(), String> {
        folder_of(&self.folder)?.remove_all_but(&[name]);
        self.needs_records = true;
        Ok(())
    }

    /// The store stays where it is, and in use until another one is complete.
    fn do_without(&mut self, busy: &StoreError) -> Result<(), String> {
        if self.problem.as_ref().is_some_and(|problem| problem.attempts < BUSY_ATTEMPTS) {
            return Err(busy.to_string());
        }
        self.needs_records = true;
        Ok(())
    }

    fn open_again(&mut self, name: StoreName, now: Now) -> Result<(), Doubt> {
        let Some(folder) = &self.folder else { return Ok(()) };
        // A rewrite that has filled the disk: the store in use needs some room to open.
        folder.remove_all_but(&[name]);
        let store = caught(|| self.place.opener.open(&folder.store_path(name)))??;
        let contents = caught(|| contents::read(&*store, now))??;
        if !contents.meta.opened {
            self.needs_records = true;
        }
        self.seen = SeenTable::of(contents.seen);
        let mut mirror = Mirror::of(name, store, contents.index, contents.meta);
        let bad = contents.bad_keys.into_iter().map(|key| crate::mirror::Edit::Remove { key });
        for edit in bad {
            mirror.stage(&[edit], now.wall_ms)?;
        }
        self.current = Some(mirror);
        Ok(())
    }
}

fn folder_of(folder: &Option<Arc<DataFolder>>) -> Result<&DataFolder, String> {
    folder.as_deref().ok_or_else(|| "the folder is not locked".into())
}
