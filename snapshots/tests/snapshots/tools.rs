//! The tools: what they show is what a start would make of it, and documents carry everything.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use heureka_protocol::Status;
use heureka_registry::Now;
use heureka_snapshots::lock_file::LockError;
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::opening::open;
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

#[test]
fn a_store_in_the_folder_of_a_node_that_runs_is_left_alone_but_not_what_was_moved_aside() {
    let mut world = stopped();
    let now = world.now;
    let folder = world.place().path;
    let aside = folder.join("store-9.quarantine-5");
    fs::create_dir(&aside).unwrap();
    for file in ["conf", "db"] {
        fs::copy(folder.join("store-1").join(file), aside.join(file)).unwrap();
    }
    world.start();
    let refused = export(&folder.join("store-1"), &Sled, &mut Vec::new(), now).unwrap_err();
    assert!(matches!(refused, ToolError::Lock(LockError::Held(Some(_)))), "{refused}");
    assert!(exported(&aside, now).contains("SHOP"));
    world.crash();
    assert!(exported(&folder.join("store-1"), now).contains("SHOP"));
}

/// A reader that looks at who has the folder.
struct Pager<'w>(&'w World, bool);

impl std::io::Write for Pager<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !std::mem::replace(&mut self.1, true) {
            open(self.0.opening(), self.0.now).map(drop).unwrap();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_node_can_start_while_somebody_reads_what_was_exported() {
    let world = stopped();
    for place in [world.place().path, world.place().path.join("store-1")] {
        let mut pager = Pager(&world, false);
        export(&place, &Sled, &mut pager, world.now).unwrap();
        assert!(pager.1);
    }
}

fn exported(folder: &Path, now: Now) -> String {
    let mut out = Vec::new();
    export(folder, &Sled, &mut out, now).unwrap();
    String::from_utf8(out).unwrap()
}

fn imported(world: &World, text: &str, options: ImportOptions) -> Result<Imported, ToolError> {
    import(&world.place().path, &Sled, &mut text.as_bytes(), options, world.now)
}

/// The smallest document.
const NOTHING: &str = r#"{"instances": []}"#;

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
    // The list of a registry is no snapshot, and neither is one with a misspelt member.
    for wrong in ["{", "{}", r#"{"applications": {}}"#, r#"{"instances": [], "override": []}"#] {
        assert!(matches!(imported(&world, wrong, KEEP), Err(ToolError::Json(_))), "{wrong}");
    }
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
    let Verdict::Warm { instances, overrides, tombstones, too_old, ended } = shown.verdict.clone() else {
        panic!("{shown:?}")
    };
    assert_eq!((instances, tombstones, too_old, ended), (32, 1, 0, 0));
    assert!(overrides > 0 && shown.statuses.values().sum::<usize>() == 32);
    assert_eq!((shown.age_ms, shown.meta.clean, shown.bad_records), (0, true, 0));
    assert!(shown.disk_bytes > shown.live_bytes && shown.live_bytes > 1_000);
    assert!(shown.largest_applications.contains(&("SHOP".to_owned(), 2)));
    let later = Now { wall_ms: world.now.wall_ms + 4_000_000, ..world.now };
    let shown = inspect(&world.place().path, &Sled, RULES, later).unwrap();
    assert!(matches!(shown.verdict, Verdict::TooOld { too_old: 32, .. }), "{:?}", shown.verdict);
}

