//! Heartbeats (`registry.md` 3.1, 3.5).

use heureka_protocol::{ActionType, Status};
use heureka_registry::{
    Application, ChangeKind, Heartbeat, LeaseExpiry, Origin, QuickRenewal, Record, RenewalAnswer,
};

use crate::support::{Node, http, says};

fn clock(node: &Node) -> Option<u64> {
    node.record("i-1").lease.clock.get()
}

#[test]
fn h_1_a_renewal_is_refused_without_a_lease() {
    let mut node = Node::with_one();
    let renewal = node.renew("nope");
    assert!(matches!(renewal.answer, RenewalAnswer::NotFound));
    assert!(!renewal.counts());
    assert_eq!(http(&node.renew("i-1")), 200);
}

#[test]
fn h_1_an_unknown_status_is_asked_for_once_and_not_renewed_meanwhile() {
    let mut node = Node::new();
    node.register(says("i-1", Status::Unknown, 1));
    let before = clock(&node);
    node.pass(10);
    let refused = node.renew("i-1");
    assert!(matches!(refused.answer, RenewalAnswer::UnknownStatus) && !refused.counts());
    assert_eq!(clock(&node), before);
    // Java clients register again with a newer timestamp; saying UNKNOWN once more is an answer, not a new question.
    node.register(says("i-1", Status::Unknown, 2));
    assert_eq!([http(&node.renew("i-1")), http(&node.renew("i-1"))], [200, 200]);
    node.register(says("i-1", Status::Up, 3));
    node.register(says("i-1", Status::Unknown, 4));
    assert_eq!([http(&node.renew("i-1")), http(&node.renew("i-1"))], [404, 200]);
}

#[test]
fn h_1_a_peer_that_shows_the_status_is_not_asked_for_it() {
    let beat = |overridden, shown, dirty| Heartbeat {
        last_dirty: Some(dirty),
        overridden,
        shown: Some(shown),
        ..Heartbeat::default()
    };
    let told = |beat: Heartbeat, origin| {
        let mut node = Node::new();
        node.register_from(says("i-1", Status::Unknown, 100), Origin::Peer).unwrap();
        let renewal = node.app.renew("i-1", &beat, origin, node.now, &node.rules);
        (http(&renewal), renewal.change.map(|change| change.kind), node.record("i-1").instance.status)
    };
    let corrected = (200, Some(ChangeKind::StatusCorrected), Status::Up);
    let asked = (404, None, Status::Unknown);
    assert_eq!(told(beat(None, Status::Up, 100), Origin::Peer), corrected);
    assert_eq!(told(beat(Some(Status::Unknown), Status::Up, 100), Origin::Peer), corrected);
    // An override hides what the instance reports, another registration may have reported something else, and a client
    // says nothing of its status in a heartbeat.
    assert_eq!(told(beat(Some(Status::Up), Status::Up, 100), Origin::Peer), asked);
    assert_eq!(told(beat(None, Status::Up, 99), Origin::Peer), asked);
    assert_eq!(told(beat(None, Status::Unknown, 100), Origin::Peer), asked);
    assert_eq!(told(beat(None, Status::Up, 100), Origin::Client), asked);
}

#[test]
fn h_2_after_a_cancel_a_renewal_finds_nothing_until_the_next_registration() {
    let mut node = Node::with_one();
    node.cancel("i-1");
    assert_eq!(http(&node.renew("i-1")), 404);
    node.register(says("i-1", Status::Up, 100));
    assert_eq!(http(&node.renew("i-1")), 200);
}

#[test]
fn h_3_every_renewal_that_moved_the_lease_counts_whatever_the_answer() {
    let mut node = Node::with_one();
    for (dirty, origin, status) in [
        (None, Origin::Client, 200),
        (Some(100), Origin::Client, 200),
        (Some(99), Origin::Client, 200),
        (Some(101), Origin::Client, 404),
        (Some(100), Origin::Peer, 200),
        (Some(99), Origin::Peer, 409),
        (Some(101), Origin::Peer, 404),
    ] {
        node.pass(10);
        let renewal = node.renew_with("i-1", dirty, origin);
        assert_eq!((http(&renewal), renewal.counts()), (status, true), "{dirty:?} {origin:?}");
        assert_eq!(clock(&node), Some(node.now.mono_ms + 90_000));
    }
}

#[test]
fn h_3_without_timestamp_comparison_every_renewal_is_200() {
    let mut node = Node::with_one();
    node.rules.sync_when_timestamp_differs = false;
    for (dirty, origin) in [(99, Origin::Peer), (101, Origin::Peer), (101, Origin::Client)] {
        assert_eq!(http(&node.renew_with("i-1", Some(dirty), origin)), 200);
    }
}

