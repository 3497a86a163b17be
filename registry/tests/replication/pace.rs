//! When batches leave: at once, in company, never twice for one instance (`replication.md` 9.3.1).

use crate::support::{Sender, shown};

#[test]
fn a_lone_change_leaves_at_once() {
    let mut sender = Sender::new();
    sender.register("i-1");
    assert_eq!(sender.queue.next_wake().unwrap().max(sender.now_ms), sender.now_ms);
    assert_eq!(shown(&sender.take()), ["i-1 Register"]);
}

#[test]
fn changes_gather_while_a_batch_is_on_its_way() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let first = sender.take();
    sender.register("i-2");
    sender.register("i-3");
    assert!(sender.next().is_none());
    sender.pass(10);
    sender.confirm(&first);
    assert_eq!(shown(&sender.take()), ["i-2 Register", "i-3 Register"]);
}

#[test]
fn a_batch_that_takes_long_holds_others_up_for_half_a_second_only() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let _slow = sender.take();
    sender.register("i-2");
    let (batch, waited_ms) = sender.later();
    assert_eq!((shown(&batch), waited_ms), (vec!["i-2 Register".to_owned()], 500));
}

#[test]
fn early_batches_keep_a_distance() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.register("i-2");
    assert_eq!(sender.later().1, 10);
}

#[test]
fn heartbeats_wait_for_half_a_second() {
    let mut sender = Sender::new();
    for id in ["i-1", "i-2"] {
        sender.register(id);
    }
    let batch = sender.take();
    sender.confirm(&batch);
    sender.pass(1_000);
    sender.renew("i-1");
    sender.pass(100);
    sender.renew("i-2");
    let (batch, waited_ms) = sender.later();
    assert_eq!(waited_ms, 400);
    assert_eq!(shown(&batch), ["i-1 Heartbeat", "i-2 Heartbeat"]);
    assert_eq!(batch.waited_ms(), [500, 400], "each since it happened");
}

#[test]
fn waiting_heartbeats_travel_with_a_change() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.pass(1_000);
    sender.renew("i-1");
    sender.register("i-2");
    assert_eq!(shown(&sender.take()), ["i-2 Register", "i-1 Heartbeat"]);
}

/// Registers one instance a hundred times, once a millisecond, at a peer that answers after so long; the dirty timestamps that
/// were sent.
fn sent_of_a_hundred(answer_ms: u64) -> Vec<i64> {
    let mut sender = Sender::new();
    let (mut sent, mut on_its_way) = (Vec::new(), None);
    let mut dirty = 0;
    while dirty < 100 || on_its_way.is_some() || !sender.queue.is_empty() {
        if dirty < 100 {
            dirty += 1;
            sender.register_dirty("i-1", dirty);
        }
        if let Some((batch, _)) = on_its_way.take_if(|(_, until_ms)| *until_ms <= sender.now_ms) {
            sender.confirm(&batch);
        }
        if let Some(batch) = sender.next() {
            assert_eq!((shown(&batch), on_its_way.is_none()), (vec!["i-1 Register".to_owned()], true));
            sent.push(batch.items()[0].message().last_dirty_timestamp.unwrap());
            on_its_way = Some((batch, sender.now_ms + answer_ms));
        }
        sender.pass(1);
    }
    sent
}

#[test]
fn s9_a_hundred_registrations_of_one_instance_are_few_items_and_the_newest_arrives() {
    assert_eq!(sent_of_a_hundred(200), [1, 100], "while the first is on its way the others are one");
    // Java holds everything for half a second. Here a peer that answers at once is told every 10 ms.
    let sent = sent_of_a_hundred(1);
    assert!((5..=12).contains(&sent.len()) && sent.last() == Some(&100), "{sent:?}");
}

#[test]
fn s11_d24_a_busy_instance_does_not_hold_up_another_or_itself() {
    let mut sender = Sender::new();
    sender.register("i-0");
    let _slow = sender.take();
    sender.register_dirty("i-1", 1);
    sender.register("i-2");
    for dirty in 2..8 {
        sender.pass(80);
        sender.register_dirty("i-1", dirty);
    }
    sender.pass(20);
    assert_eq!(shown(&sender.take()), ["i-1 Register", "i-2 Register"]);
}

#[test]
fn a_batch_has_at_most_250_items_and_four_may_fly() {
    let mut sender = Sender::new();
    for n in 0..1_500 {
        sender.register(&format!("i-{n:04}"));
    }
    let sizes: Vec<usize> = std::iter::from_fn(|| sender.next()).map(|batch| batch.items().len()).collect();
    assert_eq!(sizes, [250, 250, 250, 250]);
    assert_eq!(sender.queue.next_wake(), None, "only a result can help");
}

#[test]
fn items_of_one_instance_stay_in_one_batch() {
    let mut sender = Sender::new();
    for n in 0..200 {
        let id = format!("i-{n:03}");
        sender.register(&id);
        sender.cancel(&id);
        sender.register(&id);
    }
    while let Some(batch) = sender.next() {
        let shown = shown(&batch);
        assert!(shown.len() <= 250);
        for pair in shown.chunks(2) {
            assert!(pair[0].ends_with("Cancel") && pair[1].ends_with("Register"), "{pair:?}");
        }
    }
}

#[test]
fn d3_an_instance_is_in_one_batch_at_a_time() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let first = sender.take();
    sender.cancel("i-1");
    sender.pass(60_000);
    assert!(sender.next().is_none());
    sender.confirm(&first);
    assert_eq!(shown(&sender.take()), ["i-1 Cancel"]);
}

#[test]
fn old_heartbeats_are_not_crowded_out_by_changes() {
    let mut sender = Sender::new();
    sender.register("beat");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.pass(1_000);
    sender.renew("beat");
    sender.pass(1_000);
    for n in 0..1_000 {
        sender.register(&format!("i-{n:04}"));
    }
    assert_eq!(shown(&sender.take())[0], "beat Heartbeat");
}
