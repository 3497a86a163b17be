//! The log of recent changes, and the delta document made from it.

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use heureka_actors::cache::{Encoding, Scope, Variant, View};
use heureka_bench::fleet::Fleet;
use heureka_protocol::{ActionType, Form};
use heureka_registry::{DeltaLog, Record};
use mimalloc::MiMalloc;

/// As in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const DELTA: Variant = Variant { scope: Scope::Delta, form: Form::JsonFull, encoding: Encoding::Gzip };
/// Instances of the registry.
const SIZE: usize = 10_000;
/// Recent changes.
const CHANGED: [usize; 2] = [10, 1_000];

/// A registry in which so many instances have changed of late; no delta has been made since.
fn changed(count: usize) -> View {
    let fleet = Fleet::new(1, SIZE);
    let mut registry = common::Registry::filled(&fleet);
    registry.view.expire_recent(u64::MAX);
    registry.view.bump_version();
    registry.view.document(DELTA);
    for instance in (0..SIZE).step_by(SIZE / count) {
        let change = registry.register(&fleet, instance, 1);
        registry.view.apply(&change, common::NOW);
    }
    registry.view.bump_version();
    registry.view
}

fn records() -> Vec<Arc<Record>> {
    let fleet = Fleet::of_one_app(1, "orders", 1_000);
    let mut registry = common::Registry::new();
    (0..fleet.len()).map(|instance| registry.register(&fleet, instance, 0).record).collect()
}

fn delta(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("delta");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for count in CHANGED {
        let view = changed(count);
        group.bench_function(BenchmarkId::new("document after changes", count), |bencher| {
            bencher.iter_batched_ref(
                || view.clone(),
                |view| black_box(view.document(DELTA).len()),
                BatchSize::LargeInput,
            );
        });
    }
    let records = records();
    group.bench_function("log: 1,000 changes of one application", |bencher| {
        bencher.iter(|| {
            let mut log = DeltaLog::new();
            for record in &records {
                log.push(Arc::clone(record), ActionType::Added, 1);
            }
            log.entries().count()
        });
    });
    group.finish();
}

criterion_group!(benches, delta);
criterion_main!(benches);
