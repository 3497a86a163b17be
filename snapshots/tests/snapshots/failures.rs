//! Disks that are full, slow to return, or gone: nothing but snapshots suffers, and those only for a while.

use heureka_snapshots::lock_file::LockError;
use heureka_snapshots::news::{News, WriterState};
use heureka_snapshots::opening::open;

use crate::support::instance;
use crate::world::World;

fn news(world: &mut World) -> Vec<String> {
    world.writer().take_news().iter().map(News::to_string).collect()
}

#[test]
fn what_could_not_be_written_is_written_later() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    world.disk.fail_after(0);
    world.register(instance("SHOP", "b"));
    world.cancel("SHOP", "a");
    assert!(!world.try_round());
    assert_eq!(world.writer().stats().state, WriterState::Failing);
    assert_eq!(world.backlog.len(), 2, "kept");
    assert!(!world.try_round());
    world.register(instance("SHOP", "c"));
    world.disk.repair();
    assert!(!world.try_round(), "not before the wait is over");
    world.pass(1_000);
    world.round();
    assert_eq!(world.writer().stats().state, WriterState::Following);
    let before = world.picture();
    assert_eq!(before.ids(), ["SHOP/b", "SHOP/c"]);
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}

#[test]
fn a_failure_is_told_once_and_so_is_its_end() {
    let mut world = World::following();
    news(&mut world);
    world.disk.fail_after(0);
    world.register(instance("SHOP", "a"));
    let mut all = Vec::new();
    for _ in 0..300 {
        world.try_round();
        world.pass(1_000);
        all.extend(news(&mut world));
    }
    let failures = world.writer().stats().failures;
    assert!((8..=12).contains(&failures), "it is tried ever less often: {failures}");
    world.disk.repair();
    world.pass(60_000);
    world.round();
    all.extend(news(&mut world));
    // The disk takes what the folder tries, so in the end the store is to blame.
    let begins = ["snapshots fail,", "the snapshot was moved to", "snapshots work again after"];
    assert_eq!(all.len(), begins.len(), "{all:?}");
    assert!(all.iter().zip(begins).all(|(text, begin)| text.starts_with(begin)), "{all:?}");
    assert!(all[0].contains("no space left on the disk"), "{all:?}");
}

#[test]
fn a_failure_at_any_operation_loses_nothing_in_the_end() {
    for operations in 0..40 {
        let mut world = World::following();
        for index in 0..700 {
            world.register(instance("SHOP", &format!("{index}")));
        }
        world.round();
        world.disk.fail_after(operations);
        for index in 0..600 {
            world.cancel("SHOP", &format!("{index}"));
            world.register(instance("CART", &format!("{index}")));
        }
        for _ in 0..4 {
            world.try_round();
            world.pass(500);
        }
        world.disk.repair();
        world.pass(60_000);
        world.round();
        let before = world.picture();
        assert_eq!(before.instances.len(), 700);
        world.lose_power();
        world.start();
        assert_eq!((world.outcome(), world.picture()), ("warm", before), "failed after {operations}");
    }
}

#[test]
fn a_crash_while_the_disk_fails_leaves_the_last_good_state_or_parts_of_the_next() {
    for operations in 0..20 {
        let mut world = World::following();
        for index in 0..1_200 {
            world.register(instance("SHOP", &format!("{index}")));
        }
        world.round();
        let good = world.picture();
        for index in 0..1_200 {
            world.cancel("SHOP", &format!("{index}"));
        }
        let next = world.picture();
        world.disk.fail_after(operations);
        world.try_round();
        world.disk.repair();
        if operations % 2 == 0 {
            world.lose_power()
        } else {
            world.crash()
        }
        world.start();
        assert_eq!(world.outcome(), "warm");
        let found = world.picture();
        for owner in good.instances.keys() {
            let (lives, is_buried) =
                (found.instances.contains_key(owner), found.tombstones.contains_key(owner));
            assert!(lives != is_buried, "{owner:?}: cancelled or not, never something between");
        }
        assert_eq!(found.instances.len() + found.tombstones.len(), next.tombstones.len());
    }
}

