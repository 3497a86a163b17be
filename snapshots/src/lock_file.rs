//! One process per folder. The lock is the operating system's, so a crash releases it; the text in the file is for people.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use thiserror::Error;

/// Name of the lock file inside the folder.
pub const LOCK_FILE: &str = "LOCK";
/// More than any holder writes.
const LONGEST_TEXT: u64 = 1024;

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process.
    pub pid: u32,
    /// Machine; folders may be shared over a network.
    pub host: String,
    /// Wall clock of the start of the process, milliseconds since the epoch.
    pub started_wall_ms: i64,
}

impl Holder {
    /// This process.
    #[must_use]
    pub fn this_process(started_wall_ms: i64) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let host = host.trim();
        let host = if host.is_empty() { "unknown" } else { host };
        Self { pid: std::process::id(), host: host.to_owned(), started_wall_ms }
    }

    fn parse(text: &str) -> Option<Self> {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Some(Self {
            pid: value("pid")?.parse().ok()?,
            host: value("host")?.to_owned(),
            started_wall_ms: value("started")?.parse().ok()?,
        })
    }

    fn to_text(&self) -> String {
        format!("pid {}\nhost {}\nstarted {}\n", self.pid, self.host, self.started_wall_ms)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, host, started_wall_ms } = self;
        write!(f, "process {pid} on {host}, started at {started_wall_ms} ms since 1970")
    }
}

/// Why a lock was not taken.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("the folder is in use by {}", .0.as_ref().map_or("a process that has not said which".into(), ToString::to_string))]
    Held(Option<Holder>),
    /// The file cannot be made, read or locked.
    #[error("cannot lock the folder: {0}")]
    Io(io::Error),
}

impl From<io::Error> for LockError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A lock that is held until this is dropped.
#[derive(Debug)]
pub struct LockFile {
    file: File,
}

impl LockFile {
    /// Takes the lock of a folder, which must exist.
    ///
    /// # Errors
    /// [`LockError::Held`] if a living process has it; never waits.
    pub fn acquire(folder: &Path, me: &Holder) -> Result<Self, LockError> {
        let path = folder.join(LOCK_FILE);
        // Not truncated: until the lock is ours, the text is the holder's.
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Held(read_holder(&mut file))),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        file.set_len(0)?;
        file.rewind()?;
        // The text is for people only: a full disk is no reason to go without a lock.
        let _ = file.write_all(me.to_text().as_bytes());
        Ok(Self { file })
    }

    /// True if the lock still is that of this folder: false once the file, or the folder with it, was removed or replaced, so
    /// that others can lock what is there now.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn is_of(&self, folder: &Path) -> io::Result<bool> {
        let held = self.file.metadata()?;
        match std::fs::metadata(folder.join(LOCK_FILE)) {
            Ok(found) => Ok(is_same(&held, &found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
const fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

fn read_holder(file: &mut File) -> Option<Holder> {
    let mut text = String::new();
    file.take(LONGEST_TEXT).read_to_string(&mut text).ok()?;
    Holder::parse(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(pid: u32) -> Holder {
        Holder { pid, host: "node-1".into(), started_wall_ms: 1_750_000_000_000 }
    }

    #[test]
    fn a_second_one_is_refused_and_told_by_whom() {
        let folder = tempfile::tempdir().unwrap();
        let lock = LockFile::acquire(folder.path(), &holder(17)).unwrap();
        let refused = LockFile::acquire(folder.path(), &holder(18)).unwrap_err();
        let text = refused.to_string();
        assert!(matches!(refused, LockError::Held(Some(found)) if found == holder(17)));
        assert!(text.contains("process 17 on node-1"), "{text}");
        drop(lock);
        LockFile::acquire(folder.path(), &holder(18)).unwrap();
    }

    #[test]
    fn a_lock_file_that_nobody_holds_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join(LOCK_FILE),
            "pid 1\nhost x\nstarted 5\nand much more text than before",
        )
        .unwrap();
        let lock = LockFile::acquire(folder.path(), &holder(17)).unwrap();
        let text = std::fs::read_to_string(folder.path().join(LOCK_FILE)).unwrap();
        assert_eq!(Holder::parse(&text), Some(holder(17)), "{text}");
        drop(lock);
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_whose_file_was_removed_or_replaced_is_one_no_more() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("data");
        std::fs::create_dir(&folder).unwrap();
        let lock = LockFile::acquire(&folder, &holder(17)).unwrap();
        assert!(lock.is_of(&folder).unwrap());
        std::fs::rename(&folder, parent.path().join("elsewhere")).unwrap();
        assert!(!lock.is_of(&folder).unwrap());
        std::fs::create_dir(&folder).unwrap();
        assert!(!lock.is_of(&folder).unwrap());
        let second = LockFile::acquire(&folder, &holder(18)).unwrap();
        assert!(!lock.is_of(&folder).unwrap() && second.is_of(&folder).unwrap());
        std::fs::remove_file(folder.join(LOCK_FILE)).unwrap();
        assert!(!second.is_of(&folder).unwrap());
    }

    #[test]
    fn a_holder_that_has_not_written_yet_is_an_unknown_one() {
        let folder = tempfile::tempdir().unwrap();
        let lock = LockFile::acquire(folder.path(), &holder(17)).unwrap();
        std::fs::write(folder.path().join(LOCK_FILE), "").unwrap();
        let refused = LockFile::acquire(folder.path(), &holder(18)).unwrap_err();
        assert!(matches!(refused, LockError::Held(None)), "{refused}");
        drop(lock);
    }
}
