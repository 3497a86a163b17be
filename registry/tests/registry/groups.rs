//! Auto-scaling groups, where the registry runs on AWS (`registry.md` 3.7, rule 2a).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heureka_protocol::{Instance, Status};
use heureka_registry::{ChangeKind, GroupStates, Origin};

use crate::support::{Node, says};

#[derive(Debug)]
struct OneGroup(AtomicBool);

impl GroupStates for OneGroup {
    fn is_enabled(&self, asg_name: &str) -> bool {
        asg_name != "mine" || self.0.load(Ordering::Relaxed)
    }
}

fn on_aws() -> (Node, Arc<OneGroup>) {
    let group = Arc::new(OneGroup(AtomicBool::new(true)));
    let mut node = Node::new();
    node.rules.groups = Some(group.clone());
    (node, group)
}

fn in_group(status: Status, dirty: i64) -> Instance {
    Instance { asg_name: Some(Box::from("mine")), ..says("i-1", status, dirty) }
}

#[test]
fn o_5_the_group_decides_between_up_and_out_of_service() {
    let (mut node, group) = on_aws();
    let mut seen = Vec::new();
    for enabled in [true, false, true] {
        group.0.store(enabled, Ordering::Relaxed);
        node.register(in_group(Status::Up, 1));
        seen.push(node.status("i-1"));
    }
    assert_eq!(seen, [Status::Up, Status::OutOfService, Status::Up]);
}

#[test]
fn a_heartbeat_brings_the_state_of_the_group_to_light() {
    let (mut node, group) = on_aws();
    node.register(in_group(Status::Up, 1));
    group.0.store(false, Ordering::Relaxed);
    let change = node.renew("i-1").change.unwrap();
    assert_eq!((change.kind, node.status("i-1")), (ChangeKind::StatusCorrected, Status::OutOfService));
    assert!(node.renew("i-1").change.is_none());
}

#[test]
fn a_group_that_changes_corrects_all_its_instances_at_once_without_renewing_them() {
    let (mut node, group) = on_aws();
    node.register(in_group(Status::Up, 1));
    node.register(says("other", Status::Up, 1));
    node.register(Instance { instance_id: Arc::from("down"), ..in_group(Status::Down, 1) });
    group.0.store(false, Ordering::Relaxed);
    node.pass(10);
    let changes = node.app.correct_statuses(Origin::Client, node.now, &node.rules);
    assert_eq!(changes.iter().map(|change| &*change.id).collect::<Vec<_>>(), ["i-1"]);
    assert_eq!(node.record("i-1").lease.clock.get(), Some(node.now.mono_ms - 10));
    assert!(node.app.correct_statuses(Origin::Client, node.now, &node.rules).is_empty());
}

#[test]
fn an_override_comes_before_the_group() {
    let (mut node, group) = on_aws();
    group.0.store(false, Ordering::Relaxed);
    node.register(in_group(Status::Up, 1));
    node.set_status("i-1", Status::Up);
    node.register(in_group(Status::Up, 2));
    assert_eq!(node.status("i-1"), Status::Up);
}
