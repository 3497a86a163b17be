//! `heureka snapshot import`: a folder for a node from a JSON document.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use heureka_protocol::AppName;
use heureka_registry::Now;

use super::{SnapshotDocument, ToolError, lock};
use crate::folder::{DataFolder, Found, StoreName};
use crate::frame::MAX_PAYLOAD_BYTES;
use crate::key::{Key, Name};
use crate::mirror::{Edit, Mirror};
use crate::store::{OpenStore, StoreError};
use crate::stored::{StoredInstance, StoredMeta, to_payload};

/// Longest text that the record about the whole store takes.
const LONGEST_META_TEXT: usize = 1024;

/// How a document is imported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Move a snapshot aside that is there already. Otherwise it is left alone and nothing is imported.
    pub replaces: bool,
    /// Make everything as fresh as if the registry had just been saved. Otherwise the next start judges the age as written.
    pub is_fresh: bool,
}

/// What was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Instances.
    pub instances: usize,
    /// Overrides.
    pub overrides: usize,
    /// Tombstones.
    pub tombstones: usize,
    /// Where the snapshot that was there is now.
    pub moved_aside: Option<PathBuf>,
}

/// Reads a document and makes it the snapshot of a folder, which holds the old one until the new one is whole. A crash leaves
/// the folder with one of them, never with half.
///
/// # Errors
/// [`ToolError`]; the folder has not changed if the document is to blame, or the room for it.
pub fn import(
    folder: &Path,
    opener: &dyn OpenStore,
    document: &mut dyn Read,
    options: ImportOptions,
    now: Now,
) -> Result<Imported, ToolError> {
    let mut text = String::new();
    document.read_to_string(&mut text)?;
    let mut document: SnapshotDocument<'_> = serde_json::from_str(&text)?;
    if options.is_fresh {
        freshen(&mut document, now);
    }
    check_meta(&document.meta)?;
    let edits = edits_of(&document, now)?;
    check_keys(&document, &edits)?;
    let folder = lock(folder, now)?;
    let found = folder.find()?;
    if !options.replaces && found != Found::Nothing {
        return Err(ToolError::Occupied(folder.path().to_path_buf()));
    }
    let before = folder.stores()?;
    let name = fill(&folder, opener, &document.meta, &edits).map_err(|error| {
        folder.remove_all_but(&before);
        ToolError::Unwritable(error)
    })?;
    folder.point_to(name)?;
    let moved_aside = folder.move_aside_all_but(name, now.wall_ms);
    Ok(Imported {
        instances: document.instances.len(),
        overrides: document.overrides.len(),
        tombstones: document.tombstones.len(),
        moved_aside,
    })
}

fn freshen(document: &mut SnapshotDocument<'_>, now: Now) {
    let saved_timestamp = Some(document.meta.saved_timestamp).filter(|saved| *saved > 0);
    let age_ms = now.wall_ms.saturating_sub(saved_timestamp.unwrap_or(now.wall_ms));
    document.meta.saved_timestamp = now.wall_ms;
    for instance in &mut document.instances {
        instance.record.seen_timestamp = now.wall_ms;
    }
    for orphaned in document.overrides.iter_mut().filter_map(|entry| entry.record.orphaned_timestamp.as_mut())
    {
        *orphaned = orphaned.saturating_add(age_ms);
    }
    for tombstone in document.tombstones.iter_mut().map(|entry| &mut entry.record) {
        tombstone.cancelled_timestamp = tombstone.cancelled_timestamp.saturating_add(age_ms);
        tombstone.until_timestamp = tombstone.until_timestamp.saturating_add(age_ms);
    }
}

fn check_meta(meta: &StoredMeta) -> Result<(), ToolError> {
    for (member, text) in [("node_id", &meta.node_id), ("software", &meta.software)] {
        if text.len() > LONGEST_META_TEXT {
            return Err(ToolError::LongMeta { member, bytes: text.len(), longest: LONGEST_META_TEXT });
        }
    }
    Ok(())
}

/// Every entry has a key of its own; names of applications have one spelling in a store.
fn check_keys(document: &SnapshotDocument<'_>, edits: &[Edit]) -> Result<(), ToolError> {
    let instances = document.instances.iter().map(|entry| (&entry.app, &entry.id));
    let overrides = document.overrides.iter().map(|entry| (&entry.app, &entry.id));
    let tombstones = document.tombstones.iter().map(|entry| (&entry.app, &entry.id));
    let names = instances.chain(overrides).chain(tombstones);
    let mut keys = HashSet::new();
    for (edit, (app, id)) in edits.iter().zip(names) {
        let (Edit::Put { key, .. } | Edit::Remove { key }) = edit;
        if !keys.insert(key) {
            return Err(invalid(app, id, "it is in the document twice".into()));
        }
    }
    Ok(())
}

fn edits_of(document: &SnapshotDocument<'_>, now: Now) -> Result<Vec<Edit>, ToolError> {
    let mut edits = Vec::new();
    for entry in &document.instances {
        let app = AppName::new(&entry.app);
        let refused = |why: String| invalid(&entry.app, &entry.id, why);
        let valid = entry.record.clone().into_record(app.clone(), entry.id.as_str().into(), now);
        valid.map_err(|error| refused(error.to_string()))?;
        let record = StoredInstance { eviction_timestamp: 0, ..entry.record.clone() };
        edits.push(put(&app, &entry.id, Key::Instance, &record)?);
    }
    for entry in &document.overrides {
        edits.push(put(&AppName::new(&entry.app), &entry.id, Key::Override, &entry.record)?);
    }
    for entry in &document.tombstones {
        edits.push(put(&AppName::new(&entry.app), &entry.id, Key::Tombstone, &entry.record)?);
    }
    Ok(edits)
}

fn put<'n>(
    app: &'n AppName,
    id: &'n str,
    key: impl FnOnce(Name<'n>) -> Key<'n>,
    record: &impl serde::Serialize,
) -> Result<Edit, ToolError> {
    let key =
        key(Name { app, id }).to_bytes().ok_or_else(|| invalid(app, id, "the name is too long".into()))?;
    let payload = to_payload(record).map_err(|error| invalid(app, id, error.to_string()))?;
    if payload.len() > MAX_PAYLOAD_BYTES {
        let why =
            format!("its record has {} bytes, at most {MAX_PAYLOAD_BYTES} can be stored", payload.len());
        return Err(invalid(app, id, why));
    }
    Ok(Edit::Put { key, payload })
}

fn invalid(app: &str, id: &str, why: String) -> ToolError {
    ToolError::InvalidEntry { app: app.to_owned(), id: id.to_owned(), why }
}

/// Fills a new store beside what is there.
fn fill(
    folder: &DataFolder,
    opener: &dyn OpenStore,
    meta: &StoredMeta,
    edits: &[Edit],
) -> Result<StoreName, StoreError> {
    let wall_ms = meta.saved_timestamp;
    let mut mirror = Mirror::create(folder, opener, meta.clone(), wall_ms)?;
    let name = mirror.name();
    for edit in edits {
        mirror.stage(std::slice::from_ref(edit), wall_ms)?;
    }
    mirror.set_opened(true);
    mirror.close(true, wall_ms)?;
    Ok(name)
}
