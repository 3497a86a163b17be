//! `heureka snapshot inspect` and `verify`: what is in a snapshot, and would a node believe it?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use heureka_registry::Now;
use serde::Serialize;

use super::{ToolError, is_data_folder, open};
use crate::contents::{self, Contents};
use crate::doubt::Doubt;
use crate::limited::caught;
use crate::restore::{RestoreCounts, RestoreRules, restore};
use crate::store::OpenStore;
use crate::stored::StoredMeta;

/// Applications that are listed, the largest first.
const APPLICATIONS_LISTED: usize = 20;

/// What a start would make of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "start", rename_all = "snake_case")]
pub enum Verdict {
    /// It would give these back now.
    Warm {
        /// Instances.
        instances: u64,
        /// Overrides.
        overrides: u64,
        /// Tombstones.
        tombstones: u64,
        /// Instances too old to come back.
        too_old: u64,
        /// Instances that would not come back since they were cancelled or their lease had ended.
        ended: u64,
    },
    /// It would be cold but for these: the snapshot is too old, or lies in the future.
    TooOld {
        /// Instances too old to come back.
        too_old: u64,
        /// Overrides.
        overrides: u64,
        /// Tombstones.
        tombstones: u64,
    },
    /// It would move the snapshot aside.
    Doubtful {
        /// Why.
        why: String,
    },
    /// The snapshot never was complete.
    Incomplete,
}

/// Everything worth knowing of a snapshot.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// The store.
    pub store: PathBuf,
    /// Bytes of it on the disk.
    pub disk_bytes: u64,
    /// Bytes of all keys and values.
    pub live_bytes: u64,
    /// What it says of itself.
    pub meta: StoredMeta,
    /// Its age now, milliseconds.
    pub age_ms: i64,
    /// What a start would make of it now.
    pub verdict: Verdict,
    /// Records that cannot be read.
    pub bad_records: u64,
    /// Why the first of them cannot.
    pub first_fault: Option<String>,
    /// Instances in it.
    pub instances: usize,
    /// Applications in it.
    pub applications: usize,
    /// The largest applications and how many instances they have.
    pub largest_applications: Vec<(String, usize)>,
    /// Instances by status.
    pub statuses: BTreeMap<&'static str, usize>,
    /// Stores that were moved aside.
    pub moved_aside: Vec<PathBuf>,
}

/// Reads all of a snapshot and judges it as a start at this moment would, with the given rules.
///
/// # Errors
/// [`ToolError`] if it cannot even be read.
pub fn inspect(
    folder: &Path,
    opener: &dyn OpenStore,
    rules: RestoreRules,
    now: Now,
) -> Result<Inspection, ToolError> {
    let opened = open(folder, opener, now)?;
    let contents = caught(|| contents::read_doubtful(&*opened.store, now))??;
    let disk_bytes = opened.store.size_on_disk().map_err(Doubt::from)?;
    let mut by_app: BTreeMap<&str, usize> = BTreeMap::new();
    let mut statuses = BTreeMap::new();
    for loaded in &contents.instances {
        *by_app.entry(loaded.record.instance.app.as_str()).or_default() += 1;
        *statuses.entry(loaded.record.instance.status.as_str()).or_default() += 1;
    }
    let applications = by_app.len();
    let mut largest: Vec<(String, usize)> =
        by_app.into_iter().map(|(app, count)| (app.to_owned(), count)).collect();
    largest.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    largest.truncate(APPLICATIONS_LISTED);
    Ok(Inspection {
        disk_bytes,
        live_bytes: contents.index.live_bytes(),
        meta: contents.meta.clone(),
        age_ms: now.wall_ms.saturating_sub(contents.meta.saved_timestamp),
        bad_records: contents.bad_keys.len() as u64,
        first_fault: contents.first_fault.clone(),
        instances: contents.instances.len(),
        applications,
        largest_applications: largest,
        statuses,
        moved_aside: moved_aside(folder),
        store: opened.path,
        verdict: judge(contents, rules, now),
    })
}

fn judge(contents: Contents, rules: RestoreRules, now: Now) -> Verdict {
    if !contents.meta.opened {
        return Verdict::Incomplete;
    }
    if let Err(doubt) = contents.check() {
        return Verdict::Doubtful { why: doubt.to_string() };
    }
    let restored = restore(contents, rules, now);
    let RestoreCounts { instances, overrides, tombstones, too_old, ended } = restored.counts;
    if restored.is_too_old {
        return Verdict::TooOld { too_old, overrides, tombstones };
    }
    Verdict::Warm { instances, overrides, tombstones, too_old, ended }
}

fn moved_aside(folder: &Path) -> Vec<PathBuf> {
    if !is_data_folder(folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.to_string_lossy().contains(crate::folder::QUARANTINE_MARK)).collect();
    paths.sort();
    paths
}
