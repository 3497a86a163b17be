//! Tests of the harness itself: the recordings against themselves, against the list, and over a socket.

use std::collections::BTreeSet;

use super::case::{Case, fits};
use super::changes_errors::recorded_answer;
use super::compare::{Frame, compare};
use super::difference::Select;
use super::differences::DIFFERENCES;
use super::expected::{Body, Expected};
use super::recording::{Scenario, scenarios};
use super::replay::{Stage, play};
use super::stub;

const PORT: u16 = 9101;

/// Rows that permit more than the recording instead of something else.
const TOLERANT: &[&str] = &["delta-version", "heartbeats-in-lists", "merge-window"];

/// The time of the recordings lies between these, in milliseconds.
const SINCE_MS: i64 = 1_790_000_000_000;
const UNTIL_MS: i64 = 1_800_000_000_000;

fn any_time() -> Frame {
    Frame::new((SINCE_MS, UNTIL_MS), 0)
}

fn cases(all: &[Scenario]) -> impl Iterator<Item = Case<'_>> {
    all.iter().flat_map(move |scenario| {
        let asked = scenario.exchanges.iter().filter(|exchange| exchange.request.is_some());
        asked.map(move |exchange| Case { all, scenario, exchange, port: PORT })
    })
}

#[test]
fn the_recordings_are_complete() {
    let all = scenarios();
    assert_eq!(all.len(), 32);
    assert_eq!(all.iter().map(|scenario| scenario.exchanges.len()).sum::<usize>(), 1216);
    assert_eq!(cases(&all).count(), 1213, "three exchanges are not requests: the server acts by itself");
}

/// What the server sent to its peer is not compared yet. It was recorded in two scenarios only; a third must not slip in.
#[test]
fn requests_to_peers_belong_to_two_scenarios() {
    for scenario in scenarios() {
        let to_peers = scenario.exchanges.iter().filter(|exchange| exchange.peer_requests.is_some()).count();
        let expected = match scenario.scenario.as_str() {
            "40-replication-sent" => 22,
            "41-own-client" => 3,
            _ => 0,
        };
        assert_eq!(to_peers, expected, "{}", scenario.scenario);
        let acts_alone = scenario.exchanges.iter().filter(|exchange| exchange.request.is_none());
        assert!(expected > 0 || acts_alone.count() == 0, "{}", scenario.scenario);
    }
}

/// Every recorded body is read and written back without loss, and equals itself.
#[test]
fn a_recorded_answer_fulfils_what_was_recorded() {
    let all = scenarios();
    let mut compared = 0;
    for case in cases(&all) {
        let expected = Expected::recorded(case.exchange, PORT);
        let answer = case.exchange.response.as_ref().and_then(recorded_answer);
        // Not kept, not in the layout of a document, or a document type without a document: rows speak of them.
        let is_odd = expected.body == Body::Unkept
            || case.request().method == "OPTIONS"
            || case.scenario.scenario == "10-poison";
        if let Some(answer) = answer.filter(|_| !is_odd) {
            let found = compare(&expected, &answer, &any_time());
            assert!(found.is_empty(), "{} {}: {found:?}", case.scenario.scenario, case.name());
            compared += 1;
        }
    }
    assert!(compared > 1100, "only {compared}");
}

/// A row that is not needed any more must go, and so must a name that is misspelt.
#[test]
fn every_row_of_the_list_is_needed() {
    let all = scenarios();
    let applied: BTreeSet<&str> = cases(&all).flat_map(|case| case.required().1).collect();
    for difference in DIFFERENCES {
        assert!(applied.contains(difference.id), "{}: changes nothing", difference.id);
        let Select::Named(scenarios) = &difference.of else { continue };
        for (scenario, names) in *scenarios {
            for name in *names {
                let mut named = cases(&all).filter(|case| case.scenario.scenario == *scenario);
                let is_used = named.any(|case| fits(name, case.name()));
                assert!(is_used, "{}: no exchange `{name}` in {scenario}", difference.id);
            }
        }
    }
}

/// What the Java server answered is told apart from what a row requires instead.
#[test]
fn every_row_of_the_list_refuses_the_answer_of_java() {
    let all = scenarios();
    let mut refused = BTreeSet::new();
    for case in cases(&all) {
        let (expected, applied) = case.required();
        let answer = case.exchange.response.as_ref().and_then(recorded_answer);
        let is_refused = answer.is_none_or(|answer| !compare(&expected, &answer, &any_time()).is_empty());
        refused.extend(applied.into_iter().filter(|_| is_refused));
    }
    for difference in DIFFERENCES.iter().filter(|row| !TOLERANT.contains(&row.id)) {
        assert!(refused.contains(difference.id), "{}: Java's own answers fulfil it", difference.id);
    }
}

/// The whole way: requests over a socket, answers as required, nothing found.
#[test]
fn a_server_that_answers_as_required_passes() {
    let all = scenarios();
    for scenario in &all {
        let port = stub::start_as_required(&all, scenario);
        // The time of the recordings; nobody waits here.
        let stage = Stage { port, since_ms: SINCE_MS, now_ms: || UNTIL_MS, pause: |_| {} };
        let outcome = play(&all, scenario, stage);
        let failures: Vec<_> = outcome.failures.iter().map(ToString::to_string).collect();
        assert_eq!(failures, Vec::<String>::new());
        let asked = scenario.exchanges.iter().filter(|exchange| exchange.request.is_some());
        assert_eq!(outcome.compared, asked.count());
    }
}