#[test]
fn h_4_a_renewal_changes_nothing_but_the_lease() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    let (before, totals) = (node.record("i-1").clone(), node.app.totals());
    node.renew_with("i-1", Some(50), Origin::Client);
    assert!(std::sync::Arc::ptr_eq(&before, node.record("i-1")));
    assert_eq!((node.app.totals(), node.app.len()), (totals, 1));
}

#[test]
fn h_4_a_conflict_carries_the_stored_record() {
    let mut node = Node::with_one();
    let RenewalAnswer::Conflict(record) = node.renew_with("i-1", Some(1), Origin::Peer).answer else {
        panic!("no conflict")
    };
    assert_eq!(record.instance.last_dirty_timestamp, 100);
}

#[test]
fn h_5_a_peers_override_with_a_newer_copy_is_stored_and_shown_at_once() {
    let mut node = Node::with_one();
    let beat =
        Heartbeat { last_dirty: Some(101), overridden: Some(Status::OutOfService), ..Heartbeat::default() };
    let renewal = node.app.renew("i-1", &beat, Origin::Peer, node.now, &node.rules);
    let change = renewal.change.clone().unwrap();
    assert_eq!(
        (http(&renewal), change.kind, change.origin),
        (404, ChangeKind::StatusCorrected, Origin::Peer)
    );
    assert_eq!(change.record.instance.action_type, Some(ActionType::Modified));
    assert_eq!(change.previous_status, Some(Status::Up));
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    assert_eq!(node.record("i-1").reported_status, Status::Up);
}

#[test]
fn h_5_an_override_is_stored_only_from_a_peer_with_a_newer_copy() {
    for (dirty, overridden, origin) in [
        (101, Some(Status::OutOfService), Origin::Client),
        (100, Some(Status::OutOfService), Origin::Peer),
        (99, Some(Status::OutOfService), Origin::Peer),
        (101, Some(Status::Unknown), Origin::Peer),
        (101, None, Origin::Peer),
    ] {
        let mut node = Node::with_one();
        let beat = Heartbeat { last_dirty: Some(dirty), overridden, ..Heartbeat::default() };
        let renewal = node.app.renew("i-1", &beat, origin, node.now, &node.rules);
        assert!(renewal.change.is_none(), "{dirty} {overridden:?} {origin:?}");
        assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
    }
}

#[test]
fn h_5_a_status_that_is_out_of_line_is_corrected_with_a_change() {
    // The reference test sets the status of the record behind the registry's back; here a restart brings such a record.
    let mut node = Node::with_one();
    let old = node.record("i-1");
    let overrides = [(old.instance.instance_id.clone(), Status::OutOfService)];
    let name = node.app.name().clone();
    node.app = Application::from_records(name, [old.clone()], overrides, 2, node.now);
    let change = node.renew("i-1").change.unwrap();
    assert_eq!((change.kind, change.sequence), (ChangeKind::StatusCorrected, 2));
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    assert_eq!(clock(&node), Some(node.now.mono_ms + 90_000));
}

#[test]
fn h_6_a_renewal_without_visible_effect_makes_no_change() {
    let mut node = Node::with_one();
    let next = node.app.next_sequence();
    for dirty in [None, Some(99), Some(100), Some(101)] {
        for origin in [Origin::Client, Origin::Peer] {
            assert!(node.renew_with("i-1", dirty, origin).change.is_none());
        }
    }
    assert_eq!(node.app.next_sequence(), next);
}

#[test]
fn an_expired_lease_that_is_still_there_renews() {
    let mut node = Node::with_one();
    node.pass(1_000_000);
    assert!(node.is_expired("i-1"));
    assert_eq!(http(&node.renew("i-1")), 200);
    assert!(!node.is_expired("i-1"));
}

#[test]
fn the_quick_way_is_taken_only_if_the_owner_would_answer_200_and_change_nothing() {
    let quick =
        |record: &Record, dirty, node: &Node| record.try_quick_renewal(dirty, node.now, LeaseExpiry::Java);
    let mut node = Node::with_one();
    let held = node.record("i-1").clone();
    assert_eq!(quick(&held, None, &node), QuickRenewal::Renewed);
    assert_eq!(quick(&held, Some(100), &node), QuickRenewal::Renewed);
    assert_eq!(quick(&held, Some(99), &node), QuickRenewal::Renewed);
    assert_eq!(quick(&held, Some(101), &node), QuickRenewal::AskOwner);
    node.set_status("i-1", Status::Down);
    assert_eq!(quick(&held, None, &node), QuickRenewal::AskOwner);
    node.register(says("u", Status::Unknown, 1));
    assert_eq!(quick(node.record("u"), None, &node), QuickRenewal::AskOwner);
}
