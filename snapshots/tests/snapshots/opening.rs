//! Starts: old snapshots, damaged ones, foreign ones, none at all.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use heureka_protocol::Status;
use heureka_snapshots::frame::{self, FORMAT};
use heureka_snapshots::key::{Key, Name};
use heureka_snapshots::lock_file::{Holder, LockError};
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::opening::open;
use heureka_snapshots::restore::RecoveredMark;
use heureka_snapshots::store::{Batch, OpenStore, Store, StoreError, Visitor};

use crate::support::instance;
use crate::troubled::fails_once;
use crate::world::{HOUR_MS, World, crashed, quarantines};

fn instance_key(id: &str) -> Vec<u8> {
    Key::Instance(Name { app: "SHOP", id }).to_bytes().unwrap()
}

fn damage(world: &World, change: impl FnOnce(&mut std::collections::BTreeMap<Vec<u8>, Vec<u8>>)) {
    world.disk.damage(&world.place().path.join("store-1"), change);
}

/// The start is cold, says why, and the next life is an ordinary one.
fn assert_quarantined(mut world: World, why: &str) {
    world.start();
    let report = world.report.clone().unwrap();
    let text = report.to_string();
    assert_eq!(world.outcome(), "quarantined", "{text}");
    assert!(text.contains(why), "{text}");
    assert!(world.picture().instances.is_empty() && report.counts == Default::default());
    assert_eq!(quarantines(&world), [format!("store-1.quarantine-{}", world.now.wall_ms)]);
    world.open();
    world.register(instance("SHOP", "z"));
    world.round();
    world.restart();
    assert_eq!((world.outcome(), world.picture().ids()), ("warm", vec!["SHOP/z".to_owned()]));
}

#[test]
fn restored_leases_get_one_duration_and_count_as_recovered_until_a_sign_of_life() {
    let mut world = crashed();
    world.pass(600_000);
    world.start();
    let mark: RecoveredMark = world.recovered.unwrap();
    let record = |world: &World, id: &str| world.apps["SHOP"].get(id).unwrap().clone();
    let (a, b) = (record(&world, "a"), record(&world, "b"));
    assert!(mark.is_recovered(&a) && mark.is_recovered(&b));
    world.pass(10_000);
    world.beat("SHOP", "a");
    world.register(instance("SHOP", "b"));
    world.register(instance("SHOP", "e"));
    for id in ["a", "b", "e"] {
        assert!(!mark.is_recovered(&record(&world, id)), "{id}");
    }
    assert!(mark.is_recovered(&record(&world, "c")));
    world.pass(80_000);
    assert_eq!(world.apps["SHOP"].expired(world.now, 0).len(), 0);
    world.pass(1);
    assert_eq!(world.apps["SHOP"].expired(world.now, 0), ["c".into()]);
}

#[test]
fn an_old_snapshot_gives_back_overrides_and_tombstones_only() {
    let mut world = crashed();
    world.rules.tombstone_ttl_ms = 10 * HOUR_MS;
    world.settings.tombstones.ttl_ms = 10 * HOUR_MS;
    world.pass(HOUR_MS + 1);
    world.start();
    let report = world.report.clone().unwrap();
    assert_eq!((world.outcome(), report.counts.too_old, report.counts.overrides), ("too_old", 3, 1));
    assert_eq!(report.node_id, "node-1");
    let picture = world.picture();
    assert!(picture.instances.is_empty());
    assert_eq!(picture.overrides.values().collect::<Vec<_>>(), [&Status::OutOfService]);

    // The old store stays until the node has opened and the new one is complete.
    world.crash();
    world.start();
    assert_eq!(world.outcome(), "too_old");
    world.open();
    world.round();
    world.crash();
    world.start();
    assert_eq!(world.outcome(), "warm");
    assert_eq!((world.picture().ids().len(), world.picture().overrides.len()), (0, 1));
    assert_eq!(world.report.as_ref().unwrap().starts, 3, "starts that opened");
}

#[test]
fn an_override_waits_for_its_instance_but_not_for_ever() {
    let mut world = crashed();
    world.pass(HOUR_MS + 1);
    world.start();
    world.open();
    world.round();
    world.register(instance("SHOP", "b"));
    world.round();
    assert_eq!(world.apps["SHOP"].get("b").unwrap().instance.status, Status::OutOfService);
    world.cancel("SHOP", "b");
    world.round();
    assert_eq!(world.writer().stats().counts.overrides, 0);

    let mut world = crashed();
    world.pass(HOUR_MS + 1);
    for _ in 0..4 {
        world.start();
        world.open();
        world.round();
        assert_eq!(world.picture().overrides.len(), 1);
        world.crash();
        world.pass(HOUR_MS / 4);
    }
    world.pass(1);
    world.start();
    assert_eq!(world.picture().overrides.len(), 0, "restarts do not make it younger");
    world.open();
    world.round();
    assert_eq!(world.writer().stats().counts.overrides, 0);
}

