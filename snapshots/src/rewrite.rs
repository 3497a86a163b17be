//! A store that is being made to take the place of another: copied slice by slice, while changes go to both.
//!
//! Until it is complete nothing points to it and it says of itself that it is not. A crash at any moment leaves the old
//! store, or the new one, never a mixture.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::vec;

use foldhash::quality::RandomState;
use heureka_registry::Record;

use crate::contents::Owner;
use crate::failure_points::Step;
use crate::folder::DataFolder;
use crate::frame;
use crate::key::Kind;
use crate::limited::Cancelled;
use crate::mirror::{Edit, Mirror};
use crate::pending::{Latest, rough_bytes};
use crate::store::{OpenStore, StoreError};
use crate::stored::StoredMeta;

/// Keys that one slice copies.
const SLICE_KEYS: usize = 400;
/// Bytes after which a slice ends, whatever its keys are. Plain records reach the keys first.
const SLICE_BYTES: usize = 1024 * 1024;

/// Everything that a complete store holds, but for what it says of itself.
pub const ALL_KINDS: &[Kind] = &[Kind::Instance, Kind::Override, Kind::Seen, Kind::Tombstone];
/// What records do not tell.
pub const BESIDE_RECORDS: &[Kind] = &[Kind::Override, Kind::Seen, Kind::Tombstone];

/// A rewrite under way.
pub struct Rewrite {
    /// The new store.
    pub target: Mirror,
    copy: Option<Cursor>,
    records: Option<vec::IntoIter<Arc<Record>>>,
    is_from_records: bool,
    /// What has changed since the records were taken: newer than they are.
    changed: HashSet<Owner, RandomState>,
    /// Keys that have changed while a store that lacks changes is copied: newer than what stands there.
    edited: HashSet<Vec<u8>, RandomState>,
}

struct Cursor {
    kinds: &'static [Kind],
    after: Vec<u8>,
}

impl Rewrite {
    /// A rewrite that copies these kinds of keys from the store in use, and then takes in these records.
    pub fn new(target: Mirror, kinds: &'static [Kind], records: Option<Vec<Arc<Record>>>) -> Self {
        let copy = (!kinds.is_empty()).then(|| Cursor { kinds, after: Vec::new() });
        let is_from_records = records.is_some();
        Self {
            target,
            copy,
            records: records.map(Vec::into_iter),
            is_from_records,
            changed: HashSet::default(),
            edited: HashSet::default(),
        }
    }

    /// True if it makes good what the store in use lacks.
    pub const fn is_from_records(&self) -> bool {
        self.is_from_records
    }

    /// Takes note that something newer than the records has been written.
    pub fn note_change(&mut self, owner: &Owner) {
        if self.records.is_some() {
            self.changed.insert(owner.clone());
        }
    }

    /// Takes note of keys that were written to the new store. The one in use gets them too, unless it lacks changes.
    pub fn note_edits(&mut self, edits: &[Edit]) {
        if self.is_from_records && self.copy.is_some() {
            let key = |edit: &Edit| match edit {
                Edit::Put { key, .. } | Edit::Remove { key } => key.clone(),
            };
            self.edited.extend(edits.iter().map(key));
        }
    }

    /// True if nothing is left to copy.
    pub const fn is_exhausted(&self) -> bool {
        self.copy.is_none() && self.records.is_none()
    }

