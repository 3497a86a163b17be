//! Metadata changes (`wire.md` 1.13).

use heureka_protocol::{ActionType, Status};
use heureka_registry::{ChangeKind, MetadataLimits, Origin, RegistryError};

use crate::support::{Node, says};

fn merge(
    node: &mut Node,
    id: &str,
    entries: &[(&str, &str)],
    limits: MetadataLimits,
) -> Result<Option<heureka_registry::Change>, RegistryError> {
    let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    node.app.merge_metadata(id, entries, limits, Origin::Client, node.now, &node.rules)
}

#[test]
fn entries_are_merged_and_the_instance_registers_again() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::OutOfService);
    node.pass(5_000);
    merge(&mut node, "i-1", &[("a", "1"), ("b", "2")], MetadataLimits::default()).unwrap();
    let change =
        merge(&mut node, "i-1", &[("b", "3"), ("", "")], MetadataLimits::default()).unwrap().unwrap();
    let record = node.record("i-1");
    let entries: Vec<_> = record.instance.metadata.iter().collect();
    assert_eq!(entries, [("a", "1"), ("b", "3"), ("", "")]);
    assert_eq!((change.kind, record.instance.action_type), (ChangeKind::Registered, Some(ActionType::Added)));
    assert_eq!(record.lease.registration_timestamp, node.now.wall_ms);
    assert_eq!(record.lease.clock.get(), Some(node.now.mono_ms));
    assert_eq!(record.instance.last_dirty_timestamp, 100);
    assert_eq!(
        node.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    assert_eq!(node.record("i-1").reported_status, Status::Up);
}

#[test]
fn no_entries_change_nothing_at_all() {
    let mut node = Node::with_one();
    node.pass(5_000);
    let before = node.record("i-1").clone();
    assert!(merge(&mut node, "i-1", &[], MetadataLimits::default()).unwrap().is_none());
    assert!(std::sync::Arc::ptr_eq(&before, node.record("i-1")));
    assert_eq!(before.lease.clock.get(), Some(node.now.mono_ms - 5_000));
}

#[test]
fn r_10_a_refused_merge_changes_nothing() {
    let limits = MetadataLimits { entries_max: 2, text_bytes_max: 10 };
    let mut node = Node::with_one();
    merge(&mut node, "i-1", &[("a", "1"), ("b", "2")], limits).unwrap();
    let before = node.record("i-1").clone();
    let cases = [
        ("nope", ("a", "1"), RegistryError::InstanceNotFound),
        ("i-1", ("c", "3"), RegistryError::TooManyMetadataEntries { found: 3, limit: 2 }),
        ("i-1", ("a", "12345678"), RegistryError::TooMuchMetadata { found: 11, limit: 10 }),
    ];
    for (id, entry, expected) in cases {
        assert_eq!(merge(&mut node, id, &[entry], limits).unwrap_err(), expected);
        assert!(std::sync::Arc::ptr_eq(&before, node.record("i-1")));
        assert!(before.lease.clock.get().is_some());
    }
    merge(&mut node, "i-1", &[("a", "1234567")], limits).unwrap();
}

#[test]
fn the_lease_gets_the_duration_of_the_kept_content() {
    let mut node = Node::new();
    let mut first = says("i-1", Status::Up, 200);
    first.lease.duration_secs = 40;
    node.register(first);
    let mut stale = says("i-1", Status::Up, 100);
    stale.lease.duration_secs = 7;
    node.register(stale);
    assert_eq!(node.record("i-1").lease.duration_ms, 7_000);
    merge(&mut node, "i-1", &[("a", "1")], MetadataLimits::default()).unwrap();
    assert_eq!(node.record("i-1").lease.duration_ms, 40_000);
}
