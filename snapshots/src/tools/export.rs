//! `heureka snapshot export`: a snapshot as JSON, also one that a node would not believe.

use std::io::Write;
use std::path::Path;

use heureka_registry::Now;

use super::{ExportedInstance, ExportedOverride, ExportedTombstone, SnapshotDocument, ToolError, open};
use crate::contents::{self, Contents};
use crate::frame::FORMAT;
use crate::limited::caught;
use crate::store::OpenStore;
use crate::stored::StoredInstance;

/// Writes the document of a snapshot. Returns the number of instances.
///
/// # Errors
/// [`ToolError`] if there is nothing to read or nowhere to write.
pub fn export(
    folder: &Path,
    opener: &dyn OpenStore,
    out: &mut dyn Write,
    now: Now,
) -> Result<usize, ToolError> {
    let opened = open(folder, opener, now)?;
    let contents = caught(|| contents::read_doubtful(&*opened.store, now))??;
    // Whoever reads the document may take long, and a node may start meanwhile.
    drop(opened);
    let document = document_of(&contents, now);
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(document.instances.len())
}

fn document_of(contents: &Contents, now: Now) -> SnapshotDocument<'_> {
    let instances = contents.instances.iter().map(|loaded| {
        let instance = &loaded.record.instance;
        ExportedInstance {
            app: instance.app.to_string(),
            id: instance.instance_id.to_string(),
            record: StoredInstance::of(&loaded.record, loaded.last_seen_ms(&contents.seen, now)),
        }
    });
    let overrides = contents.overrides.iter().map(|((app, id), record)| ExportedOverride {
        app: app.to_string(),
        id: id.to_string(),
        record: *record,
    });
    let tombstones = contents.tombstones.iter().map(|((app, id), record)| ExportedTombstone {
        app: app.to_string(),
        id: id.to_string(),
        record: *record,
    });
    SnapshotDocument {
        format: FORMAT,
        meta: contents.meta.clone(),
        doubt: contents.check().err().map(|doubt| doubt.to_string()),
        bad_records: contents.bad_keys.len() as u64,
        instances: instances.collect(),
        overrides: overrides.collect(),
        tombstones: tombstones.collect(),
    }
}
