//! Batches that come late or twice (`replication.md` 9.3.1).

use heureka_registry::replication::{Arrivals, Batch, BatchOrder};

use crate::support::Sender;

fn order(number: u64, oldest: u64) -> Option<BatchOrder> {
    Some(BatchOrder { link: 7, number, oldest })
}

#[test]
fn a_batch_that_its_sender_has_given_up_is_not_applied_after_later_ones() {
    let mut arrivals = Arrivals::default();
    let late = arrivals.enter(Some("a"), order(1, 1));
    assert!(!arrivals.is_overtaken(late), "nothing has come after it yet");
    let next = arrivals.enter(Some("a"), order(3, 2));
    // The first one was taken in before, but not applied: its turn comes only now.
    assert!(arrivals.is_overtaken(late) && !arrivals.is_overtaken(next));
    let second = arrivals.enter(Some("a"), order(2, 2));
    assert!(!arrivals.is_overtaken(second), "the sender still waits for it");
    let long_gone = arrivals.enter(Some("a"), order(1, 1));
    assert!(arrivals.is_overtaken(long_gone));
}

#[test]
fn a_batch_that_comes_twice_is_applied_once() {
    let mut arrivals = Arrivals::default();
    let first = arrivals.enter(Some("a"), order(5, 5));
    let again = arrivals.enter(Some("a"), order(5, 5));
    assert!(!arrivals.is_overtaken(first) && arrivals.is_overtaken(again));
    assert_eq!(first.sender, again.sender);
}

#[test]
fn senders_and_links_are_told_apart() {
    let mut arrivals = Arrivals::default();
    arrivals.enter(Some("a"), order(9, 9));
    let other_node = arrivals.enter(Some("b"), order(1, 1));
    let other_link = arrivals.enter(Some("a"), Some(BatchOrder { link: 8, number: 1, oldest: 1 }));
    for arrival in [other_node, other_link] {
        assert!(!arrivals.is_overtaken(arrival) && arrival.sender.keeps_order());
    }
    assert_ne!(other_node.sender, other_link.sender);
}

#[test]
fn a_server_that_says_nothing_is_another_one_with_every_batch() {
    let mut arrivals = Arrivals::default();
    // A name alone promises nothing either.
    let all = [(None, None), (None, order(1, 1)), (Some("a"), None), (Some("a"), None)];
    let all = all.map(|(node, order)| arrivals.enter(node, order));
    for (n, arrival) in all.iter().enumerate() {
        assert!(!arrival.sender.keeps_order() && !arrivals.is_overtaken(*arrival));
        assert!(all[..n].iter().all(|other| other.sender != arrival.sender));
    }
}

#[test]
fn only_so_many_senders_are_remembered_and_the_silent_ones_go_first() {
    let mut arrivals = Arrivals::default();
    arrivals.enter(Some("silent"), order(9, 9));
    for n in 0..256 {
        arrivals.enter(Some("busy"), order(100 + n, 100 + n));
        arrivals.enter(Some(&format!("n-{n}")), order(1, 1));
    }
    let busy = arrivals.enter(Some("busy"), order(1, 1));
    assert!(arrivals.is_overtaken(busy));
    let silent = arrivals.enter(Some("silent"), order(1, 1));
    assert!(!arrivals.is_overtaken(silent));
}

#[test]
fn a_queue_numbers_its_batches_and_names_the_oldest_on_its_way() {
    let mut sender = Sender::new();
    let numbers = |batch: &Batch| (batch.order().number, batch.order().oldest);
    sender.register("i-1");
    let first = sender.take();
    assert_eq!(numbers(&first), (1, 1));
    sender.register("i-2");
    let (second, _) = sender.later();
    assert_eq!(numbers(&second), (2, 1), "the first one has not been answered");
    sender.confirm(&first);
    sender.register("i-3");
    let (third, _) = sender.later();
    assert_eq!(numbers(&third), (3, 2));
}
