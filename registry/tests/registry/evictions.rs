//! Expired leases: scan, plan, removal (`registry.md` 3.6).

use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};
use heureka_registry::eviction_plan::sweep_limit;
use heureka_registry::invariants::check_plan;
use heureka_registry::{
    ChangeKind, Compensation, EvictionPlan, LeaseExpiry, Origin, QuickRenewal, SplitMix64,
};

use crate::support::{Node, says};

fn expired_ids(apps: &[(&str, usize)]) -> Vec<(AppName, Vec<InstanceId>)> {
    let ids = |name: &str, count: usize| (0..count).map(|n| Arc::from(format!("{name}-{n}"))).collect();
    apps.iter().map(|(name, count)| (AppName::new(name), ids(name, *count))).collect()
}

#[test]
fn c_6_a_sweep_plans_what_the_limit_and_the_expired_allow() {
    for size in 0..120_u64 {
        for fraction in [0.0, 0.2, 0.85, 0.999, 1.0, 1.5, -1.0, f64::NAN] {
            for expired in [0, 1, size / 2, size] {
                let expired = usize::try_from(expired).unwrap();
                let given = expired_ids(&[("A", expired / 2), ("B", expired - expired / 2)]);
                let plan = EvictionPlan::draw(given, size, fraction, &mut SplitMix64::new(size));
                check_plan(&plan, expired, size, fraction).unwrap();
                assert_eq!(plan.count + plan.postponed, expired);
                assert!(plan.victims.iter().all(|(_, ids)| !ids.is_empty()));
            }
        }
    }
}

#[test]
fn c_6_the_limits_at_085_are_javas() {
    let table = [(1, 6, 1), (7, 13, 2), (14, 20, 3), (21, 26, 4), (27, 33, 5), (34, 40, 6), (41, 46, 7)];
    for (from, to, limit) in
        table.into_iter().chain([(47, 53, 8), (54, 60, 9), (100, 100, 15), (1000, 1000, 150)])
    {
        for size in from..=to {
            assert_eq!(sweep_limit(size, 0.85), limit, "{size} leases");
        }
    }
    assert_eq!([sweep_limit(100, 1.0), sweep_limit(100, 1.7), sweep_limit(100, 0.0)], [0, 0, 100]);
}

#[test]
fn c_6_a_hundred_expired_leases_go_in_javas_twenty_sweeps() {
    let mut left = vec![100_u64];
    while *left.last().unwrap() > 0 {
        let size = *left.last().unwrap();
        let given = expired_ids(&[("A", usize::try_from(size).unwrap())]);
        let plan = EvictionPlan::draw(given, size, 0.85, &mut SplitMix64::new(1));
        left.push(size - u64::try_from(plan.count).unwrap());
    }
    assert_eq!(left, [100, 85, 72, 61, 51, 43, 36, 30, 25, 21, 17, 14, 11, 9, 7, 5, 4, 3, 2, 1, 0]);
}

#[test]
fn c_7_only_what_is_still_expired_is_removed() {
    let mut node = Node::new();
    for id in ["renewed", "quick", "replaced", "gone", "dead"] {
        node.register(says(id, Status::Up, 1));
    }
    node.pass(90_001);
    let scanned = node.app.expired(node.now, 0);
    assert_eq!(scanned.len(), 5);
    node.renew("renewed");
    let quick = node.record("quick").try_quick_renewal(None, node.now, LeaseExpiry::Java);
    assert_eq!(quick, QuickRenewal::Renewed);
    node.register(says("replaced", Status::Up, 2));
    node.cancel("gone");
    let changes = node.app.evict(&scanned, node.now, 0, &node.rules);
    let evicted: Vec<_> = changes.iter().map(|change| &*change.id).collect();
    assert_eq!(evicted, ["dead"]);
    assert_eq!(changes[0].kind, ChangeKind::Evicted);
    assert_eq!(changes[0].record.lease.eviction_timestamp, node.now.wall_ms);
    assert_eq!(node.app.len(), 3);
    heureka_registry::invariants::check_application(&node.app).unwrap();
}

#[test]
fn c_7_extra_time_counts_in_the_scan_and_in_the_removal() {
    let mut node = Node::with_one();
    node.pass(90_100);
    assert!(node.app.expired(node.now, 100).is_empty());
    let ids = node.app.expired(node.now, 99);
    assert_eq!(ids.len(), 1);
    assert!(node.app.evict(&ids, node.now, 100, &node.rules).is_empty());
    assert_eq!(node.record("i-1").lease.clock.get(), Some(1_000_000), "a lease that stays is not touched");
    assert_eq!(node.app.evict(&ids, node.now, 99, &node.rules).len(), 1);
}

#[test]
fn c_7_a_heartbeat_that_comes_after_the_eviction_is_sent_to_the_owner() {
    let mut node = Node::with_one();
    let held = node.record("i-1").clone();
    node.pass(90_001);
    let ids = node.app.expired(node.now, 0);
    node.app.evict(&ids, node.now, 0, &node.rules);
    assert_eq!(held.try_quick_renewal(None, node.now, LeaseExpiry::Java), QuickRenewal::AskOwner);
}

#[test]
fn c_8_each_expired_lease_is_equally_likely_to_go() {
    const ROUNDS: u32 = 20_000;
    let mut random = SplitMix64::new(42);
    let mut hits = std::collections::BTreeMap::<InstanceId, u32>::new();
    for _ in 0..ROUNDS {
        let plan = EvictionPlan::draw(expired_ids(&[("A", 1), ("B", 7), ("C", 2)]), 20, 0.85, &mut random);
        for id in plan.victims.into_iter().flat_map(|(_, ids)| ids) {
            *hits.entry(id).or_default() += 1;
        }
    }
    // 3 of 10 each: 6000 expected, standard deviation 65.
    assert_eq!(hits.len(), 10);
    for (id, count) in hits {
        assert!((5_600..=6_400).contains(&count), "{id}: {count}");
    }
}

#[test]
fn c_8_the_same_seed_gives_the_same_plan() {
    let draw = |seed| EvictionPlan::draw(expired_ids(&[("A", 30)]), 40, 0.85, &mut SplitMix64::new(seed));
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
}

#[test]
fn c_9_an_eviction_is_not_sent_on_and_leaves_no_tombstone() {
    let mut node = Node::with_one();
    node.set_status("i-1", Status::Down);
    node.pass(180_001);
    let changes = node.app.evict(&node.app.expired(node.now, 0), node.now, 0, &node.rules);
    assert_eq!(changes[0].origin, Origin::Eviction);
    assert!(!changes[0].origin.is_sent_on());
    assert_eq!((node.app.tombstones().count(), node.app.overrides().count()), (0, 0));
    assert!(node.register_from(says("i-1", Status::Up, 1), Origin::Peer).is_some());
}

#[test]
fn compensation_is_how_much_later_than_planned_a_sweep_starts() {
    let mut compensation = Compensation::new();
    let starts = [1, 60_001, 120_011, 180_000, 180_001, 260_000];
    assert_eq!(starts.map(|start| compensation.start_sweep(start, 60_000)), [0, 0, 10, 0, 0, 19_999]);
}