#[test]
fn an_override_that_waits_is_forgotten_while_the_node_runs() {
    let mut world = crashed();
    world.pass(HOUR_MS + 1);
    world.start();
    world.open();
    world.round();
    assert_eq!(world.writer().stats().counts.overrides, 1);
    world.pass(HOUR_MS);
    world.round();
    assert_eq!(world.writer().stats().counts.overrides, 0);
}

#[test]
fn a_clock_that_was_set_far_back_makes_a_snapshot_old_not_new() {
    let mut world = crashed();
    world.now.wall_ms -= i64::try_from(HOUR_MS).unwrap() + 1;
    world.start();
    assert_eq!(world.outcome(), "too_old");
    let mut world = crashed();
    world.now.wall_ms -= 5_000;
    world.start();
    assert_eq!(world.outcome(), "warm");
}

#[test]
fn single_damaged_records_are_skipped_counted_and_removed() {
    let mut world = World::following();
    for index in 0..100 {
        world.register(instance("SHOP", &format!("{index:03}")));
    }
    world.round();
    world.crash();
    damage(&world, |values| {
        for id in ["007", "042"] {
            values.get_mut(&instance_key(id)).unwrap()[40] ^= 1;
        }
    });
    world.start();
    let report = world.report.clone().unwrap();
    assert_eq!((world.outcome(), report.bad_records, report.counts.instances), ("warm", 2, 98));
    assert!(report.to_string().contains("2 damaged records were skipped"), "{report}");
    assert_eq!(report.first_fault.as_deref(), Some("the record is damaged"));
    world.open();
    world.round();
    world.restart();
    assert_eq!(world.report.as_ref().unwrap().bad_records, 0);
    assert_eq!(world.picture().ids().len(), 98);
}

#[test]
fn many_damaged_records_are_a_doubt() {
    let mut world = World::following();
    for index in 0..100 {
        world.register(instance("SHOP", &format!("{index:03}")));
    }
    world.round();
    world.crash();
    damage(&world, |values| {
        for index in 0..11 {
            values.get_mut(&instance_key(&format!("{index:03}"))).unwrap().truncate(30);
        }
    });
    assert_quarantined(world, "11 of 100 records are damaged");
}

#[test]
fn a_lost_an_old_and_a_returned_record_are_a_doubt() {
    let world = crashed();
    damage(&world, |values| assert!(values.remove(&instance_key("a")).is_some()));
    assert_quarantined(world, "does not hold what was written last");

    let mut world = crashed();
    let mut old = None;
    damage(&world, |values| old = values.get(&instance_key("a")).cloned());
    world.start();
    world.open();
    let mut changed = instance("SHOP", "a");
    changed.last_dirty_timestamp += 1;
    world.register(changed);
    world.round();
    world.crash();
    damage(&world, |values| assert!(values.insert(instance_key("a"), old.clone().unwrap()) != old));
    assert_quarantined(world, "does not hold what was written last");

    let mut world = crashed();
    damage(&world, |values| old = values.get(&instance_key("a")).cloned());
    world.start();
    world.open();
    world.cancel("SHOP", "a");
    world.round();
    world.crash();
    damage(&world, |values| assert!(values.insert(instance_key("a"), old.unwrap()).is_none()));
    assert_quarantined(world, "does not hold what was written last");
}

#[test]
fn a_damaged_record_does_not_hide_a_lost_one() {
    let world = crashed();
    damage(&world, |values| {
        values.get_mut(&instance_key("a")).unwrap()[40] ^= 1;
        values.remove(&instance_key("b"));
    });
    assert_quarantined(world, "does not hold what was written last");
}

#[test]
fn a_store_that_does_not_describe_itself_is_a_doubt() {
    let world = crashed();
    damage(&world, |values| assert!(values.remove(&Key::Meta.to_bytes().unwrap()).is_some()));
    assert_quarantined(world, "the record that describes the store is missing or damaged");
    let world = crashed();
    damage(&world, |values| values.get_mut(&Key::Meta.to_bytes().unwrap()).unwrap()[25] ^= 4);
    assert_quarantined(world, "the record that describes the store is missing or damaged");
}