    /// Copies the next slice from the store in use. Everything staged there must have been committed; what it
    /// does not get since it lacks changes is left as it is.
    ///
    /// # Errors
    /// If a store refuses or the one in use is damaged.
    pub fn copy_slice(&mut self, from: &Mirror, wall_ms: i64) -> Result<(), StoreError> {
        let Some(cursor) = &mut self.copy else { return Ok(()) };
        let mut slice = Slice::default();
        for kind in cursor.kinds {
            slice.read(from, *kind, &cursor.after)?;
            if slice.is_full() {
                break;
            }
        }
        match slice.edits.last() {
            Some(Edit::Put { key, .. }) if slice.is_full() => cursor.after.clone_from(key),
            _ => self.copy = None,
        }
        for edit in slice.edits {
            if !matches!(&edit, Edit::Put { key, .. } if self.edited.contains(key)) {
                self.target.stage(&[edit], wall_ms)?;
            }
        }
        if self.copy.is_none() {
            self.edited = HashSet::default();
        }
        // Batches are counted in keys; so large ones must not gather in memory.
        if slice.bytes >= SLICE_BYTES { self.target.commit(wall_ms) } else { Ok(()) }
    }

    /// The next records to take in, once everything has been copied. Those that have changed since are left out.
    pub fn next_records(&mut self) -> Vec<(Owner, Latest)> {
        if self.copy.is_some() {
            return Vec::new();
        }
        let Some(records) = &mut self.records else { return Vec::new() };
        let (mut slice, mut bytes, mut is_over) = (Vec::new(), 0, false);
        while slice.len() < SLICE_KEYS && bytes < SLICE_BYTES && !is_over {
            let next = records.next();
            is_over = next.is_none();
            bytes += next.as_deref().map_or(0, rough_bytes);
            slice.extend(next);
        }
        if is_over {
            self.records = None;
        }
        let owned = slice.into_iter().map(|record| {
            let owner = (record.instance.app.clone(), Arc::clone(&record.instance.instance_id));
            (owner, Latest::Present(record))
        });
        owned.filter(|(owner, _)| !self.changed.contains(owner)).collect()
    }
}

/// What is copied at once.
#[derive(Default)]
struct Slice {
    edits: Vec<Edit>,
    bytes: usize,
}

impl Slice {
    const fn is_full(&self) -> bool {
        self.edits.len() >= SLICE_KEYS || self.bytes >= SLICE_BYTES
    }

    fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.bytes += key.len() + payload.len();
        self.edits.push(Edit::Put { key: key.to_vec(), payload: payload.to_vec() });
    }

    /// Reads the next keys of one kind; `after` may be a key of another kind.
    fn read(&mut self, from: &Mirror, kind: Kind, after: &[u8]) -> Result<(), StoreError> {
        // A key of a later kind: this kind has been copied already.
        if after.first().is_some_and(|first| *first > kind as u8) {
            return Ok(());
        }
        let mut fault = None;
        from.store().visit(&kind.prefix(), after, &mut |key, value| {
            // Damaged, and to be removed with the next commit, which a store that lacks changes does not get.
            if !from.index().contains(key) {
                return ControlFlow::Continue(());
            }
            match frame::unwrap(key, value) {
                Ok(frame) => self.push(key, frame.payload),
                Err(error) => fault = Some(StoreError::new("copy", error)),
            }
            if self.is_full() || fault.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        fault.map_or(Ok(()), Err)
    }
}

/// Makes an empty store to be filled. If nothing is in use, the pointer names it at once: it says of itself that it is not
/// complete. Else the one in use is protected until the new one is.
pub(crate) fn make_target(
    folder: &DataFolder,
    opener: &dyn OpenStore,
    identity: StoredMeta,
    wall_ms: i64,
    cancelled: &Cancelled,
) -> Result<Mirror, StoreError> {
    let is_wanted = || cancelled.check().map_err(|error| StoreError::new("make", error));
    is_wanted()?;
    let target = Mirror::create(folder, opener, identity, wall_ms)?;
    reach(folder, Step::StoreMade)?;
    // Making it may have taken long, and others have gone on.
    is_wanted()?;
    if !folder.has_pointer() {
        folder.point_to(target.name()).map_err(|error| StoreError::new("make", error))?;
    }
    Ok(target)
}

/// A step that tests may let fail.
pub(crate) fn reach(folder: &DataFolder, step: Step) -> Result<(), StoreError> {
    folder.failure_points().reach(step).map_err(|error| StoreError::new("make", error))
}
