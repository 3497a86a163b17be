//! Batches that fail as a whole: retries, pauses, halving, poison (`replication.md` 9.3.2).

use std::collections::BTreeMap;

use heureka_protocol::batch::Action;
use heureka_registry::replication::{Batch, DropReason, Effect, Outcome, Sick};

use crate::support::{APP, Sender, shown};

fn has(batch: &Batch, id: &str) -> bool {
    batch.items().iter().any(|item| &**item.key.id() == id)
}

#[test]
fn the_pause_after_network_failures_doubles_up_to_five_seconds() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let mut batch = sender.take();
    let mut pauses = Vec::new();
    for _ in 0..8 {
        sender.settle(&batch, Outcome::Failed(Sick::Unreachable));
        let (next, pause) = sender.later();
        assert_eq!(shown(&next), ["i-1 Register"]);
        batch = next;
        pauses.push(pause);
    }
    for (pause, nominal) in pauses.iter().zip([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]) {
        assert!((nominal * 4 / 5..=nominal * 6 / 5).contains(pause), "{pause} of {nominal}");
    }
    assert!(pauses.iter().any(|pause| pause % 100 != 0), "no chance in {pauses:?}");
}

#[test]
fn the_pause_after_congestion_goes_from_one_to_ten_seconds() {
    for why in [Sick::Congested, Sick::Refusing] {
        let mut sender = Sender::new();
        sender.register("i-1");
        let mut batch = sender.take();
        for nominal in [1_000, 2_000, 4_000, 8_000, 10_000, 10_000] {
            sender.settle(&batch, Outcome::Failed(why));
            let (next, pause) = sender.later();
            batch = next;
            assert!((nominal * 4 / 5..=nominal * 6 / 5).contains(&pause), "{pause} of {nominal}");
        }
    }
}

#[test]
fn one_batch_at_a_time_probes_a_failing_peer_and_a_success_ends_that() {
    let mut sender = Sender::new();
    for n in 0..1_000 {
        sender.register(&format!("i-{n:04}"));
    }
    let flying: Vec<Batch> = std::iter::from_fn(|| sender.next()).collect();
    for batch in &flying {
        sender.settle(batch, Outcome::Failed(Sick::Unreachable));
    }
    assert!(sender.queue.backoff_ms() <= 120, "four failures at once are one failure");
    let (probe, _) = sender.later();
    assert!(sender.next().is_none(), "a second batch while the peer fails");
    sender.confirm(&probe);
    assert!(!sender.queue.is_failing());
    assert_eq!(std::iter::from_fn(|| sender.next()).count(), 3);
}

#[test]
fn what_failed_leaves_again_before_what_came_later_and_merged_with_it() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.register("i-2");
    let batch = sender.take();
    sender.register("i-0");
    sender.cancel("i-1");
    sender.settle(&batch, Outcome::Failed(Sick::Unreachable));
    assert_eq!(shown(&sender.later().0), ["i-1 Cancel", "i-2 Register", "i-0 Register"]);
}

#[test]
fn time_outs_make_batches_smaller_and_successes_larger() {
    let mut sender = Sender::new();
    for n in 0..2_000 {
        sender.register(&format!("i-{n:04}"));
    }
    let mut sizes = Vec::new();
    for fails in [true, true, true, true, true, false, false] {
        let (batch, _) = sender.later();
        sizes.push(batch.items().len());
        if fails {
            sender.settle(&batch, Outcome::Failed(Sick::Congested));
        } else {
            sender.confirm(&batch);
        }
    }
    assert_eq!(sizes, [250, 125, 62, 31, 16, 16, 32]);
}

#[test]
fn batches_whose_sender_died_are_sent_again() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let lost = sender.take();
    sender.queue.abandon_flights(sender.now_ms);
    let (again, _) = sender.later();
    assert_eq!(shown(&again), ["i-1 Register"]);
    sender.confirm(&lost);
    assert_eq!(sender.queue.in_flight(), 1, "a late result of the lost batch changes nothing");
}

/// Runs until nothing is left to send; the peer refuses every batch that has the poison in it, and goes on to get others.
fn run_with_poison(sender: &mut Sender, poison: &str, code: u16) -> (usize, Vec<Effect>) {
    let (mut refused, mut effects) = (0, Vec::new());
    while !sender.queue.is_empty() {
        let Some(batch) = sender.next() else {
            sender.sleep();
            if code == 500 {
                sender.register("living");
            }
            continue;
        };
        if has(&batch, poison) {
            refused += 1;
            effects.extend(sender.settle(&batch, Outcome::Rejected(code)).effects);
        } else {
            sender.confirm(&batch);
        }
        assert!(refused < 100, "the poison is sent again and again");
    }
    (refused, effects)
}

