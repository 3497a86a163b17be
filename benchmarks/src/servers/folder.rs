//! A folder for snapshots that outlives the process that writes them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is gone when the scenario ends.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A name that nothing stands under yet; whoever needs the folder makes it.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("heureka-bench-snapshot-{}-{number}", std::process::id())))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The option that makes a node keep its snapshots here.
    #[must_use]
    pub fn option(&self) -> String {
        format!("--heureka.snapshots.folder={}", self.0.display())
    }

    /// Bytes of all files in it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        bytes_below(&self.0)
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Left-overs in a temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Files come and go while they are counted: what is gone counts nothing.
fn bytes_below(path: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_count_and_go_with_the_folder() {
        let folder = Folder::new();
        assert_eq!(folder.bytes(), 0);
        std::fs::create_dir_all(folder.0.join("store")).unwrap();
        std::fs::write(folder.0.join("LOCK"), [0; 10]).unwrap();
        std::fs::write(folder.0.join("store/data"), [0; 100]).unwrap();
        assert_eq!(folder.bytes(), 110);
        let path = folder.0.clone();
        drop(folder);
        assert!(!path.exists());
    }
}
