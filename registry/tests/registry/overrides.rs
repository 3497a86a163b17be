//! Status overrides (`registry.md` 3.3, 3.4, defects D13 to D18).

use std::sync::Arc;

use heureka_protocol::{ActionType, AppName, Instance, Status};
use heureka_registry::{Application, ChangeKind, Heartbeat, Origin, StatusOutcome};

use crate::support::{Node, changed, http, says};

#[test]
fn s_1_both_operations_need_a_lease_and_extend_it_as_a_renewal_does() {
    let mut node = Node::with_one();
    assert!(matches!(node.set_status("nope", Status::Down), StatusOutcome::NotFound));
    assert!(matches!(node.remove_override("nope", None), StatusOutcome::NotFound));
    for step in 0..4 {
        node.pass(1_000);
        match step {
            0 => node.set_status("i-1", Status::Up),
            1 => node.set_status("i-1", Status::Down),
            2 => node.remove_override("i-1", None),
            _ => node.remove_override("i-1", None),
        };
        assert_eq!(node.record("i-1").lease.clock.get(), Some(node.now.mono_ms + 90_000), "step {step}");
    }
}

#[test]
fn s_1_a_renewal_that_came_in_between_is_not_taken_back() {
    let mut node = Node::with_one();
    let clock = &node.record("i-1").lease.clock;
    assert!(clock.advance(node.now.mono_ms + 500_000));
    node.set_status("i-1", Status::Down);
    assert_eq!(node.record("i-1").lease.clock.get(), Some(node.now.mono_ms + 500_000));
}

#[test]
fn s_2_a_status_update_sets_status_overridden_status_and_override() {
    for status in [Status::Down, Status::Starting, Status::OutOfService] {
        let mut node = Node::with_one();
        let change = changed(&node.set_status("i-1", status)).unwrap();
        assert_eq!(node.statuses("i-1"), (status, status, Some(status)));
        assert_eq!((change.kind, change.previous_status), (ChangeKind::StatusOverridden, Some(Status::Up)));
        assert_eq!(change.record.instance.action_type, Some(ActionType::Modified));
        assert_eq!(change.record.instance.last_updated_timestamp, node.now.wall_ms);
        assert_eq!(change.record.reported_status, Status::Up);
    }
}

#[test]
fn s_2_an_update_overwrites_what_the_instance_reports_and_remembers_it() {
    let mut node = Node::new();
    node.register(says("i-1", Status::Down, 100));
    node.set_status("i-1", Status::Up);
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Up, Some(Status::Up)));
    assert_eq!(node.record("i-1").reported_status, Status::Down);
    node.remove_override("i-1", None);
    assert_eq!(node.statuses("i-1"), (Status::Down, Status::Unknown, None));
}

#[test]
fn s_3_an_update_to_the_current_status_pins_nothing() {
    let mut node = Node::with_one();
    let before = node.record("i-1").clone();
    assert!(matches!(node.set_status_dirty("i-1", Status::Up, Some(900)), StatusOutcome::Unchanged));
    assert!(Arc::ptr_eq(&before, node.record("i-1")));
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
}

#[test]
fn s_3_an_equal_override_is_stored_if_the_rules_say_so() {
    let mut node = Node::with_one();
    node.rules.store_equal_override = true;
    assert!(changed(&node.set_status("i-1", Status::Up)).is_some());
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Up, Some(Status::Up)));
    assert!(matches!(node.set_status("i-1", Status::Up), StatusOutcome::Unchanged));
}

#[test]
fn s_4_an_override_removal_with_a_status_shows_that_status_at_once() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    let change = changed(&node.remove_override("i-1", Some(Status::Down))).unwrap();
    assert_eq!(
        (change.kind, change.record.instance.action_type),
        (ChangeKind::OverrideRemoved, Some(ActionType::Modified))
    );
    assert_eq!(node.statuses("i-1"), (Status::Down, Status::Unknown, None));
}

#[test]
fn s_4_without_a_status_the_instance_returns_to_what_it_reported_and_renews() {
    for status in [None, Some(Status::Unknown)] {
        let mut node = Node::with_one();
        node.set_status("i-1", Status::OutOfService);
        node.register(says("i-1", Status::Up, 200));
        node.remove_override("i-1", status);
        assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
        assert_eq!(http(&node.renew("i-1")), 200);
    }
}

