//! The folder of one node: a lock, a pointer to the store in use, the store, and stores that were moved aside.
//!
//! ```text
//! heureka-data/
//!   LOCK                                       who uses the folder
//!   CURRENT                                    names the store in use
//!   store-7/                                   that store
//!   store-3.quarantine-1750000000000/          moved aside because something was wrong with it
//! ```
//!
//! A store that nothing points to was being made when the process ended; it is removed. Whoever changes the pointer
//! writes a new one beside it and renames it, so that it always names one whole store.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::doubt::Doubt;
use crate::failure_points::{FailurePoints, Step};
use crate::frame::FORMAT;
use crate::limited::Cancelled;
use crate::lock_file::{Holder, LockError, LockFile};

const POINTER: &str = "CURRENT";
const NEW_POINTER: &str = "CURRENT.new";
const PROBE: &str = "PROBE";
/// More than a store needs to open.
const PROBE_BYTES: usize = 2 * 1024 * 1024;
const STORE_PREFIX: &str = "store-";
pub(crate) const QUARANTINE_MARK: &str = ".quarantine-";
/// How many stores in doubt are kept for people to look at.
pub const QUARANTINES_KEPT: usize = 3;

/// A folder that this process has locked.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    failure_points: Arc<dyn FailurePoints>,
    /// Number of the last store that was given a name here: one that hangs may still write to files of its name.
    last_number: AtomicU64,
    lock: LockFile,
}

/// What is in the folder at start.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing: the first start here.
    Nothing,
    /// A store.
    Store(StoreName),
    /// Stores of which none may be used.
    Doubtful(Doubt),
}

/// Name of a store: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StoreName(pub u64);

impl StoreName {
    fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(STORE_PREFIX)?.parse().ok().map(Self)
    }

    /// The name of the store that a path leads to; `None` if it leads to something else, also to one that was moved aside.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        Self::parse(path.file_name()?.to_str()?)
    }

    fn text(self) -> String {
        format!("{STORE_PREFIX}{}", self.0)
    }
}

impl DataFolder {
    /// Makes the folder if there is none, and locks it.
    ///
    /// # Errors
    /// [`LockError`] if another process has it or the disk does not take part.
    pub fn lock(path: &Path, me: &Holder, failure_points: Arc<dyn FailurePoints>) -> Result<Self, LockError> {
        make_private(path)?;
        let lock = LockFile::acquire(path, me)?;
        Ok(Self { path: path.to_path_buf(), failure_points, last_number: AtomicU64::new(0), lock })
    }

    /// False if the folder is no longer the one that was locked: another process may have what is there now.
    ///
    /// # Errors
    /// If it cannot be looked at, which says nothing about whose it is.
    pub fn is_held(&self) -> io::Result<bool> {
        self.lock.is_of(&self.path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a store is.
    #[must_use]
    pub fn store_path(&self, name: StoreName) -> PathBuf {
        self.path.join(name.text())
    }

    /// Which store is in use.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn find(&self) -> io::Result<Found> {
        let text = match fs::read(self.path.join(POINTER)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.stores()?.is_empty() => {
                return Ok(Found::Nothing);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Found::Doubtful(Doubt::NoPointer));
            }
            Err(error) => return Err(error),
        };
        Ok(match parse_pointer(&text) {
            Err(doubt) => Found::Doubtful(doubt),
            Ok(name) if !self.store_path(name).is_dir() => Found::Doubtful(Doubt::NoStore),
            Ok(name) => Found::Store(name),
        })
    }

    /// True if there is a pointer, whatever it says.
    #[must_use]
    pub fn has_pointer(&self) -> bool {
        self.path.join(POINTER).exists()
    }

