//! The store of a node: sled, with what is known of its weak spots kept away from it.
//!
//! One small value per key, small batches, a small cache, no thread of its own that flushes. It may lose or mix values
//! after damage to its files; it never notices, the frames and the seal do. It must not meet a full disk, which `mirror.rs`
//! keeps away from it.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::limited::drop_aside;
use crate::room;
use crate::store::{Batch, OpenStore, Operation, Store, StoreError, Visitor};

/// Bytes of sled's page cache. It is no hard bound: sled counts a page only from its second use on, keeps old pages a while
/// longer, and needs 27 MB besides. With 8 MB the whole takes about 65 MB for 100,000 instances, with 32 MB about 80, and
/// is not slower.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;

/// Where sled keeps what it is given.
const DATA_FILE: &str = "db";
/// Where sled keeps how it does so.
const SETTINGS_FILE: &str = "conf";

/// How long a store that was just closed may take to let go of its files.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// How long a store that has not failed may take to close. Nothing is lost if it takes longer: it was flushed.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);
/// Stores that have failed and are being closed, or never will be. One that hangs may hold a lock that all stores of the
/// process share, so none is opened beside it: better no snapshots, and a word why, than a writer that hangs.
static CLOSING: AtomicUsize = AtomicUsize::new(0);

/// Opens sled stores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sled;

impl OpenStore for Sled {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        wait_for_others_to_close()?;
        remove_unfinished_summaries(folder)?;
        let config = sled::Config::new()
            .path(folder)
            .cache_capacity(CACHE_BYTES)
            .flush_every_ms(None)
            .use_compression(false)
            .print_profile_on_drop(false);
        let mut opened = config.open();
        for _ in 0..LOCK_ATTEMPTS {
            if !opened.as_ref().is_err_and(is_locked) {
                break;
            }
            thread::sleep(LOCK_WAIT);
            opened = config.open();
        }
        let db = opened.map_err(|error| match is_locked(&error) {
            true => StoreError::busy("open", error),
            false => StoreError::new("open", error),
        })?;
        let data = File::open(folder.join(DATA_FILE)).map_err(|error| StoreError::new("open", error))?;
        let folder = folder.to_path_buf();
        Ok(Box::new(SledStore { db: Some(db), folder, data, is_placed: false, has_failed: false }))
    }

    fn free_bytes(&self, folder: &Path) -> Result<u64, StoreError> {
        room::free_bytes(folder)
    }
}

fn wait_for_others_to_close() -> Result<(), StoreError> {
    for _ in 0..LOCK_ATTEMPTS {
        if CLOSING.load(Ordering::SeqCst) == 0 {
            return Ok(());
        }
        thread::sleep(LOCK_WAIT);
    }
    Err(StoreError::busy("open", "a store that failed cannot be closed; a restart of the node helps"))
}

/// sled locks its files. Ours is the only node here (`lock_file.rs`), so whoever holds that lock is a thread of sled that has
/// not noticed yet that its store was closed, or a tool.
fn is_locked(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().contains("could not acquire lock"))
}

/// A summary of a store that was being written when the process ended or the disk was full. sled takes it for a whole one,
/// and refuses the store; it does without. Nobody else may have the store open, who might be writing that summary.
fn remove_unfinished_summaries(folder: &Path) -> Result<(), StoreError> {
    let Ok(data) = File::open(folder.join(DATA_FILE)) else { return Ok(()) };
    wait_for_lock(&data)?;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            // If it stays, opening fails and says why.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Takes the lock of sled's file, for as long as that is open.
fn wait_for_lock(data: &File) -> Result<(), StoreError> {
    for _ in 0..LOCK_ATTEMPTS {
        match data.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => thread::sleep(LOCK_WAIT),
            // sled will say why.
            Err(TryLockError::Error(_)) => return Ok(()),
        }
    }
    Err(StoreError::busy(
        "open",
        "another process, or a store that failed and was not closed, has its files open",
    ))
}

struct SledStore {
    /// Always there, but for the moment in which this is dropped.
    db: Option<sled::Db>,
    folder: PathBuf,
    /// The file that sled writes to.
    data: File,
    /// The files are known to be in their folder after a loss of power.
    is_placed: bool,
    /// It may hang when it is closed.
    has_failed: bool,
}

impl SledStore {
    fn db(&self) -> Result<&sled::Db, StoreError> {
        self.db.as_ref().ok_or_else(|| StoreError::new("use", "it is closed"))
    }

    /// Takes note if an action has failed.
    fn noted<T>(
        &mut self,
        action: &'static str,
        result: Result<T, impl fmt::Display>,
    ) -> Result<T, StoreError> {
        self.has_failed |= result.is_err();
        result.map_err(|error| StoreError::new(action, error))
    }

    /// sled asks the system to write the data out, but neither for the length of the file nor past the disk's own cache.
    fn sync(&mut self) -> io::Result<()> {
        self.data.sync_data()?;
        if !self.is_placed {
            File::open(self.folder.join(SETTINGS_FILE))?.sync_all()?;
            File::open(&self.folder)?.sync_all()?;
            self.is_placed = true;
        }
        Ok(())
    }
}

impl Store for SledStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.db()?.get(key).map_err(|error| StoreError::new("read", error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError> {
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        for pair in self.db()?.range::<&[u8], _>((start, Bound::Unbounded)) {
            let (key, value) = pair.map_err(|error| StoreError::new("read", error))?;
            if !key.starts_with(prefix) || visitor(&key, &value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut sled_batch = sled::Batch::default();
        for operation in batch.into_operations() {
            match operation {
                Operation::Put { key, value } => sled_batch.insert(key, value),
                Operation::Remove { key } => sled_batch.remove(key),
            }
        }
        // Should it panic, it has failed.
        let had_failed = std::mem::replace(&mut self.has_failed, true);
        let applied = self.db()?.apply_batch(sled_batch);
        self.has_failed = had_failed;
        self.noted("write", applied)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let had_failed = std::mem::replace(&mut self.has_failed, true);
        let flushed = self.db()?.flush();
        self.has_failed = had_failed;
        self.noted("flush", flushed)?;
        let synced = self.sync();
        self.noted("flush", synced)
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        room::free_bytes(&self.folder)
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        self.db()?.size_on_disk().map_err(|error| StoreError::new("measure", error))
    }

    fn close(mut self: Box<Self>) -> Result<(), StoreError> {
        self.flush()
    }
}

/// sled writes out what it still has when it is closed. If its files have failed, most of all in a full disk, it may wait
/// for ever for that.
impl Drop for SledStore {
    fn drop(&mut self) {
        struct Counted(usize);
        impl Drop for Counted {
            fn drop(&mut self) {
                CLOSING.fetch_sub(self.0, Ordering::SeqCst);
            }
        }
        let failed = usize::from(self.has_failed);
        CLOSING.fetch_add(failed, Ordering::SeqCst);
        let patience = if self.has_failed { Duration::ZERO } else { CLOSE_PATIENCE };
        // Dropped in this order, also if closing panics.
        drop_aside((self.db.take(), Counted(failed)), patience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_somebody_has_open_is_busy_and_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let open = Sled.open(folder.path()).unwrap();
        let summary = folder.path().join("snap.00000000FFFFFFFF.generating");
        fs::write(&summary, "half a summ").unwrap();
        let refused = Sled.open(folder.path()).err().unwrap();
        assert!(refused.is_busy, "{refused}");
        assert!(summary.exists(), "it may be being written");
        drop(open);
        drop(Sled.open(folder.path()).unwrap());
        assert!(!summary.exists());
    }
}
