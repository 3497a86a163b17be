//! What one change costs in a registry of 1,000, 10,000 and 100,000 instances: it must not depend on the size.

mod common;

use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use heureka_actors::cache::{Encoding, Scope, Variant, View};
use heureka_bench::fleet::Fleet;
use heureka_protocol::Form;
use heureka_registry::Change;
use mimalloc::MiMalloc;

/// As in the server: documents are large, and allocators differ most in large pieces.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const FULL: Variant = Variant { scope: Scope::Full, form: Form::JsonFull, encoding: Encoding::Gzip };
const DELTA: Variant = Variant { scope: Scope::Delta, form: Form::JsonFull, encoding: Encoding::Gzip };
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Instances that change in turn; in applications all over the registry.
const CHANGING: usize = 100;

/// A registry whose documents are made and whose deltas are empty, and changes to come, all in applications of usual size.
fn prepare(size: usize) -> (View, Vec<Change>) {
    let fleet = Fleet::new(1, size);
    let mut registry = common::Registry::filled(&fleet);
    registry.view.expire_recent(u64::MAX);
    registry.view.bump_version();
    for variant in [FULL, DELTA] {
        registry.view.document(variant);
    }
    let mean = size / fleet.apps().len();
    let usual: Vec<usize> =
        fleet.apps().iter().filter(|app| app.len.abs_diff(mean) <= mean / 3).map(|app| app.first).collect();
    let instances = usual.iter().cycle().take(CHANGING);
    let changes = instances
        .enumerate()
        .map(|(index, first)| registry.register(&fleet, first + index % 3, 1 + index as u32));
    let changes = changes.collect();
    (registry.view, changes)
}

/// Takes a change in and makes both documents of the next version, as the cache does at a publication.
fn publish(view: &mut View, change: &Change) -> (u64, u64) {
    view.apply(change, common::NOW);
    view.bump_version();
    let published = view.clone();
    (published.document(FULL).len(), published.document(DELTA).len())
}

fn change(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("change");
    group.sample_size(20);
    for size in SIZES {
        let (view, changes) = prepare(size);
        let mut next = changes.iter().cycle();
        group.bench_function(BenchmarkId::new("apply, publish, full and delta", size), |bencher| {
            bencher.iter_batched_ref(
                || view.clone(),
                |view| next.next().map(|change| black_box(publish(view, change))),
                BatchSize::LargeInput,
            );
        });
        group.bench_function(BenchmarkId::new("apply", size), |bencher| {
            bencher.iter_batched_ref(
                || view.clone(),
                |view| next.next().map(|change| view.apply(black_box(change), common::NOW)),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, change);
criterion_main!(benches);
