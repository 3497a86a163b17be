//! Disks that are nearly full: the store never meets their end, and nothing is lost when there is room again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use heureka_protocol::{Instance, Metadata};
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::news::WriterState;
use heureka_snapshots::room::{RESERVE_BYTES, needed_for};
use heureka_snapshots::sled_store::Sled;
use heureka_snapshots::store::{Batch, OpenStore, Store, StoreError, Visitor};

use crate::support::instance;
use crate::world::World;

/// sled on a disk of which a test says how much is free.
#[derive(Default)]
struct Disk {
    free_bytes: AtomicU64,
    /// sled wrote where it would have met the end of the disk. A panic there would be taken for a failure of the store.
    was_met_full: AtomicBool,
}

struct Crowded(Arc<Disk>);

struct CrowdedStore(Box<dyn Store>, Arc<Disk>);

impl Disk {
    fn of(free_bytes: u64) -> Arc<Self> {
        Arc::new(Self { free_bytes: AtomicU64::new(free_bytes), ..Self::default() })
    }

    fn note_write(&self) {
        if self.free_bytes.load(Ordering::SeqCst) < RESERVE_BYTES {
            self.was_met_full.store(true, Ordering::SeqCst);
        }
    }
}

impl OpenStore for Crowded {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        Ok(Box::new(CrowdedStore(Sled.open(folder)?, Arc::clone(&self.0))))
    }

    fn free_bytes(&self, _: &Path) -> Result<u64, StoreError> {
        Ok(self.0.free_bytes.load(Ordering::SeqCst))
    }
}

impl Store for CrowdedStore {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.get(key)
    }

    fn visit(&self, prefix: &[u8], after: &[u8], visitor: &mut Visitor<'_>) -> Result<(), StoreError> {
        self.0.visit(prefix, after, visitor)
    }

    fn apply(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.1.note_write();
        self.0.apply(batch)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.1.note_write();
        self.0.flush()
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        Ok(self.1.free_bytes.load(Ordering::SeqCst))
    }

    fn size_on_disk(&self) -> Result<u64, StoreError> {
        self.0.size_on_disk()
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        self.1.note_write();
        self.0.close()
    }
}

fn large(id: &str) -> Instance {
    let metadata = [("text", "x".repeat(15_000))].into_iter().collect::<Metadata>();
    Instance { metadata, ..instance("SHOP", id) }
}

#[test]
fn a_nearly_full_disk_stops_the_snapshots_and_harms_none() {
    for free_kb in [0, 100, 500, 1_000, 2_000, 8_191] {
        let disk = Disk::of(u64::MAX);
        let mut world = World::with_store(MemoryDisk::new(), Arc::new(Crowded(Arc::clone(&disk))));
        world.start();
        world.open();
        for index in 0..50 {
            world.register(large(&format!("{index}")));
        }
        world.round();
        let before = world.picture();

        disk.free_bytes.store(free_kb * 1024, Ordering::SeqCst);
        for index in 0..50 {
            world.cancel("SHOP", &format!("{index}"));
            world.register(large(&format!("new-{index}")));
        }
        for _ in 0..100 {
            assert!(!world.try_round());
            world.pass(1_000);
        }
        let stats = world.writer().stats();
        assert_eq!(stats.state, WriterState::Failing);
        assert!(stats.problem.unwrap().contains("the disk is nearly full"));
        let latest = world.picture();

        // A restart meanwhile gives what was written before, and leaves it.
        let (pending, backlog) =
            (std::mem::replace(&mut world.pending, empty()), std::mem::take(&mut world.backlog));
        let apps = std::mem::take(&mut world.apps);
        world.crash();
        world.start();
        assert_eq!((world.outcome(), world.picture().ids()), ("warm", before.ids()), "{free_kb} KB");
        (world.pending, world.backlog, world.apps) = (pending, backlog, apps);
        world.open();
        assert!(!world.try_round());

        assert!(!disk.was_met_full.load(Ordering::SeqCst), "{free_kb} KB: sled would have met a full disk");
        disk.free_bytes.store(u64::MAX, Ordering::SeqCst);
        world.pass(60_000);
        world.round();
        assert_eq!(world.writer().stats().state, WriterState::Following);
        world.restart();
        assert_eq!((world.outcome(), world.picture().ids()), ("warm", latest.ids()), "{free_kb} KB");
    }
}

fn empty() -> heureka_snapshots::pending::Pending {
    heureka_snapshots::pending::Pending::with_limit(100_000)
}

#[test]
fn room_is_asked_for_before_each_batch_with_what_it_needs() {
    let mut world = World::following();
    for index in 0..300 {
        world.register(large(&format!("{index}")));
    }
    // Enough for batches of a megabyte, not for all of it at once.
    world.disk.report_free(Some(needed_for(2 * 1024 * 1024)));
    world.round();
    world.disk.report_free(Some(needed_for(15_000)));
    for index in 0..300 {
        world.register(large(&format!("new-{index}")));
    }
    assert!(!world.try_round());
    world.disk.report_free(None);
    world.pass(60_000);
    world.round();
    assert_eq!(world.picture().ids().len(), 600);
}

#[test]
fn nothing_is_made_or_closed_on_a_nearly_full_disk() {
    let mut world = World::new();
    world.disk.report_free(Some(RESERVE_BYTES - 1));
    world.start();
    assert_eq!(world.outcome(), "unusable");
    assert!(world.report.as_ref().unwrap().to_string().contains("the disk is nearly full"));
    assert_eq!(world.disk.opened(), 0);
    world.disk.report_free(None);
    world.open();
    world.pass(60_000);
    world.round();
    for index in 0..300 {
        world.register(large(&format!("{index}")));
    }
    world.round();
    let opened = world.disk.opened();
    world.disk.report_free(Some(0));
    world.round();
    assert_eq!(world.disk.opened(), opened, "it would give memory back");
    assert_eq!(world.writer().stats().state, WriterState::Following);
}

/// Its first store fails once the disk takes no more operations, and cannot be closed then.
struct NeverCloses(MemoryDisk, AtomicU64);

impl OpenStore for NeverCloses {
    fn open(&self, folder: &Path) -> Result<Box<dyn Store>, StoreError> {
        let is_first = folder.ends_with("store-1");
        if is_first && self.1.fetch_add(1, Ordering::SeqCst) > 0 {
            return Err(StoreError::busy("open", "it is locked"));
        }
        self.0.open(folder)
    }

    fn free_bytes(&self, folder: &Path) -> Result<u64, StoreError> {
        self.0.free_bytes(folder)
    }
}

#[test]
fn another_store_takes_the_place_of_one_that_cannot_be_closed() {
    let disk = MemoryDisk::new();
    let opener = NeverCloses(disk.clone(), AtomicU64::new(0));
    let mut world = World::with_store(disk, Arc::new(opener));
    world.start();
    world.open();
    world.register(instance("SHOP", "a"));
    world.round();
    world.register(instance("SHOP", "b"));
    world.disk.fail_after(0);
    assert!(!world.try_round());
    world.disk.repair();
    world.pass(1_000);
    assert!(!world.try_round(), "it may be closed in a moment");
    assert!(world.place().path.join("store-1").is_dir());
    for _ in 0..5 {
        world.pass(60_000);
        world.try_round();
    }
    world.round();
    let names = std::fs::read_dir(world.place().path).unwrap();
    let names: Vec<_> = names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.contains("quarantine")), "nothing is wrong with it: {names:?}");
    let before = world.picture();
    world.restart();
    assert_eq!((world.outcome(), world.picture()), ("warm", before));
}
