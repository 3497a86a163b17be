//! The cluster in a box: nodes of the pure rules and queues, a hostile network, clients and operators, all on one virtual
//! clock and one seed (`docs/simulation.md`).
//!
//! `HEUREKA_SIM_SEED=n` replays one seed, with `HEUREKA_SIM_TRACE=1` also its course; `HEUREKA_SIM_SEEDS=n` sets how many
//! seeds are tried, `HEUREKA_SIM_FIRST=n` where they begin.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

mod agenda;
mod bugs;
mod chance;
mod clients;
mod compare;
mod disk;
mod looks;
mod network;
mod node;
mod operators;
mod plan;
mod promises;
mod receiving;
mod replication;
mod startup;
mod steps;
mod troubles;
mod truth;
mod wire;
mod world;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crate::bugs::Bug;
use crate::truth::Promise;
use crate::world::{Coverage, World};

/// Seeds of a normal run.
const SEEDS: u64 = 1_000;
/// Seeds of a normal run with the stronger promise.
const SEEDS_EQUAL: u64 = 150;
/// Seeds that have found something once. Histories change with the rules and with the simulation, so each kind also has a
/// test of its own beside its rule or a planted bug.
const SEEDS_THAT_FOUND: [u64; 46] = [
    236, 525, 1_289, 3_602, 3_925, 4_322, 5_078, 6_733, 7_878, 16_146, 19_729, 202_504, 1_077_445, 2_073_402,
    1_004_551, 1_033_861, 1_041_345, 1_046_376, 1_048_461, 1_054_095, 1_071_508, 1_073_013, 1_076_689,
    1_082_353, 1_095_429, 3_003_737, 3_007_221, 3_032_346, 3_087_327, 4_058_240, 4_071_545, 4_095_444,
    5_029_715, 4_086_544, 4_095_464, 5_052_207, 5_078_875, 5_093_259, 6_053_367, 6_061_230, 7_008_521,
    8_006_416, 8_021_083, 10_029_665, 10_072_686, 11_003_473,
];
/// The same with the stronger promise.
const SEEDS_THAT_FOUND_EQUAL: [u64; 7] = [48, 960, 4_624, 12_379, 14_942, 13_045_886, 13_090_069];
/// Seeds within which a planted bug must be found.
const SEEDS_PER_BUG: u64 = 200;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Runs one seed; a panic is a failure like any other.
fn run(seed: u64, bug: Option<Bug>) -> Result<Coverage, String> {
    run_for(Promise::configured(), seed, bug)
}

fn run_for(promise: Promise, seed: u64, bug: Option<Bug>) -> Result<Coverage, String> {
    let is_traced = std::env::var("HEUREKA_SIM_TRACE").is_ok();
    let world = || World::new(seed, bug, promise, is_traced).run();
    catch_unwind(AssertUnwindSafe(world)).unwrap_or_else(|_| Err("a panic, see above".to_owned()))
}

#[test]
fn all_histories_keep_the_promises() {
    let first = number("HEUREKA_SIM_FIRST").unwrap_or(0);
    let seeds = match number("HEUREKA_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + number("HEUREKA_SIM_SEEDS").unwrap_or(SEEDS),
    };
    let started = Instant::now();
    let (mut events, mut failures) = (0, Vec::new());
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in seeds.clone() {
        match run(seed, None) {
            Ok(coverage) => {
                events += coverage.events;
                coverage.counts.into_iter().for_each(|(what, n)| *counts.entry(what).or_default() += n);
            }
            Err(words) => failures.push(format!("HEUREKA_SIM_SEED={seed}: {words}")),
        }
    }
    println!("{} seeds, {events} events, {:?}", seeds.end - seeds.start, started.elapsed());
    counts.iter().for_each(|(what, count)| println!("{count:>9} {what}"));
    if seeds.end - seeds.start >= SEEDS {
        require_coverage(&counts);
    }
    let shown = failures.iter().take(50).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} seeds failed:\n{shown}", failures.len());
}

/// Doubts must not swallow the checks, and nothing that a history is for may be missing.
fn require_coverage(counts: &BTreeMap<&str, u64>) {
    let count = |what: &str| counts.get(what).copied().unwrap_or(0);
    assert!(3 * count("living compared in full") > count("living found everywhere"), "too many doubts");
    assert!(2 * count("cancels looked for") > count("cancels in doubt"), "too many doubts of cancels");
    let needed = [
        "crashes",
        "dead kept by self-preservation",
        "evictions",
        "failed batches",
        "hashes compared",
        "leaves",
        "newer records of peers",
        "override operations",
        "restarts from disk",
    ];
    needed.iter().for_each(|what| assert!(count(what) > 0, "no {what}"));
}

#[test]
fn with_anti_entropy_the_living_become_equal_whatever_happened() {
    let run = |seed| run_for(Promise::AntiEntropy, seed, None).err();
    let failed: Vec<_> = (0..SEEDS_EQUAL).filter_map(|seed| Some((seed, run(seed)?))).collect();
    assert!(failed.is_empty(), "HEUREKA_SIM_PROMISE=anti-entropy, seeds {failed:?}");
}

#[test]
fn seeds_that_found_something_once_find_nothing() {
    let heartbeats = SEEDS_THAT_FOUND.map(|seed| (Promise::Heartbeats, seed));
    let equal = SEEDS_THAT_FOUND_EQUAL.map(|seed| (Promise::AntiEntropy, seed));
    let run = |(promise, seed)| Some((seed, run_for(promise, seed, None).err()?));
    let failed: Vec<_> = heartbeats.into_iter().chain(equal).filter_map(run).collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 0..20 {
        let (one, other) = (run(seed, None).unwrap(), run(seed, None).unwrap());
        assert_eq!(
            (one.events, one.course, one.counts),
            (other.events, other.course, other.counts),
            "{seed}"
        );
    }
}

#[test]
fn every_planted_bug_is_found() {
    let mut missed = Vec::new();
    for bug in Bug::ALL {
        let found_by = |seed| run(seed, Some(bug)).err().filter(|_| run(seed, None).is_ok());
        let seeds = number("HEUREKA_SIM_SEEDS").unwrap_or(SEEDS_PER_BUG);
        let first = bug.first_seed();
        match (first..first + seeds).find_map(|seed| Some((seed, found_by(seed)?))) {
            Some((seed, words)) => println!("{bug:?} was found by seed {seed}: {words}"),
            None => missed.push(bug),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
