//! When a node that starts asks its peers for what they hold: at once, again after a while as often as configured, and
//! whenever others are listed, until somebody has given something (spec `replication.md` 6.1).
//!
//! Each time those are asked who are listed then. The first list may be a part of the whole, because a file or a name in DNS
//! comes later than the node, and those in it may be gone.

use std::time::Duration;

use heureka_config::settings::{ServiceUrl, SyncSettings};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::directory::PeerUrls;
use super::sync::Copied;

/// The copy. `A` asks peers once.
pub struct FirstCopy<A> {
    urls: PeerUrls,
    was_told: watch::Receiver<bool>,
    ask: A,
    retries: u32,
    wait: Duration,
    asked: Vec<ServiceUrl>,
    /// All sources had told who the peers are when they were asked last.
    is_told: bool,
    copied: Copied,
}

impl<A: AsyncFn(Vec<ServiceUrl>) -> Copied> FirstCopy<A> {
    /// Nobody has been asked. `was_told` says whether all sources have told who the peers are.
    #[must_use]
    pub fn new(urls: PeerUrls, was_told: watch::Receiver<bool>, settings: &SyncSettings, ask: A) -> Self {
        Self {
            urls,
            was_told,
            ask,
            retries: settings.retries,
            wait: Duration::from_millis(settings.retry_wait_ms),
            asked: Vec::new(),
            is_told: false,
            copied: Copied { count: 0, is_complete: false },
        }
    }

    /// Asks all who are listed now.
    pub async fn ask(&mut self) {
        self.is_told = *self.was_told.borrow();
        self.asked = self.urls.all();
        self.copied = (self.ask)(self.asked.clone()).await;
    }

