//! The start: lock the folder, load what may be believed, move aside what may not, and say how it went.
//!
//! Nothing here can fail but for one reason: another process uses the folder. Everything else ends in a start, warm or
//! cold. All work on the disk happens on threads of its own, which may hang, panic or take too long.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use heureka_registry::Now;

use crate::contents::{self, Contents};
use crate::doubt::Doubt;
use crate::folder::{DataFolder, Found, StoreName};
use crate::limited::{Cancelled, run_limited};
use crate::lock_file::LockError;
use crate::mirror::Mirror;
use crate::report::{LoadReport, Outcome};
use crate::restore::{Leftovers, RecoveredMark, RestoreCounts, RestoreRules, RestoredApplication, restore};
use crate::rewrite::make_target;
use crate::store::{OpenStore, Store, StoreError};
use crate::stored::StoredMeta;
use crate::writer::{Place, Start};

/// How a folder is opened.
#[derive(Clone)]
pub struct Opening {
    /// Where, by whom, with which stores.
    pub place: Place,
    /// Rules of the restart.
    pub rules: RestoreRules,
    /// Longest wait for each of locking, loading and making a new store.
    pub time_limit: Duration,
    /// Identity of the node if the folder holds none.
    pub new_node_id: String,
    /// Version of the program, kept for people.
    pub software: String,
}

/// What a start gives.
pub struct Opened {
    /// What comes back, in the order of names.
    pub applications: Vec<RestoredApplication>,
    /// Tells recovered instances apart; `None` after a cold start.
    pub recovered: Option<RecoveredMark>,
    /// How it went.
    pub report: LoadReport,
    /// For the writer.
    pub start: Start,
}

/// Opens the folder of a node.
///
/// # Errors
/// [`LockError::Held`] if another process uses it: two nodes must not share one folder, so this one must not start.
pub fn open(opening: Opening, now: Now) -> Result<Opened, LockError> {
    let started = Instant::now();
    let mut session = Session { opening, now, folder: None, report: empty_report(), knows_folder: false };
    let mut opened = match session.lock() {
        Ok(()) => session.open().unwrap_or_else(|why| session.without_store(why)),
        Err(held @ LockError::Held(_)) => return Err(held),
        Err(error) => session.without_store(error.to_string()),
    };
    opened.report.took = started.elapsed();
    Ok(opened)
}

fn empty_report() -> LoadReport {
    LoadReport {
        outcome: Outcome::FirstStart,
        counts: RestoreCounts::default(),
        bad_records: 0,
        first_fault: None,
        was_clean: None,
        age_ms: None,
        node_id: String::new(),
        starts: 0,
        took: Duration::ZERO,
    }
}

/// What loading found.
enum Loaded {
    Nothing,
    NothingKept(StoredMeta),
    Contents(Box<Contents>, StoreName, Box<dyn Store>),
}

struct Session {
    opening: Opening,
    now: Now,
    folder: Option<Arc<DataFolder>>,
    report: LoadReport,
    /// All stores in the folder have been looked at or moved aside.
    knows_folder: bool,
}

/// Errors are the words for [`Outcome::Unusable`].
impl Session {
    fn lock(&mut self) -> Result<(), LockError> {
        let place = self.opening.place.clone();
        let lock = move |_: &Cancelled| DataFolder::lock(&place.path, &place.holder, place.failure_points);
        let locked = run_limited(self.opening.time_limit, lock);
        let folder = locked.unwrap_or_else(|doubt| Err(LockError::Io(io::Error::other(doubt))))?;
        self.folder = Some(Arc::new(folder));
        Ok(())
    }

