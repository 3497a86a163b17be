//! Bounds: expiry, shedding, draining (`replication.md` 9.3.2, 9.3.8; scenarios 42, 48, 62).

use heureka_protocol::Status;
use heureka_protocol::batch::Action;
use heureka_registry::replication::{DropReason, Key, Outcome, QueueSettings, Sick};
use heureka_registry::{CancelledHere, Origin};

use crate::support::{APP, Sender, instance, shown};

fn tiny() -> QueueSettings {
    QueueSettings { slots_max: 4, slots_limit: 6, ..Default::default() }
}

fn fail(sender: &mut Sender) {
    let (batch, _) = sender.later();
    sender.settle(&batch, Outcome::Failed(Sick::Unreachable));
}

#[test]
fn a_heartbeat_expires_when_the_next_one_is_due() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.renew("i-1");
    sender.pass(29_999);
    assert!(sender.next().is_some());
    sender.queue.abandon_flights(sender.now_ms);
    sender.pass(1);
    assert!(sender.next().is_none());
    assert_eq!(sender.queue.tally().dropped(Action::Heartbeat, DropReason::Expired), 1);
    assert!(sender.queue.is_empty());
}

#[test]
fn s48_a_cancel_is_kept_until_no_peer_can_hold_the_lease() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.cancel("i-1");
    let lease_end_ms = sender.now_ms + 2 * 90_000 + 60_000;
    while sender.now_ms < lease_end_ms {
        fail(&mut sender);
    }
    assert_eq!(sender.queue.len(), 1);
    sender.pass(70_000);
    assert!(sender.next().is_none());
    assert_eq!(sender.queue.tally().dropped(Action::Cancel, DropReason::Expired), 1);
}

#[test]
fn s42_a_registration_is_kept_as_long_as_the_instance() {
    let mut sender = Sender::new();
    sender.register("i-1");
    for _ in 0..1_000 {
        fail(&mut sender);
    }
    assert_eq!(sender.queue.waiting(APP, "i-1").actions().collect::<Vec<_>>(), [Action::Register]);
    sender.cancel_from("i-1", Origin::Peer);
    assert!(sender.queue.is_empty());
}

#[test]
fn an_expired_cancel_leaves_the_registration_behind_it() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel("i-1");
    sender.register("i-1");
    sender.pass(1_000_000);
    assert_eq!(shown(&sender.take()), ["i-1 Register"]);
}

#[test]
fn expired_entries_leave_memory_also_while_the_peer_is_down() {
    let mut sender = Sender::new();
    for n in 0..100 {
        let id = format!("i-{n}");
        sender.register_from(instance(&id, 100), Origin::Peer);
        sender.renew(&id);
    }
    sender.pass(600);
    fail(&mut sender);
    sender.pass(40_000);
    let _ = sender.next();
    assert!(sender.queue.is_empty());
}

#[test]
fn a_full_queue_sheds_the_oldest_heartbeat_first() {
    let mut sender = Sender::with(tiny());
    for id in ["a", "b"] {
        sender.register_from(instance(id, 100), Origin::Peer);
        sender.renew(id);
    }
    for id in ["c", "d", "e"] {
        sender.register(id);
    }
    assert_eq!(shown(&sender.take()), ["c Register", "d Register", "e Register", "b Heartbeat"]);
    assert_eq!(sender.queue.tally().dropped(Action::Heartbeat, DropReason::Overflow), 1);
}

#[test]
fn then_registrations_then_override_operations_and_a_cancel_never() {
    let mut sender = Sender::with(tiny());
    for id in ["o", "p", "x1", "x2", "x3", "x4", "x5", "x6"] {
        sender.register_from(instance(id, 100), Origin::Peer);
    }
    sender.set_status("o", Status::Down);
    sender.set_status("p", Status::Down);
    sender.register("r1");
    sender.register("r2");
    for id in ["x1", "x2", "x3", "x4"] {
        sender.cancel(id);
    }
    let count = |sender: &Sender, action| sender.queue.tally().dropped(action, DropReason::Overflow);
    assert_eq!((count(&sender, Action::Register), count(&sender, Action::StatusUpdate)), (2, 2));
    sender.cancel("x5");
    sender.cancel("x6");
    assert_eq!((sender.queue.len(), count(&sender, Action::Cancel)), (6, 0));
}

#[test]
fn a_newcomer_that_weighs_too_little_is_dropped_itself() {
    let mut sender = Sender::with(tiny());
    for id in ["x1", "x2", "x3", "x4", "y"] {
        sender.register_from(instance(id, 100), Origin::Peer);
    }
    for id in ["x1", "x2", "x3", "x4"] {
        sender.cancel(id);
    }
    sender.renew("y");
    sender.set_status("y", Status::Down);
    assert_eq!(sender.queue.len(), 4);
    assert_eq!(sender.queue.tally().dropped(Action::StatusUpdate, DropReason::Overflow), 1);
}