    /// Instances that were given last.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.copied.count
    }

    /// True if a node may open that must not open empty: something has come, or all whom all sources name agree that there
    /// is nothing.
    #[must_use]
    pub const fn may_open(&self) -> bool {
        self.copied.count > 0 || (self.is_told && self.copied.is_complete)
    }

    /// Goes on until somebody has given something, among all whom all sources name. `open` opens a node that has waited for
    /// this, with the number of instances; as late as when nobody has given any for as long as configured.
    pub async fn go_on(mut self, mut open: Option<impl FnOnce(u64)>) {
        // Where nobody has told yet who they are, the first one that is asked may be the one after the last wait.
        let mut waits = if self.is_told { self.retries.saturating_sub(1) } else { self.retries.max(1) };
        // News cuts no wait short and begins none anew: peers that come and go must not keep the node closed for ever.
        let mut end = None;
        while !(self.is_told && self.copied.count > 0) {
            if waits == 0 || self.may_open() {
                if let Some(open) = open.take() {
                    open(self.copied.count);
                }
                if !self.hears_of_others().await {
                    return;
                }
            } else {
                let until = *end.get_or_insert_with(|| Instant::now() + self.wait);
                let heard = tokio::select! {
                    biased;
                    () = sleep_until(until) => None,
                    is_news = self.hears_of_others() => Some(is_news),
                };
                match heard {
                    Some(true) => {}
                    Some(false) => return,
                    None => {
                        end = None;
                        waits -= 1;
                        if self.urls.all().is_empty() {
                            continue;
                        }
                        tracing::info!("no peer has given an instance yet; asking again");
                    }
                }
            }
            self.ask().await;
        }
        if let Some(open) = open {
            open(self.copied.count);
        }
    }

    /// Waits until somebody is listed who has not been asked, or all sources have told for the first time. False if the list
    /// has ended, and the node with it.
    async fn hears_of_others(&mut self) -> bool {
        let (asked, is_told) = (&self.asked, self.is_told);
        let told = async {
            if is_told {
                std::future::pending().await
            } else {
                self.was_told.wait_for(|told| *told).await.is_ok()
            }
        };
        tokio::select! {
            is_news = self.urls.has_others_than(asked) => is_news,
            is_news = told => is_news,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use tokio::time::sleep;

    use super::*;
    use crate::peers::directory::UrlList;

    const WAIT: Duration = Duration::from_secs(30);
    const RETRIES: u32 = 3;

    /// A list of peers as the test makes it, what each of them gives (`None`: it does not answer), and what came of it.
    struct World {
        list: UrlList,
        told: watch::Sender<bool>,
        gives: RefCell<Vec<(&'static str, Option<u64>)>>,
        asked: RefCell<Vec<String>>,
        opened: Cell<Option<(u64, u64)>>,
        started: Instant,
    }

    impl World {
        fn new(gives: &[(&'static str, Option<u64>)]) -> Rc<Self> {
            Rc::new(Self {
                list: UrlList::default(),
                told: watch::Sender::new(false),
                gives: RefCell::new(gives.to_vec()),
                asked: RefCell::default(),
                opened: Cell::default(),
                started: Instant::now(),
            })
        }

        fn list(&self, hosts: &[&str], is_told: bool) {
            let url = |host: &&str| ServiceUrl::parse(&format!("http://{host}/")).expect("a URL");
            self.list.set(hosts.iter().map(url).collect());
            self.told.send_replace(is_told);
        }

        fn answer(&self, urls: &[ServiceUrl]) -> Copied {
            let mut hosts: Vec<&str> = urls.iter().map(ServiceUrl::host).collect();
            hosts.sort_unstable();
            self.asked.borrow_mut().push(hosts.join(" "));
            let gives = self.gives.borrow();
            let given =
                |host: &&str| gives.iter().find(|(known, _)| known == host).and_then(|(_, count)| *count);
            let given: Vec<_> = hosts.iter().map(given).collect();
            Copied { count: given.iter().flatten().sum(), is_complete: given.iter().all(Option::is_some) }
        }

        /// Asks once and goes on beside what the test does.
        async fn run(self: &Rc<Self>, meanwhile: impl AsyncFnOnce()) {
            let settings = SyncSettings {
                retries: RETRIES,
                retry_wait_ms: WAIT.as_millis() as u64,
                ..SyncSettings::default()
            };
            let asks = Rc::clone(self);
            let ask = async move |urls: Vec<ServiceUrl>| asks.answer(&urls);
            let mut copy = FirstCopy::new(self.list.urls(), self.told.subscribe(), &settings, ask);
            copy.ask().await;
            let opens = |count| self.opened.set(Some((count, self.started.elapsed().as_secs())));
            let mut open = Some(opens);
            if copy.may_open()
                && let Some(open) = open.take()
            {
                open(copy.count());
            }
            tokio::select! {
                () = async { copy.go_on(open).await; std::future::pending().await } => {}
                () = meanwhile() => {}
            }
        }

        fn asked(&self) -> Vec<String> {
            self.asked.borrow().clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_without_a_part_that_failed_is_not_the_whole_and_the_rest_is_asked_when_it_comes() {
        // The part that answers lists only this node itself, which is no peer.
        let world = World::new(&[("full", Some(7))]);
        world.list(&[], false);
        world
            .run(async || {
                sleep(WAIT / 2).await;
                assert_eq!(world.opened.get(), None, "nobody has said that there is nobody to ask");
                world.list(&["full"], true);
                sleep(100 * WAIT).await;
            })
            .await;
        assert_eq!((world.asked(), world.opened.get()), (vec![String::new(), "full".into()], Some((7, 15))));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_part_of_the_list_gives_opens_the_node_and_the_rest_is_asked_all_the_same() {
        let world = World::new(&[("one", Some(1)), ("full", Some(7))]);
        world.list(&["one"], false);
        world
            .run(async || {
                sleep(100 * WAIT).await;
                assert_eq!(world.asked(), ["one"]);
                world.list(&["one", "full"], true);
                sleep(100 * WAIT).await;
            })
            .await;
        assert_eq!(
            (world.asked(), world.opened.get()),
            (vec!["one".into(), "full one".into()], Some((1, 0)))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn every_attempt_asks_those_who_are_listed_then() {
        let world = World::new(&[("dead", None), ("full", Some(7))]);
        world.list(&["dead"], true);
        world
            .run(async || {
                sleep(WAIT + WAIT / 2).await;
                assert_eq!(world.asked(), ["dead", "dead"]);
                world.list(&["dead", "full"], true);
                sleep(100 * WAIT).await;
            })
            .await;
        assert_eq!(world.asked()[2..], ["dead full"]);
        assert_eq!(world.opened.get(), Some((7, 45)), "it is asked as soon as it is listed");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_listed_after_the_last_attempt_is_asked_too() {
        let world = World::new(&[("dead", None), ("empty", Some(0)), ("full", Some(7))]);
        world.list(&["dead"], true);
        world
            .run(async || {
                sleep(100 * WAIT).await;
                assert_eq!(world.asked(), vec!["dead"; RETRIES as usize]);
                assert_eq!(world.opened.get(), Some((0, 60)));
                for hosts in [&["empty"][..], &["empty", "full"], &["empty", "full", "later"]] {
                    world.list(hosts, true);
                    sleep(WAIT).await;
                }
            })
            .await;
        assert_eq!(world.asked()[RETRIES as usize..], ["empty", "empty full"], "then it has what there is");
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_changes_all_the_time_keeps_no_node_closed() {
        const HOSTS: [&str; 20] = [
            "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
            "t",
        ];
        for pause in [WAIT / 3, WAIT / 2, WAIT * 2 / 3] {
            let world = World::new(&[]);
            world.list(&["dead"], true);
            world
                .run(async || {
                    for host in HOSTS {
                        sleep(pause).await;
                        world.list(&[host], true);
                    }
                })
                .await;
            assert_eq!(world.opened.get(), Some((0, 60)), "a list every {pause:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn peers_that_agree_that_there_is_nothing_are_not_asked_again() {
        let world = World::new(&[("empty", Some(0))]);
        world.list(&["empty"], true);
        world.run(async || sleep(100 * WAIT).await).await;
        assert_eq!((world.asked(), world.opened.get()), (vec!["empty".into()], Some((0, 0))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_is_never_told_who_its_peers_are_opens_when_it_has_waited_as_long_as_it_would_have_asked()
     {
        let world = World::new(&[]);
        world.run(async || sleep(100 * WAIT).await).await;
        assert_eq!((world.asked(), world.opened.get()), (vec![String::new()], Some((0, 90))));
    }
}
