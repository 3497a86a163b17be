//! Any history: what comes back is exactly what was there when the last round succeeded.

use heureka_protocol::Status;
use heureka_snapshots::backlog::Backlog;
use heureka_snapshots::pending::{Latest, Pending};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{any_instance, instance};
use crate::world::World;

#[derive(Clone, Debug)]
enum Event {
    Register(u8, i64),
    Cancel(u8),
    Evict(u8),
    Status(u8, Status),
    Beat(u8),
    Pass(u16),
    Round,
    Sweep,
    FailAfter(u8),
    Repair,
    Restart,
    LosePower,
}

fn event() -> impl Strategy<Value = Event> {
    let who = 0..12_u8;
    prop_oneof![
        4 => (who.clone(), 0..5_i64).prop_map(|(who, dirty)| Event::Register(who, dirty)),
        2 => who.clone().prop_map(Event::Cancel),
        1 => who.clone().prop_map(Event::Evict),
        2 => (who.clone(), proptest::sample::select(&Status::IN_TEXT_ORDER[..]))
            .prop_map(|(who, status)| Event::Status(who, status)),
        1 => who.prop_map(Event::Beat),
        1 => any::<u16>().prop_map(Event::Pass),
        4 => Just(Event::Round),
        1 => Just(Event::Sweep),
        1 => (0..6_u8).prop_map(Event::FailAfter),
        1 => Just(Event::Repair),
        1 => Just(Event::Restart),
        1 => Just(Event::LosePower),
    ]
}

fn names(who: u8) -> (&'static str, String) {
    (["SHOP", "CART", "S"][usize::from(who % 3)], format!("id-{}", who / 3))
}

fn happen(world: &mut World, event: &Event) {
    match event {
        Event::Register(who, dirty) => {
            let (app, id) = names(*who);
            let mut instance = instance(app, &id);
            instance.last_dirty_timestamp = *dirty;
            world.register(instance);
        }
        Event::Cancel(who) => world.cancel(names(*who).0, &names(*who).1),
        Event::Evict(who) => {
            world.pass(200_000);
            world.evict(names(*who).0, &names(*who).1);
        }
        Event::Status(who, status) => world.set_status(names(*who).0, &names(*who).1, *status),
        Event::Beat(who) => world.beat(names(*who).0, &names(*who).1),
        Event::Pass(ms) => world.pass(u64::from(*ms)),
        Event::Round => {
            world.try_round();
        }
        Event::Sweep => world.sweep(),
        Event::FailAfter(operations) => world.disk.fail_after(u64::from(*operations)),
        Event::Repair => world.disk.repair(),
        Event::Restart | Event::LosePower => {}
    }
}

/// A tombstone may have come to its end since the last round; everything else must be as it was.
fn check_restart(world: &mut World, loses_power: bool) -> Result<(), TestCaseError> {
    world.disk.repair();
    // Whatever failed before: the last round before the crash succeeds.
    world.pass(60_000);
    prop_assert!(world.try_round());
    let saved = world.saved.clone();
    // What comes after it is lost.
    world.register(instance("LOST", "x"));
    if loses_power {
        world.lose_power()
    } else {
        world.crash()
    }
    world.start();
    prop_assert_eq!(world.outcome(), "warm");
    prop_assert_eq!(world.picture(), saved);
    world.open();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_comes_back_is_what_the_last_round_saw(events in vec(event(), 1..60)) {
        let mut world = World::following();
        for event in &events {
            if matches!(event, Event::Sweep) && !world.writer().is_ready() {
                continue;
            }
            if matches!(event, Event::Sweep) {
                world.disk.repair();
            }
            happen(&mut world, event);
            if matches!(event, Event::Restart | Event::LosePower) {
                check_restart(&mut world, matches!(event, Event::LosePower))?;
            }
        }
        check_restart(&mut world, true)?;
    }

    #[test]
    fn any_instance_survives_a_restart(instances in vec(any_instance(), 1..20)) {
        let mut world = World::following();
        for instance in instances {
            world.register(instance);
        }
        world.round();
        let before = world.picture();
        world.restart();
        prop_assert_eq!(world.picture(), before);
    }

    #[test]
    fn merging_keeps_the_latest_of_each_instance(events in vec(event(), 1..60), limit in 1..8_usize) {
        let mut world = World::new();
        world.start();
        let mut backlog = Backlog::default();
        for (index, event) in events.iter().enumerate() {
            world.pending = if index % 3 == 0 {
                backlog.merge(world.pending.take());
                Pending::with_limit(100)
            } else {
                world.pending
            };
            happen(&mut world, event);
            let slice = backlog.next_slice(limit);
            prop_assert!(slice.len() <= limit);
            backlog.give_back(slice);
        }
        backlog.merge(world.pending.take());
        for (owner, latest) in backlog.next_slice(usize::MAX) {
            let record = world.apps.get(&owner.0).and_then(|app| app.get(&owner.1));
            match latest {
                Latest::Present(seen) => {
                    prop_assert!(record.is_some_and(|record| std::sync::Arc::ptr_eq(record, &seen)));
                }
                Latest::Cancelled(..) | Latest::Evicted => prop_assert!(record.is_none()),
            }
        }
    }
}
