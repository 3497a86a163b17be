//! Starts that cannot use a snapshot though nothing is wrong with it: it stays for the next one, and is never removed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::opening::open;
use heureka_snapshots::report::Outcome;
use heureka_snapshots::store::{OpenStore, Store, StoreError};
use heureka_snapshots::writer::Writer;

use crate::support::instance;
use crate::world::{World, crashed, quarantines};

/// Opens stores that hang, panic or fail.
pub struct Broken<O>(MemoryDisk, O);

impl<O: Fn() -> Result<(), StoreError> + Send + Sync> OpenStore for Broken<O> {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        (self.1)()?;
        self.0.open(folder)
    }

    fn free_bytes(&self, folder: &Path) -> Result<u64, StoreError> {
        self.0.free_bytes(folder)
    }
}

pub fn fails_once(
    how: impl Fn() -> Result<(), StoreError> + Send + Sync + 'static,
) -> Arc<dyn Fn(MemoryDisk) -> Arc<dyn OpenStore>> {
    let how = Arc::new(how);
    Arc::new(move |disk| {
        let (how, opened) = (Arc::clone(&how), AtomicBool::new(false));
        let once = move || if opened.swap(true, Ordering::SeqCst) { Ok(()) } else { how() };
        Arc::new(Broken(disk, once))
    })
}

/// Each as it would be met: a store that did not open on a disk that takes nothing, no pointer on such a disk, a store that
/// somebody has open.
fn troubles() -> Vec<(&'static str, World)> {
    let blocked = || {
        let world = crashed();
        // The disk is asked for some room with a file of this name.
        std::fs::create_dir(world.place().path.join("PROBE")).unwrap();
        world
    };
    let fails = |mut world: World, error: fn() -> StoreError| {
        world.opener = fails_once(move || Err(error()))(world.disk.clone());
        world
    };
    let no_pointer = blocked();
    std::fs::remove_file(no_pointer.place().path.join("CURRENT")).unwrap();
    vec![
        ("does not open", fails(blocked(), || StoreError::new("open", "no space left on device"))),
        ("no pointer", no_pointer),
        ("is locked", fails(crashed(), || StoreError::busy("open", "could not acquire lock"))),
    ]
}

#[test]
fn a_store_that_is_not_to_blame_stays_for_the_next_start() {
    for (trouble, mut world) in troubles() {
        world.start();
        assert_eq!((world.outcome(), quarantines(&world)), ("unusable", Vec::new()), "{trouble}");
        world.crash();
        let _ = std::fs::remove_dir(world.place().path.join("PROBE"));
        world.start();
        let expected = if trouble == "no pointer" { ("quarantined", 0) } else { ("warm", 3) };
        assert_eq!((world.outcome(), world.picture().ids().len()), expected, "{trouble}");
    }
}

#[test]
fn a_cold_registry_takes_the_place_of_a_snapshot_that_could_not_be_used_but_does_not_remove_it() {
    for (trouble, mut world) in troubles() {
        world.start();
        let _ = std::fs::remove_dir(world.place().path.join("PROBE"));
        assert_eq!(world.outcome(), "unusable", "{trouble}");
        world.open();
        world.register(instance("CART", "z"));
        world.pass(60_000);
        world.round();
        assert_eq!(quarantines(&world), [format!("store-1.quarantine-{}", world.now.wall_ms)], "{trouble}");
        let aside = world.place().path.join(&quarantines(&world)[0]);
        assert!(aside.is_dir());
        let told: Vec<_> = world.writer().take_news().iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|text| text.contains(".quarantine-")), "{trouble}: {told:?}");
        world.restart();
        assert_eq!(
            (world.outcome(), world.picture().ids()),
            ("warm", vec!["CART/z".to_owned()]),
            "{trouble}"
        );
        // Later rewrites remove what they replace, as always.
        world.writer().note_incomplete();
        world.round();
        assert_eq!(quarantines(&world).len(), 1, "{trouble}");
    }
}

#[test]
fn attempts_of_this_process_are_removed() {
    for operations in 0..4 {
        let mut world = World::new();
        world.disk.fail_after(operations);
        world.start();
        world.disk.repair();
        world.open();
        world.register(instance("SHOP", "a"));
        world.pass(60_000);
        world.round();
        assert_eq!(quarantines(&world), Vec::<String>::new(), "failed after {operations}");
        world.restart();
        assert_eq!(world.picture().ids(), ["SHOP/a"]);
    }
}

#[test]
fn a_new_store_that_is_made_too_slowly_does_not_become_the_one_in_use() {
    let (release, is_released) = std::sync::mpsc::channel::<()>();
    let is_released = std::sync::Mutex::new(is_released);
    let hangs = fails_once(move || {
        let _ = is_released.lock().unwrap().recv();
        Ok(())
    });
    let world = World::new();
    let mut opening = world.opening();
    opening.place.opener = hangs(world.disk.clone());
    opening.time_limit = Duration::from_millis(300);
    let maker = Arc::downgrade(&opening.place.opener);
    let opened = open(opening, world.now).unwrap();
    assert!(matches!(opened.report.outcome, Outcome::Unusable { .. }), "{:?}", opened.report);
    drop(opened);
    drop(release);
    while maker.strong_count() > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!world.place().path.join("CURRENT").exists());
}

#[test]
fn a_store_that_loads_too_slowly_is_left_alone_also_by_its_loader() {
    for is_complete in [true, false] {
        let (release, is_released) = std::sync::mpsc::channel::<()>();
        let is_released = std::sync::Mutex::new(is_released);
        let hangs = fails_once(move || {
            let _ = is_released.lock().unwrap().recv();
            Ok(())
        });
        let mut world = if is_complete { crashed() } else { World::new() };
        if !is_complete {
            // A store that was never complete: the loader would remove it, and the pointer.
            world.start();
            world.crash();
        }
        let pointer = || std::fs::read_to_string(world.place().path.join("CURRENT")).unwrap();
        let before = pointer();
        let mut opening = world.opening();
        opening.place.opener = hangs(world.disk.clone());
        opening.time_limit = Duration::from_millis(300);
        let loader = Arc::downgrade(&opening.place.opener);
        let opened = open(opening, world.now).unwrap();
        let Outcome::Unusable { why } = opened.report.outcome else { panic!("{:?}", opened.report) };
        assert_eq!(why, "it was not loaded within 300 ms");
        assert_eq!((pointer(), quarantines(&world).len()), (before.clone(), 0));
        drop(Writer::new(world.settings, opened.start));
        drop(release);
        while loader.strong_count() > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(pointer(), before);
        world.start();
        let expected = if is_complete { ("warm", 3) } else { ("nothing_kept", 0) };
        assert_eq!((world.outcome(), world.picture().ids().len()), expected);
    }
}
