//! An application that starts again from what was published or kept of it.

use std::sync::Arc;

use heureka_protocol::{AppName, Status};
use heureka_registry::invariants::check_application;
use heureka_registry::{
    Application, ClockReading, LeaseExpiry, Origin, OverrideState, QuickRenewal, Record, Stamp,
};

use crate::support::{Node, says};

fn restarted(node: &Node, records: Vec<Arc<Record>>) -> Application {
    let overrides: Vec<_> = node.app.overrides().map(|(id, status)| (Arc::clone(id), status)).collect();
    Application::from_records(node.app.name().clone(), records, overrides, node.app.next_sequence(), node.now)
}

#[test]
fn what_is_rebuilt_after_a_failed_step_goes_on_where_it_was() {
    let mut node = Node::with_one();
    node.rules.stamps.hear(ClockReading { ms: 5_000, is_in_step: true }, node.now);
    for id in ["i-2", "i-3", "i-4"] {
        node.register(says(id, Status::Up, 1));
    }
    node.set_status("i-1", Status::OutOfService);
    node.app.set_status("i-2", Status::Down, None, Origin::Peer, node.now, &node.rules);
    node.set_status("i-3", Status::Down);
    node.pass(1_000);
    let removed = 6_000;
    node.app.remove_override("i-3", None, None, Origin::Client, node.now, &node.rules);
    node.app.cancel("i-4", Origin::Client, node.now, &node.rules);
    let known = |app: &Application| {
        let overrides: Vec<_> = app.overrides().map(|(id, _)| *app.override_of(id).unwrap()).collect();
        let marks: Vec<_> =
            app.marked_records().map(|marked| (marked.content, marked.record.override_state())).collect();
        (overrides, marks, app.tombstones().count(), app.totals(), app.next_sequence())
    };
    let before = known(&node.app);
    assert_eq!(before.1[2].1, OverrideState { status: None, stamp: Stamp::new(removed) });
    assert!(before.1[1].0.is_own && before.2 == 1);
    node.pass(5_000);
    let records: Vec<_> = node.app.records().cloned().collect();
    node.app = node.app.rebuilt(records, node.now, &node.rules);
    check_application(&node.app).unwrap();
    assert_eq!(known(&node.app), before);
}

#[test]
fn nothing_is_lost_and_heartbeats_go_on() {
    let mut node = Node::with_one();
    node.register(says("i-2", Status::Down, 1));
    node.set_status("i-1", Status::OutOfService);
    let (totals, next) = (node.app.totals(), node.app.next_sequence());
    let published: Vec<_> = node.app.records().cloned().collect();
    node.app = restarted(&node, published.clone());
    check_application(&node.app).unwrap();
    assert_eq!((node.app.totals(), node.app.next_sequence()), (totals, next));
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    node.pass(5_000);
    for record in &published {
        assert!(
            Arc::ptr_eq(record, node.record(&record.instance.instance_id)),
            "records are shared, not copied"
        );
        assert_eq!(record.try_quick_renewal(None, node.now, LeaseExpiry::Java), QuickRenewal::Renewed);
    }
    assert_eq!(node.register(says("i-3", Status::Up, 1)).sequence, next);
}

#[test]
fn a_lease_whose_clock_died_with_the_owner_lives_on_from_now() {
    let mut node = Node::with_one();
    let published = node.record("i-1").clone();
    node.pass(50_000);
    published.lease.clock.retire();
    node.app = restarted(&node, vec![published]);
    check_application(&node.app).unwrap();
    assert_eq!(node.record("i-1").lease.clock.get(), Some(node.now.mono_ms));
    assert_eq!(node.record("i-1").instance.last_dirty_timestamp, 100);
}

#[test]
fn ended_records_and_doubles_do_not_come_back() {
    let mut node = Node::with_one();
    let first = node.record("i-1").clone();
    let second = node.register(says("i-1", Status::Down, 200)).record;
    let gone = node.register(says("i-2", Status::Up, 1)).record;
    let ended = node.cancel("i-2").unwrap().record;
    drop(gone);
    node.app = restarted(&node, vec![first, ended, second]);
    check_application(&node.app).unwrap();
    assert_eq!((node.app.len(), node.status("i-1"), node.app.totals().leases), (1, Status::Down, 1));
}

#[test]
fn overrides_survive_also_those_that_only_a_record_knows_of() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    let records: Vec<_> = node.app.records().cloned().collect();
    node.app = Application::from_records(AppName::new("ORDERS"), records, [], 9, node.now);
    assert_eq!(node.app.override_of("i-1").unwrap().status, Status::OutOfService);
    node.register(says("i-1", Status::Up, 200));
    assert_eq!(node.status("i-1"), Status::OutOfService);
}

#[test]
fn a_status_that_does_not_fit_its_override_is_corrected_on_request() {
    let mut node = Node::with_one();
    let overrides = [(Arc::from("i-1"), Status::Down)];
    let records: Vec<_> = node.app.records().cloned().collect();
    node.app = Application::from_records(AppName::new("ORDERS"), records, overrides, 2, node.now);
    let changes = node.app.correct_statuses(Origin::StartUp, node.now, &node.rules);
    assert_eq!((changes.len(), changes[0].origin), (1, Origin::StartUp));
    assert_eq!(node.statuses("i-1"), (Status::Down, Status::Down, Some(Status::Down)));
    check_application(&node.app).unwrap();
}

#[test]
fn an_application_is_forgettable_once_nothing_is_left_to_remember() {
    let mut node = Node::new();
    assert!(node.app.is_forgettable());
    node.register(says("i-1", Status::Up, 1));
    assert!(!node.app.is_forgettable());
    node.cancel("i-1");
    assert!(node.app.is_empty() && !node.app.is_forgettable(), "the tombstone still counts");
    node.pass(300_000);
    node.app.sweep(node.now, &node.rules);
    assert!(node.app.is_forgettable());
}