    /// Finds out whether the disk takes anything at the moment.
    ///
    /// # Errors
    /// If it does not: then a failure of a store says nothing about that store.
    pub fn probe(&self) -> io::Result<()> {
        let path = self.path.join(PROBE);
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(&vec![0x5A; PROBE_BYTES])?;
            file.sync_all()
        });
        let removed = fs::remove_file(&path);
        written.and(removed)
    }

    /// Name for a store that does not exist yet, and never did.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn unused_name(&self) -> io::Result<StoreName> {
        let numbers = self.entries()?.into_iter().filter_map(|entry| {
            let name = entry.split(QUARANTINE_MARK).next()?;
            StoreName::parse(name).map(|name| name.0)
        });
        let number = numbers.max().unwrap_or(0) + 1;
        let given = self.last_number.fetch_max(number, Ordering::SeqCst);
        // Nobody else gives names in this folder.
        let number =
            if given < number { number } else { self.last_number.fetch_add(1, Ordering::SeqCst) + 1 };
        Ok(StoreName(number))
    }

    /// Makes a store the one in use. Atomic: a crash leaves the old pointer or the new one.
    ///
    /// # Errors
    /// If the disk refuses; the old pointer then counts.
    pub fn point_to(&self, name: StoreName) -> io::Result<()> {
        let new = self.path.join(NEW_POINTER);
        let mut file = File::create(&new)?;
        file.write_all(pointer_text(name).as_bytes())?;
        file.sync_all()?;
        self.failure_points.reach(Step::PointerWritten)?;
        fs::rename(&new, self.path.join(POINTER))?;
        File::open(&self.path)?.sync_all()?;
        self.failure_points.reach(Step::PointerMoved)
    }

    /// Removes stores that nothing points to. What cannot be removed stays for the next time.
    pub fn remove_all_but(&self, used: &[StoreName]) {
        self.remove_unless(&Cancelled::default(), used);
    }

    /// The same for as long as somebody waits for it.
    pub fn remove_unless(&self, cancelled: &Cancelled, used: &[StoreName]) {
        let stores = self.stores().unwrap_or_default();
        for name in stores.into_iter().filter(|name| !used.contains(name)) {
            // Listing may have taken long, and some of what was listed may be of those who went on.
            if cancelled.check().is_err() {
                return;
            }
            let _ = fs::remove_dir_all(self.store_path(name));
        }
    }

    /// Removes the pointer and all stores: nothing in them is worth keeping.
    ///
    /// # Errors
    /// If the pointer cannot be removed, or nobody waits for it any more.
    pub fn forget(&self, cancelled: &Cancelled) -> io::Result<()> {
        cancelled.check()?;
        fs::remove_file(self.path.join(POINTER))?;
        self.remove_unless(cancelled, &[]);
        Ok(())
    }

    /// Moves all stores aside, and forgets the pointer. Returns where the newest went.
    ///
    /// # Errors
    /// If the disk refuses: then nothing in this folder can be used. Or if nobody waits for it any more.
    pub fn move_aside(&self, wall_ms: i64, cancelled: &Cancelled) -> io::Result<Option<PathBuf>> {
        let mut newest = None;
        let mut stores = self.stores()?;
        stores.sort_unstable();
        for name in stores {
            let aside = self.aside_path(name, wall_ms);
            cancelled.check()?;
            fs::rename(self.store_path(name), &aside)?;
            newest = Some(aside);
        }
        cancelled.check()?;
        // Last: if a store cannot be moved, the pointer to it must stay.
        match fs::remove_file(self.path.join(POINTER)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.prune_quarantines();
        self.failure_points.reach(Step::MovedAside)?;
        Ok(newest)
    }

    /// Moves aside all stores but the one in use, as far as that is possible. Returns where the newest went.
    pub fn move_aside_all_but(&self, used: StoreName, wall_ms: i64) -> Option<PathBuf> {
        let mut stores = self.stores().unwrap_or_default();
        stores.retain(|name| *name != used);
        stores.sort_unstable();
        let moved = stores.into_iter().filter_map(|name| {
            let aside = self.aside_path(name, wall_ms);
            fs::rename(self.store_path(name), &aside).is_ok().then_some(aside)
        });
        let newest = moved.last();
        self.prune_quarantines();
        newest
    }

    fn aside_path(&self, name: StoreName, wall_ms: i64) -> PathBuf {
        self.path.join(format!("{}{QUARANTINE_MARK}{wall_ms}", name.text()))
    }

    /// The failure points of this run.
    pub fn failure_points(&self) -> &dyn FailurePoints {
        &*self.failure_points
    }

    fn prune_quarantines(&self) {
        let entries = self.entries().unwrap_or_default();
        // The numbers of stores only grow; a clock may have run ahead.
        let rank = |entry: &str| {
            let (store, wall_ms) = entry.split_once(QUARANTINE_MARK)?;
            Some((StoreName::parse(store)?, wall_ms.parse::<i64>().ok()?))
        };
        let mut quarantines: Vec<_> =
            entries.into_iter().filter_map(|entry| Some((rank(&entry)?, entry))).collect();
        quarantines.sort_unstable_by(|a, b| b.cmp(a));
        for (_, entry) in quarantines.into_iter().skip(QUARANTINES_KEPT) {
            let _ = fs::remove_dir_all(self.path.join(entry));
        }
    }

    /// All stores, in no order.
    pub(crate) fn stores(&self) -> io::Result<Vec<StoreName>> {
        Ok(self.entries()?.iter().filter_map(|entry| StoreName::parse(entry)).collect())
    }

    fn entries(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| entry.map(|entry| entry.file_name()));
        names.map(|name| name.map(|name| name.to_string_lossy().into_owned())).collect()
    }
}

/// Makes a folder that only its owner may read: metadata of instances may hold passwords.
fn make_private(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// `heureka-snapshots FORMAT NAME CRC`, where the checksum covers the text before it.
fn pointer_text(name: StoreName) -> String {
    let text = format!("heureka-snapshots {FORMAT} {}", name.text());
    format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()))
}

