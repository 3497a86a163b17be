//! What the answers to single items cause (`replication.md` 4, 9.3.2, 9.3.3).

use heureka_protocol::Status;
use heureka_protocol::batch::{Action, ItemResponse};
use heureka_protocol::draft::InstanceDraft;
use heureka_registry::Origin;
use heureka_registry::replication::{DropReason, Effect, Outcome, OverrideKind, QueueSettings};

use crate::support::{Sender, instance, shown};

/// A sender whose one instance has been sent and confirmed, with a heartbeat on its way.
fn with_heartbeat() -> (Sender, heureka_registry::replication::Batch) {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.pass(1_000);
    sender.renew("i-1");
    sender.pass(500);
    let batch = sender.take();
    assert_eq!(shown(&batch), ["i-1 Heartbeat"]);
    (sender, batch)
}

#[test]
fn a_heartbeat_that_the_peer_does_not_know_is_followed_by_a_registration() {
    let (mut sender, batch) = with_heartbeat();
    sender.answer(&batch, &[404]);
    assert_eq!(shown(&sender.later().0), ["i-1 Register"]);
    assert_eq!(sender.queue.tally().registered_after_404, 1);
}

#[test]
fn d4_a_cancel_meanwhile_is_all_that_follows() {
    let (mut sender, batch) = with_heartbeat();
    sender.cancel("i-1");
    sender.answer(&batch, &[404]);
    assert_eq!(shown(&sender.later().0), ["i-1 Cancel"]);
}

#[test]
fn d4_an_instance_that_has_gone_meanwhile_is_not_registered() {
    let (mut sender, batch) = with_heartbeat();
    sender.cancel_from("i-1", Origin::Peer);
    sender.answer(&batch, &[404]);
    assert!(sender.queue.is_empty());
}

#[test]
fn a_newer_record_of_the_peer_is_taken_over_whatever_the_code() {
    for code in [409, 400] {
        let (mut sender, batch) = with_heartbeat();
        let entity = Some(Box::new(InstanceDraft { last_dirty_timestamp: Some(200), ..Default::default() }));
        let outcome = Outcome::Answered(vec![ItemResponse { status_code: code, entity }]);
        let settled = sender.settle(&batch, outcome);
        let [Effect::Adopt { key, instance }] = &settled.effects[..] else { panic!("{settled:?}") };
        assert_eq!((&**key.id(), instance.last_dirty_timestamp), ("i-1", Some(200)));
        assert!(sender.queue.is_empty());
    }
}

#[test]
fn s81_a_conflict_without_a_record_takes_nothing_over_and_is_not_repeated() {
    let (mut sender, batch) = with_heartbeat();
    let settled = sender.answer(&batch, &[409]);
    assert!(!settled.effects.iter().any(|effect| matches!(effect, Effect::Adopt { .. })), "{settled:?}");
    assert!(sender.queue.is_empty());
}

#[test]
fn s24_nothing_is_taken_over_if_timestamps_are_not_compared() {
    let settings = QueueSettings { sync_when_timestamp_differs: false, ..Default::default() };
    let mut sender = Sender::with(settings);
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.renew("i-1");
    let (batch, _) = sender.later();
    let entity = Some(Box::<InstanceDraft>::default());
    let settled = sender.settle(&batch, Outcome::Answered(vec![ItemResponse { status_code: 409, entity }]));
    assert!(matches!(
        settled.effects[..],
        [Effect::Dropped { action: Action::Heartbeat, reason: DropReason::Rejected(409), .. }]
    ));
}

#[test]
fn a_cancel_of_what_the_peer_does_not_have_is_done() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel("i-1");
    let batch = sender.take();
    let settled = sender.answer(&batch, &[404]);
    assert!(sender.queue.is_empty() && settled.effects.is_empty());
}

#[test]
fn a_cancel_is_repeated_until_it_is_confirmed() {
    for code in [500, 503, 400, 403] {
        let mut sender = Sender::new();
        sender.register("i-1");
        sender.cancel("i-1");
        for _ in 0..20 {
            let (batch, waited_ms) = sender.later();
            assert_eq!(shown(&batch), ["i-1 Cancel"]);
            assert!(waited_ms <= 12_000);
            sender.answer(&batch, &[code]);
        }
    }
}

