//! Several sources as one: all that any of them lists are peers.
//!
//! Each part that fails, or lists nobody although it did before, keeps its last list, as the whole does (spec
//! `replication.md` 1.5): a resolver that is away must not take those from the list that stand in a file. So it is also when
//! the settings are read again: a part whose settings are the same goes on with its last list, and until every new part has
//! answered those stay who were listed before.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::select_all;
use heureka_config::settings::{DnsPeers, ServiceUrl};

use super::complaint::Complaint;
use super::source::{Changed, Listing, PeerSource, SourceError};

/// The settings that a part was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The service URLs of the zones: fewer of them are no mistake if the settings say so.
    ServiceUrls(Vec<ServiceUrl>),
    /// TXT records of a region.
    TxtRecords(String, Option<DnsPeers>),
    /// A file.
    File(PathBuf),
    /// A name of DNS.
    Name(ServiceUrl),
}

/// The sources, in the order in which their peers are listed.
pub struct CombinedPeers {
    parts: Vec<Part>,
    failure: Arc<Mutex<Option<SourceError>>>,
    /// Who was listed when this took the place of another one, as long as a new part has not answered.
    before: Arc<Mutex<Vec<ServiceUrl>>>,
}

struct Part {
    origin: Origin,
    source: Box<dyn PeerSource>,
    kept: Arc<Mutex<Kept>>,
}

/// What is remembered of one source.
#[derive(Default)]
struct Kept {
    last: Vec<ServiceUrl>,
    complaint: Complaint,
    /// It is new beside others that have listed peers, and has not answered yet.
    is_awaited: bool,
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CombinedPeers {
    /// All of these.
    #[must_use]
    pub fn new(sources: Vec<(Origin, Box<dyn PeerSource>)>) -> Self {
        let part = |(origin, source)| Part { origin, source, kept: Arc::default() };
        let parts = sources.into_iter().map(part).collect();
        Self { parts, failure: Arc::default(), before: Arc::default() }
    }

    /// The same in place of others.
    #[must_use]
    pub fn after(mut self, others: &Self) -> Self {
        for part in &mut self.parts {
            match others.parts.iter().find(|other| other.origin == part.origin) {
                Some(same) => part.kept = Arc::clone(&same.kept),
                None => lock(&part.kept).is_awaited = true,
            }
        }
        let listed = others.parts.iter().flat_map(|part| lock(&part.kept).last.clone());
        let listed = listed.chain(lock(&others.before).clone()).collect();
        self.before = Arc::new(Mutex::new(listed));
        self
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
                self.is_awaited = false;
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
        let (failure_of_all, before) = (Arc::clone(&self.failure), Arc::clone(&self.before));
        Box::pin(async move {
            let (mut all, mut failures, mut is_awaited) = (Vec::new(), Vec::new(), false);
            for (listing, kept) in listings {
                let listed = listing.await;
                let mut locked = lock(&kept);
                let failure = locked.take(listed);
                all.extend(locked.last.iter().cloned());
                is_awaited |= locked.is_awaited;
                failures.push((Arc::clone(&kept), failure));
            }
            let mut before = lock(&before);
            if is_awaited {
                all.extend(before.iter().cloned());
            } else {
                before.clear();
            }
            drop(before);
            let first = failures.iter().find_map(|(_, failure)| failure.clone());
            lock(&failure_of_all).clone_from(&first);
            if let (true, Some(failure)) = (all.is_empty(), first) {
                return Err(failure);
            }
            for (kept, failure) in failures {
                let mut kept = lock(&kept);
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
        lock(&self.failure).clone()
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

    /// A source under a name.
    fn part(name: &str, source: &Scripted) -> (Origin, Box<dyn PeerSource>) {
        (Origin::File(name.into()), Box::new(source.clone()))
    }

    #[actix_web::test]
    async fn each_part_keeps_its_last_list_when_it_fails_or_becomes_empty() {
        let (one, two) = (Scripted::default(), Scripted::default());
        let combined = CombinedPeers::new(vec![part("one", &one), part("two", &two)]);
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
    async fn a_part_with_the_same_settings_goes_on_with_its_last_list_in_place_of_others() {
        let (file, fixed, other) = (Scripted::default(), Scripted::default(), Scripted::default());
        let first = CombinedPeers::new(vec![part("fixed", &fixed), part("file", &file)]);
        fixed.say(Some(&["a", "b"]));
        file.say(Some(&["c"]));
        assert_eq!(listed(&first).await.expect("a list"), ["a", "b", "c"]);
        // The file is away while the others change; who was taken from them is no peer any more.
        file.say(None);
        fixed.say(Some(&["b"]));
        let second = CombinedPeers::new(vec![part("fixed", &fixed), part("file", &file)]).after(&first);
        assert_eq!(listed(&second).await.expect("a list"), ["b", "c"]);
        assert!(second.failure().is_some());
        let third = CombinedPeers::new(vec![part("file", &other)]).after(&second);
        other.say(Some(&[]));
        assert_eq!(listed(&third).await.expect("a list"), ["c"], "it has become empty");
    }

    #[actix_web::test]
    async fn service_urls_that_are_no_more_in_the_settings_are_no_mistake() {
        let fixed = |hosts: &[&str]| -> (Origin, Box<dyn PeerSource>) {
            (Origin::ServiceUrls(urls(hosts)), Box::new(StaticPeers::new(urls(hosts))))
        };
        let file = Scripted::default();
        file.say(Some(&["c"]));
        let first = CombinedPeers::new(vec![fixed(&["a"]), part("file", &file)]);
        assert_eq!(listed(&first).await.expect("a list"), ["a", "c"]);
        let second = CombinedPeers::new(vec![fixed(&[]), part("file", &file)]).after(&first);
        assert_eq!(listed(&second).await.expect("a list"), ["c"]);
        assert_eq!(second.failure(), None);
    }

    #[actix_web::test]
    async fn until_a_new_part_has_answered_those_stay_who_were_listed_before() {
        let (old, new, newer) = (Scripted::default(), Scripted::default(), Scripted::default());
        let first = CombinedPeers::new(vec![part("old", &old)]);
        old.say(Some(&["a"]));
        assert_eq!(listed(&first).await.expect("a list"), ["a"]);
        let second = CombinedPeers::new(vec![part("new", &new)]).after(&first);
        assert_eq!(listed(&second).await.expect("a list"), ["a"]);
        let third = CombinedPeers::new(vec![part("new", &new), part("newer", &newer)]).after(&second);
        newer.say(Some(&["b"]));
        assert_eq!(listed(&third).await.expect("a list"), ["b", "a"], "through two changes too");
        new.say(Some(&["c"]));
        assert_eq!(listed(&third).await.expect("a list"), ["c", "b"]);
        new.say(None);
        assert_eq!(listed(&third).await.expect("a list"), ["c", "b"], "once is enough");
    }

    #[actix_web::test]
    async fn a_list_is_known_without_asking_only_if_all_of_it_is() {
        let fixed = || -> (Origin, Box<dyn PeerSource>) {
            (Origin::ServiceUrls(urls(&["a"])), Box::new(StaticPeers::new(urls(&["a"]))))
        };
        assert_eq!(CombinedPeers::new(vec![fixed(), fixed()]).known().map(|all| all.len()), Some(2));
        assert!(CombinedPeers::new(vec![fixed(), part("file", &Scripted::default())]).known().is_none());
        assert_eq!(CombinedPeers::new(Vec::new()).known().map(|all| all.len()), Some(0));
    }
}
