//! The tools: what they show is what a start would make of it, and documents carry everything.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use heureka_protocol::Status;
use heureka_registry::Now;
use heureka_snapshots::lock_file::LockError;
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::restore::RestoreRules;
use heureka_snapshots::sled_store::Sled;
use heureka_snapshots::tools::{ImportOptions, Imported, ToolError, Verdict, export, import, inspect};

use crate::support::{any_instance, instance};
use crate::world::{HOUR_MS, World};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

const RULES: RestoreRules = RestoreRules { max_age_ms: HOUR_MS, orphan_ttl_ms: HOUR_MS };
const KEEP: ImportOptions = ImportOptions { replaces: false, is_fresh: false };

/// A node on real files that has stopped, with all kinds of records.
fn stopped() -> World {
    let mut world = World::with_store(MemoryDisk::new(), Arc::new(Sled));
    world.start();
    world.open();
    let mut runner = TestRunner::deterministic();
    for _ in 0..30 {
        world.register(any_instance().new_tree(&mut runner).unwrap().current());
    }
    for id in ["a", "b", "c"] {
        world.register(instance("SHOP", id));
    }
    world.set_status("SHOP", "b", Status::OutOfService);
    world.cancel("SHOP", "c");
    world.round();
    world.pass(100_000);
    world.beat("SHOP", "a");
    world.sweep();
    world.stop();
    world
}

fn exported(folder: &Path, now: Now) -> String {
    let mut out = Vec::new();
    export(folder, &Sled, &mut out, now).unwrap();
    String::from_utf8(out).unwrap()
}

fn imported(world: &World, text: &str, options: ImportOptions) -> Result<Imported, ToolError> {
    import(&world.place().path, &Sled, &mut text.as_bytes(), options, world.now)
}

/// A node that has never started.
fn fresh(now: Now) -> World {
    let mut world = World::with_store(MemoryDisk::new(), Arc::new(Sled));
    world.now = now;
    world
}

#[test]
fn a_document_carries_everything_into_another_folder() {
    let mut world = stopped();
    let text = exported(&world.place().path, world.now);
    let mut other = fresh(world.now);
    let done = imported(&other, &text, KEEP).unwrap();
    assert_eq!((done.overrides > 0, done.tombstones, done.moved_aside), (true, 1, None));
    let records = |text: &str| text[text.find("\"bad_records\"").unwrap()..].to_owned();
    assert_eq!(records(&exported(&other.place().path, world.now)), records(&text));
    world.start();
    other.start();
    assert_eq!((other.outcome(), other.picture()), ("warm", world.picture()));
    assert_eq!(other.report.as_ref().unwrap().node_id, "node-1");
}

#[test]
fn a_snapshot_is_replaced_only_on_request_and_kept_aside() {
    let world = stopped();
    let text = exported(&world.place().path, world.now);
    assert!(matches!(imported(&world, &text, KEEP), Err(ToolError::Occupied(_))));
    let replacing = ImportOptions { replaces: true, ..KEEP };
    let aside = imported(&world, &text, replacing).unwrap().moved_aside.unwrap();
    assert_eq!(
        inspect(&aside, &Sled, RULES, world.now).unwrap().instances,
        32,
        "a store alone is readable too"
    );
    let shown = inspect(&world.place().path, &Sled, RULES, world.now).unwrap();
    assert_eq!((shown.instances, shown.moved_aside), (32, vec![aside]));
}

#[test]
fn an_old_document_is_judged_by_its_age_unless_it_is_made_fresh() {
    let world = stopped();
    let text = exported(&world.place().path, world.now);
    let mut later = world.now;
    later.wall_ms += i64::try_from(2 * HOUR_MS).unwrap();
    let mut old = fresh(later);
    imported(&old, &text, KEEP).unwrap();
    old.start();
    assert_eq!(old.outcome(), "too_old");
    let mut refreshed = fresh(later);
    imported(&refreshed, &text, ImportOptions { is_fresh: true, ..KEEP }).unwrap();
    refreshed.start();
    assert_eq!((refreshed.outcome(), refreshed.picture().instances.len()), ("warm", 32));
}

