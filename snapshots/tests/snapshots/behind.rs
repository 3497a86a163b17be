//! A store that lacks changes: it stays as it is, old but whole, until another one is complete.

use heureka_protocol::{Instance, Metadata, Status};
use heureka_snapshots::news::WriterState;
use heureka_snapshots::room::RESERVE_BYTES;

use crate::support::instance;
use crate::world::World;

/// All records of the registry, as the actor would bring them.
fn give_records(world: &mut World) {
    let now = world.now;
    let records: Vec<_> = world.apps.values().flat_map(|app| app.records().cloned()).collect();
    world.writer().take_records(records, [], now);
}

#[test]
fn a_crash_before_the_loss_was_made_good_gives_the_last_whole_state() {
    for has_begun in [false, true] {
        let mut world = World::following();
        for index in 0..1_000 {
            world.register(instance("SHOP", &format!("{index}")));
        }
        world.round();
        let before = world.picture();
        world.pending = heureka_snapshots::pending::Pending::with_limit(1);
        world.register(instance("SHOP", "late"));
        world.cancel("SHOP", "7");
        let (now, taken) = (world.now, world.pending.take());
        world.writer().note_incomplete();
        // Among old ones a single change would be a state that never was.
        assert!(!world.writer().is_ready() && world.writer().round(&taken, now).is_err());
        if has_begun {
            give_records(&mut world);
            world.writer().round(&taken, now).unwrap();
            assert!(world.writer().has_more_to_do());
        }
        world.crash();
        world.start();
        assert_eq!((world.outcome(), world.picture()), ("warm", before), "begun: {has_begun}");
    }
}

#[test]
fn without_room_for_two_stores_the_old_one_stays() {
    let mut world = World::following();
    for index in 0..500 {
        let metadata = [("text", "x".repeat(5_000))].into_iter().collect::<Metadata>();
        world.register(Instance { metadata, ..instance("SHOP", &format!("{index}")) });
    }
    world.round();
    let before = world.picture();
    world.writer().take_news();
    // Enough for any batch, not for all of it.
    world.disk.report_free(Some(RESERVE_BYTES + 6 * 1024 * 1024));
    world.register(instance("SHOP", "late"));
    world.writer().note_incomplete();
    for _ in 0..600 {
        world.try_round();
        world.pass(1_000);
    }
    let stats = world.writer().stats();
    assert_eq!(stats.state, WriterState::Failing);
    assert!(stats.problem.unwrap().starts_with("cannot make the snapshot store: the disk is nearly full"));
    assert!((8..=20).contains(&stats.failures), "it is tried ever less often: {}", stats.failures);
    assert_eq!(world.writer().take_news().len(), 2, "the loss, and that it cannot be made good");
    let now = world.now;
    assert_eq!(world.writer().close(true, now), Ok(false), "it is not complete");
    world.crash();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
    world.open();
    world.round();
}

#[test]
fn a_rewrite_that_runs_out_of_room_on_its_way_waits_ever_longer_and_harms_nothing() {
    let mut world = World::following();
    for index in 0..2_000 {
        world.register(instance("SHOP", &format!("{index:04}")));
    }
    world.round();
    let before = world.picture();
    world.writer().take_news();
    world.register(instance("SHOP", "late"));
    world.writer().note_incomplete();
    for _ in 0..600 {
        world.disk.report_free(None);
        give_records(&mut world);
        world.try_round_until_busy();
        world.disk.report_free(Some(0));
        world.try_round();
        world.pass(1_000);
    }
    let failures = world.writer().stats().failures;
    assert!((8..=40).contains(&failures), "it is tried ever less often: {failures}");
    assert_eq!(world.writer().take_news().len(), 2, "nothing is told twice");
    world.crash();
    world.disk.report_free(None);
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn what_changes_while_an_old_store_is_copied_is_newer_than_what_stands_there() {
    let mut world = World::following();
    for index in 0..1_500 {
        world.register(instance("SHOP", &format!("{index:04}")));
    }
    world.set_status("SHOP", "1499", Status::OutOfService);
    for index in 0..1_000 {
        world.cancel("SHOP", &format!("{index:04}"));
    }
    world.round();
    world.writer().note_incomplete();
    give_records(&mut world);
    let now = world.now;
    world.writer().round(&[], now).unwrap();
    // Their tombstones have not been copied yet.
    for index in 900..1_000 {
        world.register(instance("SHOP", &format!("{index:04}")));
    }
    world.set_status("SHOP", "1499", Status::Unknown);
    world.round();
    let before = world.picture();
    assert_eq!((before.tombstones.len(), before.overrides.len()), (900, 0));
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_store_that_does_not_open_again_to_give_memory_back_has_lost_nothing() {
    let mut world = World::following();
    for index in 0..300 {
        let metadata = [("text", "x".repeat(16_000))].into_iter().collect::<Metadata>();
        world.register(Instance { metadata, ..instance("SHOP", &format!("i-{index}")) });
    }
    world.round();
    // It is measured and closed, and then does not open.
    let (now, opened) = (world.now, world.disk.opened());
    world.disk.fail_after(1);
    assert!(world.writer().round(&[], now).unwrap_err().to_string().starts_with("cannot open"));
    world.disk.repair();
    world.pass(1_000);
    let now = world.now;
    world.writer().recover(now);
    assert_eq!(world.disk.opened(), opened + 1);
    assert!(world.writer().is_ready() && !world.writer().wants_records());
    world.round();
    let before = world.picture();
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_rewrite_that_fails_at_any_step_makes_the_loss_good_later() {
    for operations in 0..40 {
        let mut world = World::following();
        for index in 0..50 {
            world.register(instance("SHOP", &format!("{index}")));
        }
        world.round();
        world.pending = heureka_snapshots::pending::Pending::with_limit(1);
        world.register(instance("SHOP", "kept"));
        world.register(instance("SHOP", "dropped"));
        world.evict("SHOP", "7");
        world.disk.fail_after(operations);
        world.try_round();
        // Before anybody looks at the store again.
        world.disk.repair();
        world.pass(120_000);
        world.round();
        let known = world.picture();
        world.crash();
        world.start();
        assert_eq!((world.outcome(), world.picture()), ("warm", known), "after {operations} operations");
    }
}