#[test]
fn an_inspection_tells_a_hidden_instance_and_a_snapshot_that_is_too_old_without_any() {
    let world = fresh(World::new().now);
    let hidden = format!(
        r#"{{"instances": [{{"app": "SHOP", "id": "a", "record": {{"host_name": "h", "ip_addr": "i"}}}}],
            "tombstones": [{{"app": "SHOP", "id": "a",
                "record": {{"cancelled_timestamp": {0}, "until_timestamp": {1}}}}}]}}"#,
        world.now.wall_ms,
        world.now.wall_ms + 300_000
    );
    imported(&world, &hidden, ImportOptions { is_fresh: true, ..KEEP }).unwrap();
    let verdict = inspect(&world.place().path, &Sled, RULES, world.now).unwrap().verdict;
    assert!(matches!(verdict, Verdict::Warm { instances: 0, ended: 1, .. }), "{verdict:?}");
    let empty = fresh(world.now);
    imported(&empty, NOTHING, KEEP).unwrap();
    let verdict = inspect(&empty.place().path, &Sled, RULES, empty.now).unwrap().verdict;
    assert_eq!(verdict, Verdict::TooOld { too_old: 0, overrides: 0, tombstones: 0 });
}

#[test]
fn a_folder_without_a_store_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter"), "to whom it may concern").unwrap();
    let nothing = inspect(dir.path(), &Sled, RULES, World::new().now).unwrap_err();
    assert!(matches!(nothing, ToolError::NoSnapshot(_)), "{nothing}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn documents_that_do_not_fit_are_refused_with_the_reason() {
    let world = fresh(World::new().now);
    let entry = |app: &str, host: &str| {
        format!(r#"{{"app": "{app}", "id": "a", "record": {{"host_name": "{host}", "ip_addr": "i"}}}}"#)
    };
    let large = format!(r#"{{"instances": [{}]}}"#, entry("SHOP", &"x".repeat(70_000)));
    let twice = format!(r#"{{"instances": [{}, {}]}}"#, entry("shop", "h"), entry("SHOP", "h"));
    let meta = format!(r#"{{"meta": {{"node_id": "{}"}}, "instances": []}}"#, "x".repeat(70_000));
    for (document, why) in [
        (large, "SHOP/a cannot be imported: its record has 7"),
        (twice, "SHOP/a cannot be imported: it is in the document twice"),
        (meta, "meta.node_id has 70000 bytes, at most 1024 can be stored"),
    ] {
        let refused = imported(&world, &document, KEEP).unwrap_err().to_string();
        assert!(refused.starts_with(why), "{refused}");
        assert!(!world.place().path.exists());
    }
}

#[test]
fn an_import_that_fails_leaves_no_store_behind() {
    let world = World::new();
    world.disk.fail_after(2);
    let path = world.place().path;
    import(&path, &world.disk, &mut NOTHING.as_bytes(), KEEP, world.now).unwrap_err();
    world.disk.repair();
    assert!(!path.join("store-1").exists());
    import(&path, &world.disk, &mut NOTHING.as_bytes(), KEEP, world.now).unwrap();
}

#[test]
fn an_import_without_room_for_two_leaves_the_snapshot_that_is_there() {
    let mut world = World::following();
    world.register(crate::support::instance("SHOP", "a"));
    world.round();
    world.stop();
    let path = world.place().path;
    let replacing = ImportOptions { replaces: true, ..KEEP };
    world.disk.fail_after(2);
    let refused = import(&path, &world.disk, &mut NOTHING.as_bytes(), replacing, world.now).unwrap_err();
    assert!(refused.to_string().starts_with("the snapshot cannot be written, and nothing has changed"));
    world.disk.repair();
    world.start();
    assert_eq!((world.outcome(), world.picture().ids()), ("warm", vec!["SHOP/a".to_owned()]));
}

#[test]
fn a_document_that_is_made_fresh_is_as_young_with_all_that_is_in_it() {
    let world = stopped();
    let text = exported(&world.place().path, world.now);
    let later = Now { wall_ms: world.now.wall_ms + i64::try_from(2 * HOUR_MS).unwrap(), ..world.now };
    let refreshed = fresh(later);
    imported(&refreshed, &text, ImportOptions { is_fresh: true, ..KEEP }).unwrap();
    let verdict = |world: &World| inspect(&world.place().path, &Sled, RULES, world.now).unwrap().verdict;
    assert_eq!(verdict(&refreshed), verdict(&world), "its tombstone was over an hour ago");
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
