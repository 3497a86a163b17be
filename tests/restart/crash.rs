//! `kill -9` at random moments under write load: the node always starts, and shows of every instance the state that it had
//! when the node last said that everything was written, or a later one. How soon it is written is tested under virtual time,
//! beside the actor that writes.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use heureka_registry::random::{Random, SplitMix64};

use super::node::{Client, Fetched, Home, registration};

const APPS: [&str; 3] = ["SHOP", "CART", "STOCK"];
const INSTANCES: u64 = 60;
/// Every so many requests the node is asked how often it has written.
const REQUESTS_PER_LOOK: usize = 10;
/// A life has at least so many acknowledged changes, however slow the machine.
const CHANGES_MIN: usize = 20;

/// State of an instance; `None`: not there.
type State = Option<(i64, bool)>;

/// Application and instance.
type Key = (String, String);

/// All states that an instance has had, with the number of the change; the first one always held before.
type History = Vec<(usize, State)>;

#[derive(Default)]
struct Histories {
    by_key: BTreeMap<Key, History>,
    /// Changes of this life so far.
    changes: usize,
    /// The answers of the node: changes that it had acknowledged before, and how many rounds it had written.
    looks: Vec<(usize, u64)>,
}

/// What the client was doing when the node ended.
type InFlight = Option<(Key, State)>;

impl Histories {
    fn latest(&self, key: &Key) -> State {
        self.by_key.get(key).and_then(|history| history.last()).and_then(|(_, state)| *state)
    }

    fn note(&mut self, key: Key, state: State) {
        self.changes += 1;
        self.by_key.entry(key).or_insert_with(|| vec![(0, None)]).push((self.changes, state));
    }

    /// Changes that are surely written. One round may have been under way when the first look was made; the next one has
    /// taken everything that was acknowledged before.
    fn written(&self) -> usize {
        let Some((_, last)) = self.looks.last() else { return 0 };
        let is_over = |(_, rounds): &&(usize, u64)| rounds + 2 <= *last;
        self.looks.iter().rev().find(is_over).map_or(0, |(changes, _)| *changes)
    }

    /// Checks what a restarted node shows, and goes on from there. Returns how many changes had to be there.
    fn check(&mut self, fetched: &Fetched, in_flight: &InFlight, round: u32) -> usize {
        if let Some((key, _)) = in_flight {
            self.by_key.entry(key.clone()).or_insert_with(|| vec![(0, None)]);
        }
        for key in fetched.0.keys() {
            assert!(self.by_key.contains_key(key), "round {round}: {key:?} was never registered");
        }
        let written = self.written();
        for (key, history) in &mut self.by_key {
            let found = fetched.0.get(key).map(|seen| (seen.dirty, seen.status == "OUT_OF_SERVICE"));
            let first = history.iter().rposition(|(change, _)| *change <= written).unwrap_or(0);
            let is_allowed = history[first..].iter().any(|(_, state)| *state == found)
                || in_flight.as_ref().is_some_and(|(flying, state)| flying == key && *state == found);
            assert!(is_allowed, "round {round}: {key:?} is {found:?}, allowed: {:?}", &history[first..]);
            *history = vec![(0, found)];
        }
        (self.changes, self.looks) = (0, Vec::new());
        written
    }
}

/// How many rounds a node has written.
fn rounds_of(client: &mut Client) -> Option<u64> {
    let page = client.send("GET", "/actuator/prometheus", "").ok()?.text();
    let value = page.lines().find_map(|line| line.strip_prefix("eureka_snapshot_rounds_total "));
    Some(value.expect("a counter").parse().expect("a number"))
}

/// Registers, cancels and overrides at random until the node is gone; tells each change.
fn load(
    client: &mut Client,
    histories: &mut Histories,
    random: &mut SplitMix64,
    tell: &Sender<()>,
) -> InFlight {
    for request in 0.. {
        if request % REQUESTS_PER_LOOK == 0 {
            let changes = histories.changes;
            histories.looks.push((changes, rounds_of(client)?));
        }
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
        // Nobody listens any more when there have been enough.
        let _ = tell.send(());
    }
    None
}

fn crash_rounds(rounds: u32, seed: u64) {
    let home = Home::new();
    let mut random = SplitMix64::new(seed);
    let mut histories = Histories::default();
    let (mut written, mut warm) = (0, 0);
    for round in 0..rounds {
        let node = home.start(&[]);
        warm += u32::from(node.has_said("warm start: "));
        let mut client = node.client();
        let life = Duration::from_millis(50 + random.next_u64() % 1_200);
        let mut own_random = SplitMix64::new(random.next_u64());
        let (tell, told) = channel();
        let in_flight = thread::scope(|scope| {
            let known = &mut histories;
            let loading = scope.spawn(move || load(&mut client, known, &mut own_random, &tell));
            thread::sleep(life);
            assert_eq!(told.iter().take(CHANGES_MIN).count(), CHANGES_MIN);
            node.kill();
            loading.join().expect("the load ends with the node")
        });
        let node = home.start(&[]);
        written += histories.check(&node.fetch(), &in_flight, round);
        node.kill();
    }
    // The first lives may end before anything was kept.
    assert!(warm + 5 > rounds, "only {warm} of {rounds} starts were warm");
    assert!(written > 0, "no crash came after anything was surely written");
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
