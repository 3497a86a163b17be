//! Tombstones: a cancel is not undone by what was already on its way (`replication.md` 9.3.3).

use heureka_protocol::{Instance, Status};
use heureka_registry::Origin;

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

#[test]
fn a_registration_that_certainly_follows_the_cancel_lifts_it() {
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