#[test]
fn s39_a_poisonous_item_is_found_by_halving_and_dropped_alone() {
    for (code, place) in [(400, 0), (400, 249), (500, 100), (413, 180)] {
        let mut sender = Sender::new();
        for n in 0..250 {
            sender.register(&format!("i-{n:03}"));
        }
        let poison = format!("i-{place:03}");
        let (refused, effects) = run_with_poison(&mut sender, &poison, code);
        let expected = if code == 500 { 10..=12 } else { 8..=10 };
        assert!(expected.contains(&refused), "{refused} refusals with {code}");
        let [Effect::Dropped { key, action: Action::Register, reason: DropReason::Poison }] = &effects[..]
        else {
            panic!("{effects:?}")
        };
        assert_eq!(**key.id(), *poison);
        assert_eq!(sender.queue.tally().dropped_total(), 1);
    }
}

#[test]
fn s38_a_peer_that_is_ill_again_and_again_loses_nothing_of_what_it_refused_meanwhile() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let mut batch = sender.take();
    for _ in 0..3 {
        // Refused twice in a row, then others get through: that is no proof yet.
        sender.settle(&batch, Outcome::Rejected(500));
        batch = sender.later().0;
        sender.settle(&batch, Outcome::Rejected(500));
        sender.register("other");
        batch = sender.next().unwrap();
        assert_eq!(shown(&batch), ["other Register"]);
        sender.confirm(&batch);
        batch = sender.later().0;
        assert_eq!(shown(&batch), ["i-1 Register"]);
    }
    sender.confirm(&batch);
    assert_eq!((sender.queue.len(), sender.queue.tally().dropped_total()), (0, 0));
}

#[test]
fn a_poisonous_registration_does_not_take_the_cancel_before_it_along() {
    let mut sender = Sender::new();
    sender.register("bad");
    sender.cancel("bad");
    sender.register("bad");
    let batch = sender.take();
    sender.settle(&batch, Outcome::Rejected(400));
    sender.register("good");
    let (batch, _) = sender.later();
    assert_eq!(shown(&batch), ["good Register"], "the suspect travels alone, later");
    sender.confirm(&batch);
    let (batch, _) = sender.later();
    assert_eq!(shown(&batch), ["bad Cancel", "bad Register"]);
    sender.settle(&batch, Outcome::Rejected(400));
    assert_eq!(shown(&sender.later().0), ["bad Cancel"]);
}

#[test]
fn s38_a_peer_that_answers_500_to_everything_gets_its_cancel_later() {
    let mut sender = Sender::new();
    for n in 0..250 {
        sender.register(&format!("i-{n:03}"));
    }
    let batch = sender.take();
    sender.confirm(&batch);
    for n in 0..250 {
        sender.cancel(&format!("i-{n:03}"));
    }
    let start_ms = sender.now_ms;
    let mut requests = 0;
    while sender.now_ms < start_ms + 60_000 {
        let Some(batch) = sender.next() else {
            sender.sleep();
            continue;
        };
        requests += 1;
        sender.settle(&batch, Outcome::Rejected(500));
    }
    assert!(requests < 30, "{requests} requests in a minute flood a peer that is ill");
    let confirmed = sender.confirm_all();
    assert_eq!((confirmed, sender.queue.tally().dropped_total()), (250, 0));
}

#[test]
fn a_lone_item_that_is_refused_for_ever_is_dropped_after_eight_attempts() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let (refused, effects) = run_with_poison(&mut sender, "i-1", 400);
    assert_eq!((refused, effects.len()), (8, 1));
}

/// Runs for some time; what a firewall in between refuses, it refuses in this way. Something else is to be told now and then.
/// Returns what the firewall let through, by the time when it had got there.
fn run_behind_a_firewall(
    sender: &mut Sender,
    bad: &[String],
    refusal: &Outcome,
    run_ms: u64,
) -> (BTreeMap<String, u64>, usize) {
    let (mut passed, mut refused) = (BTreeMap::new(), 0);
    let end_ms = sender.now_ms + run_ms;
    while sender.now_ms < end_ms {
        let Some(batch) = sender.next() else {
            if sender.queue.is_empty() {
                break;
            }
            sender.sleep();
            sender.register("living");
            continue;
        };
        if bad.iter().any(|id| has(&batch, id)) {
            refused += 1;
            assert!(sender.settle(&batch, refusal.clone()).effects.is_empty());
        } else {
            passed.extend(batch.items().iter().map(|item| (item.key.id().to_string(), sender.now_ms)));
            sender.confirm(&batch);
        }
    }
    passed.remove("living");
    (passed, refused)
}

/// A firewall's 403, and a list of answers that is too short.
fn refusals() -> [Outcome; 2] {
    [Outcome::Failed(Sick::Refusing), Outcome::Answered(Vec::new())]
}

