//! Peers from a file that somebody else writes: a config map, a list that a script keeps.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use heureka_config::settings::ServiceUrl;

use super::source::{Changed, Listing, PeerSource, SourceError};

/// How often the file is looked at. Watches of the system do not see what is swapped by a link, as config maps are.
const LOOK: Duration = Duration::from_secs(1);

/// The peers in a file: URLs, one a line or separated by commas; what follows a `#` is a remark.
#[derive(Clone, Debug)]
pub struct FilePeers {
    path: PathBuf,
    look: Duration,
    /// What the file was when it was last read: a change after that is one, also while nobody was looking.
    read: Arc<Mutex<Option<Stamp>>>,
}

impl FilePeers {
    /// The peers in this file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), look: LOOK, read: Arc::default() }
    }

    /// Looks at the file this often instead of every second.
    #[must_use]
    pub fn looking_every(self, look: Duration) -> Self {
        Self { look, ..self }
    }
}

impl PeerSource for FilePeers {
    fn list(&self) -> Listing {
        *self.read.lock().unwrap_or_else(PoisonError::into_inner) = stamp(&self.path);
        let read = read(&self.path);
        Box::pin(std::future::ready(read))
    }

    fn changed(&self) -> Changed {
        let Self { path, look, read } = self.clone();
        Box::pin(async move {
            while stamp(&path) == *read.lock().unwrap_or_else(PoisonError::into_inner) {
                tokio::time::sleep(look).await;
            }
        })
    }
}

/// Time of the last change, length, and which file it is: another one may have taken its name.
type Stamp = (SystemTime, u64, u64);

/// A file that is not there has none.
fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len(), metadata.ino()))
}

fn read(path: &Path) -> Result<Vec<ServiceUrl>, SourceError> {
    let shown = path.display();
    // Opening a pipe would wait for somebody who writes into it.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(SourceError(format!("cannot read {shown}: it is no regular file")));
    }
    let text =
        fs::read_to_string(path).map_err(|error| SourceError(format!("cannot read {shown}: {error}")))?;
    // Some editors begin a file with a mark of its encoding.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    let urls = lines.flat_map(|line| line.split(',')).map(str::trim).filter(|url| !url.is_empty());
    urls.map(ServiceUrl::parse)
        .collect::<Result<_, _>>()
        .map_err(|reason| SourceError(format!("a URL in {shown} {reason}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn a_file_lists_urls_and_a_broken_one_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peers");
        let source = FilePeers::new(&path);
        assert!(source.list().await.expect_err("no file").0.contains("cannot read"));
        let folder_itself = FilePeers::new(folder.path()).list().await.expect_err("a folder");
        assert!(folder_itself.0.contains("no regular file"));
        fs::write(&path, "\u{feff}http://a:1/\n").expect("written");
        assert_eq!(source.list().await.expect("a list").len(), 1);
        fs::write(&path, "# peers\nhttp://a:1/eureka, http://b:1/eureka/ # two\n\nhttps://c/\n")
            .expect("written");
        let urls: Vec<String> =
            source.list().await.expect("a list").iter().map(ToString::to_string).collect();
        assert_eq!(urls, ["http://a:1/eureka/", "http://b:1/eureka/", "https://c/"]);
        fs::write(&path, "http://user:secret@:1/").expect("written");
        let error = source.list().await.expect_err("no host").0;
        assert!(error.contains("no host") && !error.contains("secret"), "{error}");
    }

    #[actix_web::test]
    async fn a_change_of_the_file_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peers");
        let look = Duration::from_millis(1);
        let source = FilePeers::new(&path).looking_every(look);
        assert!(source.list().await.is_err(), "no file yet");
        let mut changed = source.changed();
        assert!(tokio::time::timeout(10 * look, &mut changed).await.is_err(), "nothing has changed");
        fs::write(&path, "http://a/").expect("written");
        assert!(tokio::time::timeout(Duration::from_secs(20), changed).await.is_ok());
        source.list().await.expect("a list");
        fs::write(&path, "http://a/,http://b/").expect("written while nobody was looking");
        assert!(tokio::time::timeout(Duration::from_secs(20), source.changed()).await.is_ok());
    }
}
