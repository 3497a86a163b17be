//! Room on the disk: a store library that runs out of it in the middle of a batch may hang for ever, or leave files behind
//! that do not open any more. So every batch asks first.

use std::path::Path;

use crate::store::StoreError;

/// Room that is left to the store library: its segments have half a megabyte each, it needs some to open and to close, and
/// others take room between the question and the answer.
pub const RESERVE_BYTES: u64 = 8 * 1024 * 1024;
/// A batch takes up to so many times its bytes: pages of up to 16 records are written anew with every tenth change.
const AMPLIFICATION: u64 = 4;

/// Room that a batch of so many bytes needs.
#[must_use]
pub const fn needed_for(batch_bytes: u64) -> u64 {
    RESERVE_BYTES.saturating_add(batch_bytes.saturating_mul(AMPLIFICATION))
}

/// Refuses an action for which there is no room.
///
/// # Errors
/// If less is free than is needed.
pub fn require(action: &'static str, free_bytes: u64, needed_bytes: u64) -> Result<(), StoreError> {
    if free_bytes >= needed_bytes {
        return Ok(());
    }
    let cause = format!("the disk is nearly full: {free_bytes} bytes are free, {needed_bytes} are needed");
    Err(StoreError::new(action, cause))
}

/// Bytes that this process may still write to the file system of a folder.
///
/// # Errors
/// If the folder is gone, or the system does not tell.
#[cfg(unix)]
pub fn free_bytes(folder: &Path) -> Result<u64, StoreError> {
    let told = rustix::fs::statvfs(folder).map_err(|error| StoreError::new("measure", error))?;
    // Some file systems, such as those over a network, do not count.
    Ok(if told.f_blocks == 0 { u64::MAX } else { told.f_bavail.saturating_mul(told.f_frsize) })
}

/// Not known on this system.
///
/// # Errors
/// Never.
#[cfg(not(unix))]
pub fn free_bytes(_: &Path) -> Result<u64, StoreError> {
    Ok(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told() {
        let needed = needed_for(1_000_000);
        assert_eq!(needed, 8 * 1024 * 1024 + 4_000_000);
        assert_eq!(require("write", needed, needed), Ok(()));
        let refused = require("write", 100_000, needed).unwrap_err().to_string();
        let expected = "cannot write the snapshot store: the disk is nearly full: 100000 bytes are free, \
                        12388608 are needed";
        assert_eq!(refused, expected);
    }

    #[cfg(unix)]
    #[test]
    fn the_system_tells_how_much_is_free_and_that_a_folder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        assert!(free_bytes(&folder.path().join("nothing")).is_err());
    }
}
