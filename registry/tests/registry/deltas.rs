//! The delta log and what a client makes of it (`registry.md` 6).

use heureka_protocol::{ActionType, Status, StatusCounts};
use heureka_registry::invariants::check_delta;
use heureka_registry::{Change, DeltaLog};

use crate::support::{Node, says};

fn log_of(changes: &[Change]) -> DeltaLog {
    let mut log = DeltaLog::new();
    for change in changes {
        log.push(change.record.clone(), change.kind.action(), change.at_mono_ms);
    }
    log
}

fn shown(log: &DeltaLog) -> Vec<(String, ActionType)> {
    log.entries().map(|entry| (entry.record.instance.instance_id.to_string(), entry.action)).collect()
}

#[test]
fn d_4_an_id_has_one_entry_which_shows_the_last_change_in_its_place() {
    let mut node = Node::new();
    let changes = [
        node.register(says("a", Status::Up, 1)),
        node.register(says("b", Status::Up, 1)),
        node.register(says("a", Status::Down, 2)),
    ];
    let log = log_of(&changes);
    assert_eq!(shown(&log), [("b".to_owned(), ActionType::Added), ("a".to_owned(), ActionType::Added)]);
    assert_eq!(log.entries().last().unwrap().record.instance.status, Status::Down);
    assert_eq!(log.len(), 2);
}

#[test]
fn d_5_entries_live_until_they_are_strictly_older_than_the_retention() {
    let mut node = Node::new();
    let mut changes = vec![node.register(says("a", Status::Up, 1))];
    node.pass(10);
    changes.push(node.register(says("b", Status::Up, 1)));
    let first_ms = changes[0].at_mono_ms;
    let mut log = log_of(&changes);
    assert!(!log.expire(first_ms));
    assert_eq!(log.len(), 2);
    assert!(log.expire(first_ms + 1));
    assert!(!log.expire(first_ms + 10));
    assert_eq!(shown(&log), [("b".to_owned(), ActionType::Added)]);
    assert!(log.expire(first_ms + 11) && log.is_empty());
}

#[test]
fn d_5_a_later_change_makes_an_entry_young_again() {
    let mut node = Node::new();
    let first = node.register(says("a", Status::Up, 1));
    node.pass(100);
    let mut log = log_of(&[first, node.cancel("a").unwrap()]);
    assert!(!log.expire(node.now.mono_ms));
    assert_eq!(shown(&log), [("a".to_owned(), ActionType::Deleted)]);
}

#[test]
fn d_6_the_delta_agrees_with_the_view_about_who_is_there() {
    let mut node = Node::new();
    let mut changes = vec![node.register(says("a", Status::Up, 1)), node.register(says("b", Status::Up, 1))];
    changes.extend(node.cancel("a"));
    check_delta(&node.app, &log_of(&changes)).unwrap();
    let broken = check_delta(&node.app, &log_of(&changes[..2])).unwrap_err();
    assert_eq!(broken.invariant.id, "D-6");
}

#[test]
fn d_7_removals_come_last() {
    let mut node = Node::new();
    let mut changes = vec![node.register(says("a", Status::Up, 1)), node.register(says("b", Status::Up, 1))];
    changes.extend(node.cancel("a"));
    changes.push(node.register(says("c", Status::Up, 1)));
    changes.extend(node.cancel("b"));
    changes.push(node.register(says("a", Status::Up, 1)));
    let order = [("c", ActionType::Added), ("a", ActionType::Added), ("b", ActionType::Deleted)];
    assert_eq!(shown(&log_of(&changes)), order.map(|(id, action)| (id.to_owned(), action)));
}

#[test]
fn d_8_the_hash_counts_statuses_and_nothing_else() {
    let mut node = Node::new();
    let hash = |node: &Node| {
        node.app.records().map(|record| record.instance.status).collect::<StatusCounts>().hash_code()
    };
    assert_eq!(hash(&node), "");
    node.register(says("a", Status::Up, 1));
    let one_up = hash(&node);
    node.cancel("a");
    node.register(says("quite different", Status::Up, 7));
    assert_eq!((hash(&node), one_up.as_str()), (one_up.clone(), "UP_1_"));
}
