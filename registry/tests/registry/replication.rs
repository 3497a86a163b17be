//! What the rules owe to replication (`registry.md` 10.1 "Replication", `replication.md` 4).

use heureka_protocol::{Instance, Status};
use heureka_registry::invariants::check_converged;
use heureka_registry::{Heartbeat, Origin, RenewalAnswer};
use proptest::prelude::*;

use crate::support::{Node, changed, says};

#[test]
fn p_1_a_replicated_operation_is_not_sent_on_and_a_local_one_is() {
    let mut node = Node::new();
    let mut sent_on = Vec::new();
    for origin in [Origin::Client, Origin::Peer, Origin::StartUp] {
        let change = node.register_from(says("i-1", Status::Up, 1), origin).unwrap();
        sent_on.push((change.origin.is_sent_on(), change.origin.is_replicated()));
    }
    assert_eq!(sent_on, [(true, false), (false, true), (false, true)]);
    let (now, rules) = (node.now, node.rules.clone());
    let outcome = node.app.set_status("i-1", Status::Down, None, Origin::Peer, now, &rules);
    assert!(!changed(&outcome).unwrap().origin.is_sent_on());
    assert!(!node.app.cancel("i-1", Origin::Peer, now, &rules).unwrap().origin.is_sent_on());
}

proptest! {
    #[test]
    fn p_2_replicated_registrations_in_any_order_end_in_the_same_contents(
        statuses in proptest::collection::vec(0..5_usize, 1..12),
        order in Just(()).prop_perturb(|(), mut rng| rng.random::<u64>()),
    ) {
        let all: Vec<Instance> = (1..).zip(&statuses)
            .map(|(dirty, status)| says(["a", "b", "c"][status % 3], Status::IN_TEXT_ORDER[*status], dirty))
            .collect();
        let mut shuffled = all.clone();
        let mut random = heureka_registry::SplitMix64::new(order);
        for place in (1..shuffled.len()).rev() {
            let other = heureka_registry::Random::below(&mut random, u64::try_from(place).unwrap() + 1);
            shuffled.swap(place, usize::try_from(other).unwrap());
        }
        let (mut one, mut two) = (Node::new(), Node::new());
        for (to_one, to_two) in all.into_iter().zip(shuffled) {
            one.register_from(to_one, Origin::Peer);
            two.register_from(to_two, Origin::Peer);
        }
        prop_assert_eq!(check_converged(&one.app, &two.app), Ok(()));
    }
}

#[test]
fn p_3_a_replicated_status_update_leaves_both_nodes_equal() {
    for status in [Status::Down, Status::OutOfService, Status::Starting] {
        let (mut one, mut two) = (Node::with_one(), Node::new());
        two.register_from(one.record("i-1").instance.clone(), Origin::Peer);
        let change = changed(&one.set_status("i-1", status)).unwrap();
        let instance = &change.record.instance;
        let dirty = Some(instance.last_dirty_timestamp);
        let (now, rules) = (two.now, two.rules.clone());
        two.app.set_status("i-1", instance.status, dirty, Origin::Peer, now, &rules);
        assert_eq!(one.statuses("i-1"), two.statuses("i-1"));
        check_converged(&one.app, &two.app).unwrap();
    }
}

#[test]
fn a_replicated_removal_carries_the_senders_resulting_status() {
    let (mut one, mut two) = (Node::with_one(), Node::new());
    one.set_status("i-1", Status::OutOfService);
    two.register_from(one.record("i-1").instance.clone(), Origin::Peer);
    assert_eq!(two.statuses("i-1"), (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService)));
    let change = changed(&one.remove_override("i-1", None)).unwrap();
    let sent = Some(change.record.instance.status);
    let (now, rules) = (two.now, two.rules.clone());
    two.app.remove_override("i-1", sent, Some(100), Origin::Peer, now, &rules);
    assert_eq!(two.statuses("i-1"), (Status::Up, Status::Unknown, None));
    check_converged(&one.app, &two.app).unwrap();
}

#[test]
fn a_conflict_brings_the_peers_record_and_its_override_over_ours() {
    let (mut ours, mut theirs) = (Node::with_one(), Node::new());
    ours.set_status("i-1", Status::Down);
    theirs.register(says("i-1", Status::Up, 200));
    theirs.set_status("i-1", Status::OutOfService);
    let RenewalAnswer::Conflict(record) = theirs.renew_with("i-1", Some(100), Origin::Peer).answer else {
        panic!("no conflict")
    };
    let change = ours.app.adopt(record.instance.clone(), None, ours.now, &ours.rules).unwrap();
    assert_eq!(change.origin, Origin::Peer);
    assert_eq!(
        ours.statuses("i-1"),
        (Status::OutOfService, Status::OutOfService, Some(Status::OutOfService))
    );
    check_converged(&ours.app, &theirs.app).unwrap();
}

#[test]
fn a_conflict_without_override_leaves_ours_in_force() {
    let mut ours = Node::with_one();
    ours.set_status("i-1", Status::Down);
    ours.app.adopt(says("i-1", Status::Up, 200), None, ours.now, &ours.rules).unwrap();
    assert_eq!(ours.statuses("i-1"), (Status::Down, Status::Down, Some(Status::Down)));
}

#[test]
fn a_record_that_a_cancel_overtook_is_not_adopted() {
    let mut ours = Node::with_one();
    ours.cancel("i-1");
    let overridden = |dirty| Instance { overridden_status: Status::Down, ..says("i-1", Status::Up, dirty) };
    ours.pass(60_000);
    assert!(ours.app.adopt(overridden(100), None, ours.now, &ours.rules).is_err());
    assert_eq!(ours.app.overrides().count(), 0, "a refused record leaves nothing behind");
    assert!(ours.app.adopt(overridden(101), None, ours.now, &ours.rules).is_ok());
}

#[test]
fn a_heartbeat_with_an_equal_timestamp_exchanges_nothing() {
    let mut node = Node::with_one();
    let beat = Heartbeat { last_dirty: Some(100), overridden: Some(Status::Down), ..Heartbeat::default() };
    let renewal = node.app.renew("i-1", &beat, Origin::Peer, node.now, &node.rules);
    assert!(matches!(renewal.answer, RenewalAnswer::Renewed) && renewal.change.is_none());
}
