//! What the rest of this crate asks of a store: ordered keys, atomic batches, an explicit flush. No more, so that the
//! store can be replaced.
//!
//! A store is trusted with nothing: whatever it hands back is checked again (`frame.rs`, `seal.rs`).

use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;

use thiserror::Error;

/// Most keys of one batch. Larger batches cost memory and long pauses in sled.
pub const MAX_BATCH_KEYS: usize = 500;
/// Bytes after which a batch is full, whatever its keys are: it is held in memory, and room for it must be free.
pub const MAX_BATCH_BYTES: usize = 1024 * 1024;

/// What went wrong below. A repetition may help after the cause (disk full, folder gone) has ended, never at once.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot {action} the snapshot store: {cause}")]
pub struct StoreError {
    /// What was tried: `open`, `read`, `write`, `flush`, ...
    pub action: &'static str,
    /// Words of the store or of the system.
    pub cause: String,
    /// Somebody has the store open: another process, or one that failed and cannot be closed. Nothing is wrong with it.
    pub is_busy: bool,
}

impl StoreError {
    /// An error of an action.
    pub fn new(action: &'static str, cause: impl fmt::Display) -> Self {
        Self { action, cause: cause.to_string(), is_busy: false }
    }

    /// An error of an action on a store that somebody else has open.
    pub fn busy(action: &'static str, cause: impl fmt::Display) -> Self {
        Self { is_busy: true, ..Self::new(action, cause) }
    }
}

/// Changes that happen together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    operations: Vec<Operation>,
    bytes: usize,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Puts a value under a key.
    Put {
        /// Key.
        key: Vec<u8>,
        /// Value, a whole frame.
        value: Vec<u8>,
    },
    /// Removes a key, if it is there.
    Remove {
        /// Key.
        key: Vec<u8>,
    },
}

impl Batch {
    /// Adds a change, whether or not there is room.
    pub fn push(&mut self, operation: Operation) {
        self.bytes += match &operation {
            Operation::Put { key, value } => key.len() + value.len(),
            Operation::Remove { key } => key.len(),
        };
        self.operations.push(operation);
    }

    /// The changes in order.
    #[must_use]
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Gives the changes away, in order.
    #[must_use]
    pub fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// True if so many more keys may be added.
    #[must_use]
    pub fn has_room_for(&self, keys: usize) -> bool {
        self.operations.len() + keys <= MAX_BATCH_KEYS && self.bytes < MAX_BATCH_BYTES
    }

    /// Bytes of all keys and values.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if there is no change.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }
}

/// Called with each key and value in order of the keys; [`ControlFlow::Break`] ends the visit.
pub type Visitor<'v> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'v;

/// An open store. Dropping it never waits for a disk that hangs. After an error it must not be used any more: what it holds then is unknown.
pub trait Store: Send {
    /// The value of a key.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Visits all keys that begin with `prefix` and are greater than `after`, in order.
    ///
    /// # Errors
    /// If the store cannot be read to the end.
    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError>;

    /// Applies a batch: all of it, or nothing.
    ///
    /// # Errors
    /// If it cannot be written.
    fn apply(&mut self, batch: Batch) -> Result<(), StoreError>;

    /// Returns when all batches applied before survive a crash.
    ///
    /// # Errors
    /// If that cannot be promised.
    fn flush(&mut self) -> Result<(), StoreError>;

    /// Bytes that may still be written to the disk, by whomever.
    ///
    /// # Errors
    /// If the folder of the store is gone.
    fn free_bytes(&self) -> Result<u64, StoreError>;

    /// Bytes on the disk.
    ///
    /// # Errors
    /// If the files cannot be measured.
    fn size_on_disk(&self) -> Result<u64, StoreError>;

    /// Flushes and closes.
    ///
    /// # Errors
    /// If the last changes may be lost.
    fn close(self: Box<Self>) -> Result<(), StoreError>;
}

/// Opens stores of one kind.
pub trait OpenStore: Send + Sync {
    /// Opens the store in a folder of its own, which is made if there is none.
    ///
    /// # Errors
    /// If that is impossible.
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError>;

    /// Bytes that may still be written to the disk of a folder.
    ///
    /// # Errors
    /// If the folder is gone.
    fn free_bytes(&self, folder: &Path) -> Result<u64, StoreError>;
}
