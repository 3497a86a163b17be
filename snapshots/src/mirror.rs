//! An open store of which every key is known, written in batches that each carry their own proof.
//!
//! After an error it must be dropped: what the store holds then is unknown, and only a new scan can tell.

use crate::folder::{DataFolder, StoreName};
use crate::frame;
use crate::key::Key;
use crate::limited::caught;
use crate::room;
use crate::seal::Index;
use crate::store::{Batch, OpenStore, Operation, Store, StoreError, Visitor};
use crate::stored::{StoredMeta, to_payload};

/// A change of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Puts a payload, not framed yet.
    Put {
        /// Key.
        key: Vec<u8>,
        /// Payload.
        payload: Vec<u8>,
    },
    /// Removes a key, known or not.
    Remove {
        /// Key.
        key: Vec<u8>,
    },
}

/// A store and what is in it.
pub struct Mirror {
    name: StoreName,
    store: Box<dyn Store>,
    index: Index,
    meta: StoredMeta,
    batch: Batch,
    /// Bytes of frames written since it was opened.
    written_bytes: u64,
}

impl Mirror {
    /// Makes an empty store with a first record that says so. Of `meta`, identity and software count.
    ///
    /// # Errors
    /// If the disk or the store refuses.
    pub fn create(
        folder: &DataFolder,
        opener: &dyn OpenStore,
        meta: StoredMeta,
        wall_ms: i64,
    ) -> Result<Self, StoreError> {
        room::require("make", opener.free_bytes(folder.path())?, room::needed_for(0))?;
        let name = folder.unused_name().map_err(|error| StoreError::new("make", error))?;
        let store = guarded("open", || opener.open(&folder.store_path(name)))?;
        let meta = StoredMeta { opened: false, clean: false, generation: 0, ..meta };
        let mut mirror = Self::of(name, store, Index::default(), meta);
        mirror.commit(wall_ms)?;
        mirror.flush()?;
        Ok(mirror)
    }

    /// A store that has been scanned.
    pub(crate) fn of(name: StoreName, store: Box<dyn Store>, index: Index, meta: StoredMeta) -> Self {
        Self { name, store, index, meta, batch: Batch::default(), written_bytes: 0 }
    }

    /// Closes the store and opens it again, which gives back the memory that a scan or many writes have filled.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn reopen(&mut self, folder: &DataFolder, opener: &dyn OpenStore) -> Result<(), StoreError> {
        let store = std::mem::replace(&mut self.store, Box::new(Closed));
        guarded("close", || store.close())?;
        self.store = guarded("open", || opener.open(&folder.store_path(self.name)))?;
        self.written_bytes = 0;
        Ok(())
    }

    /// Takes in changes that belong together; commits first if they do not fit into the batch any more. Returns how many
    /// values were too large: nothing stands under their keys then.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn stage(&mut self, edits: &[Edit], wall_ms: i64) -> Result<u64, StoreError> {
        // One more for the record that describes the store.
        if !self.batch.has_room_for(edits.len() + 1) {
            self.commit(wall_ms)?;
        }
        Ok(edits.iter().map(|edit| u64::from(!self.stage_one(edit))).sum())
    }

    fn stage_one(&mut self, edit: &Edit) -> bool {
        if let Edit::Put { key, payload } = edit
            && let Some(value) = frame::wrap(key, self.meta.generation + 1, payload)
        {
            self.index.put(key, &value);
            self.written_bytes += value.len() as u64;
            self.batch.push(Operation::Put { key: key.clone(), value });
            return true;
        }
        let (Edit::Put { key, .. } | Edit::Remove { key }) = edit;
        self.index.remove(key);
        self.batch.push(Operation::Remove { key: key.clone() });
        matches!(edit, Edit::Remove { .. })
    }

    /// Writes what was staged, with the seal and the time; also if nothing was.
    ///
    /// # Errors
    /// If the store refuses.
    pub fn commit(&mut self, wall_ms: i64) -> Result<(), StoreError> {
        let seal = self.index.seal();
        self.meta.generation += 1;
        self.meta.saved_timestamp = wall_ms;
        (self.meta.keys, self.meta.seal) = (seal.keys, seal.sum);
        let key = Key::Meta.to_bytes().unwrap_or_default();
        let payload = to_payload(&self.meta).map_err(|error| StoreError::new("write", error))?;
        let value = frame::wrap(&key, self.meta.generation, &payload);
        let value = value.ok_or_else(|| StoreError::new("write", "the node id is too long"))?;
        self.batch.push(Operation::Put { key, value });
        let batch = std::mem::take(&mut self.batch);
        self.require_room("write", batch.bytes() as u64)?;
        guarded("write", || self.store.apply(batch))
    }

    /// Returns when everything committed survives a crash.
    ///
    /// # Errors
    /// If the store cannot promise that.
    pub fn flush(&mut self) -> Result<(), StoreError> {
        self.require_room("flush", 0)?;
        guarded("flush", || self.store.flush())
    }

    fn require_room(&self, action: &'static str, bytes: u64) -> Result<(), StoreError> {
        room::require(action, self.store.free_bytes()?, room::needed_for(bytes))
    }

    /// Commits once more with the given mark, flushes and closes.
    ///
    /// # Errors
    /// If the last changes may be lost.
    pub fn close(mut self, is_clean: bool, wall_ms: i64) -> Result<(), StoreError> {
        self.meta.clean = is_clean;
        self.commit(wall_ms)?;
        guarded("close", || self.store.close())
    }

    /// Says whether the contents stand for a registry that had opened for traffic. Counts from the next commit.
    pub const fn set_opened(&mut self, opened: bool) {
        self.meta.opened = opened;
    }

    /// Says that this node runs, for the time that its identity counts. Counts from the next commit.
    pub fn set_running(&mut self, identity: &StoredMeta) {
        self.meta.clean = false;
        self.meta.starts = identity.starts;
        self.meta.software.clone_from(&identity.software);
    }

    /// What the store says of itself.
    #[must_use]
    pub const fn meta(&self) -> &StoredMeta {
        &self.meta
    }

    /// Which store it is.
    #[must_use]
    pub const fn name(&self) -> StoreName {
        self.name
    }

    /// Bytes written since it was opened.
    #[must_use]
    pub const fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// What is in it.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// The store, to read from it. Staged changes are not in it yet.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Bytes on the disk.
    ///
    /// # Errors
    /// If they cannot be measured.
    pub fn size_on_disk(&self) -> Result<u64, StoreError> {
        guarded("measure", || self.store.size_on_disk())
    }
}

/// What is left of a store that did not open again.
struct Closed;

impl Closed {
    fn refusal<T>() -> Result<T, StoreError> {
        Err(StoreError::new("use", "it did not open again"))
    }
}

impl Store for Closed {
    fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Self::refusal()
    }

    fn visit(&self, _: &[u8], _: &[u8], _: &mut Visitor<'_>) -> Result<(), StoreError> {
        Self::refusal()
    }

    fn apply(&mut self, _: Batch) -> Result<(), StoreError> {
        Self::refusal()
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        Self::refusal()
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        Self::refusal()
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        Self::refusal()
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Self::refusal()
    }
}

/// Store libraries panic where they should refuse; the writer must outlive that.
fn guarded<T>(action: &'static str, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    caught(work).unwrap_or_else(|doubt| Err(StoreError::new(action, doubt)))
}