fn parse_pointer(bytes: &[u8]) -> Result<StoreName, Doubt> {
    let parse = || {
        let line = str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (text, checksum) = line.rsplit_once(' ')?;
        let is_whole = u32::from_str_radix(checksum, 16).ok()? == crc32fast::hash(text.as_bytes());
        let (format, name) = text.strip_prefix("heureka-snapshots ")?.split_once(' ')?;
        is_whole.then_some((format.parse::<u16>().ok()?, name.to_owned()))
    };
    match parse() {
        Some((format, _)) if format > FORMAT => Err(Doubt::NewerFormat(format)),
        Some((_, name)) => StoreName::parse(&name).ok_or(Doubt::DamagedPointer),
        None => Err(Doubt::DamagedPointer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure_points::NoFailures;

    fn folder(path: &Path) -> DataFolder {
        let me = Holder { pid: 1, host: "x".into(), started_wall_ms: 0 };
        DataFolder::lock(path, &me, Arc::new(NoFailures)).unwrap()
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_pointer_names_the_store_in_use() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        assert_eq!(folder.find().unwrap(), Found::Nothing);
        let name = folder.unused_name().unwrap();
        fs::create_dir(folder.store_path(name)).unwrap();
        assert_eq!(folder.find().unwrap(), Found::Doubtful(Doubt::NoPointer));
        folder.point_to(name).unwrap();
        assert_eq!(folder.find().unwrap(), Found::Store(name));
        let next = folder.unused_name().unwrap();
        assert!(next > name);
        folder.point_to(next).unwrap();
        assert_eq!(folder.find().unwrap(), Found::Doubtful(Doubt::NoStore));
    }

    #[test]
    fn every_damage_to_the_pointer_is_noticed() {
        let good = pointer_text(StoreName(7));
        assert_eq!(parse_pointer(good.as_bytes()), Ok(StoreName(7)));
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone().into_bytes();
            bad[bit / 8] ^= 1 << (bit % 8);
            let is_other_case = good.to_uppercase().as_bytes()[bit / 8] == bad[bit / 8];
            assert!(parse_pointer(&bad).is_err() || is_other_case, "bit {bit}: {bad:?}");
        }
        for length in 0..good.len() {
            assert_eq!(parse_pointer(&good.as_bytes()[..length]), Err(Doubt::DamagedPointer), "{length}");
        }
    }

    #[test]
    fn a_pointer_of_a_later_version_is_refused_by_name() {
        let text = format!("heureka-snapshots {} store-1", FORMAT + 1);
        let line = format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()));
        assert_eq!(parse_pointer(line.as_bytes()), Err(Doubt::NewerFormat(FORMAT + 1)));
    }

    #[test]
    fn a_probe_leaves_nothing_and_fails_without_a_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        folder.probe().unwrap();
        assert_eq!(names(dir.path()), ["LOCK"]);
        fs::remove_dir_all(dir.path()).unwrap();
        assert!(folder.probe().is_err());
    }

    #[test]
    fn stores_in_doubt_are_kept_but_not_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        for round in 1..=5_u64 {
            let name = folder.unused_name().unwrap();
            assert_eq!(name, StoreName(round), "numbers are never used again");
            fs::create_dir(folder.store_path(name)).unwrap();
            folder.point_to(name).unwrap();
            let aside = folder
                .move_aside(1000 + i64::try_from(round).unwrap(), &Cancelled::default())
                .unwrap()
                .unwrap();
            assert!(aside.ends_with(format!("store-{round}.quarantine-{}", 1000 + round)));
            assert_eq!(folder.find().unwrap(), Found::Nothing);
        }
        let kept = ["LOCK", "store-3.quarantine-1003", "store-4.quarantine-1004", "store-5.quarantine-1005"];
        assert_eq!(names(dir.path()), kept);
    }

    #[test]
    fn the_store_that_was_just_moved_aside_is_kept_whatever_the_clock_says() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        for name in
            ["store-1.quarantine-9001", "store-2.quarantine-9002", "store-3.quarantine-9003", "store-4"]
        {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        assert!(folder.move_aside(17, &Cancelled::default()).unwrap().unwrap().is_dir());
        let kept = ["LOCK", "store-2.quarantine-9002", "store-3.quarantine-9003", "store-4.quarantine-17"];
        assert_eq!(names(dir.path()), kept);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_folder_is_private() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let _folder = folder(&path);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_stores_that_nothing_points_to_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        for name in ["store-1", "store-2", "store-1.quarantine-5", "other"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        folder.remove_all_but(&[StoreName(2)]);
        assert_eq!(names(dir.path()), ["LOCK", "other", "store-1.quarantine-5", "store-2"]);
    }

    #[test]
    fn who_was_left_behind_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        for name in ["store-1", "store-2"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        folder.point_to(StoreName(2)).unwrap();
        let before = names(dir.path());
        let cancelled = Cancelled::default();
        cancelled.set();
        folder.remove_unless(&cancelled, &[StoreName(1)]);
        assert!(folder.forget(&cancelled).is_err() && folder.move_aside(5, &cancelled).is_err());
        assert_eq!(names(dir.path()), before);
    }
}
