//! What `spring.config.location`, `additional-location` and `import` name (`spec/spring.md` 3.2).

use crate::secret::mask_credentials;
use std::path::{Path, PathBuf};

/// One location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// As written, without `optional:`.
    pub text: String,
    /// May be missing.
    pub optional: bool,
    /// Who named it.
    pub named_by: String,
}

/// What is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Files of the configured names in a folder.
    Folder(PathBuf),
    /// The same in each sub-folder, in order of name.
    SubFolders(PathBuf),
    /// One file; an extension stands apart if the file's own name has none (`file[.yaml]`).
    File { path: PathBuf, extension: Option<String> },
    /// A folder whose files are the values.
    Tree(PathBuf),
    /// The same for each sub-folder.
    SubTrees(PathBuf),
    /// Not on a disk: a class path.
    ClassPath,
    /// Only a Spring application can read this.
    Foreign(String),
}

impl Location {
    pub(super) fn new(text: &str, named_by: impl ToString) -> Self {
        let stripped = text.trim().strip_prefix("optional:");
        Self {
            text: stripped.unwrap_or(text.trim()).to_owned(),
            optional: stripped.is_some(),
            named_by: named_by.to_string(),
        }
    }

    /// As written, fit to be shown: a Config Server's address may hold a password.
    pub(super) fn shown(&self) -> String {
        mask_credentials(&self.text)
    }

    /// Finds out what is meant. A `file:` path belongs to `root`, one without a prefix to `base`, the folder of whoever names it.
    pub(super) fn target(&self, root: &Path, base: &Path) -> Target {
        let (scheme, path) = scheme(&self.text);
        match scheme {
            None => folder_or_file(path, base),
            Some("file") => folder_or_file(strip_authority(path), root),
            Some("configtree") => match strip_wildcard(strip_authority(path)) {
                Some(parent) => Target::SubTrees(root.join(parent)),
                None => Target::Tree(root.join(strip_authority(path))),
            },
            Some("classpath" | "classpath*") => Target::ClassPath,
            Some(other) => Target::Foreign(other.to_owned()),
        }
    }
}

/// Letters, digits and `*` before the first colon; one letter alone would be a drive.
fn scheme(text: &str) -> (Option<&str>, &str) {
    match text.split_once(':') {
        Some((scheme, rest))
            if scheme.len() > 1
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '*' | '-'))
                && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) =>
        {
            (Some(scheme), rest)
        }
        _ => (None, text),
    }
}

/// `file:///etc/x` and `file:/etc/x` are the same.
fn strip_authority(path: &str) -> &str {
    path.strip_prefix("//").unwrap_or(path)
}

fn strip_wildcard(path: &str) -> Option<&str> {
    path.strip_suffix("*/").filter(|parent| parent.is_empty() || parent.ends_with('/'))
}

/// The slash at the end decides, as in Boot, not what is on the disk.
fn folder_or_file(path: &str, base: &Path) -> Target {
    if let Some(parent) = strip_wildcard(path) {
        return Target::SubFolders(base.join(parent));
    }
    let full = base.join(path);
    if path.ends_with('/') {
        return Target::Folder(full);
    }
    if let Some((file, extension)) = path.strip_suffix(']').and_then(|rest| rest.rsplit_once("[.")) {
        return Target::File { path: base.join(file), extension: Some(extension.to_owned()) };
    }
    Target::File { path: full, extension: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Target {
        Location::new(text, "test").target(Path::new("/srv"), Path::new("/srv/sub"))
    }

    #[test]
    fn prefixes_decide() {
        let file = |path: &str| Target::File { path: path.into(), extension: None };
        assert_eq!(target("one.yml"), file("/srv/sub/one.yml"));
        assert_eq!(target("file:one.yml"), file("/srv/one.yml"));
        assert_eq!(target("file:./one.yml"), file("/srv/./one.yml"));
        assert_eq!(target("file:///etc/one.yml"), file("/etc/one.yml"));
        assert_eq!(target("/etc/one.yml"), file("/etc/one.yml"));
        assert_eq!(target("file:config/"), Target::Folder("/srv/config/".into()));
        assert_eq!(target("file:config/*/"), Target::SubFolders("/srv/config/".into()));
        assert_eq!(target("configtree:/run/secrets/"), Target::Tree("/run/secrets/".into()));
        assert_eq!(target("configtree:/run/*/"), Target::SubTrees("/run/".into()));
        assert_eq!(target("classpath:/x.yml"), Target::ClassPath);
        assert_eq!(target("configserver:http://x"), Target::Foreign("configserver".into()));
        let with_hint = Target::File { path: "/srv/one".into(), extension: Some("yaml".into()) };
        assert_eq!(target("file:one[.yaml]"), with_hint);
    }

    #[test]
    fn optional_is_taken_off() {
        let location = Location::new(" optional:file:x.yml ", "test");
        assert_eq!((location.text.as_str(), location.optional), ("file:x.yml", true));
    }
}
