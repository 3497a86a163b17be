//! Real files of sled, cut off, with flipped bits, incomplete, on a full disk: old or nothing, never wrong.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heureka_protocol::Status;
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::news::WriterState;
use heureka_snapshots::sled_store::Sled;

use crate::support::instance;
use crate::world::{Picture, World};

/// A folder as a node has left it, and all states that it has ever kept.
struct Left {
    world: World,
    states: Vec<Picture>,
}

/// Changes of one round: all in one batch, so that no state lies between two rounds.
const PER_ROUND: usize = 150;

/// A node that has lived for a few rounds in which instances came, changed and went.
fn left_behind(instances: usize, stops_in_order: bool) -> Left {
    let mut world = World::with_store(MemoryDisk::new(), Arc::new(Sled));
    world.start();
    world.open();
    world.round();
    let mut states = vec![world.picture()];
    for round in 0..4 {
        let indices: Vec<usize> = (round..instances).step_by(2).collect();
        for some in indices.chunks(PER_ROUND) {
            for index in some {
                let id = format!("{index:04}");
                match round {
                    0 | 1 => world.register(instance("SHOP", &id)),
                    2 => world.set_status("SHOP", &id, Status::OutOfService),
                    _ => world.cancel("SHOP", &id),
                }
            }
            world.round();
            states.push(world.picture());
        }
    }
    if stops_in_order {
        world.stop()
    } else {
        world.crash()
    }
    Left { world, states }
}

/// A loss of power while sled opens its store leaves such a file; a full disk does too.
#[test]
fn a_summary_that_was_not_finished_harms_nothing() {
    for content in [&b""[..], &b"half a summ"[..]] {
        let Left { mut world, states } = left_behind(60, true);
        let summary = world.place().path.join("store-1/snap.00000000FFFFFFFF.generating");
        fs::write(&summary, content).unwrap();
        world.start();
        assert_eq!((world.outcome(), Some(&world.picture())), ("warm", states.last()));
        assert!(!summary.exists());
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        entries.flat_map(|path| if path.is_dir() { files_in(&path) } else { vec![path] }).collect();
    files.sort();
    files
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

impl Left {
    /// Where the data of the store is.
    fn data(&self) -> PathBuf {
        self.world.place().path.join("store-1/db")
    }

    /// A new node on a copy of the folder with some damage. Returns how it started.
    fn start_damaged(&self, what: &str, damage: impl FnOnce(&Path)) -> (World, &'static str) {
        let mut world = World::with_store(MemoryDisk::new(), Arc::new(Sled));
        world.now = self.world.now;
        copy_all(&self.world.place().path, &world.place().path);
        damage(&world.place().path);
        world.start();
        let (outcome, found) = (world.outcome(), world.picture());
        if outcome == "warm" && world.report.as_ref().unwrap().bad_records == 0 {
            assert!(self.states.contains(&found), "{what}: a state that never was");
        } else if outcome == "warm" {
            let is_part =
                |state: &Picture| found.instances.iter().all(|(k, v)| state.instances.get(k) == Some(v));
            assert!(self.states.iter().any(is_part), "{what}: a state that never was");
        } else {
            assert_eq!(found, Picture::default(), "{what}: {outcome}");
            assert!(world.report.as_ref().unwrap().to_string().len() > 40, "{what}: a message");
        }
        (world, outcome)
    }

    /// The node goes on as any other.
    fn check_next_life(mut world: World) {
        world.open();
        world.register(instance("NEXT", "x"));
        world.round();
        let before = world.picture();
        world.restart();
        assert_eq!((world.outcome(), world.picture()), ("warm", before));
    }

    fn cut_off_at(&self, lengths: impl IntoIterator<Item = usize>) {
        let whole = fs::read(self.data()).unwrap();
        let mut quarantined = 0;
        for (index, length) in lengths.into_iter().take_while(|length| *length < whole.len()).enumerate() {
            let (world, outcome) = self.start_damaged(&format!("cut off at {length}"), |folder| {
                fs::write(folder.join("store-1/db"), &whole[..length]).unwrap();
            });
            quarantined += usize::from(outcome == "quarantined");
            if index % 64 == 0 {
                Self::check_next_life(world);
            }
        }
        assert!(quarantined > 0, "no cut was ever noticed");
    }

    fn flip_bits_at(&self, offsets: impl IntoIterator<Item = usize>) -> Vec<&'static str> {
        let whole = fs::read(self.data()).unwrap();
        let mut outcomes = Vec::new();
        for offset in offsets.into_iter().take_while(|offset| *offset < whole.len()) {
            let (world, outcome) = self.start_damaged(&format!("bit at {offset}"), |folder| {
                let mut bytes = whole.clone();
                bytes[offset] ^= 1 << (offset % 8);
                fs::write(folder.join("store-1/db"), bytes).unwrap();
            });
            outcomes.push(outcome);
            if outcomes.len() % 64 == 0 {
                Self::check_next_life(world);
            }
        }
        outcomes
    }
}

#[test]
fn undamaged_files_give_the_last_state() {
    for stops_in_order in [false, true] {
        let left = left_behind(40, stops_in_order);
        let (world, outcome) = left.start_damaged("nothing", |_| {});
        assert_eq!((outcome, Some(&world.picture())), ("warm", left.states.last()));
        assert_eq!(world.report.as_ref().unwrap().was_clean, Some(stops_in_order));
        Left::check_next_life(world);
    }
}

#[test]
fn files_that_are_cut_off_give_old_or_nothing() {
    let left = left_behind(4, false);
    left.cut_off_at((0..).step_by(7));
    let left = left_behind(4, true);
    left.cut_off_at((0..).step_by(7));
}

/// Every single length takes a minute or two.
#[test]
#[ignore = "slow"]
fn files_that_are_cut_off_anywhere_give_old_or_nothing() {
    for stops_in_order in [false, true] {
        left_behind(4, stops_in_order).cut_off_at(0..);
    }
}

#[test]
fn a_flipped_bit_in_every_block_gives_old_or_nothing() {
    let left = left_behind(150, false);
    // Another place in each block.
    let outcomes = left.flip_bits_at((0..).map(|block| block * 1024 + block * 37 % 1024));
    assert!(outcomes.len() > 100 && outcomes.contains(&"quarantined"), "{outcomes:?}");
}

#[test]
#[ignore = "slow"]
fn flipped_bits_in_large_stores_give_old_or_nothing() {
    for stops_in_order in [false, true] {
        let left = left_behind(1_000, stops_in_order);
        let outcomes = left.flip_bits_at((0..).map(|block| block * 1024 + block * 37 % 1024));
        assert!(outcomes.len() > 1_000, "{}", outcomes.len());
    }
}

#[test]
fn any_one_file_may_be_missing_or_empty() {
    let left = left_behind(40, true);
    let folder = left.world.place().path;
    let files = files_in(&folder);
    assert!(files.len() >= 4, "{files:?}");
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap();
        let (world, _) = left.start_damaged(&format!("without {}", name.display()), |folder| {
            fs::remove_file(folder.join(name)).unwrap();
        });
        Left::check_next_life(world);
        let (world, _) = left.start_damaged(&format!("empty {}", name.display()), |folder| {
            fs::write(folder.join(name), "").unwrap();
        });
        Left::check_next_life(world);
    }
}

