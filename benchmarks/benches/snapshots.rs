//! Writing a batch of 500 records to the store on disk, and loading whole stores of 10,000 and 100,000.

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use heureka_bench::fleet::Fleet;
use heureka_bench::servers::Folder;
use heureka_registry::Now;
use heureka_snapshots::contents::Owner;
use heureka_snapshots::failure_points::NoFailures;
use heureka_snapshots::lock_file::Holder;
use heureka_snapshots::opening::{Opened, Opening, open};
use heureka_snapshots::pending::Latest;
use heureka_snapshots::restore::RestoreRules;
use heureka_snapshots::sled_store::Sled;
use heureka_snapshots::writer::{Place, Writer, WriterSettings};
use mimalloc::MiMalloc;

/// As in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const SIZES: [usize; 2] = [10_000, 100_000];
const BATCH: usize = 500;

fn later(ms: u64) -> Now {
    let Now { mono_ms, wall_ms } = common::NOW;
    Now { mono_ms: mono_ms + ms, wall_ms: wall_ms.saturating_add_unsigned(ms) }
}

fn opened(folder: &Folder) -> Opened {
    let opening = Opening {
        place: Place {
            path: folder.path().to_path_buf(),
            holder: Holder::this_process(common::NOW.wall_ms),
            opener: Arc::new(Sled),
            failure_points: Arc::new(NoFailures),
        },
        rules: RestoreRules { max_age_ms: 3_600_000, orphan_ttl_ms: 3_600_000 },
        time_limit: Duration::from_secs(60),
        new_node_id: "bench".to_owned(),
        software: "bench".to_owned(),
    };
    open(opening, later(1)).unwrap_or_else(|error| panic!("{error}"))
}

/// The latest state of every instance of a fleet.
fn states(size: usize) -> Vec<(Owner, Latest)> {
    let fleet = Fleet::new(1, size);
    let mut registry = common::Registry::new();
    let changes = (0..size).map(|instance| registry.register(&fleet, instance, 0));
    changes.map(|change| ((change.app, change.id), Latest::Present(change.record))).collect()
}

/// A writer whose store holds everything.
fn filled(folder: &Folder, states: &[(Owner, Latest)]) -> Writer {
    let mut writer = Writer::new(WriterSettings::default(), opened(folder).start);
    writer.open_for_traffic();
    for batch in states.chunks(5_000) {
        writer.round(batch, later(2)).unwrap_or_else(|error| panic!("{error}"));
    }
    while writer.has_more_to_do() {
        writer.round(&[], later(3)).unwrap_or_else(|error| panic!("{error}"));
    }
    writer
}

fn writing(criterion: &mut Criterion) {
    let (folder, states) = (Folder::new(), states(SIZES[0]));
    let mut writer = filled(&folder, &states);
    let mut group = criterion.benchmark_group("snapshot");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    group.throughput(Throughput::Elements(BATCH as u64));
    let mut batches = states.chunks(BATCH).cycle();
    group.bench_function("write a batch of 500 and flush it to the disk", |bencher| {
        bencher.iter(|| writer.round(black_box(batches.next().unwrap_or_default()), later(4)));
    });
    group.finish();
}

fn loading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("snapshot");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    for size in SIZES {
        let folder = Folder::new();
        let mut writer = filled(&folder, &states(size));
        writer.close(true, later(5)).unwrap_or_else(|error| panic!("{error}"));
        drop(writer);
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::new("load", size), |bencher| {
            bencher.iter_custom(|rounds| (0..rounds).map(|_| load(&folder, size)).sum());
        });
    }
    group.finish();
}

/// The time to open a folder; closing it again does not count.
fn load(folder: &Folder, size: usize) -> Duration {
    let started = Instant::now();
    let opened = opened(folder);
    let took = started.elapsed();
    let found: usize = opened.applications.iter().map(|application| application.records.len()).sum();
    assert_eq!(found, size, "{:?}", opened.report);
    took
}

criterion_group!(benches, writing, loading);
criterion_main!(benches);
