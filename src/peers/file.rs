//! Peers from a file that somebody else writes: a config map, a list that a script keeps.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use heureka_config::settings::ServiceUrl;

use super::aside::Aside;
use super::source::{Changed, Listing, PeerSource, SourceError};

/// How often the file is looked at. Watches of the system do not see what is swapped by a link, as config maps are.
const LOOK: Duration = Duration::from_secs(1);
/// How long the file system may take: a start waits for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The peers in a file: URLs, one a line or separated by commas; what follows a `#` is a remark.
///
/// All that touches the file is done aside: a file system that hangs must not hold the thread that serves the peers.
#[derive(Clone, Debug)]
pub struct FilePeers {
    path: PathBuf,
    look: Duration,
    aside: Aside,
    /// What was seen when the file was last read: another sight is a change, also one while nobody was looking.
    seen: Arc<Mutex<Sight>>,
}

/// What a look at the file shows.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sight {
    /// The file; `None` if it is not there.
    File(Option<Stamp>),
    /// Nothing: the file system does not answer.
    Silence,
}

impl FilePeers {
    /// The peers in this file.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn new(path: impl Into<PathBuf>) -> io::Result<Self> {
        let aside = Aside::start("peers-file", PATIENCE)?;
        Ok(Self { path: path.into(), look: LOOK, aside, seen: Arc::new(Mutex::new(Sight::File(None))) })
    }

    /// Looks at the file this often instead of every second.
    #[must_use]
    pub fn looking_every(self, look: Duration) -> Self {
        Self { look, ..self }
    }

    fn seen(&self) -> MutexGuard<'_, Sight> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn read(self) -> Result<Vec<ServiceUrl>, SourceError> {
        let path = self.path.clone();
        let answer = self.aside.ask(move || (stamp(&path), read(&path))).await;
        let (sight, listed) = match answer {
            Some((stamp, listed)) => (Sight::File(stamp), listed),
            None => (Sight::Silence, Err(silent(&self.path))),
        };
        *self.seen() = sight;
        listed
    }

    async fn look(&self) -> Sight {
        let path = self.path.clone();
        self.aside.ask(move || stamp(&path)).await.map_or(Sight::Silence, Sight::File)
    }
}

impl PeerSource for FilePeers {
    fn list(&self) -> Listing {
        Box::pin(self.clone().read())
    }

    fn changed(&self) -> Changed {
        let source = self.clone();
        Box::pin(async move {
            loop {
                let sight = source.look().await;
                if sight != *source.seen() {
                    return;
                }
                tokio::time::sleep(source.look).await;
            }
        })
    }
}

fn silent(path: &Path) -> SourceError {
    let (shown, secs) = (path.display(), PATIENCE.as_secs());
    SourceError(format!("cannot read {shown}: the file system has not answered for {secs} seconds"))
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
        let source = FilePeers::new(&path).expect("a thread");
        assert!(source.list().await.expect_err("no file").0.contains("cannot read"));
        let folder_itself =
            FilePeers::new(folder.path()).expect("a thread").list().await.expect_err("a folder");
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
        let source = FilePeers::new(&path).expect("a thread").looking_every(look);
        assert!(source.list().await.is_err(), "no file yet");
        let mut changed = source.changed();
        assert!(tokio::time::timeout(10 * look, &mut changed).await.is_err(), "nothing has changed");
        fs::write(&path, "http://a/").expect("written");
        assert!(tokio::time::timeout(Duration::from_secs(20), changed).await.is_ok());
        source.list().await.expect("a list");
        fs::write(&path, "http://a/,http://b/").expect("written while nobody was looking");
        assert!(tokio::time::timeout(Duration::from_secs(20), source.changed()).await.is_ok());
    }

    #[actix_web::test]
    async fn a_file_system_that_hangs_holds_nobody_and_is_told_until_it_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("peers");
        fs::write(&path, "http://a/").expect("written");
        let aside = Aside::start("peers-file", Duration::from_millis(20)).expect("a thread");
        let source = FilePeers { aside, ..FilePeers::new(&path).expect("a thread") };
        let source = source.looking_every(Duration::from_millis(1));
        while source.list().await.is_err() {}
        let (release, held) = std::sync::mpsc::channel::<()>();
        assert!(source.aside.ask(move || held.recv().is_ok()).await.is_none());
        source.changed().await;
        let error = source.list().await.expect_err("the disk hangs").0;
        assert!(error.contains("has not answered"), "{error}");
        let silence = source.changed();
        assert!(tokio::time::timeout(Duration::from_millis(100), silence).await.is_err(), "told already");
        release.send(()).expect("still held");
        source.changed().await;
        // However slow the machine: one answer is in time.
        let urls = loop {
            if let Ok(urls) = source.list().await {
                break urls;
            }
        };
        assert_eq!(urls.len(), 1);
    }
}
