//! What the peers are told of auto-scaling groups (spec `replication.md` 8.1): the state that a group was given last, to each
//! peer until it has taken it or is a peer no more.
//!
//! A state waits once for each group and peer. Any name may be that of a group, also one that this node never keeps, so how
//! many wait for one peer has a bound of its own; what is beyond it the peer is not told. One task for each peer to which
//! something waits tells it one after the other. If that fails it pauses, as the queue of batches does, and goes on with the
//! next group: one that a firewall keeps from the peer does not keep back the others.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heureka_actors::replicator::TransportError;
use heureka_config::settings::ServiceUrl;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// First and longest pause after a failure of the network, and after an answer that says no or comes too late.
const NETWORK_PAUSE: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
const REFUSAL_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// Groups whose state may wait for one peer, as many as a node knows.
const WAITING_MAX: usize = 10_000;

/// Tells one peer the state of one group.
pub trait TellGroup {
    /// The status of its answer.
    ///
    /// # Errors
    /// If there is none.
    fn tell(&self, asg: &str, is_enabled: bool) -> impl Future<Output = Result<u16, TransportError>>;
}

/// Who is told, as the list of peers stands now.
pub trait GroupPeers {
    /// What tells one of them.
    type Tell: TellGroup;

    /// The peer with this URL without credentials as it is listed now; `None` if it is not.
    fn listed(&self, peer: &str) -> Option<ServiceUrl>;

    /// What tells it.
    ///
    /// # Errors
    /// If the TLS settings cannot be used.
    fn reach(&self, url: &ServiceUrl) -> anyhow::Result<Self::Tell>;
}

/// What waits.
#[derive(Debug, Default)]
pub struct GroupWords {
    /// By peer, as long as a task tells it; then by group.
    waiting: Mutex<BTreeMap<String, BTreeMap<Arc<str>, bool>>>,
    told: Family<Labels, Counter>,
    count: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    result: &'static str,
}

impl GroupWords {
    /// Adds the figures to those of a node.
    pub fn register_metrics(&self, registry: &mut Registry) {
        let help = "States of auto-scaling groups that peers were told, by what came of it";
        registry.register("asg_replications", help, self.told.clone());
        let help = "States of auto-scaling groups that wait for a peer";
        registry.register("asg_replications_waiting", help, self.count.clone());
    }

    /// A group has got a state here. Returns those of the peers that need a task to be told by.
    #[must_use]
    pub fn say(&self, peers: Vec<String>, asg: &str, is_enabled: bool) -> Vec<String> {
        let asg: Arc<str> = asg.into();
        let mut waiting = self.waiting();
        let is_new = |peer: &String| {
            let is_new = !waiting.contains_key(peer);
            let words = waiting.entry(peer.clone()).or_default();
            if words.len() < WAITING_MAX || words.contains_key(&asg) {
                words.insert(Arc::clone(&asg), is_enabled);
            } else {
                self.told.get_or_create(&Labels { result: "dropped" }).inc();
                tracing::debug!(%peer, %asg, "a peer is not told of an auto-scaling group: too many wait");
            }
            is_new
        };
        let new = peers.into_iter().filter(is_new).collect();
        self.recount(&waiting);
        new
    }

