//! How intents merge (`replication.md` 9.3.1), and what other people's changes do to them.

use heureka_protocol::Status;
use heureka_protocol::batch::Action;
use heureka_registry::Origin;
use heureka_registry::replication::{Intents, OverrideKind};

use crate::support::{Sender, instance, shown};

const SET: Intents = Intents::override_op(OverrideKind::Set);
const REMOVED: Intents = Intents::override_op(OverrideKind::Removed);
const STATED: Intents = Intents::override_op(OverrideKind::Stated);

fn merged(all: &[Intents]) -> Vec<Action> {
    all.iter().copied().fold(Intents::NONE, Intents::then).actions().collect()
}

#[test]
fn the_table_of_the_specification_holds() {
    use Action::{Cancel, DeleteStatusOverride, Heartbeat, Register, StatusUpdate};
    const R: Intents = Intents::REGISTER;
    const H: Intents = Intents::HEARTBEAT;
    const C: Intents = Intents::CANCEL;
    let cases: &[(&[Intents], &[Action])] = &[
        (&[R], &[Register]),
        (&[H], &[Heartbeat]),
        (&[C], &[Cancel]),
        (&[SET], &[StatusUpdate]),
        (&[R, R], &[Register]),
        (&[R, H], &[Register]),
        (&[R, C], &[Cancel]),
        (&[R, SET], &[StatusUpdate, Register]),
        (&[H, R], &[Register]),
        (&[H, H], &[Heartbeat]),
        (&[H, C], &[Cancel]),
        (&[H, REMOVED], &[Heartbeat, DeleteStatusOverride]),
        (&[C, R], &[Cancel, Register]),
        (&[C, H], &[Cancel]),
        (&[C, C], &[Cancel]),
        (&[C, SET], &[Cancel]),
        (&[C, R, SET], &[Cancel, StatusUpdate, Register]),
        (&[C, R, C], &[Cancel]),
        (&[SET, R], &[StatusUpdate, Register]),
        (&[SET, H], &[StatusUpdate]),
        (&[SET, C], &[Cancel]),
        (&[SET, REMOVED], &[DeleteStatusOverride, Register]),
        (&[R, SET, H, REMOVED], &[DeleteStatusOverride, Register]),
        (&[STATED], &[StatusUpdate]),
        (&[REMOVED, STATED], &[DeleteStatusOverride]),
        (&[STATED, REMOVED], &[DeleteStatusOverride]),
    ];
    for (all, expected) in cases {
        assert_eq!(merged(all), *expected, "{all:?}");
    }
}

#[test]
fn merging_does_not_depend_on_what_is_merged_first() {
    let all = [Intents::NONE, Intents::REGISTER, Intents::HEARTBEAT, Intents::CANCEL, SET, REMOVED, STATED];
    for a in all {
        for b in all {
            for c in all {
                if a == Intents::CANCEL && b != Intents::REGISTER && c == Intents::REGISTER {
                    // What comes between a cancel and the next registration does not happen: there is no instance.
                    continue;
                }
                assert_eq!(a.then(b).then(c), a.then(b.then(c)), "{a:?} {b:?} {c:?}");
            }
        }
    }
}

#[test]
fn a_registration_between_two_cancels_leaves_one_cancel() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel("i-1");
    assert_eq!(shown(&sender.take()), ["i-1 Cancel"]);
}

#[test]
fn d2_register_cancel_register_arrive_in_this_order_in_one_batch() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel("i-1");
    sender.register("i-1");
    assert_eq!(shown(&sender.take()), ["i-1 Cancel", "i-1 Register"]);
}

#[test]
fn an_item_carries_what_is_registered_when_it_leaves() {
    let mut sender = Sender::new();
    sender.register_dirty("i-1", 100);
    sender.register_dirty("i-1", 200);
    sender.set_status("i-1", Status::OutOfService);
    let batch = sender.take();
    assert_eq!(shown(&batch), ["i-1 StatusUpdate", "i-1 Register"]);
    for item in batch.items() {
        let sent = &item.record.as_ref().unwrap().instance;
        assert_eq!((sent.last_dirty_timestamp, sent.status), (200, Status::OutOfService));
    }
}

#[test]
fn changes_of_peers_and_evictions_are_not_sent_on() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.register_from(instance("i-2", 100), Origin::StartUp);
    sender.cancel_from("i-1", Origin::Peer);
    assert!(sender.queue.is_empty());
    assert!(sender.next().is_none());
}

#[test]
fn an_instance_that_a_peer_cancelled_needs_no_registration_any_more() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel_from("i-1", Origin::Peer);
    assert!(sender.queue.is_empty());
}

#[test]
fn a_registration_in_flight_is_not_repeated_for_an_instance_that_has_gone() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.cancel_from("i-1", Origin::Peer);
    sender.answer(&batch, &[503]);
    assert!(sender.queue.is_empty());
}

#[test]
fn a_newer_registration_from_elsewhere_overtakes_a_cancel() {
    for had_override in [false, true] {
        let mut sender = Sender::new();
        sender.register("i-1");
        if had_override {
            sender.set_status("i-1", Status::OutOfService);
        }
        let batch = sender.take();
        sender.confirm(&batch);
        sender.cancel("i-1");
        assert!(sender.register_from(instance("i-1", 101), Origin::Peer));
        // The cancel would remove the newer registration at the peer; if it has removed an override, that is still to be told.
        let told = if had_override { shown(&sender.later().0) } else { Vec::new() };
        assert_eq!(told, if had_override { vec!["i-1 DeleteStatusOverride"] } else { Vec::new() });
        assert_eq!(sender.queue.is_empty(), !had_override);
    }
}

#[test]
fn an_override_that_somebody_else_changed_later_is_not_sent() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.set_status("i-1", Status::OutOfService);
    let (now, rules) = (sender.now(), sender.rules.clone());
    let outcome = sender.app.remove_override("i-1", Some(Status::Up), None, Origin::Peer, now, &rules);
    sender.queue.offer(&crate::support::changed(outcome).unwrap(), sender.now_ms);
    assert!(sender.queue.is_empty());
}

#[test]
fn a_heartbeat_of_a_record_that_was_replaced_is_ignored() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let old = sender.app.get("i-1").unwrap().clone();
    let batch = sender.take();
    sender.confirm(&batch);
    sender.cancel_from("i-1", Origin::Peer);
    sender.queue.offer_heartbeat(&old, sender.now_ms);
    assert!(sender.queue.is_empty());
}

#[test]
fn an_override_operation_that_changed_nothing_is_sent_all_the_same() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    let record = sender.app.get("i-1").unwrap().clone();
    sender.queue.offer_override(&record, OverrideKind::Set, sender.now_ms);
    assert_eq!(shown(&sender.take()), ["i-1 StatusUpdate"]);
}