#[test]
fn an_item_that_a_firewall_refuses_does_not_keep_the_others_from_the_peer() {
    for refusal in refusals() {
        for place in [0, 137, 249] {
            let mut sender = Sender::new();
            sender.register("cancelled");
            let batch = sender.take();
            sender.confirm(&batch);
            for n in 0..250 {
                sender.register(&format!("i-{n:03}"));
            }
            sender.cancel("cancelled");
            let start_ms = sender.now_ms;
            let bad = format!("i-{place:03}");
            let bad = [bad];
            let (passed, refused) = run_behind_a_firewall(&mut sender, &bad, &refusal, 600_000);
            assert_eq!(passed.len(), 250, "all but one, and the cancel");
            let last_ms = passed.values().max().expect("others passed");
            assert!(last_ms - start_ms < 10_000, "the others took {} ms", last_ms - start_ms);
            assert!(refused < 120, "{refused} requests for one item in ten minutes");
            assert_eq!(sender.queue.tally().dropped_total(), 0);
            let (passed, _) = run_behind_a_firewall(&mut sender, &[], &refusal, 15_000);
            assert_eq!(passed.keys().collect::<Vec<_>>(), [&bad[0]], "it has waited for the firewall");
        }
    }
}

#[test]
fn many_items_that_a_firewall_refuses_are_found_one_by_one() {
    let mut sender = Sender::new();
    for n in 0..1_000 {
        sender.register(&format!("i-{n:04}"));
    }
    let bad: Vec<String> = (0..1_000).step_by(25).map(|n| format!("i-{n:04}")).collect();
    let start_ms = sender.now_ms;
    let refusal = Outcome::Failed(Sick::Refusing);
    let (passed, _) = run_behind_a_firewall(&mut sender, &bad, &refusal, 300_000);
    assert_eq!((passed.len(), sender.queue.tally().dropped_total()), (960, 0));
    let last_ms = passed.values().max().expect("others passed");
    assert!(last_ms - start_ms < 150_000, "the others took {} ms", last_ms - start_ms);
    let (passed, _) = run_behind_a_firewall(&mut sender, &[], &refusal, 30_000);
    assert_eq!(passed.len(), 40);
}

/// Every second request meets the broken one of two servers behind the peer's address.
#[test]
fn a_balancer_with_a_broken_server_behind_it_loses_nothing() {
    for refusal in refusals() {
        let mut sender = Sender::new();
        let mut requests = 0_u64;
        for n in 0..500 {
            sender.register(&format!("i-{n:03}"));
            let until_ms = sender.now_ms + 500;
            while sender.now_ms < until_ms {
                let Some(batch) = sender.next() else {
                    sender.pass(50);
                    continue;
                };
                requests += 1;
                // No pattern that the order of the batches could fall in step with.
                if (requests.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63) == 0 {
                    assert!(sender.settle(&batch, refusal.clone()).effects.is_empty());
                } else {
                    sender.confirm(&batch);
                }
            }
        }
        run_behind_a_firewall(&mut sender, &[], &refusal, 60_000);
        assert!(sender.queue.is_empty());
        assert_eq!(sender.queue.tally().dropped_total(), 0);
    }
}

#[test]
fn what_is_refused_beside_batches_that_get_through_is_found_too() {
    let mut sender = Sender::new();
    for n in 0..250 {
        sender.register(&format!("i-{n:03}"));
    }
    let mut dropped = 0;
    let mut passed = std::collections::BTreeSet::new();
    // There is always more than one batch to send, so something gets through between any two refusals.
    for round in 0..100 {
        for n in 0..500 {
            sender.register_dirty(&format!("more-{n:03}"), 200 + round);
        }
        while let Some(batch) = sender.next() {
            if has(&batch, "i-000") {
                dropped += sender.settle(&batch, Outcome::Failed(Sick::Refusing)).effects.len();
            } else {
                passed.extend(batch.items().iter().map(|item| item.key.id().to_string()));
                sender.confirm(&batch);
            }
        }
        sender.pass(1_000);
    }
    assert_eq!((dropped, passed.len()), (0, 749));
    assert!(!sender.queue.waiting(APP, "i-000").is_empty(), "it waits for the peer");
}

#[test]
fn a_peer_that_lets_nobody_in_loses_nothing_and_is_not_flooded() {
    for refusal in refusals() {
        let mut sender = Sender::new();
        for n in 0..1_000 {
            sender.register(&format!("i-{n:04}"));
        }
        let batch = sender.take();
        sender.confirm(&batch);
        for n in 0..250 {
            sender.cancel(&format!("i-{n:04}"));
        }
        let (start_ms, mut requests) = (sender.now_ms, Vec::new());
        while sender.now_ms < start_ms + 240_000 {
            let Some(batch) = sender.next() else {
                sender.sleep();
                continue;
            };
            requests.push(sender.now_ms - start_ms);
            sender.settle(&batch, refusal.clone());
        }
        let later = requests.iter().filter(|ms| **ms >= 60_000).count();
        assert!(requests.len() - later < 30 && later < 30, "{requests:?}");
        assert_eq!((sender.queue.len(), sender.queue.tally().dropped_total()), (1_000, 0));
        let healed_ms = sender.now_ms;
        let confirmed = sender.confirm_all();
        assert_eq!((confirmed, sender.queue.tally().dropped_total()), (1_000, 0));
        assert!(sender.now_ms - healed_ms < 25_000, "{} ms", sender.now_ms - healed_ms);
    }
}
