//! Looking into snapshots, and carrying them elsewhere: for people who debug at night.
//!
//! A tool works on the folder of a node that does not run, or on a single store that was moved aside. It takes the lock of
//! the folder like a node, also if it is given the store in that folder. Only [`import`] changes anything; sled may tidy up its own files whenever it opens them.

mod document;
mod export;
mod import;
mod inspect;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heureka_registry::Now;
use thiserror::Error;

use crate::doubt::Doubt;
use crate::failure_points::NoFailures;
use crate::folder::{DataFolder, Found, StoreName};
use crate::limited::caught;
use crate::lock_file::{Holder, LOCK_FILE, LockError};
use crate::store::{OpenStore, Store, StoreError};

pub use document::{ExportedInstance, ExportedOverride, ExportedTombstone, SnapshotDocument};
pub use export::export;
pub use import::{ImportOptions, Imported, import};
pub use inspect::{Inspection, Verdict, inspect};

/// Every store of sled has this file.
const SLED_FILE: &str = "db";

/// Why a tool did not do its work.
#[derive(Debug, Error)]
pub enum ToolError {
    /// There is no such folder.
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// A node uses it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It holds no snapshot.
    #[error("there is no snapshot in {}", .0.display())]
    NoSnapshot(PathBuf),
    /// The snapshot cannot be read.
    #[error("the snapshot cannot be read: {0}")]
    Unreadable(Doubt),
    /// There is no room for a new one, or the disk refuses it. What was there before is untouched.
    #[error("the snapshot cannot be written, and nothing has changed: {0}")]
    Unwritable(StoreError),
    /// The disk refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The document is not JSON, or not that of a snapshot.
    #[error("the document cannot be read or written: {0}")]
    Json(serde_json::Error),
    /// An entry of the document can be no instance.
    #[error("{app}/{id} cannot be imported: {why}")]
    InvalidEntry {
        /// Application.
        app: String,
        /// Instance.
        id: String,
        /// Why.
        why: String,
    },
    /// What the document says of the whole store is too long.
    #[error("meta.{member} has {bytes} bytes, at most {longest} can be stored")]
    LongMeta {
        /// Which member.
        member: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest that is taken.
        longest: usize,
    },
    /// There is a snapshot already, and nobody said that it is to be replaced.
    #[error("{} holds a snapshot already; say that it is to be replaced to move it aside", .0.display())]
    Occupied(PathBuf),
}

impl From<Doubt> for ToolError {
    fn from(doubt: Doubt) -> Self {
        Self::Unreadable(doubt)
    }
}

impl From<serde_json::Error> for ToolError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// A store to look at, and what keeps others away from it.
struct Opened {
    store: Box<dyn Store>,
    path: PathBuf,
    _folder: Option<DataFolder>,
}

/// Opens the store of a node's folder, or the store that the folder itself is.
fn open(path: &Path, opener: &dyn OpenStore, now: Now) -> Result<Opened, ToolError> {
    if !path.is_dir() {
        return Err(ToolError::NoFolder(path.to_path_buf()));
    }
    if !is_data_folder(path) {
        // Opening would make a store where none is.
        if !path.join(SLED_FILE).is_file() {
            return Err(ToolError::NoSnapshot(path.to_path_buf()));
        }
        let node = node_of(path).map(|folder| lock(&folder, now)).transpose()?;
        return open_store(path.to_path_buf(), node, opener);
    }
    let folder = lock(path, now)?;
    match folder.find()? {
        Found::Nothing => Err(ToolError::NoSnapshot(path.to_path_buf())),
        Found::Doubtful(doubt) => Err(doubt.into()),
        Found::Store(name) => open_store(folder.store_path(name), Some(folder), opener),
    }
}

fn open_store(
    path: PathBuf,
    folder: Option<DataFolder>,
    opener: &dyn OpenStore,
) -> Result<Opened, ToolError> {
    let store = caught(|| opener.open(&path))?.map_err(Doubt::from)?;
    Ok(Opened { store, path, _folder: folder })
}

/// Every folder that a node has used has a lock file; a store has none.
fn is_data_folder(path: &Path) -> bool {
    path.join(LOCK_FILE).exists()
}

/// The folder of the node that may have this store in use.
fn node_of(store: &Path) -> Option<PathBuf> {
    let store = store.canonicalize().ok()?;
    StoreName::of(&store)?;
    store.parent().filter(|folder| is_data_folder(folder)).map(Path::to_path_buf)
}

fn lock(path: &Path, now: Now) -> Result<DataFolder, LockError> {
    DataFolder::lock(path, &Holder::this_process(now.wall_ms), Arc::new(NoFailures))
}