#[test]
fn there_is_a_last_limit_for_cancels_too() {
    let mut sender = Sender::with(tiny());
    for n in 0..20 {
        let id = format!("x{n}");
        sender.register_from(instance(&id, 100), Origin::Peer);
        sender.cancel(&id);
        assert!(sender.queue.len() <= 6);
    }
    assert_eq!(sender.queue.tally().dropped(Action::Cancel, DropReason::Overflow), 14);
}

#[test]
fn s62_draining_sends_everything_but_heartbeats_without_delay() {
    let mut sender = Sender::new();
    sender.register_from(instance("beat", 100), Origin::Peer);
    sender.renew("beat");
    sender.register("i-1");
    let first = sender.take();
    sender.register("i-2");
    sender.renew("beat");
    sender.queue.start_draining(sender.now_ms);
    let second = sender.take();
    assert_eq!(shown(&second), ["i-2 Register"]);
    assert!(!sender.queue.is_drained());
    sender.confirm(&first);
    sender.confirm(&second);
    assert!(sender.queue.is_drained());
}

#[test]
fn what_could_not_be_drained_is_counted() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let _lost = sender.take();
    sender.register("i-2");
    assert_eq!(sender.queue.give_up(), 2);
    assert_eq!(sender.queue.tally().dropped(Action::Register, DropReason::Shutdown), 2);
    sender.queue.check().unwrap();
}

#[test]
fn every_operation_on_an_override_has_its_own_time_also_if_it_looks_like_the_one_before() {
    for removes in [false, true] {
        let mut sender = Sender::new();
        sender.register_from(instance("i-1", 100), Origin::Peer);
        let operate = |sender: &mut Sender, first: bool| {
            sender.set_status("i-1", if first { Status::OutOfService } else { Status::Down });
            if removes {
                sender.remove_override("i-1");
            }
        };
        operate(&mut sender, true);
        let start_ms = sender.now_ms;
        let way_ms = QueueSettings::default().longest_way_ms(90_000);
        while sender.now_ms < start_ms + way_ms - 20_000 {
            fail(&mut sender);
        }
        operate(&mut sender, false);
        let second_ms = sender.now_ms;
        while sender.now_ms < second_ms + way_ms - 20_000 {
            fail(&mut sender);
            assert!(
                sender.queue.waiting(APP, "i-1").override_kind().is_some(),
                "{}",
                sender.now_ms - second_ms
            );
        }
        assert_eq!(sender.queue.tally().dropped_total(), 0);
        sender.pass(40_000);
        let _ = sender.next();
        assert!(sender.queue.waiting(APP, "i-1").override_kind().is_none());
    }
}

#[test]
fn a_second_cancel_has_its_own_time() {
    let mut sender = Sender::new();
    for dirty in [100, 200] {
        sender.register_from(instance("i-1", dirty), Origin::Peer);
        sender.cancel("i-1");
        if dirty == 100 {
            sender.pass(200_000);
        }
    }
    sender.pass(200_000);
    assert_eq!(shown(&sender.take()), ["i-1 Cancel"]);
    assert_eq!(sender.queue.tally().dropped_total(), 0);
}

#[test]
fn what_meets_its_own_registration_on_its_way_is_not_kept_for_ever() {
    for cancels in [true, false] {
        let mut sender = Sender::new();
        sender.register("i-1");
        let batch = sender.take();
        if cancels {
            sender.cancel("i-1");
        } else {
            sender.set_status("i-1", Status::OutOfService);
        }
        sender.settle(&batch, Outcome::Failed(Sick::Unreachable));
        let way_ms = QueueSettings::default().longest_way_ms(90_000);
        let start_ms = sender.now_ms;
        while sender.now_ms < start_ms + way_ms - 20_000 {
            fail(&mut sender);
        }
        assert_eq!(sender.queue.tally().dropped_total(), 0);
        sender.pass(40_000);
        let batch = sender.next();
        let action = if cancels { Action::Cancel } else { Action::StatusUpdate };
        assert_eq!(sender.queue.tally().dropped(action, DropReason::Expired), 1);
        let left: &[&str] = if cancels { &[] } else { &["i-1 Register"] };
        assert_eq!(batch.map(|batch| shown(&batch)).unwrap_or_default(), left);
    }
}

#[test]
fn a_heartbeat_on_its_way_does_not_shorten_the_time_of_an_operation_behind_it() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.renew("i-1");
    sender.pass(500);
    let batch = sender.take();
    sender.set_status("i-1", Status::OutOfService);
    sender.answer(&batch, &[404]);
    sender.pass(60_000);
    assert_eq!(shown(&sender.take()), ["i-1 StatusUpdate", "i-1 Register"]);
}

#[test]
fn a_cancel_for_one_peer_waits_as_long_as_that_peer_may_hold_the_lease() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.cancel_from("i-1", Origin::Peer);
    let cancelled =
        CancelledHere { last_dirty_timestamp: 100, lease_duration_ms: 90_000, override_stamp: None };
    sender.queue.offer_cancel(&Key::new(APP.into(), "i-1".into()), cancelled, sender.now_ms);
    sender.pass(QueueSettings::default().longest_way_ms(90_000) - 1);
    assert_eq!(shown(&sender.take()), ["i-1 Cancel"]);
    assert_eq!(sender.queue.tally().dropped_total(), 0);
}
