//! The writer in ordinary life: what it keeps, what it leaves out, when it writes.

use heureka_protocol::{Instance, Metadata, Status};
use heureka_snapshots::news::WriterState;

use crate::support::instance;
use crate::world::{HOUR_MS, World};

#[test]
fn what_was_registered_is_back_after_a_crash() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.register(instance("SHOP", "b"));
    world.register(instance("CART", "a"));
    world.set_status("SHOP", "b", Status::OutOfService);
    world.round();
    let before = world.picture();
    world.pass(5_000);
    world.crash();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
    assert_eq!(world.report.as_ref().unwrap().was_clean, Some(false));
    assert_eq!(world.report.as_ref().unwrap().counts.instances, 3);
}

#[test]
fn a_cancelled_instance_stays_away_and_its_tombstone_counts_on() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    world.cancel("SHOP", "a");
    world.round();
    let before = world.picture();
    assert_eq!((before.instances.len(), before.tombstones.len()), (0, 1));
    world.pass(1_000);
    world.restart();
    assert_eq!(world.picture(), before);
    world.pass(300_000);
    world.round();
    assert_eq!(world.writer().stats().counts.tombstones, 0, "it is over");
    world.restart();
    assert_eq!(world.picture().tombstones.len(), 0);
}

#[test]
fn an_evicted_instance_stays_away_with_its_override() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.set_status("SHOP", "a", Status::Down);
    world.round();
    world.pass(HOUR_MS / 2);
    world.evict("SHOP", "a");
    world.round();
    world.restart();
    assert_eq!(world.picture(), Default::default());
}

#[test]
fn an_instance_that_registers_again_takes_its_tombstone_away() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.cancel("SHOP", "a");
    world.round();
    world.register(instance("SHOP", "a"));
    world.round();
    let before = world.picture();
    assert_eq!((before.instances.len(), before.tombstones.len()), (1, 0));
    world.restart();
    assert_eq!(world.picture(), before);
}

#[test]
fn an_override_that_is_removed_does_not_come_back() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.set_status("SHOP", "a", Status::OutOfService);
    world.round();
    world.set_status("SHOP", "a", Status::Unknown);
    world.round();
    assert_eq!(world.writer().stats().counts.overrides, 0);
    world.restart();
    assert_eq!(world.picture(), world.saved);
    assert!(world.picture().overrides.is_empty());
}

#[test]
fn an_instance_that_is_too_large_is_counted_and_leaves_nothing_old_behind() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    let mut large = instance("SHOP", "a");
    large.metadata = [("key", "x".repeat(70_000))].into_iter().collect::<Metadata>();
    large.last_dirty_timestamp += 1;
    world.register(large);
    world.register(instance("SHOP", "b"));
    world.round();
    assert_eq!(world.writer().stats().oversized, 1);
    world.restart();
    assert_eq!(world.picture().ids(), ["SHOP/b"]);
}

#[test]
fn more_than_one_batch_is_written_in_one_round() {
    let mut world = World::following();
    for index in 0..1_700 {
        world.register(instance("SHOP", &format!("id-{index:04}")));
        if index % 3 == 0 {
            world.set_status("SHOP", &format!("id-{index:04}"), Status::OutOfService);
        }
    }
    world.round();
    let before = world.picture();
    world.lose_power();
    world.start();
    assert_eq!(world.picture(), before);
    assert_eq!(world.report.as_ref().unwrap().counts.overrides, 567);
}

#[test]
fn nothing_is_written_before_the_node_opens() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.stop();
    let disk = world.disk.clone();
    let store = world.place().path.join("store-1");
    let before = disk.values(&store);
    assert_eq!(before.len(), 2, "the instance and what the store says of itself");
    world.start();
    world.cancel("SHOP", "a");
    assert!(!world.try_round());
    world.crash();
    assert_eq!(disk.values(&store), before);
    world.start();
    assert_eq!((world.outcome(), world.picture().ids()), ("warm", vec!["SHOP/a".to_owned()]));
}

