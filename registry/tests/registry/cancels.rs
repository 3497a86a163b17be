//! Cancels (`registry.md` 3.2).

use heureka_protocol::{ActionType, AppName, Status};
use heureka_registry::{Application, ChangeKind, DeltaLog, Origin};

use crate::support::{Node, instance, says};

#[test]
fn c_1_the_second_of_two_cancels_finds_nothing() {
    let mut node = Node::with_one();
    let change = node.cancel("i-1").unwrap();
    assert_eq!((change.kind, change.previous_status), (ChangeKind::Cancelled, Some(Status::Up)));
    assert!(node.cancel("i-1").is_none());
    assert!(node.cancel("never there").is_none());
    assert_eq!(node.app.next_sequence(), change.sequence + 1);
}

#[test]
fn c_2_a_cancelled_instance_is_gone_and_the_delta_shows_it_deleted() {
    let mut node = Node::with_one();
    let mut log = DeltaLog::new();
    let change = node.cancel("i-1").unwrap();
    log.push(change.record.clone(), change.kind.action(), change.at_mono_ms);
    assert!(node.app.is_empty() && node.app.get("i-1").is_none());
    let shown = log.entries().next().unwrap();
    assert_eq!(shown.action, ActionType::Deleted);
    assert_eq!(shown.record.instance.action_type, Some(ActionType::Deleted));
    assert_eq!(shown.record.instance.status, Status::Up, "the status is left as it was");
    assert_eq!(shown.record.instance.last_updated_timestamp, node.now.wall_ms);
    let change = node.register(says("i-1", Status::Up, 100));
    log.push(change.record.clone(), change.kind.action(), change.at_mono_ms);
    assert_eq!(log.entries().map(|entry| entry.action).collect::<Vec<_>>(), [ActionType::Added]);
}

#[test]
fn c_3_a_cancel_ends_the_override_of_its_own_application_only() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    let mut other = Application::new(AppName::new("OTHER"));
    other.register(instance("OTHER", "i-1"), Origin::Client, node.now, &node.rules);
    other.set_status("i-1", Status::Down, None, Origin::Client, node.now, &node.rules);
    node.cancel("i-1");
    assert_eq!(node.app.overrides().count(), 0);
    assert_eq!(other.overrides().collect::<Vec<_>>().len(), 1);
    node.register(says("i-1", Status::Up, 100));
    assert_eq!(node.statuses("i-1"), (Status::Up, Status::Unknown, None));
}

#[test]
fn c_3_a_cancel_that_finds_no_lease_still_ends_an_override_without_one() {
    let mut node = Node::new();
    let overrides = [(std::sync::Arc::from("i-1"), Status::Down)];
    node.app = Application::from_records(AppName::new("ORDERS"), [], overrides, 1, node.now);
    assert!(node.cancel("i-1").is_none());
    assert_eq!(node.app.overrides().count(), 0);
}

#[test]
fn c_4_totals_fall_by_one_per_removed_lease_and_never_below_zero() {
    let mut node = Node::with_one();
    node.register(says("i-2", Status::Up, 1));
    assert_eq!(node.app.totals().leases, 2);
    node.cancel("i-1");
    node.cancel("i-1");
    assert_eq!(node.app.totals().leases, 1);
    node.cancel("i-2");
    assert_eq!(node.app.totals().leases, 0);
}