#[test]
fn a_cancel_that_is_repeated_takes_the_registration_behind_it_along() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.cancel("i-1");
    sender.register("i-1");
    let batch = sender.take();
    sender.answer(&batch, &[500, 200]);
    assert_eq!(shown(&sender.later().0), ["i-1 Cancel", "i-1 Register"]);
}

#[test]
fn an_override_for_an_instance_that_the_peer_lost_registers_it_first() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    sender.set_status("i-1", Status::OutOfService);
    let batch = sender.take();
    sender.answer(&batch, &[404]);
    assert_eq!(shown(&sender.later().0), ["i-1 StatusUpdate", "i-1 Register"]);
}

#[test]
fn an_operation_that_finds_nothing_before_its_registration_is_told_once_more_after_it() {
    for removes in [false, true] {
        let mut sender = Sender::new();
        sender.register("i-1");
        sender.set_status("i-1", Status::OutOfService);
        let mut told = "i-1 StatusUpdate";
        if removes {
            sender.remove_override("i-1");
            told = "i-1 DeleteStatusOverride";
        }
        let batch = sender.take();
        assert_eq!(shown(&batch), [told, "i-1 Register"]);
        // The peer may have kept another override from an earlier life of the instance.
        sender.answer(&batch, &[404, 200]);
        let (batch, _) = sender.later();
        assert_eq!(shown(&batch), [told, "i-1 Register"]);
        sender.confirm(&batch);
        assert!(sender.queue.is_empty());
    }
}

#[test]
fn an_operation_that_stored_nothing_is_no_removal_if_the_peer_did_not_know_the_instance() {
    let mut sender = Sender::new();
    sender.register_from(instance("i-1", 100), Origin::Peer);
    let record = std::sync::Arc::clone(sender.app.get("i-1").unwrap());
    sender.queue.offer_override(&record, OverrideKind::Set, sender.now_ms);
    let batch = sender.take();
    assert_eq!(shown(&batch), ["i-1 StatusUpdate"]);
    sender.answer(&batch, &[404]);
    let (batch, _) = sender.later();
    assert_eq!(shown(&batch), ["i-1 StatusUpdate", "i-1 Register"]);
    sender.answer(&batch, &[404, 200]);
    assert!(sender.queue.is_empty());
}

#[test]
fn a_registration_that_the_peer_could_not_take_now_is_repeated_and_one_that_it_refuses_is_not() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.register("i-2");
    let batch = sender.take();
    let settled = sender.answer(&batch, &[503, 400]);
    assert!(matches!(
        settled.effects[..],
        [Effect::Dropped { action: Action::Register, reason: DropReason::Rejected(400), .. }]
    ));
    assert_eq!(shown(&sender.later().0), ["i-1 Register"]);
}

#[test]
fn s40_a_short_list_of_answers_confirms_nothing() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.register("i-2");
    let batch = sender.take();
    sender.answer(&batch, &[200]);
    assert!(sender.queue.is_failing());
    assert_eq!(shown(&sender.later().0), ["i-1 Register", "i-2 Register"]);
}

#[test]
fn confirmed_instances_tell_how_long_they_took() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.settle(&batch, Outcome::Failed(heureka_registry::replication::Sick::Unreachable));
    sender.pass(1_000);
    let batch = sender.take();
    sender.pass(20);
    assert_eq!(sender.answer(&batch, &[200]).propagation_ms, [1_020]);
}

#[test]
fn an_operation_that_finds_nothing_again_and_again_is_said_to_be_given_up() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.set_status("i-1", Status::OutOfService);
    let mut last = None;
    for _ in 0..5 {
        let (batch, _) = sender.later();
        assert_eq!(shown(&batch), ["i-1 StatusUpdate", "i-1 Register"]);
        last = Some(sender.answer(&batch, &[404, 200]));
    }
    let settled = last.unwrap();
    let [Effect::Dropped { key, action: Action::StatusUpdate, reason: DropReason::Rejected(404) }] =
        &settled.effects[..]
    else {
        panic!("{settled:?}")
    };
    assert_eq!((&**key.id(), sender.queue.tally().dropped_total()), ("i-1", 1));
    assert!(settled.propagation_ms.is_empty(), "the peer has not confirmed it");
    assert!(sender.queue.is_empty());
}

#[test]
fn what_the_peer_refuses_is_not_confirmed() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.register("i-2");
    let batch = sender.take();
    assert_eq!(sender.answer(&batch, &[400, 200]).propagation_ms, [0]);
}