#[test]
fn a_block_of_zeros_gives_old_or_nothing() {
    let left = left_behind(100, false);
    let whole = fs::read(left.data()).unwrap();
    for from in (0..whole.len()).step_by(4096) {
        let to = whole.len().min(from + 4096);
        left.start_damaged(&format!("zeros from {from}"), |folder| {
            let mut bytes = whole.clone();
            bytes[from..to].fill(0);
            fs::write(folder.join("store-1/db"), bytes).unwrap();
        });
    }
}

/// Needs a file system of its own, for example `mount -t tmpfs -o size=64m tmpfs /tmp/small`, named by
/// `HEUREKA_SMALL_DISK`.
#[test]
#[ignore = "needs a small file system"]
fn a_full_disk_costs_the_snapshots_only_and_only_while_it_is_full() {
    let disk = PathBuf::from(std::env::var_os("HEUREKA_SMALL_DISK").unwrap());
    let mut world = World::with_store(MemoryDisk::new(), Arc::new(Sled));
    world.dir = tempfile::tempdir_in(&disk).unwrap();
    world.start();
    world.open();
    for index in 0..500 {
        world.register(instance("SHOP", &format!("{index:04}")));
    }
    world.round();
    let filler = disk.join("filler");
    for (round, free_kb) in [0, 100, 200, 500, 1_000, 2_000, 8_000].into_iter().enumerate() {
        let kept = world.picture();
        fill(&filler, free_kb * 1024);
        for index in 0..400 {
            world.cancel("SHOP", &format!("{index:04}"));
            world.register(instance("CART", &format!("{round}-{index:04}")));
        }
        for _ in 0..200 {
            world.pass(500);
            world.try_round();
        }
        assert_eq!(world.writer().stats().state, WriterState::Failing, "{free_kb} KB");
        if round % 2 == 1 {
            // A start on the full disk: the old state, or nothing.
            world.crash();
            world.start();
            assert!(world.picture().ids() == kept.ids() || world.outcome() == "unusable", "{free_kb} KB");
            world.open();
            world.try_round();
        }
        fs::remove_file(&filler).unwrap();
        world.pass(60_000);
        world.round();
        let before = world.picture();
        world.restart();
        assert_eq!((world.outcome(), world.picture()), ("warm", before), "{free_kb} KB");
    }
}

/// Writes until only so much is free.
fn fill(path: &Path, free_bytes: u64) {
    use std::io::Write;
    let mut file = fs::File::create(path).unwrap();
    for size in [65_536, 4_096, 1] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
    let length = file.metadata().unwrap().len();
    file.set_len(length.saturating_sub(free_bytes)).unwrap();
}
