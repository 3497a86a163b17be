//! What is on the disk under a name: a file, a folder, nothing, or something that cannot be used. Nothing is passed over in
//! silence but what is not there.

use crate::error::ConfigError;
use crate::readers::MAX_FILE_BYTES;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// True for a file; an error for something else of its name. What cannot be looked at counts as there: passing over a
/// file that somebody wrote is worse than not starting.
pub(super) fn is_there(path: &Path, shown: &str) -> Result<bool, ConfigError> {
    match look(path, shown)? {
        None => Ok(false),
        Some(found) if found.is_dir() => Err(ConfigError::Folder { path: shown.to_owned() }),
        Some(_) => Ok(true),
    }
}

/// True for a folder.
pub(super) fn is_folder(path: &Path, shown: &str) -> Result<bool, ConfigError> {
    match look(path, shown)? {
        None => Ok(false),
        Some(found) if found.is_dir() => Ok(true),
        Some(_) => {
            let cause = io::Error::new(io::ErrorKind::NotADirectory, "it is no folder");
            Err(ConfigError::Unreadable { path: shown.to_owned(), cause })
        }
    }
}

fn look(path: &Path, shown: &str) -> Result<Option<fs::Metadata>, ConfigError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        // A name that cannot be one, or is too long, names nothing.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename) =>
        {
            Ok(None)
        }
        Err(cause) => Err(ConfigError::Unreadable { path: shown.to_owned(), cause }),
    }
}

/// The folders in a folder, in order of name. Those that begin with `..` are a mount's own.
pub(super) fn sub_folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.retain(|path| !path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("..")));
    folders.sort();
    folders
}

/// The text of a file. UTF-8, or ISO 8859-1 where that is allowed, which is what Java takes `.properties` files for.
pub(super) fn read_text(path: &Path, shown: &str, is_latin_allowed: bool) -> Result<String, ConfigError> {
    let unreadable = |cause| ConfigError::Unreadable { path: shown.to_owned(), cause };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    // What the system says of the length is not believed: a pipe has none, and a device may have no end.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_FILE_BYTES {
        let what = format!("larger than {MAX_FILE_BYTES} bytes");
        return Err(ConfigError::TooMuch { place: shown.to_owned(), what });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if is_latin_allowed => Ok(error.into_bytes().into_iter().map(char::from).collect()),
        Err(_) => Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8"))),
    }
}
