//! Signs of life over restarts, also under a wall clock that is set back.

use heureka_protocol::Instance;

use crate::support::instance;
use crate::world::{HOUR_MS, World};

/// An hour and a half in which only one instance gives signs of life and the node restarts every ten minutes.
fn live_on(world: &mut World) {
    for minute in 0..90 {
        if minute % 10 == 9 {
            world.restart();
        }
        world.pass(60_000);
        world.beat("SHOP", "alive");
        world.round();
        world.sweep();
    }
}

#[test]
fn an_instance_that_was_silent_for_too_long_does_not_come_back_however_often_the_node_starts() {
    let mut world = World::following();
    world.register(instance("SHOP", "dead"));
    world.register(instance("SHOP", "alive"));
    world.round();
    live_on(&mut world);
    assert_eq!(world.picture().ids(), ["SHOP/alive"]);
}

/// The node runs under a clock that is two hours ahead and is then set right.
fn set_back() -> World {
    let mut world = World::following();
    for id in ["dead", "silent", "again", "alive"] {
        world.register(instance("SHOP", id));
    }
    world.round();
    world.pass(100_000);
    for id in ["dead", "silent", "again", "alive"] {
        world.beat("SHOP", id);
    }
    world.sweep();
    world.now.wall_ms -= i64::try_from(2 * HOUR_MS).unwrap();
    world
}

#[test]
fn a_clock_that_is_set_back_while_the_node_runs_loses_no_instance() {
    let mut world = set_back();
    world.pass(80_000);
    world.beat("SHOP", "alive");
    world.register(Instance { last_dirty_timestamp: 2000, ..instance("SHOP", "again") });
    world.sweep();
    world.stop();
    world.start();
    assert_eq!((world.outcome(), world.picture().ids().len()), ("warm", 4));

    // The same without a sweep between.
    let mut world = set_back();
    world.pass(80_000);
    world.stop();
    world.start();
    assert_eq!((world.outcome(), world.picture().ids().len()), ("warm", 4));
}

#[test]
fn a_sign_of_life_from_the_future_counts_from_the_first_start_that_finds_it() {
    for is_in_the_table in [true, false] {
        let mut world = World::following();
        world.register(instance("SHOP", "dead"));
        world.register(instance("SHOP", "alive"));
        world.round();
        if is_in_the_table {
            world.sweep();
        }
        world.now.wall_ms -= i64::try_from(2 * HOUR_MS).unwrap();
        world.pass(30_000);
        world.round();
        world.restart();
        assert_eq!(world.picture().ids().len(), 2);
        live_on(&mut world);
        assert_eq!(world.picture().ids(), ["SHOP/alive"], "{is_in_the_table}");
    }
}