#[test]
fn a_start_that_never_opened_kept_nothing() {
    let mut world = World::new();
    world.start();
    assert_eq!(world.outcome(), "first_start");
    world.register(instance("SHOP", "a"));
    world.crash();
    world.start();
    assert_eq!((world.outcome(), world.picture().ids().len()), ("nothing_kept", 0));
    world.open();
    world.register(instance("SHOP", "b"));
    world.round();
    world.restart();
    assert_eq!((world.outcome(), world.picture().ids()), ("warm", vec!["SHOP/b".to_owned()]));
}

#[test]
fn a_stop_that_leaves_changes_behind_is_not_called_clean() {
    let mut world = World::new();
    world.start();
    world.open();
    world.round();
    world.end(false);
    world.start();
    assert_eq!(world.report.as_ref().unwrap().was_clean, Some(false));
}

#[test]
fn a_stop_in_order_is_called_clean_until_the_next_start_writes() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.stop();
    world.start();
    assert_eq!(world.report.as_ref().unwrap().was_clean, Some(true));
    world.open();
    world.round();
    world.crash();
    world.start();
    assert_eq!(world.report.as_ref().unwrap().was_clean, Some(false));
}

#[test]
fn the_identity_of_the_node_survives_and_starts_are_counted() {
    let mut world = World::following();
    for starts in 1..=4 {
        let report = world.report.as_ref().unwrap();
        assert_eq!((report.node_id.as_str(), report.starts), ("node-1", starts));
        world.restart();
    }
}

#[test]
fn a_quiet_registry_still_says_that_it_is_alive() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    for _ in 0..3 * HOUR_MS / 60_000 {
        world.pass(60_000);
        world.beat("SHOP", "a");
        world.round();
        world.sweep();
    }
    world.crash();
    world.start();
    let report = world.report.as_ref().unwrap();
    assert_eq!((world.outcome(), report.age_ms, report.counts.instances), ("warm", Some(0), 1));
}

#[test]
fn signs_of_life_are_written_once_per_lease_duration_at_most() {
    let mut world = World::following();
    for index in 0..50 {
        world.register(instance("SHOP", &format!("id-{index}")));
    }
    world.round();
    world.sweep();
    let writes = |world: &mut World| world.writer().stats().rounds;
    for _ in 0..10 {
        let before = writes(&mut world);
        // A heartbeat moves a clock 90 s ahead by Java's rule, but a sign of life is never in the future.
        for index in 0..50 {
            world.beat("SHOP", &format!("id-{index}"));
        }
        world.pass(30_000);
        world.sweep();
        world.pass(30_000);
        world.sweep();
        world.pass(29_000);
        world.sweep();
        assert_eq!(writes(&mut world), before);
        for index in 0..50 {
            world.beat("SHOP", &format!("id-{index}"));
        }
        world.pass(1_000);
        world.sweep();
        assert_eq!(writes(&mut world), before + 1);
    }
}

#[test]
fn the_state_is_told() {
    let mut world = World::new();
    world.start();
    assert_eq!(world.writer().stats().state, WriterState::Waiting);
    world.open();
    world.register(instance("SHOP", "a"));
    world.round();
    let stats = world.writer().stats();
    assert_eq!((stats.state, stats.counts.instances), (WriterState::Following, 1));
    assert_eq!(stats.saved_wall_ms, world.now.wall_ms);
    assert!(stats.live_bytes > 100 && stats.disk_bytes > 100, "{stats:?}");
}

#[test]
fn a_store_that_has_taken_much_is_opened_again_once_nothing_waits() {
    let mut world = World::following();
    let opened = world.disk.opened();
    for index in 0..300 {
        let metadata = [("text", "x".repeat(16_000))].into_iter().collect::<Metadata>();
        world.register(Instance { metadata, ..instance("SHOP", &format!("i-{index}")) });
    }
    world.round();
    assert_eq!(world.disk.opened(), opened, "it has just written");
    world.round();
    assert_eq!(world.disk.opened(), opened + 1);
    world.round();
    world.register(instance("SHOP", "late"));
    world.round();
    assert_eq!(world.disk.opened(), opened + 1, "nothing to give back");
    let before = world.picture();
    world.crash();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}
