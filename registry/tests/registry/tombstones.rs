//! Tombstones: a cancel is not undone by what was already on its way (`replication.md` 9.3.3).

use heureka_protocol::{Instance, Status};
use heureka_registry::{Cancel, CancelOutcome, Origin, Sender};

use crate::support::{Node, says};

fn cancelled() -> Node {
    let mut node = Node::with_one();
    node.cancel("i-1").unwrap();
    node
}

#[test]
fn an_older_replica_does_not_resurrect_for_the_whole_life_of_the_tombstone() {
    let mut node = cancelled();
    for _ in 0..3 {
        let refused = Instance { overridden_status: Status::Down, ..says("i-1", Status::Up, 99) };
        assert!(node.register_from(refused, Origin::Peer).is_none());
        assert!(node.app.is_empty() && node.app.overrides().count() == 0);
        node.pass(99_999);
    }
    node.pass(3);
    assert!(node.register_from(says("i-1", Status::Up, 99), Origin::Peer).is_some());
}

#[test]
fn an_equal_replica_is_refused_during_the_quarantine_only() {
    let mut node = cancelled();
    node.pass(9_999);
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_none());
    node.pass(1);
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_some());
}

#[test]
fn a_copy_at_start_up_is_refused_while_the_tombstone_lives_unless_it_is_newer() {
    let mut node = cancelled();
    node.pass(200_000);
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::StartUp).is_none());
    assert!(node.register_from(says("i-1", Status::Up, 101), Origin::StartUp).is_some());
}

#[test]
fn a_client_or_a_newer_replica_always_may_and_ends_the_tombstone() {
    for (dirty, origin) in [(1, Origin::Client), (101, Origin::Peer)] {
        let mut node = cancelled();
        assert!(node.register_from(says("i-1", Status::Up, dirty), origin).is_some());
        assert!(node.app.tombstone("i-1", node.now).is_none());
        assert!(node.register_from(says("i-1", Status::Up, 1), Origin::Peer).is_some());
    }
}

/// What a peer tells in a batch.
fn told(node: &mut Node, sender: Sender, dirty: i64) -> bool {
    let (now, rules) = (node.now, node.rules.clone());
    node.app.register_from(says("i-1", Status::Up, dirty), None, sender, now, &rules).is_some()
}

fn cancel_by(node: &mut Node, told_by: Option<Sender>, last_dirty: Option<i64>) -> CancelOutcome {
    let (now, rules) = (node.now, node.rules.clone());
    let cancel = Cancel { told_by, last_dirty, ..Cancel::from(Origin::Peer) };
    node.app.cancel_as("i-1", cancel, now, &rules)
}

#[test]
fn only_the_node_whose_own_cancel_it_was_ends_it_with_the_same_record() {
    let (one, other) = (Sender::node("one", 0), Sender::node("other", 0));
    for (told_by, sender, is_back) in [
        (Some(one), one, true),
        (Some(one), other, false),
        (Some(one), Sender::node("one", 1), false),
        (Some(one), Sender::unknown(1), false),
        // A client's call to this node: nobody can know what came before it.
        (None, one, false),
    ] {
        let mut node = Node::with_one();
        assert!(cancel_by(&mut node, told_by, Some(100)).change().is_some());
        assert_eq!(told(&mut node, sender, 100), is_back, "{told_by:?} {sender:?}");
        if is_back {
            continue;
        }
        node.pass(10_000);
        assert!(told(&mut node, sender, 100), "after the quarantine it is back");
    }
}

#[test]
fn a_node_that_keeps_order_may_bring_an_earlier_clock_and_another_server_may_not() {
    let ours = Sender::node("one", 0);
    let mut node = Node::with_one();
    cancel_by(&mut node, Some(ours), Some(100));
    assert!(told(&mut node, ours, 40), "the instance is back, with an earlier clock");
    let java = Sender::unknown(7);
    let mut node = Node::with_one();
    cancel_by(&mut node, Some(java), None);
    node.pass(60_000);
    assert!(
        !told(&mut node, java, 99),
        "D4: a late registration may stand behind a cancel in the same batch"
    );
    assert!(told(&mut node, java, 100));
}

#[test]
fn a_cancel_that_names_its_record_ends_what_is_not_newer_known_or_not() {
    let ours = Sender::node("one", 0);
    let mut node = Node::with_one();
    assert!(cancel_by(&mut node, Some(ours), Some(200)).change().is_some());
    let other = Sender::node("other", 0);
    node.pass(60_000);
    assert!(!told(&mut node, other, 150), "what was cancelled was newer than what was here");
    assert!(told(&mut node, other, 201));
    let mut node = Node::new();
    assert!(matches!(cancel_by(&mut node, Some(ours), Some(200)), CancelOutcome::NotFound));
    assert!(!told(&mut node, other, 199) && !told(&mut node, other, 200) && told(&mut node, other, 201));
}

