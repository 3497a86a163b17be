//! Stores that are written anew: while the registry goes on, with a crash at every step.

use std::sync::Arc;

use heureka_protocol::{Instance, Status};
use heureka_snapshots::failure_points::Step;
use heureka_snapshots::pending::Pending;

use crate::support::instance;
use crate::world::{FailAt, World};

const LARGE: u64 = 1 << 40;

/// A node with enough for several slices, whose store has just grown too large.
fn grown() -> World {
    let mut world = World::following();
    for index in 0..900 {
        world.register(instance("SHOP", &format!("{index:03}")));
    }
    world.set_status("SHOP", "010", Status::OutOfService);
    world.cancel("SHOP", "020");
    world.round();
    world.sweep();
    world.disk.report_size(LARGE);
    world.pass(30_000);
    world
}

/// One tick of the actor while the rewrite goes on: changes before, between and behind what has been copied.
fn busy_round(world: &mut World, round: usize) -> bool {
    for index in [round * 7, 450 + round, 880 + round] {
        let id = format!("{index:03}");
        match round % 3 {
            0 => world.cancel("SHOP", &id),
            1 => world.set_status("SHOP", &id, Status::Down),
            _ => world.register(instance("SHOP", &id)),
        }
    }
    let now = world.now;
    let taken = world.pending.take();
    world.backlog.merge(taken);
    let slice = world.backlog.next_slice(usize::MAX);
    let is_written = world.writer().round(&slice, now).is_ok();
    if is_written {
        world.saved = world.picture();
    } else {
        world.backlog.give_back(slice);
    }
    is_written
}

