//! Several sources as one: all that any of them lists are peers.
//!
//! Each part that fails, or lists nobody although it did before, keeps its last list, as the whole does (spec
//! `replication.md` 1.5): a resolver that is away must not take those from the list that stand in a file.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::select_all;
use heureka_config::settings::ServiceUrl;

use super::complaint::Complaint;
use super::source::{Changed, Listing, PeerSource, SourceError};

/// The sources, in the order in which their peers are listed.
pub struct CombinedPeers {
    parts: Vec<Part>,
    failure: Arc<Mutex<Option<SourceError>>>,
}

struct Part {
    source: Box<dyn PeerSource>,
    kept: Arc<Mutex<Kept>>,
}

/// What is remembered of one source.
#[derive(Default)]
struct Kept {
    last: Vec<ServiceUrl>,
    complaint: Complaint,
}

impl CombinedPeers {
    /// All of these.
    #[must_use]
    pub fn new(sources: Vec<Box<dyn PeerSource>>) -> Self {
        let part = |source| Part { source, kept: Arc::default() };
        Self { parts: sources.into_iter().map(part).collect(), failure: Arc::default() }
    }
}

impl Kept {
    /// The list to go by after the source has answered, and why it is an old one if it is.
    fn take(&mut self, listed: Result<Vec<ServiceUrl>, SourceError>) -> Option<SourceError> {
        match listed {
            Ok(listed) if listed.is_empty() && !self.last.is_empty() => {
                Some(SourceError("a list that had peers has become empty".to_owned()))
            }
            Ok(listed) => {
                self.last = listed;
                None
            }
            Err(error) => Some(error),
        }
    }
}

impl PeerSource for CombinedPeers {
    fn list(&self) -> Listing {
        let listings: Vec<_> =
            self.parts.iter().map(|part| (part.source.list(), Arc::clone(&part.kept))).collect();
        let failure_of_all = Arc::clone(&self.failure);
        Box::pin(async move {
            let (mut all, mut failures) = (Vec::new(), Vec::new());
            for (listing, kept) in listings {
                let listed = listing.await;
                let mut locked = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let failure = locked.take(listed);
                all.extend(locked.last.iter().cloned());
                failures.push((Arc::clone(&kept), failure));
            }
            let first = failures.iter().find_map(|(_, failure)| failure.clone());
            failure_of_all.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&first);
            if let (true, Some(failure)) = (all.is_empty(), first) {
                return Err(failure);
            }
            for (kept, failure) in failures {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                match failure {
                    Some(error) if kept.complaint.is_new(&error) => {
                        tracing::warn!(%error, "a part of the peers could not be listed; its last list stays");
                    }
                    Some(_) => {}
                    None if kept.complaint.is_settled() => tracing::info!("all peers can be listed again"),
                    None => {}
                }
            }
            Ok(all)
        })
    }

    fn known(&self) -> Option<Vec<ServiceUrl>> {
        let known: Option<Vec<_>> = self.parts.iter().map(|part| part.source.known()).collect();
        known.map(|lists| lists.into_iter().flatten().collect())
    }

    fn failure(&self) -> Option<SourceError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn changed(&self) -> Changed {
        let changes: Vec<Changed> = self.parts.iter().map(|part| part.source.changed()).collect();
        if changes.is_empty() {
            return Box::pin(std::future::pending());
        }
        Box::pin(async move {
            let _ = select_all(changes).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::peers::source::StaticPeers;

    /// A source that answers as the test says.
    #[derive(Clone, Default)]
    struct Scripted(Arc<Mutex<Option<Vec<ServiceUrl>>>>);

    impl Scripted {
        fn say(&self, hosts: Option<&[&str]>) {
            *self.0.lock().expect("no panic") = hosts.map(urls);
        }
    }

    impl PeerSource for Scripted {
        fn list(&self) -> Listing {
            let said = self.0.lock().expect("no panic").clone();
            Box::pin(std::future::ready(said.ok_or_else(|| SourceError("away".to_owned()))))
        }
    }

    fn urls(hosts: &[&str]) -> Vec<ServiceUrl> {
        hosts.iter().map(|host| ServiceUrl::parse(&format!("http://{host}/")).expect("a URL")).collect()
    }

    async fn listed(combined: &CombinedPeers) -> Result<Vec<String>, String> {
        let urls = combined.list().await.map_err(|error| error.0)?;
        Ok(urls.iter().map(|url| url.host().to_owned()).collect())
    }

    #[actix_web::test]
    async fn each_part_keeps_its_last_list_when_it_fails_or_becomes_empty() {
        let (one, two) = (Scripted::default(), Scripted::default());
        let combined = CombinedPeers::new(vec![Box::new(one.clone()), Box::new(two.clone())]);
        assert_eq!(listed(&combined).await, Err("away".to_owned()));
        one.say(Some(&["a"]));
        assert_eq!(listed(&combined).await, Ok(vec!["a".to_owned()]));
        two.say(Some(&["b", "c"]));
        assert_eq!(listed(&combined).await, Ok(["a", "b", "c"].map(str::to_owned).into()));
        for said in [None, Some(&[][..])] {
            one.say(said);
            two.say(Some(&["c"]));
            assert_eq!(listed(&combined).await, Ok(["a", "c"].map(str::to_owned).into()));
            assert!(combined.failure().is_some());
        }
        one.say(Some(&["z"]));
        assert_eq!(listed(&combined).await, Ok(["z", "c"].map(str::to_owned).into()));
        assert_eq!(combined.failure(), None);
    }

    #[actix_web::test]
    async fn a_list_is_known_without_asking_only_if_all_of_it_is() {
        let fixed = || Box::new(StaticPeers::new(urls(&["a"])));
        assert_eq!(CombinedPeers::new(vec![fixed(), fixed()]).known().map(|all| all.len()), Some(2));
        assert!(CombinedPeers::new(vec![fixed(), Box::new(Scripted::default())]).known().is_none());
        assert_eq!(CombinedPeers::new(Vec::new()).known().map(|all| all.len()), Some(0));
    }
}