#[test]
fn a_cancel_repeated_does_not_begin_the_quarantine_again() {
    let (one, other) = (Sender::node("one", 0), Sender::node("other", 0));
    let mut node = Node::with_one();
    cancel_by(&mut node, Some(one), Some(100));
    node.pass(9_999);
    cancel_by(&mut node, Some(other), Some(100));
    assert!(!told(&mut node, other, 100), "it is still the first one's cancel");
    node.pass(1);
    assert!(told(&mut node, other, 100));
}

#[test]
fn the_next_life_of_an_instance_outlives_the_cancel_of_the_last_one() {
    let mut node = Node::with_one();
    node.register(says("i-1", Status::Up, 300));
    node.set_status("i-1", Status::OutOfService);
    assert!(matches!(cancel_by(&mut node, None, Some(200)), CancelOutcome::NewerStays(None)));
    assert_eq!(node.statuses("i-1").0, Status::OutOfService, "an override of the new life stays too");
    assert!(cancel_by(&mut node, None, Some(300)).change().is_some());
    // Without comparing, nobody would make the two records equal again.
    let mut node = Node::with_one();
    node.rules.sync_when_timestamp_differs = false;
    assert!(cancel_by(&mut node, None, Some(99)).change().is_some());
}

#[test]
fn an_override_of_the_last_life_ends_with_it() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    node.pass(10);
    node.register_from(says("i-1", Status::Up, 300), Origin::Peer);
    assert_eq!(node.statuses("i-1").2, Some(Status::OutOfService));
    let CancelOutcome::NewerStays(Some(change)) = cancel_by(&mut node, None, Some(100)) else {
        panic!("the override stayed")
    };
    assert!(!change.origin.is_sent_on());
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
}

#[test]
fn a_tombstone_can_be_forgotten_when_the_instance_is_known_to_live() {
    let mut node = cancelled();
    node.app.lift_tombstone("i-1", 99, node.now);
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_none());
    node.app.lift_tombstone("i-1", 100, node.now);
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_some());
}

#[test]
fn a_tombstone_outlives_every_lease_that_a_peer_may_still_hold() {
    let mut node = Node::new();
    let mut long = says("i-1", Status::Up, 100);
    long.lease.duration_secs = 600;
    node.register(long);
    node.cancel("i-1");
    node.pass(1_259_999);
    assert!(node.app.tombstone("i-1", node.now).is_some());
    node.pass(1);
    assert!(node.app.tombstone("i-1", node.now).is_none());
}

#[test]
fn an_effective_cancel_by_a_peer_leaves_one_and_an_ineffective_one_does_not() {
    let mut node = Node::with_one();
    let (now, rules) = (node.now, node.rules.clone());
    assert!(node.app.cancel("nope", Origin::Peer, now, &rules).is_none());
    assert_eq!(node.app.tombstones().count(), 0);
    assert!(node.app.cancel("i-1", Origin::Peer, now, &rules).is_some());
    assert_eq!(node.app.tombstone("i-1", now).unwrap().last_dirty_timestamp, 100);
}

#[test]
fn their_number_is_bounded_and_the_oldest_go_first() {
    let mut node = Node::new();
    node.rules.tombstones_max = 3;
    for n in 0..10 {
        let id = format!("i-{}", n % 5);
        node.register(says(&id, Status::Up, n));
        node.pass(1);
        node.cancel(&id);
    }
    let kept: Vec<&str> = node.app.tombstones().map(|(id, _)| &**id).collect();
    assert_eq!(kept, ["i-2", "i-3", "i-4"]);
    node.pass(300_000);
    node.app.sweep(node.now, &node.rules);
    assert_eq!(node.app.tombstones().count(), 0);
}

#[test]
fn a_kept_tombstone_can_be_put_back_but_never_over_a_living_instance() {
    let mut node = cancelled();
    let (id, tombstone) = node.app.tombstones().map(|(id, t)| (id.clone(), *t)).next().unwrap();
    let mut fresh = Node::new();
    fresh.app.restore_tombstone(id.clone(), tombstone, &fresh.rules);
    assert!(fresh.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_none());
    node.register(says("i-1", Status::Up, 100));
    node.app.restore_tombstone(id, tombstone, &node.rules);
    assert!(node.app.tombstone("i-1", node.now).is_none());
}
