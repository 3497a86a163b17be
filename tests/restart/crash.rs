//! `kill -9` at random moments under write load: the node always starts, and shows of every instance a state that was
//! acknowledged in the last two seconds before, or later; what was cancelled a second before never comes back.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use heureka_registry::random::{Random, SplitMix64};

use super::node::{Client, Fetched, Home, registration};

const APPS: [&str; 3] = ["SHOP", "CART", "STOCK"];
const INSTANCES: u64 = 60;
/// What a crash may take: the promised time to write, and as much again for a busy machine.
const MAY_BE_LOST: Duration = Duration::from_secs(2);
/// A cancel is written almost at once.
const CANCEL_MAY_BE_LOST: Duration = Duration::from_secs(1);

/// State of an instance; `None`: not there.
type State = Option<(i64, bool)>;

/// Application and instance.
type Key = (String, String);

/// All states that an instance has had, with the moment at which the client knew; the first one always held before.
type History = Vec<(Option<Instant>, State)>;

#[derive(Default)]
struct Histories(BTreeMap<Key, History>);

/// What the client was doing when the node ended.
type InFlight = Option<(Key, State)>;

impl Histories {
    fn latest(&self, key: &Key) -> State {
        self.0.get(key).and_then(|history| history.last()).and_then(|(_, state)| *state)
    }

    fn note(&mut self, key: Key, state: State) {
        self.0.entry(key).or_insert_with(|| vec![(None, None)]).push((Some(Instant::now()), state));
    }

    /// Checks what a restarted node shows, and goes on from there.
    fn check(&mut self, fetched: &Fetched, killed: Instant, in_flight: &InFlight, round: u32) {
        if let Some((key, _)) = in_flight {
            self.0.entry(key.clone()).or_insert_with(|| vec![(None, None)]);
        }
        for key in fetched.0.keys() {
            assert!(self.0.contains_key(key), "round {round}: {key:?} was never registered");
        }
        for (key, history) in &mut self.0 {
            let found = fetched.0.get(key).map(|seen| (seen.dirty, seen.status == "OUT_OF_SERVICE"));
            let is_before = |at: Option<Instant>, span| at.is_none_or(|at| at + span < killed);
            let first = history.iter().rposition(|(at, _)| is_before(*at, MAY_BE_LOST)).unwrap_or(0);
            let is_allowed = history[first..].iter().any(|(_, state)| *state == found)
                || in_flight.as_ref().is_some_and(|(flying, state)| flying == key && *state == found);
            assert!(is_allowed, "round {round}: {key:?} is {found:?}, allowed: {:?}", &history[first..]);
            let (at, last) = history[history.len() - 1];
            let is_gone = last.is_none() && is_before(at, CANCEL_MAY_BE_LOST);
            let is_registered_again = in_flight.as_ref().is_some_and(|(flying, _)| flying == key);
            assert!(!is_gone || found.is_none() || is_registered_again, "round {round}: {key:?} is back");
            *history = vec![(None, found)];
        }
    }
}

/// Registers, cancels and overrides at random until the node is gone.
fn load(client: &mut Client, histories: &mut Histories, random: &mut SplitMix64) -> InFlight {
    loop {
        let index = random.next_u64() % INSTANCES;
        let app = APPS[(index % 3) as usize];
        let key = (app.to_owned(), format!("id-{index:02}"));
        let path = format!("/eureka/apps/{app}/{}", key.1);
        let state = histories.latest(&key);
        let dirty = state.map_or(1, |(dirty, _)| dirty) + 1;
        let (method, path, body, next) = match (random.next_u64() % 8, state) {
            (0..=1, Some(_)) => ("DELETE", path, String::new(), None),
            (2, Some((dirty, _))) => {
                ("PUT", format!("{path}/status?value=OUT_OF_SERVICE"), String::new(), Some((dirty, true)))
            }
            (3, Some((dirty, true))) => {
                ("DELETE", format!("{path}/status"), String::new(), Some((dirty, false)))
            }
            _ => {
                let is_out = state.is_some_and(|(_, is_out)| is_out);
                let body = registration(app, &key.1, dirty);
                ("POST", format!("/eureka/apps/{app}"), body, Some((dirty, is_out)))
            }
        };
        let Ok(answer) = client.send(method, &path, &body) else { return Some((key, next)) };
        assert!(answer.status < 300, "{method} {path}: {}", answer.status);
        histories.note(key, next);
    }
}

fn crash_rounds(rounds: u32, seed: u64) {
    let home = Home::new();
    let mut random = SplitMix64::new(seed);
    let mut histories = Histories::default();
    let (mut changes, mut warm) = (0, 0);
    for round in 0..rounds {
        let node = home.start(&[]);
        warm += u32::from(node.has_said("warm start: "));
        let mut client = node.client();
        let life = Duration::from_millis(50 + random.next_u64() % 1_200);
        let mut own_random = SplitMix64::new(random.next_u64());
        let (killed, in_flight) = thread::scope(|scope| {
            let loading = scope.spawn(|| load(&mut client, &mut histories, &mut own_random));
            thread::sleep(life);
            let killed = Instant::now();
            node.kill();
            (killed, loading.join().expect("the load ends with the node"))
        });
        changes += histories.0.values().map(|history| history.len() - 1).sum::<usize>();
        let node = home.start(&[]);
        histories.check(&node.fetch(), killed, &in_flight, round);
        node.kill();
    }
    // The first lives may end before anything was kept.
    assert!(warm + 5 > rounds, "only {warm} of {rounds} starts were warm");
    assert!(changes > 10 * rounds as usize, "only {changes} changes in {rounds} rounds");
}

#[test]
fn a_killed_node_comes_back_with_what_was_true() {
    crash_rounds(20, 1);
}

/// As often as `HEUREKA_CRASH_ROUNDS` says, by default 1,000 times: a quarter of an hour.
#[test]
#[ignore = "slow"]
fn a_node_that_is_killed_a_thousand_times_comes_back_with_what_was_true() {
    let rounds = std::env::var("HEUREKA_CRASH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    crash_rounds(rounds.unwrap_or(1_000), 2);
}
