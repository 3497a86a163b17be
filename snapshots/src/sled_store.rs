//! The store of a node: sled, with what is known of its weak spots kept away from it.
//!
//! One small value per key, small batches, a small cache, no thread of its own that flushes. It may lose or mix values
//! after damage to its files; it never notices, the frames and the seal do.

use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::store::{Batch, OpenStore, Operation, Store, StoreError, Visitor};

/// Bytes of sled's page cache. It is no hard bound: sled counts a page only from its second use on, keeps old pages a while
/// longer, and needs 27 MB besides. With 8 MB the whole takes about 65 MB for 100,000 instances, with 32 MB about 80, and
/// is not slower.
const CACHE_BYTES: u64 = 8 * 1024 * 1024;

/// How long a store that was just closed may take to let go of its files.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_WAIT: Duration = Duration::from_millis(20);

/// Opens sled stores.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sled;

impl OpenStore for Sled {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
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
        let db = opened.map_err(|error| StoreError::new("open", error))?;
        Ok(Box::new(SledStore { db }))
    }
}

/// sled locks its files. Ours is the only process here (`lock_file.rs`), so whoever holds that lock is a thread of sled that
/// has not noticed yet that its store was closed.
fn is_locked(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().contains("could not acquire lock"))
}

struct SledStore {
    db: sled::Db,
}

impl Store for SledStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.db.get(key).map_err(|error| StoreError::new("read", error))?;
        Ok(value.map(|value| value.to_vec()))
    }

    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError> {
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        for pair in self.db.range::<&[u8], _>((start, Bound::Unbounded)) {
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
        self.db.apply_batch(sled_batch).map_err(|error| StoreError::new("write", error))
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.db.flush().map(drop).map_err(|error| StoreError::new("flush", error))
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        self.db.size_on_disk().map_err(|error| StoreError::new("measure", error))
    }

    fn close(mut self: Box<Self>) -> Result<(), StoreError> {
        self.flush()
    }
}
