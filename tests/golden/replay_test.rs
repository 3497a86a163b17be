//! Replays every recorded scenario against a server of our own. Waits are real, so scenarios run side by side.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

use heureka::testing::TestServer;

use super::differences::DIFFERENCES;
use super::recording::{Scenario, scenarios};
use super::replay::{Outcome, Stage, now_ms, play};

/// Scenarios that run at the same time: they wait most of the time.
const SIDE_BY_SIDE: usize = 8;

/// A port that nobody listens on. The settings must name it before the server starts, so it is none that the system gives to
/// somebody else meanwhile, those begin above; and it belongs to a block that this process holds by listening on its first
/// port, so that no other run of these tests takes it.
pub(crate) fn free_port() -> u16 {
    const FIRST: u16 = 20_000;
    const BLOCKS: u16 = 60;
    const SIZE: u16 = 200;
    static HELD: OnceLock<(TcpListener, u16)> = OnceLock::new();
    static NEXT: AtomicU16 = AtomicU16::new(1);
    let listen = |port: u16| TcpListener::bind(("127.0.0.1", port)).ok();
    let (_, first) = HELD.get_or_init(|| {
        let mut firsts = (0..BLOCKS).map(|block| FIRST + block * SIZE);
        firsts.find_map(|first| Some((listen(first)?, first))).expect("a block of ports")
    });
    let mut ports = std::iter::repeat_with(|| NEXT.fetch_add(1, Ordering::Relaxed)).take_while(|n| *n < SIZE);
    ports.find_map(|n| listen(first + n).map(|_| first + n)).expect("a free port in the block")
}

/// The settings of a scenario, for a server on that port.
pub(crate) fn properties(scenario: &Scenario, port: u16) -> Vec<(String, String)> {
    let port = port.to_string();
    let own = scenario.properties.iter().map(|(key, value)| (key.clone(), value.replace("{port}", &port)));
    own.chain([("server.port".to_owned(), port.clone())]).collect()
}

fn play_on_a_fresh_server(all: &[Scenario], scenario: &Scenario) -> Outcome {
    let since_ms = now_ms();
    let server = TestServer::start(&properties(scenario, free_port()));
    play(all, scenario, Stage { port: server.port(), since_ms, now_ms, pause: thread::sleep })
}

#[test]
fn every_recorded_exchange_is_answered_as_required() {
    let all = scenarios();
    // Those that wait longest begin.
    let mut queue: Vec<&Scenario> = all.iter().collect();
    queue.sort_by_key(|scenario| scenario.exchanges.iter().map(|exchange| exchange.wait_ms).sum::<u64>());
    let queue = Mutex::new(queue);
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(scenario) = queue.lock().map(|mut queue| queue.pop()).expect("the queue") {
                    let outcome = play_on_a_fresh_server(&all, scenario);
                    outcomes.lock().expect("the outcomes").push(outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("the outcomes");
    assert_eq!(outcomes.iter().map(|outcome| outcome.compared).sum::<usize>(), 1213);
    let mut failures: Vec<String> =
        outcomes.iter().flat_map(|outcome| &outcome.failures).map(ToString::to_string).collect();
    failures.sort();
    let applied: BTreeSet<&str> = outcomes.iter().flat_map(|outcome| outcome.applied.clone()).collect();
    let unused: Vec<_> =
        DIFFERENCES.iter().filter(|row| !applied.contains(row.id)).map(|row| row.id).collect();
    assert!(
        failures.is_empty() && unused.is_empty(),
        "{} answers are not as required, rows without use: {unused:?}\n\n{}",
        failures.len(),
        failures.join("\n")
    );
}
