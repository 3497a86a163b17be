//! `configtree:` folders: every file is a value, its path the name. Kubernetes and Docker mount secrets this way.

use crate::error::ConfigError;
use crate::property::{Origin, Property};
use std::fs;
use std::path::Path;

/// Deepest folder.
const MAX_DEPTH: usize = 16;
/// Most files of one tree.
const MAX_FILES: usize = 10_000;
/// Largest value.
const MAX_VALUE_BYTES: u64 = 1 << 20;

/// Reads all files below a folder in order of name. Folders and files that begin with `..` are the mount's own.
pub(super) fn read_tree(folder: &Path) -> Result<Vec<Property>, ConfigError> {
    let mut properties = Vec::new();
    walk(folder, "", 0, &mut properties)?;
    Ok(properties)
}

fn walk(folder: &Path, prefix: &str, depth: usize, into: &mut Vec<Property>) -> Result<(), ConfigError> {
    let too_much = |what: String| ConfigError::TooMuch { place: folder.display().to_string(), what };
    if depth > MAX_DEPTH {
        return Err(too_much(format!("more than {MAX_DEPTH} levels of folders")));
    }
    let unreadable = |cause| ConfigError::Unreadable { path: folder.display().to_string(), cause };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        let Some(file) =
            path.file_name().and_then(|name| name.to_str()).filter(|name| !name.starts_with(".."))
        else {
            continue;
        };
        let name = if prefix.is_empty() { file.to_owned() } else { format!("{prefix}.{file}") };
        if path.is_dir() {
            walk(&path, &name, depth + 1, into)?;
        } else {
            into.push(read_value(&path, name)?);
        }
        if into.len() > MAX_FILES {
            return Err(too_much(format!("more than {MAX_FILES} files")));
        }
    }
    Ok(())
}

/// One value. A single line loses its line end; several lines keep theirs, as in Boot.
fn read_value(path: &Path, name: String) -> Result<Property, ConfigError> {
    let shown = path.display().to_string();
    let unreadable = |cause| ConfigError::Unreadable { path: shown.clone(), cause };
    if fs::metadata(path).map_err(unreadable)?.len() > MAX_VALUE_BYTES {
        return Err(ConfigError::TooMuch {
            place: shown,
            what: format!("larger than {MAX_VALUE_BYTES} bytes"),
        });
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let value = line.filter(|line| !line.contains('\n')).unwrap_or(&text).to_owned();
    Ok(Property { name, value, origin: Origin::File { path: shown, line: None } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_values() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("db/password", "hello\n");
        write("multi", "two\nlines\n");
        write("sp", "  sp  \r\n");
        write("..data/hidden", "x");
        let read = read_tree(folder.path()).unwrap();
        let pairs: Vec<_> = read.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(pairs, [("db.password", "hello"), ("multi", "two\nlines\n"), ("sp", "  sp  ")]);
        assert!(read[0].origin.to_string().ends_with("db/password"));
    }

    #[test]
    fn a_loop_of_links_ends() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert!(matches!(read_tree(folder.path()), Err(ConfigError::TooMuch { .. })));
    }
}