#[test]
fn a_grown_store_is_exchanged_while_changes_go_on() {
    let mut world = grown();
    world.round();
    for round in 0..12 {
        assert!(busy_round(&mut world, round));
    }
    assert!(!world.writer().has_more_to_do());
    assert_eq!(world.writer().stats().rewrites, 1);
    let before = world.picture();
    assert!(!world.place().path.join("store-1").exists(), "the old one is gone");
    world.disk.report_size(0);
    world.lose_power();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_rewrite_that_only_saves_room_does_not_hold_up_a_stop() {
    let mut world = grown();
    assert!(busy_round(&mut world, 0) && world.writer().has_more_to_do());
    world.writer().give_up_needless_rewrite();
    assert!(!world.writer().has_more_to_do());
    let before = world.picture();
    world.stop();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn large_records_are_copied_a_few_at_a_time() {
    let mut world = World::following();
    for index in 0..100 {
        let metadata =
            [(Box::<str>::from("text"), "x".repeat(60_000).into_boxed_str())].into_iter().collect();
        world.register(Instance { metadata, ..instance("SHOP", &format!("{index:03}")) });
    }
    world.round();
    world.disk.report_size(LARGE);
    world.pass(30_000);
    let now = world.now;
    world.writer().round(&[], now).unwrap();
    let copied_bytes = |world: &World| {
        let values = world.disk.values(&world.place().path.join("store-2"));
        values.values().map(Vec::len).sum::<usize>()
    };
    let (mut rounds, mut before) = (0, copied_bytes(&world));
    while world.writer().has_more_to_do() {
        world.writer().round(&[], now).unwrap();
        let after = copied_bytes(&world);
        assert!(after - before < 2 * 1024 * 1024, "{} bytes in one round", after - before);
        (rounds, before) = (rounds + 1, after);
    }
    assert!(rounds > 5 && world.writer().stats().rewrites == 1, "{rounds} rounds");
    let picture = world.picture();
    world.crash();
    world.start();
    assert_eq!((world.outcome(), world.picture()), ("warm", picture));
}

#[test]
fn large_records_of_the_registry_are_taken_in_a_few_at_a_time() {
    let mut world = World::following();
    for index in 0..100 {
        let metadata = [("text", "x".repeat(60_000))].into_iter().collect();
        world.register(Instance { metadata, ..instance("SHOP", &format!("{index:03}")) });
    }
    world.round();
    let now = world.now;
    world.writer().note_incomplete();
    let records: Vec<_> = world.apps["SHOP"].records().cloned().collect();
    world.writer().take_records(records, [], now);
    let mut rounds = 0;
    while world.writer().has_more_to_do() {
        world.writer().round(&[], now).unwrap();
        rounds += 1;
    }
    assert!(rounds > 5, "{rounds} rounds for six megabytes");
    let before = world.picture();
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_store_that_is_simply_large_is_not_written_anew_again_and_again() {
    let mut world = grown();
    for _ in 0..100 {
        world.round();
        world.pass(30_000);
    }
    assert_eq!(world.writer().stats().rewrites, 1);
    world.disk.report_size(2 * LARGE + 1);
    world.pass(30_000);
    world.round();
    assert_eq!(world.writer().stats().rewrites, 2);
}

#[test]
fn a_crash_at_any_step_of_a_rewrite_leaves_one_whole_store() {
    let mut seen = Vec::new();
    for steps in 0.. {
        let mut world = grown();
        let failure_points = FailAt::after(steps);
        // The node has to start again to get other failure points.
        world.crash();
        world.disk.report_size(0);
        world.failure_points = Arc::clone(&failure_points);
        world.start();
        world.open();
        world.disk.report_size(LARGE);
        let mut is_over = false;
        for round in 0..12 {
            is_over = !busy_round(&mut world, round);
            if is_over {
                break;
            }
        }
        let (saved, latest) = (world.saved.clone(), world.picture());
        world.disk.report_size(0);
        if steps % 2 == 0 {
            world.lose_power()
        } else {
            world.crash()
        }
        world.failure_points = FailAt::never();
        world.start();
        assert_eq!(world.outcome(), "warm", "after {steps} steps");
        let found = world.picture();
        assert!(found == saved || found == latest, "after {steps} steps");
        seen.extend(failure_points.passed.lock().unwrap().last().copied());
        if !is_over {
            break;
        }
    }
    for step in
        [Step::StoreMade, Step::SliceCopied, Step::StoreComplete, Step::PointerWritten, Step::PointerMoved]
    {
        assert!(seen.contains(&step), "{step:?} was never the last step: {seen:?}");
    }
}

#[test]
fn a_rewrite_that_fails_leaves_no_room_taken_and_is_begun_again_when_the_store_has_grown() {
    let mut world = grown();
    world.disk.fail_after(9);
    while busy_round(&mut world, 1) {}
    let half_made = world.place().path.join("store-2");
    assert!(half_made.exists());
    world.disk.repair();
    world.pass(60_000);
    world.round();
    assert!(!half_made.exists());
    world.pass(60_000);
    world.round();
    assert_eq!(world.writer().stats().rewrites, 0, "there may be no room for two stores");
    world.disk.report_size(LARGE + LARGE / 4 + 1);
    world.pass(60_000);
    world.round();
    let before = world.picture();
    assert_eq!(world.writer().stats().rewrites, 1);
    world.disk.report_size(0);
    world.restart();
    assert_eq!(world.picture(), before);
}

#[test]
fn changes_during_a_rewrite_from_the_registry_are_newer_than_its_records() {
    let mut world = World::following();
    for index in 0..1_000 {
        world.register(instance("SHOP", &format!("{index:03}")));
    }
    world.round();
    let now = world.now;
    world.writer().note_incomplete();
    let records: Vec<_> = world.apps["SHOP"].records().cloned().collect();
    world.writer().take_records(records, [], now);
    for round in 0..6 {
        assert!(busy_round(&mut world, round));
    }
    while world.writer().has_more_to_do() {
        world.writer().round(&[], now).unwrap();
    }
    let before = world.picture();
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn what_is_lost_during_a_rewrite_from_the_registry_is_made_good_by_another() {
    let mut world = World::following();
    for index in 0..1_000 {
        world.register(instance("SHOP", &format!("{index:03}")));
    }
    world.round();
    let now = world.now;
    let records = |world: &World| world.apps["SHOP"].records().cloned().collect::<Vec<_>>();
    world.writer().note_incomplete();
    let all = records(&world);
    world.writer().take_records(all, [], now);
    world.writer().round(&[], now).unwrap();
    assert!(!world.writer().wants_records());

    world.pending = Pending::with_limit(1);
    for index in 0..10 {
        world.register(instance("CART", &format!("{index:03}")));
    }
    world.writer().note_incomplete();
    let taken = world.pending.take();
    world.writer().round(&taken, now).unwrap();
    assert!(!world.writer().wants_records(), "one after the other");
    world.round();
    let before = world.picture();
    assert_eq!(before.instances.len(), 1_010);
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_cancel_that_found_no_room_on_its_way_is_kept_all_the_same() {
    let mut world = World::following();
    for id in ["a", "b"] {
        world.register(instance("SHOP", id));
    }
    world.round();
    world.pending = Pending::with_limit(1);
    world.set_status("SHOP", "b", Status::Down);
    world.cancel("SHOP", "a");
    assert!(world.pending.is_incomplete());
    world.round();
    let before = world.picture();
    assert_eq!((before.instances.len(), before.tombstones.len()), (1, 1));
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn leftovers_of_an_interrupted_rewrite_are_removed() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    world.crash();
    std::fs::create_dir(world.place().path.join("store-99")).unwrap();
    world.start();
    assert!(!world.place().path.join("store-99").exists());
    assert_eq!(world.picture().ids(), ["SHOP/a"]);
}
