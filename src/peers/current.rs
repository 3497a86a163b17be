//! The source that counts now: another may take its place while the node runs, when its settings are read again.

use std::sync::{Arc, Mutex, PoisonError};

use heureka_config::settings::ServiceUrl;
use tokio::sync::Notify;

use super::combined::CombinedPeers;
use super::source::{Changed, Listing, PeerSource, SourceError};

/// A source that can be replaced. Copies of it are the same.
#[derive(Clone)]
pub struct CurrentSource(Arc<Shared>);

struct Shared {
    source: Mutex<Arc<CombinedPeers>>,
    replaced: Notify,
}

impl CurrentSource {
    /// This one, until it is replaced.
    #[must_use]
    pub fn new(source: CombinedPeers) -> Self {
        Self(Arc::new(Shared { source: Mutex::new(source.into()), replaced: Notify::new() }))
    }

    /// From now on that one, which goes on with what the last one has listed. Who follows the list asks it at once.
    pub fn replace(&self, source: CombinedPeers) {
        let mut current = self.0.source.lock().unwrap_or_else(PoisonError::into_inner);
        *current = source.after(&current).into();
        drop(current);
        self.0.replaced.notify_one();
    }

    fn source(&self) -> Arc<CombinedPeers> {
        Arc::clone(&self.0.source.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl PeerSource for CurrentSource {
    fn list(&self) -> Listing {
        self.source().list()
    }

    fn known(&self) -> Option<Vec<ServiceUrl>> {
        self.source().known()
    }

    fn failure(&self) -> Option<SourceError> {
        self.source().failure()
    }

    fn changed(&self) -> Changed {
        let (changed, shared) = (self.source().changed(), Arc::clone(&self.0));
        Box::pin(async move {
            tokio::select! {
                () = changed => {}
                () = shared.replaced.notified() => {}
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::peers::combined::Origin;
    use crate::peers::source::StaticPeers;

    #[tokio::test(start_paused = true)]
    async fn who_follows_hears_of_another_source_also_if_it_was_not_listening() {
        let peers = |text: &str| {
            let urls = vec![ServiceUrl::parse(text).expect("a URL")];
            let source = StaticPeers::new(urls.clone());
            CombinedPeers::new(vec![(Origin::ServiceUrls(urls), Box::new(source))])
        };
        let current = CurrentSource::new(peers("http://a/"));
        let first = |current: &CurrentSource| current.known().map(|urls| urls[0].host().to_owned());
        assert_eq!(first(&current).as_deref(), Some("a"));
        let quiet = tokio::time::timeout(Duration::from_secs(3600), current.changed()).await;
        assert!(quiet.is_err(), "nothing has changed");
        let follower = current.clone();
        current.replace(peers("http://b/"));
        follower.changed().await;
        assert_eq!(first(&follower).as_deref(), Some("b"));
    }
}