    /// Works on the locked folder, on a thread of its own. If that is left behind, it must not change the folder any more.
    fn in_folder<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DataFolder, &Cancelled) -> T + Send + 'static,
    ) -> Result<T, Doubt> {
        let folder = self.folder.clone();
        let limited = move |cancelled: &Cancelled| folder.as_deref().map(|folder| work(folder, cancelled));
        run_limited(self.opening.time_limit, limited)?.ok_or(Doubt::NoStore)
    }

    fn open(&mut self) -> Result<Opened, String> {
        let (opener, now) = (self.opener(), self.now);
        match self
            .in_folder(move |folder, cancelled| load(folder, &*opener, now, cancelled))
            .and_then(|loaded| loaded)
        {
            Ok(Loaded::Nothing) => {
                self.knows_folder = true;
                self.anew(None)
            }
            Ok(Loaded::NothingKept(meta)) => {
                self.knows_folder = true;
                self.report.outcome = Outcome::NothingKept;
                self.anew(Some(meta))
            }
            Ok(Loaded::Contents(contents, name, store)) => self.restore(*contents, name, store),
            Err(doubt) if self.is_stores_fault(&doubt) => self.move_aside(&doubt),
            Err(doubt) => Err(doubt.to_string()),
        }
    }

    /// False if nothing could have been opened: while there are no threads, the machine stands still, somebody else has the
    /// store open, or the disk takes nothing, a store that does not open need not be to blame. It stays for the next start.
    fn is_stores_fault(&self, doubt: &Doubt) -> bool {
        let is_usable = || self.in_folder(|folder, _| folder.probe()).is_ok_and(|probed| probed.is_ok());
        doubt.blames_store() && is_usable()
    }

    fn restore(
        &mut self,
        mut contents: Contents,
        name: StoreName,
        store: Box<dyn Store>,
    ) -> Result<Opened, String> {
        self.knows_folder = true;
        let (meta, index) = (contents.meta.clone(), std::mem::take(&mut contents.index));
        self.report.bad_records = contents.bad_keys.len() as u64;
        self.report.first_fault = contents.first_fault.take();
        self.report.was_clean = Some(meta.clean);
        let restored = restore(contents, self.opening.rules, self.now);
        self.report.counts = restored.counts;
        self.report.age_ms = Some(restored.age_ms);
        let mut opened = if restored.is_too_old {
            self.report.outcome = Outcome::TooOld;
            drop(store);
            self.anew(Some(meta))?
        } else {
            self.report.outcome = Outcome::Warm;
            let identity = StoredMeta { software: self.opening.software.clone(), ..meta.clone() };
            self.opened(Some(Mirror::of(name, store, index, meta)), None, identity)
        };
        opened.applications = restored.applications;
        opened.recovered = Some(RecoveredMark { mono_ms: self.now.mono_ms, wall_ms: self.now.wall_ms });
        opened.start.recovered = opened.recovered;
        opened.start.leftovers = restored.leftovers;
        Ok(opened)
    }

    fn move_aside(&mut self, doubt: &Doubt) -> Result<Opened, String> {
        let wall_ms = self.now.wall_ms;
        let moved = self.in_folder(move |folder, cancelled| folder.move_aside(wall_ms, cancelled));
        let moved_to = moved
            .map_err(|second| format!("{doubt}; then: {second}"))?
            .map_err(|error| format!("{doubt}; it cannot be moved aside either: {error}"))?;
        self.knows_folder = true;
        self.report.outcome = Outcome::Quarantined { why: doubt.to_string(), moved_to };
        self.anew(None)
    }

    /// Goes on with an empty store. The one in use, if there is one, stays until the new one is complete.
    fn anew(&mut self, identity: Option<StoredMeta>) -> Result<Opened, String> {
        let identity = identity.unwrap_or_else(|| self.new_identity());
        let identity = StoredMeta { software: self.opening.software.clone(), ..identity };
        let (opener, wall_ms, meta) = (self.opener(), self.now.wall_ms, identity.clone());
        let made =
            self.in_folder(move |folder, cancelled| make_target(folder, &*opener, meta, wall_ms, cancelled));
        let target = made.map_err(|doubt| doubt.to_string())?.map_err(|error| error.to_string())?;
        Ok(self.opened(None, Some(target), identity))
    }

    fn without_store(&mut self, why: String) -> Opened {
        self.report.outcome = Outcome::Unusable { why: why.clone() };
        self.report.counts = RestoreCounts::default();
        let identity = self.new_identity();
        let mut opened = self.opened(None, None, identity);
        opened.start.problem = Some(why);
        opened
    }

    fn opened(&mut self, current: Option<Mirror>, target: Option<Mirror>, identity: StoredMeta) -> Opened {
        self.report.node_id.clone_from(&identity.node_id);
        self.report.starts = identity.starts + 1;
        let start = Start {
            place: self.opening.place.clone(),
            folder: self.folder.clone(),
            knows_folder: self.knows_folder,
            current,
            target,
            identity,
            leftovers: Leftovers::default(),
            recovered: None,
            problem: None,
        };
        Opened { applications: Vec::new(), recovered: None, report: self.report.clone(), start }
    }

    fn opener(&self) -> Arc<dyn OpenStore> {
        Arc::clone(&self.opening.place.opener)
    }

    fn new_identity(&self) -> StoredMeta {
        let (node_id, software) = (self.opening.new_node_id.clone(), self.opening.software.clone());
        StoredMeta { node_id, software, ..StoredMeta::default() }
    }
}

fn load(
    folder: &DataFolder,
    opener: &dyn OpenStore,
    now: Now,
    cancelled: &Cancelled,
) -> Result<Loaded, Doubt> {
    let name = match folder.find().map_err(|error| StoreError::new("find", error))? {
        Found::Nothing => return Ok(Loaded::Nothing),
        Found::Doubtful(doubt) => return Err(doubt),
        Found::Store(name) => name,
    };
    folder.remove_unless(cancelled, &[name]);
    // Opening makes a store where none is any more.
    cancelled.check().map_err(|error| StoreError::new("open", error))?;
    let store = opener.open(&folder.store_path(name))?;
    let meta = contents::read_meta(&*store)?;
    if !meta.opened {
        drop(store);
        folder.forget(cancelled).map_err(|error| StoreError::new("remove", error))?;
        return Ok(Loaded::NothingKept(meta));
    }
    let contents = contents::read(&*store, now)?;
    Ok(Loaded::Contents(Box::new(contents), name, store))
}