#[test]
fn a_later_format_is_refused_by_name() {
    for key in [Key::Meta.to_bytes().unwrap(), instance_key("b")] {
        let world = crashed();
        damage(&world, |values| {
            let value = frame::wrap_as(FORMAT + 1, &key, 9, b"whatever it is").unwrap();
            values.insert(key.clone(), value);
        });
        assert_quarantined(world, "by a later version");
    }
}

#[test]
fn a_lost_pointer_a_damaged_pointer_and_a_lost_store_are_doubts() {
    let world = crashed();
    std::fs::remove_file(world.place().path.join("CURRENT")).unwrap();
    assert_quarantined(world, "there is no pointer");
    let world = crashed();
    std::fs::write(world.place().path.join("CURRENT"), "heureka-snapshots 1 store-1 00000000\n").unwrap();
    assert_quarantined(world, "the pointer to the store in use is damaged");

    let mut world = crashed();
    std::fs::remove_dir_all(world.place().path.join("store-1")).unwrap();
    world.start();
    assert_eq!(world.outcome(), "quarantined");
    assert!(world.report.unwrap().to_string().contains("the store in use is missing"));
}

#[test]
fn a_second_node_on_the_folder_is_refused_and_told_who_is_there() {
    let world = World::following();
    let mut other = world.opening();
    other.place.holder = Holder { pid: 2, host: "other".into(), started_wall_ms: 5 };
    let Err(LockError::Held(holder)) = open(other, world.now) else { panic!("it must be refused") };
    assert_eq!(holder.unwrap(), world.place().holder);
}

#[test]
fn a_store_that_fails_or_panics_is_moved_aside() {
    let fails = fails_once(|| Err(StoreError::new("open", "corruption at 0x17")));
    let mut world = crashed();
    world.opener = fails(world.disk.clone());
    assert_quarantined(world, "cannot open the snapshot store: corruption at 0x17");
    let panics = fails_once(|| panic!("index out of bounds"));
    let mut world = crashed();
    world.opener = panics(world.disk.clone());
    assert_quarantined(world, "the store library failed: index out of bounds");
}

#[test]
fn a_store_that_cannot_be_moved_keeps_its_pointer() {
    let fails = fails_once(|| Err(StoreError::new("open", "corruption at 0x17")));
    let mut world = crashed();
    let place = world.place().path.join(format!("store-1.quarantine-{}", world.now.wall_ms));
    std::fs::create_dir_all(place.join("something")).unwrap();
    let sound = world.opener.clone();
    world.opener = fails(world.disk.clone());
    world.start();
    assert_eq!(world.outcome(), "unusable");
    world.crash();
    world.opener = sound;
    world.start();
    assert_eq!((world.outcome(), world.picture().ids().len()), ("warm", 3));
}

#[test]
fn a_folder_that_cannot_be_made_costs_the_snapshots_only() {
    let mut world = World::new();
    std::fs::write(world.place().path, "a file in the place of the folder").unwrap();
    world.start();
    assert_eq!(world.outcome(), "unusable");
    world.open();
    world.register(instance("SHOP", "a"));
    assert!(!world.try_round());
    std::fs::remove_file(world.place().path).unwrap();
    world.pass(60_000);
    world.round();
    world.restart();
    assert_eq!((world.outcome(), world.picture().ids()), ("warm", vec!["SHOP/a".to_owned()]));
}

/// A store that breaks off while it is read.
struct BreaksOff(Box<dyn Store>);

impl Store for BreaksOff {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(key)
    }

    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError> {
        let mut left = 2;
        self.0.visit(prefix, after, &mut |key, value| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { visitor(key, value) }
        })?;
        Err(StoreError::new("read", "a page is missing"))
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.0.apply(batch)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.0.flush()
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        self.0.free_bytes()
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        self.0.size_on_disk()
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        self.0.close()
    }
}

struct OpensBreakingOff(MemoryDisk);

impl OpenStore for OpensBreakingOff {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(BreaksOff(self.0.open(folder)?)))
    }

    fn free_bytes(&self, folder: &Path) -> Result<u64, StoreError> {
        self.0.free_bytes(folder)
    }
}

#[test]
fn a_store_that_cannot_be_read_to_the_end_is_moved_aside() {
    let mut world = crashed();
    world.opener = Arc::new(OpensBreakingOff(world.disk.clone()));
    world.start();
    assert_eq!(world.outcome(), "quarantined");
    assert!(world.report.unwrap().to_string().contains("cannot read the snapshot store: a page is missing"));
}
