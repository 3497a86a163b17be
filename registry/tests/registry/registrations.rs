//! Registration (`registry.md` 2).

use std::sync::Arc;

use heureka_protocol::{ActionType, Instance, Status};
use heureka_registry::{ChangeKind, Origin};

use crate::support::{Node, says};

/// An instance with a mark that tells which registration its content came from.
fn marked(mark: &str, status: Status, dirty: i64) -> Instance {
    let mut instance = says("i-1", status, dirty);
    instance.metadata.insert("mark", mark);
    instance
}

fn mark(node: &Node) -> &str {
    node.record("i-1").instance.metadata.get("mark").unwrap()
}

#[test]
fn r_1_a_registered_instance_is_found_by_its_id() {
    let mut node = Node::new();
    for id in ["i-1", "host:orders:8080", "ID with spaces/and#signs", "ü"] {
        let change = node.register(says(id, Status::Up, 1));
        assert_eq!(&*node.record(id).instance.instance_id, id);
        assert!(Arc::ptr_eq(&change.record, node.record(id)));
    }
}

#[test]
fn r_2_only_an_absent_id_makes_the_application_larger() {
    let mut node = Node::with_one();
    assert_eq!(node.app.len(), 1);
    node.register(says("i-1", Status::Down, 200));
    assert_eq!(node.app.len(), 1);
    node.register(says("I-1", Status::Up, 1));
    assert_eq!(node.app.len(), 2, "ids are case-sensitive");
}

#[test]
fn r_3_a_stale_registration_keeps_the_newer_content_under_a_fresh_lease_of_its_own_duration() {
    let mut node = Node::new();
    node.register(marked("first", Status::Up, 200));
    node.pass(60_000);
    let mut stale = marked("stale", Status::Down, 100);
    stale.lease.duration_secs = 7;
    let change = node.register(stale);
    let record = node.record("i-1");
    assert_eq!(
        (mark(&node), record.instance.status, record.reported_status),
        ("first", Status::Up, Status::Up)
    );
    assert_eq!(record.lease.duration_ms, 7_000);
    assert_eq!(record.lease.clock.get(), Some(node.now.mono_ms));
    assert_eq!(record.instance.lease.duration_secs, 90, "published settings are content");
    assert_eq!((change.kind, change.kind.action()), (ChangeKind::Registered, ActionType::Added));
}

#[test]
fn r_3_an_equal_or_newer_dirty_timestamp_brings_its_content() {
    let mut node = Node::new();
    for (name, dirty) in [("a", 100), ("b", 100), ("c", 101), ("d", 101)] {
        node.register(marked(name, Status::Up, dirty));
        assert_eq!(mark(&node), name);
    }
}

#[test]
fn r_4_the_dirty_timestamp_never_decreases() {
    let mut node = Node::with_one();
    let mut highest = 100;
    for dirty in [50, 300, 0, -5, 299, 301] {
        node.register(says("i-1", Status::Up, dirty));
        highest = highest.max(dirty);
        assert_eq!(node.record("i-1").instance.last_dirty_timestamp, highest);
    }
    node.set_status_dirty("i-1", Status::Down, Some(7));
    assert_eq!(node.record("i-1").instance.last_dirty_timestamp, highest);
}

#[test]
fn r_5_registering_twice_changes_neither_content_nor_status() {
    let mut node = Node::new();
    for status in Status::IN_TEXT_ORDER {
        node.register(marked("same", status, 100));
        let first = node.record("i-1").instance.clone();
        node.register(marked("same", status, 100));
        assert_eq!(node.record("i-1").instance, first);
    }
}

#[test]
fn r_6_the_existing_lease_decides_for_a_client_but_not_for_a_peer() {
    let mut node = Node::with_one();
    node.register(says("i-1", Status::OutOfService, 200));
    assert_eq!(node.status("i-1"), Status::Up);
    assert_eq!(node.record("i-1").reported_status, Status::OutOfService);
    node.register_from(says("i-1", Status::OutOfService, 200), Origin::Peer);
    assert_eq!(node.status("i-1"), Status::OutOfService);
    node.register_from(says("i-1", Status::Up, 200), Origin::StartUp);
    assert_eq!(node.status("i-1"), Status::Up);
}

#[test]
fn r_7_a_registration_seeds_an_override_but_never_replaces_one() {
    let mut node = Node::new();
    let overridden = |status| Instance { overridden_status: status, ..says("i-1", Status::Up, 100) };
    node.register_from(overridden(Status::OutOfService), Origin::StartUp);
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    node.register_from(overridden(Status::Down), Origin::Peer);
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    assert_eq!(node.app.override_of("i-1").unwrap().origin, Origin::StartUp);
}

#[test]
fn r_7_the_override_of_a_stale_registration_seeds_nothing() {
    let mut node = Node::with_one();
    let stale = Instance { overridden_status: Status::Down, ..says("i-1", Status::Up, 50) };
    node.register_from(stale, Origin::Peer);
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
}

#[test]
fn r_8_every_record_shows_the_override_of_its_id() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    node.register(says("i-1", Status::Down, 200));
    assert_eq!(node.statuses("i-1"), (Status::Down, Status::OutOfService, Some(Status::OutOfService)));
    node.remove_override("i-1", Some(Status::Down));
    node.register(says("i-1", Status::Up, 300));
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
}

#[test]
fn r_9_totals_count_each_living_id_once() {
    let mut node = Node::new();
    let with_interval = |id: &str, secs: i32, dirty: i64| {
        let mut instance = says(id, Status::Up, dirty);
        instance.lease.renewal_interval_secs = secs;
        instance
    };
    node.register(with_interval("a", 30, 1));
    node.register(with_interval("b", 10, 1));
    node.register(with_interval("c", 0, 1));
    let totals = node.app.totals();
    assert_eq!((totals.leases, totals.renewals_per_minute_micros), (3, 10_000_000));
    node.register(with_interval("b", 60, 2));
    assert_eq!(node.app.totals().renewals_per_minute_micros, 5_000_000);
    for id in ["a", "b", "c"] {
        node.cancel(id);
    }
    assert_eq!(node.app.totals(), <_>::default());
}

#[test]
fn a_change_says_what_was_before_and_counts_up_without_gaps() {
    let mut node = Node::new();
    let first = node.register(says("i-1", Status::Down, 1));
    assert_eq!((first.sequence, first.previous_status, first.origin), (1, None, Origin::Client));
    assert_eq!((&*first.app, &*first.id, first.at_mono_ms), ("ORDERS", "i-1", node.now.mono_ms));
    node.pass(3);
    let second = node.register(says("i-1", Status::Up, 2));
    assert_eq!((second.sequence, second.previous_status), (2, Some(Status::Down)));
    assert_eq!(second.record.instance.action_type, Some(ActionType::Added));
    assert_eq!(second.record.instance.last_updated_timestamp, node.now.wall_ms);
    assert_eq!(node.app.next_sequence(), 3);
}

#[test]
fn a_replaced_record_is_retired_and_shares_its_names() {
    let mut node = Node::with_one();
    let old = node.record("i-1").clone();
    let new = node.register(says("i-1", Status::Up, 200)).record;
    assert_eq!((old.lease.clock.get(), new.lease.clock.get()), (None, Some(node.now.mono_ms)));
    assert!(Arc::ptr_eq(&old.instance.instance_id, &new.instance.instance_id));
}
