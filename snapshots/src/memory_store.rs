//! A store in memory, for tests: it can crash, fail and forget on request.
//!
//! It behaves as a careful disk would: what was not flushed is lost by a crash, batches are atomic. Its folders exist on
//! the real disk but stay empty, so that they can be pointed to and moved aside like those of any store.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::store::{Batch, OpenStore, Operation, Store, StoreError, Visitor};

type Values = BTreeMap<Vec<u8>, Vec<u8>>;

/// What is on the disk and what only the running process sees.
#[derive(Clone, Debug, Default)]
struct Contents {
    flushed: Values,
    current: Values,
    /// Bytes ever written, as a disk that never gives space back would show.
    written_bytes: u64,
}

#[derive(Debug, Default)]
struct Disk {
    folders: BTreeMap<PathBuf, Contents>,
    /// So many operations succeed before every further one fails; `None`: all succeed.
    failing_after: Option<u64>,
    reported_size: Option<u64>,
    /// `None`: without end.
    free_bytes: Option<u64>,
    opened: u64,
}

/// A disk in memory. Clones share it, so a test can look at what a store has left there.
#[derive(Clone, Debug, Default)]
pub struct MemoryDisk(Arc<Mutex<Disk>>);

impl MemoryDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Disk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loses what was not flushed, as a loss of power does. The end of a process alone loses nothing.
    pub fn lose_power(&self) {
        for contents in self.lock().folders.values_mut() {
            contents.current = contents.flushed.clone();
        }
    }

    /// Lets so many more operations succeed; all later ones fail, until [`MemoryDisk::repair`].
    pub fn fail_after(&self, operations: u64) {
        self.lock().failing_after = Some(operations);
    }

    /// Ends the failures.
    pub fn repair(&self) {
        self.lock().failing_after = None;
    }

    /// Makes every store report this size.
    pub fn report_size(&self, bytes: u64) {
        self.lock().reported_size = Some(bytes);
    }

    /// Makes the disk say that so much is free; `None`: without end. It takes more all the same, so that a test sees who did
    /// not ask.
    pub fn report_free(&self, bytes: Option<u64>) {
        self.lock().free_bytes = bytes;
    }

    /// How often a store was opened.
    #[must_use]
    pub fn opened(&self) -> u64 {
        self.lock().opened
    }

    /// All values in a folder, flushed or not.
    #[must_use]
    pub fn values(&self, folder: &Path) -> BTreeMap<Vec<u8>, Vec<u8>> {
        self.lock().folders.get(folder).map(|contents| contents.current.clone()).unwrap_or_default()
    }

    /// Changes the values in a folder behind the back of the store: damage.
    pub fn damage(&self, folder: &Path, change: impl FnOnce(&mut BTreeMap<Vec<u8>, Vec<u8>>)) {
        if let Some(contents) = self.lock().folders.get_mut(folder) {
            change(&mut contents.current);
            contents.flushed = contents.current.clone();
        }
    }
}

impl Disk {
    fn count_operation(&mut self, action: &'static str) -> Result<(), StoreError> {
        match &mut self.failing_after {
            Some(0) => Err(StoreError::new(action, "no space left on the disk")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl OpenStore for MemoryDisk {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        let mut disk = self.lock();
        disk.count_operation("open")?;
        std::fs::create_dir_all(folder).map_err(|error| StoreError::new("open", error))?;
        disk.opened += 1;
        disk.folders.entry(folder.to_path_buf()).or_default();
        Ok(Box::new(MemoryStore { disk: self.clone(), folder: folder.to_path_buf() }))
    }

    fn free_bytes(&self, _: &Path) -> Result<u64, StoreError> {
        Ok(self.lock().free_bytes.unwrap_or(u64::MAX))
    }
}

struct MemoryStore {
    disk: MemoryDisk,
    folder: PathBuf,
}

impl MemoryStore {
    fn with<R>(&self, action: &'static str, step: impl FnOnce(&mut Contents) -> R) -> Result<R, StoreError> {
        let mut disk = self.disk.lock();
        disk.count_operation(action)?;
        let contents = disk.folders.get_mut(&self.folder);
        contents.map(step).ok_or_else(|| StoreError::new(action, "the folder is gone"))
    }
}

impl Store for MemoryStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.with("read", |contents| contents.current.get(key).cloned())
    }

    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError> {
        let values = self.with("read", |contents| contents.current.clone())?;
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        for (key, value) in values.range::<[u8], _>((start, Bound::Unbounded)) {
            if !key.starts_with(prefix) || visitor(key, value) == ControlFlow::Break(()) {
                break;
            }
        }
        Ok(())
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.with("write", |contents| {
            for operation in batch.into_operations() {
                match operation {
                    Operation::Put { key, value } => {
                        contents.written_bytes += (key.len() + value.len()) as u64;
                        contents.current.insert(key, value);
                    }
                    Operation::Remove { key } => {
                        contents.current.remove(&key);
                    }
                }
            }
        })
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.with("flush", |contents| contents.flushed = contents.current.clone())
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        self.disk.free_bytes(&self.folder)
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        let reported = self.disk.lock().reported_size;
        self.with("measure", |contents| reported.unwrap_or(contents.written_bytes))
    }

    fn close(mut self: Box<Self>) -> Result<(), StoreError> {
        self.flush()
    }
}
