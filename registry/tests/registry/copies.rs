//! What the lists of the peers do at a start (`replication.md` 6.4): they add and replace, and undo nothing that is later.

use heureka_protocol::Status;
use heureka_registry::replication::{PeerCopy, newest_copies};
use heureka_registry::{Cancel, CancelOutcome, MetadataLimits, Origin, Stamp};

use crate::support::{Node, instance, says};

fn copied(node: &mut Node, dirty: i64, asked_ms: u64) -> bool {
    let (now, rules) = (node.now, node.rules.clone());
    node.app.register_copy(says("i-1", Status::Up, dirty), None, asked_ms, now, &rules).is_some()
}

fn cancel(node: &mut Node, cancel: Cancel) -> CancelOutcome {
    let (now, rules) = (node.now, node.rules.clone());
    node.app.cancel_as("i-1", cancel, now, &rules)
}

#[test]
fn of_several_copies_the_newest_counts_and_of_equal_ones_the_first() {
    let copy = |app: &str, id: &str, dirty, status| heureka_protocol::Instance {
        last_dirty_timestamp: dirty,
        status,
        ..instance(app, id)
    };
    let lists = [
        copy("B", "1", 100, Status::Up),
        copy("A", "1", 100, Status::Up),
        copy("B", "1", 200, Status::Down),
        copy("B", "1", 200, Status::Starting),
        copy("B", "1", 150, Status::Up),
    ];
    let lists = lists.into_iter().map(|instance| PeerCopy { instance, stamp: None });
    let shown: Vec<_> = newest_copies(lists)
        .into_iter()
        .map(|copy| copy.instance)
        .map(|i| (i.app.to_string(), i.last_dirty_timestamp, i.status))
        .collect();
    assert_eq!(shown, [("A".to_owned(), 100, Status::Up), ("B".to_owned(), 200, Status::Down)]);
}

#[test]
fn a_cancel_that_came_while_the_list_was_on_its_way_stands_against_it_whatever_it_says() {
    for origin in [Origin::Client, Origin::Peer] {
        let mut node = Node::with_one();
        let asked_ms = node.now.mono_ms;
        node.pass(10);
        assert!(cancel(&mut node, Cancel { is_copying: true, ..Cancel::from(origin) }).change().is_some());
        assert!(!copied(&mut node, 100, asked_ms), "{origin:?}");
        assert!(
            !copied(&mut node, 900, asked_ms),
            "the list may be newer than our record, not than the cancel"
        );
        node.pass(10);
        let asked_again_ms = node.now.mono_ms;
        assert!(copied(&mut node, 900, asked_again_ms));
    }
}

#[test]
fn even_the_cancel_of_what_is_not_here_yet_is_remembered_meanwhile() {
    let mut node = Node::new();
    let asked_ms = node.now.mono_ms;
    let unknown = Cancel { is_copying: true, ..Cancel::from(Origin::Client) };
    assert!(matches!(cancel(&mut node, unknown), CancelOutcome::NotFound));
    assert!(!copied(&mut node, 100, asked_ms));
    // A peer's batch is not a list: what it tells is later.
    assert!(node.register_from(says("i-1", Status::Up, 100), Origin::Peer).is_some());
    // At other times nothing is kept of calls that name what is not there.
    let mut node = Node::new();
    assert!(matches!(cancel(&mut node, Cancel::from(Origin::Client)), CancelOutcome::NotFound));
    assert_eq!(node.app.tombstones().count(), 0);
}

#[test]
fn a_cancel_that_names_its_record_leaves_newer_ones_in_the_list() {
    let mut node = Node::new();
    let asked_ms = node.now.mono_ms;
    let named = Cancel { last_dirty: Some(100), is_copying: true, ..Cancel::from(Origin::Peer) };
    assert!(matches!(cancel(&mut node, named), CancelOutcome::NotFound));
    assert!(!copied(&mut node, 100, asked_ms));
    assert!(copied(&mut node, 101, asked_ms));
}

#[test]
fn a_write_that_came_meanwhile_is_not_undone_by_the_record_it_was_done_to() {
    let mut node = Node::with_one();
    node.pass(10);
    let asked_ms = node.now.mono_ms;
    let entries = vec![("k".to_owned(), "v".to_owned())];
    let (now, rules) = (node.now, node.rules.clone());
    let limits = MetadataLimits::default();
    node.app.merge_metadata("i-1", entries, limits, Origin::Peer, now, &rules).unwrap();
    assert!(!copied(&mut node, 100, asked_ms));
    assert_eq!(node.record("i-1").instance.metadata.get("k"), Some("v"));
    assert!(copied(&mut node, 101, asked_ms), "the next registration is");
    let mut node = Node::with_one();
    node.pass(10);
    let asked_ms = node.now.mono_ms;
    assert!(copied(&mut node, 100, asked_ms), "what the peers say counts for what a snapshot brought back");
}

#[test]
fn of_several_copies_the_latest_operation_on_the_override_counts_also_if_another_one_is_newer() {
    let copy = |dirty, status, overridden_status, ms| PeerCopy {
        instance: heureka_protocol::Instance {
            last_dirty_timestamp: dirty,
            status,
            overridden_status,
            ..instance("A", "1")
        },
        stamp: Stamp::new(ms),
    };
    let shown = |lists: Vec<PeerCopy>| {
        let copy = newest_copies(lists).remove(0);
        (
            copy.instance.last_dirty_timestamp,
            copy.instance.status,
            copy.instance.overridden_status,
            copy.stamp,
        )
    };
    let set = copy(200, Status::Down, Status::Down, 5);
    let removed = copy(100, Status::Up, Status::Unknown, 7);
    let unstamped = copy(200, Status::Up, Status::Unknown, 0);
    let latest = (200, Status::Up, Status::Unknown, Stamp::new(7));
    assert_eq!(shown(vec![set.clone(), removed.clone()]), latest);
    assert_eq!(shown(vec![removed, set.clone(), unstamped.clone()]), latest);
    let set_shown = (200, Status::Down, Status::Down, Stamp::new(5));
    assert_eq!(shown(vec![unstamped, set]), set_shown, "who says nothing has perhaps missed it");
}