#[test]
fn a_store_that_was_damaged_while_running_is_written_anew_from_the_registry() {
    let mut world = World::following();
    for id in ["a", "b", "c"] {
        world.register(instance("SHOP", id));
    }
    world.round();
    news(&mut world);
    world.disk.fail_after(0);
    world.register(instance("SHOP", "d"));
    world.try_round();
    world.disk.repair();
    world.disk.damage(&world.place().path.join("store-1"), |values| values.clear());
    world.pass(1_000);
    world.round();
    let told = news(&mut world);
    assert!(told.iter().any(|text| text.contains("is written anew")), "{told:?}");
    let before = world.picture();
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
    assert_eq!(world.picture().ids().len(), 4);
}

#[test]
fn a_folder_that_vanishes_is_made_again() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    std::fs::remove_dir_all(world.place().path).unwrap();
    world.disk.fail_after(0);
    world.register(instance("SHOP", "b"));
    world.try_round();
    world.disk.repair();
    for _ in 0..5 {
        world.pass(60_000);
        world.try_round();
    }
    std::fs::create_dir_all(world.place().path).unwrap();
    world.pass(60_000);
    world.round();
    world.restart();
    assert_eq!(world.picture().ids(), ["SHOP/a", "SHOP/b"]);
}

fn names(path: &std::path::Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap();
    let mut names: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_that_was_replaced_by_an_empty_one_is_locked_again() {
    for is_made_again in [false, true] {
        let mut world = World::following();
        world.register(instance("SHOP", "a"));
        world.round();
        let path = world.place().path;
        let elsewhere = path.with_extension("old");
        std::fs::rename(&path, &elsewhere).unwrap();
        if is_made_again {
            std::fs::create_dir(&path).unwrap();
        }
        world.register(instance("SHOP", "b"));
        assert!(!world.try_round(), "noticed at once, though the store takes everything");
        world.pass(60_000);
        world.round();
        let mut second = world.opening();
        second.place.holder.pid = 2;
        let Err(refused) = open(second, world.now) else { panic!("it must be refused") };
        assert!(matches!(refused, LockError::Held(_)), "{refused}");
        assert_eq!(names(&elsewhere), ["CURRENT", "LOCK", "store-1"], "what was moved away stays as it was");
        world.restart();
        assert_eq!((world.outcome(), world.picture().ids().len()), ("warm", 2));
    }
}

#[test]
fn a_folder_that_another_process_has_now_is_left_to_it() {
    let mut world = World::following();
    world.register(instance("SHOP", "a"));
    world.round();
    let path = world.place().path;
    std::fs::rename(&path, path.with_extension("old")).unwrap();
    // The other one shares the path, but neither the registry nor the disk.
    let mut other = World::new();
    std::mem::swap(&mut other.dir, &mut world.dir);
    other.start();
    other.open();
    other.register(instance("CART", "z"));
    other.round();
    std::mem::swap(&mut other.dir, &mut world.dir);
    let before = names(&path);
    world.register(instance("SHOP", "b"));
    for _ in 0..100 {
        assert!(!world.try_round());
        world.pass(10_000);
    }
    let problem = world.writer().stats().problem.unwrap();
    assert!(problem.contains("the folder is in use by process 1 on test"), "{problem}");
    assert_eq!(names(&path), before);
    std::mem::swap(&mut other.dir, &mut world.dir);
    other.register(instance("CART", "y"));
    other.round();
}

#[test]
fn too_many_waiting_changes_are_made_good_from_the_registry() {
    let mut world = World::following();
    world.register(instance("SHOP", "old"));
    world.round();
    world.pending = heureka_snapshots::pending::Pending::with_limit(3);
    for index in 0..10 {
        world.register(instance("SHOP", &format!("{index}")));
    }
    world.cancel("SHOP", "old");
    assert_eq!((world.pending.len(), world.pending.dropped()), (3, 8));
    world.round();
    assert!(!world.pending.is_incomplete());
    let told = news(&mut world);
    assert!(told.iter().any(|text| text.contains("too many changes waited")), "{told:?}");
    let ids = world.picture().ids();
    assert_eq!(ids.len(), 10);
    world.restart();
    assert_eq!(world.picture().ids(), ids);
}