#[test]
fn s_4_if_a_peers_registration_hid_the_report_the_client_is_asked() {
    let mut node = Node::new();
    let effective = says("i-1", Status::OutOfService, 100);
    let replica = Instance { overridden_status: Status::OutOfService, ..effective };
    node.register_from(replica.clone(), Origin::Peer);
    node.remove_override("i-1", None);
    assert_eq!(node.statuses("i-1"), (Status::Unknown, Status::Unknown, None));
    assert_eq!(http(&node.renew("i-1")), 404);
    node.register(says("i-1", Status::Up, 101));
    assert_eq!(node.status("i-1"), Status::Up);
    // A report that is known survives what peers send of the same instance.
    node.set_status("i-1", Status::OutOfService);
    node.register_from(Instance { last_dirty_timestamp: 101, ..replica }, Origin::Peer);
    node.remove_override("i-1", None);
    assert_eq!(node.status("i-1"), Status::Up);
}

#[test]
fn s_5_removing_nothing_changes_nothing_but_the_lease() {
    let mut node = Node::with_one();
    let before = node.record("i-1").clone();
    assert!(matches!(node.remove_override("i-1", Some(Status::Down)), StatusOutcome::Unchanged));
    assert!(Arc::ptr_eq(&before, node.record("i-1")));
}

#[test]
fn s_6_a_status_operation_raises_the_dirty_timestamp_but_never_lowers_it() {
    let mut node = Node::with_one();
    let dirty = |node: &Node| node.record("i-1").instance.last_dirty_timestamp;
    node.set_status_dirty("i-1", Status::Down, Some(150));
    assert_eq!(dirty(&node), 150);
    node.set_status_dirty("i-1", Status::Starting, Some(1));
    assert_eq!(dirty(&node), 150);
    node.set_status_dirty("i-1", Status::Starting, Some(999));
    assert_eq!(dirty(&node), 150, "nothing changed, so nothing is raised");
    let (now, rules) = (node.now, node.rules.clone());
    node.app.remove_override("i-1", None, Some(200), Origin::Peer, now, &rules);
    assert_eq!(dirty(&node), 200);
}

#[test]
fn an_update_to_unknown_removes_the_override() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    let change = changed(&node.set_status("i-1", Status::Unknown)).unwrap();
    assert_eq!(change.kind, ChangeKind::OverrideRemoved);
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
    assert!(matches!(node.set_status("i-1", Status::Unknown), StatusOutcome::Unchanged));
}

#[test]
fn an_override_lives_as_long_as_the_lease_and_its_origin_is_known() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    node.register(says("i-1", Status::Down, 200));
    for _ in 0..10 {
        node.pass(3_600_000);
        node.app.sweep(node.now, &node.rules);
    }
    assert_eq!(node.app.override_of("i-1").unwrap().origin, Origin::Client);
    node.register(says("i-1", Status::Up, 201));
    assert_eq!(node.status("i-1"), Status::OutOfService);
    let beat = Heartbeat { last_dirty: Some(999), overridden: Some(Status::Down), ..Heartbeat::default() };
    node.app.renew("i-1", &beat, Origin::Peer, node.now, &node.rules);
    assert_eq!(node.app.override_of("i-1").unwrap().origin, Origin::Peer);
}

#[test]
fn an_override_without_a_lease_lives_an_hour_and_takes_hold_when_the_instance_returns() {
    let restored = |node: &Node| {
        let overrides = [(Arc::from("i-1"), Status::OutOfService), (Arc::from("i-2"), Status::Unknown)];
        Application::from_records(AppName::new("ORDERS"), [], overrides, 1, node.now)
    };
    let mut node = Node::new();
    node.app = restored(&node);
    assert!(node.app.is_empty() && !node.app.is_forgettable());
    node.pass(3_600_000);
    node.app.sweep(node.now, &node.rules);
    node.register(says("i-1", Status::Up, 1));
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    node.pass(3_600_001);
    node.app.sweep(node.now, &node.rules);
    assert_eq!(node.app.overrides().count(), 1);
    node.app = restored(&node);
    node.pass(3_600_001);
    node.app.sweep(node.now, &node.rules);
    assert!(node.app.is_forgettable());
}