#[test]
fn documents_that_are_wrong_change_nothing() {
    let world = fresh(World::new().now);
    let nameless = r#"{"instances": [{"app": "SHOP", "id": "a", "record": {"host_name": "h"}}]}"#;
    let refused = imported(&world, nameless, KEEP).unwrap_err().to_string();
    assert_eq!(refused, "SHOP/a cannot be imported: the record has no address");
    assert!(matches!(imported(&world, "{", KEEP), Err(ToolError::Json(_))));
    assert!(!world.place().path.exists());
    let smallest =
        r#"{"instances": [{"app": "shop", "id": "a", "record": {"host_name": "h", "ip_addr": "i"}}]}"#;
    imported(&world, smallest, ImportOptions { is_fresh: true, ..KEEP }).unwrap();
    let mut world = world;
    world.start();
    assert_eq!(world.picture().ids(), ["SHOP/a"]);
}

#[test]
fn an_inspection_says_what_a_start_would_do() {
    let world = stopped();
    let shown = inspect(&world.place().path, &Sled, RULES, world.now).unwrap();
    let Verdict::Warm { instances, overrides, tombstones, too_old } = shown.verdict.clone() else {
        panic!("{shown:?}")
    };
    assert_eq!((instances, tombstones, too_old), (32, 1, 0));
    assert!(overrides > 0 && shown.statuses.values().sum::<usize>() == 32);
    assert_eq!((shown.age_ms, shown.meta.clean, shown.bad_records), (0, true, 0));
    assert!(shown.disk_bytes > shown.live_bytes && shown.live_bytes > 1_000);
    assert!(shown.largest_applications.contains(&("SHOP".to_owned(), 2)));
    let later = Now { wall_ms: world.now.wall_ms + 4_000_000, ..world.now };
    let shown = inspect(&world.place().path, &Sled, RULES, later).unwrap();
    assert!(matches!(shown.verdict, Verdict::Warm { instances: 0, too_old: 32, .. }), "{:?}", shown.verdict);
}

#[test]
fn a_store_in_doubt_can_be_looked_at_and_exported() {
    let world = World::following();
    let mut world = world;
    for id in ["a", "b"] {
        world.register(instance("SHOP", id));
    }
    world.round();
    world.crash();
    let store = world.place().path.join("store-1");
    world.disk.damage(&store, |values| drop(values.pop_first()));
    let shown = inspect(&world.place().path, &world.disk, RULES, world.now).unwrap();
    assert!(matches!(&shown.verdict, Verdict::Doubtful { why } if why.contains("written last")), "{shown:?}");
    let mut out = Vec::new();
    assert_eq!(export(&world.place().path, &world.disk, &mut out, world.now).unwrap(), 1);
    assert!(String::from_utf8(out).unwrap().contains("\"doubt\": \"it does not hold what was written last"));
}

#[test]
fn folders_without_a_snapshot_and_folders_in_use_are_told_apart() {
    let mut world = stopped();
    let path = world.place().path;
    let missing = inspect(&path.join("nothing"), &Sled, RULES, world.now).unwrap_err();
    assert!(matches!(missing, ToolError::NoFolder(_)));
    world.start();
    let in_use = export(&path, &Sled, &mut Vec::new(), world.now).unwrap_err();
    assert!(matches!(in_use, ToolError::Lock(LockError::Held(Some(_)))), "{in_use}");
    world.crash();
    fs::remove_file(path.join("CURRENT")).unwrap();
    let doubtful = inspect(&path, &Sled, RULES, world.now).unwrap_err();
    assert!(matches!(doubtful, ToolError::Unreadable(_)), "{doubtful}");
}