    /// A peer has told of a group: that is newer than what waits, and it tells the others itself.
    pub fn forget(&self, asg: &str) {
        let mut waiting = self.waiting();
        for words in waiting.values_mut() {
            words.remove(asg);
        }
        self.recount(&waiting);
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<String, BTreeMap<Arc<str>, bool>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recount(&self, waiting: &BTreeMap<String, BTreeMap<Arc<str>, bool>>) {
        let count = waiting.values().map(BTreeMap::len).sum::<usize>();
        self.count.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// What the peer is to be told next: the group behind the last one, round and round. If there is nothing more, its task
    /// ends.
    fn next(&self, peer: &str, last: Option<&str>) -> Option<(Arc<str>, bool)> {
        let mut waiting = self.waiting();
        let words = waiting.get(peer)?;
        let behind =
            last.and_then(|last| words.range::<str, _>((Bound::Excluded(last), Bound::Unbounded)).next());
        let next = behind.or_else(|| words.first_key_value());
        let next = next.map(|(asg, is_enabled)| (Arc::clone(asg), *is_enabled));
        if next.is_none() {
            waiting.remove(peer);
        }
        next
    }

    /// The peer has taken it, or never will; what was said meanwhile stays.
    fn settle(&self, peer: &str, asg: &str, is_enabled: bool) {
        let mut waiting = self.waiting();
        if let Some(words) = waiting.get_mut(peer)
            && words.get(asg) == Some(&is_enabled)
        {
            words.remove(asg);
        }
        self.recount(&waiting);
    }

    fn give_up(&self, peer: &str) {
        let mut waiting = self.waiting();
        waiting.remove(peer);
        self.recount(&waiting);
    }

    /// Tells one peer everything that waits for it.
    pub async fn tell_all<P: GroupPeers>(self: Arc<Self>, peer: String, peers: P) {
        let mut reached: Option<(ServiceUrl, P::Tell)> = None;
        let mut failures = 0;
        let mut last: Option<Arc<str>> = None;
        while let Some((asg, is_enabled)) = self.next(&peer, last.as_deref()) {
            let Some(url) = peers.listed(&peer) else { return self.give_up(&peer) };
            if reached.as_ref().is_none_or(|(known, _)| *known != url) {
                match peers.reach(&url) {
                    Ok(tell) => reached = Some((url, tell)),
                    Err(error) => {
                        tracing::error!(%peer, "a peer cannot be told of auto-scaling groups: {error:#}");
                        return self.give_up(&peer);
                    }
                }
            }
            let Some((_, tell)) = &reached else { return self.give_up(&peer) };
            let answer = tell.tell(&asg, is_enabled).await;
            let pause = self.judge(&peer, &asg, is_enabled, answer, failures);
            last = Some(asg);
            let Some(pause) = pause else {
                failures = 0;
                continue;
            };
            failures += 1;
            tokio::time::sleep(pause).await;
        }
    }

    /// What an answer means: for how long the peer is left alone if it has to be told again.
    fn judge(
        &self,
        peer: &str,
        asg: &str,
        is_enabled: bool,
        answer: Result<u16, TransportError>,
        failures: u32,
    ) -> Option<Duration> {
        let (result, limits, words) = match answer {
            Ok(200..=299) => ("ok", None, None),
            // No groups there, or none of that name: it would say so again.
            Ok(status @ (400 | 500)) => ("refused", None, Some(format!("it answers {status}"))),
            Ok(status) => ("failed", Some(REFUSAL_PAUSE), Some(format!("it answers {status}"))),
            Err(error @ TransportError::Unreachable(_)) => {
                ("failed", Some(NETWORK_PAUSE), Some(error.to_string()))
            }
            Err(error) => ("failed", Some(REFUSAL_PAUSE), Some(error.to_string())),
        };
        self.told.get_or_create(&Labels { result }).inc();
        match words {
            Some(words) if result == "refused" => {
                tracing::warn!(peer, asg, "a peer did not take the state of an auto-scaling group: {words}");
            }
            Some(words) if failures == 0 => {
                tracing::warn!(peer, asg, "a peer was not told of an auto-scaling group yet: {words}");
            }
            Some(words) => tracing::debug!(peer, asg, "a peer was not told again: {words}"),
            None if failures > 0 => tracing::info!(peer, "the peer is told of auto-scaling groups again"),
            None => {}
        }
        let Some((first, longest)) = limits else {
            self.settle(peer, asg, is_enabled);
            return None;
        };
        Some(first.saturating_mul(2_u32.saturating_pow(failures)).min(longest))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use tokio::task::LocalSet;
    use tokio::time::Instant;

    use super::*;

    const PEER: &str = "http://a/";

    /// A peer that answers as planned, then 200 to everything, and notes when it was told what.
    #[derive(Clone, Default)]
    struct World(Rc<RefCell<Inner>>);

    #[derive(Default)]
    struct Inner {
        plan: VecDeque<Result<u16, TransportError>>,
        told: Vec<(u64, String)>,
        is_listed: bool,
        started: Option<Instant>,
        clients: usize,
    }

    impl World {
        fn new(plan: impl IntoIterator<Item = Result<u16, TransportError>>) -> Self {
            let plan = plan.into_iter().collect();
            let started = Some(Instant::now());
            Self(Rc::new(RefCell::new(Inner { plan, is_listed: true, started, ..Inner::default() })))
        }

        fn told(&self) -> Vec<String> {
            self.0.borrow().told.iter().map(|(_, word)| word.clone()).collect()
        }

        fn times(&self) -> Vec<u64> {
            self.0.borrow().told.iter().map(|(ms, _)| *ms).collect()
        }
    }

    impl TellGroup for World {
        async fn tell(&self, asg: &str, is_enabled: bool) -> Result<u16, TransportError> {
            // Long enough for something to be said meanwhile.
            tokio::time::sleep(Duration::from_millis(10)).await;
            let mut inner = self.0.borrow_mut();
            let ms = inner.started.map_or(0, |started| started.elapsed().as_millis() as u64);
            inner.told.push((ms, format!("{asg} {is_enabled}")));
            inner.plan.pop_front().unwrap_or(Ok(200))
        }
    }

    impl GroupPeers for World {
        type Tell = Self;

        fn listed(&self, peer: &str) -> Option<ServiceUrl> {
            let url = ServiceUrl::parse(peer).expect("a URL");
            self.0.borrow().is_listed.then_some(url)
        }

        fn reach(&self, _: &ServiceUrl) -> anyhow::Result<Self> {
            self.0.borrow_mut().clients += 1;
            Ok(self.clone())
        }
    }

    fn say(words: &Arc<GroupWords>, world: &World, asg: &str, is_enabled: bool) {
        for peer in words.say(vec![PEER.to_owned()], asg, is_enabled) {
            tokio::task::spawn_local(Arc::clone(words).tell_all(peer, world.clone()));
        }
    }

    async fn pass(ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }

    fn count(words: &GroupWords, result: &'static str) -> u64 {
        words.told.get_or_create(&Labels { result }).get()
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_is_away_is_told_the_newest_state_of_each_group_when_it_is_back() {
        let away = || Err(TransportError::Unreachable("refused".to_owned()));
        let (words, world) = (Arc::new(GroupWords::default()), World::new((0..8).map(|_| away())));
        LocalSet::new()
            .run_until(async {
                say(&words, &world, "g", false);
                pass(15).await;
                for n in 0..100 {
                    say(&words, &world, "g", n % 2 == 1);
                    say(&words, &world, "h", n % 2 == 0);
                }
                assert_eq!(words.count.get(), 2, "one for each group, however often it changes");
                pass(60_000).await;
                assert_eq!(world.told()[8..], ["g true", "h false"]);
                assert_eq!((words.count.get(), world.0.borrow().clients), (0, 1), "one client for all of it");
                let pauses: Vec<u64> = world.times().windows(2).map(|two| two[1] - two[0] - 10).collect();
                assert_eq!(pauses, [100, 200, 400, 800, 1600, 3200, 5000, 5000, 0]);
                say(&words, &world, "h", true);
                pass(100).await;
                assert_eq!(world.told()[10..], ["h true"], "a task that has ended is started again");
                assert_eq!((count(&words, "ok"), count(&words, "failed")), (3, 8));
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_peer_refuses_is_not_said_again_and_what_it_cannot_take_now_is() {
        let late = || Err(TransportError::TimedOut("late".to_owned()));
        let (words, world) =
            (Arc::new(GroupWords::default()), World::new([Ok(400), Ok(503), Ok(404), late(), Ok(500)]));
        LocalSet::new()
            .run_until(async {
                say(&words, &world, "g", false);
                say(&words, &world, "h", false);
                say(&words, &world, "i", false);
                pass(60_000).await;
                assert_eq!(world.told(), ["g false", "h false", "i false", "h false", "i false", "h false"]);
                let pauses: Vec<u64> = world.times().windows(2).map(|two| two[1] - two[0] - 10).collect();
                assert_eq!(pauses, [0, 1000, 2000, 4000, 0]);
                assert_eq!(
                    (count(&words, "refused"), count(&words, "failed"), count(&words, "ok")),
                    (2, 3, 1)
                );
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_changes_while_it_is_told_is_told_again() {
        let (words, world) = (Arc::new(GroupWords::default()), World::new([]));
        LocalSet::new()
            .run_until(async {
                say(&words, &world, "g", false);
                pass(5).await;
                say(&words, &world, "g", true);
                pass(60_000).await;
                assert_eq!(world.told(), ["g false", "g true"]);
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_for_who_is_no_peer_and_nothing_that_a_peer_has_told_since() {
        let away = || Err(TransportError::Unreachable("refused".to_owned()));
        let (words, world) = (Arc::new(GroupWords::default()), World::new((0..100).map(|_| away())));
        LocalSet::new()
            .run_until(async {
                say(&words, &world, "g", false);
                say(&words, &world, "h", false);
                pass(1_000).await;
                words.forget("g");
                assert_eq!(words.count.get(), 1);
                world.0.borrow_mut().is_listed = false;
                pass(60_000).await;
                assert_eq!(words.count.get(), 0);
                let told = world.told().len();
                pass(60_000).await;
                assert_eq!(world.told().len(), told);
            })
            .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_group_that_cannot_be_told_does_not_keep_back_the_others() {
        let (words, world) =
            (Arc::new(GroupWords::default()), World::new([Ok(403), Ok(200), Ok(200), Ok(403)]));
        LocalSet::new()
            .run_until(async {
                for asg in ["g", "h", "i"] {
                    say(&words, &world, asg, false);
                }
                pass(60_000).await;
                assert_eq!(world.told(), ["g false", "h false", "i false", "g false", "g false"]);
                let pauses: Vec<u64> = world.times().windows(2).map(|two| two[1] - two[0] - 10).collect();
                assert_eq!(pauses, [1000, 0, 0, 1000]);
            })
            .await;
    }

    #[test]
    fn only_so_many_groups_wait_for_a_peer() {
        let words = GroupWords::default();
        for n in 0..=WAITING_MAX {
            let _ = words.say(vec![PEER.to_owned()], &format!("g{n}"), true);
        }
        assert_eq!((words.count.get(), count(&words, "dropped")), (10_000, 1));
        let _ = words.say(vec![PEER.to_owned()], "g0", false);
        assert_eq!(count(&words, "dropped"), 1, "one that waits already has room");
        assert!(!words.waiting()[PEER]["g0"], "its newest state");
        let _ = words.say(vec!["http://b/".to_owned()], "more", true);
        assert_eq!(words.count.get(), 10_001, "so many for each peer");
    }
}
