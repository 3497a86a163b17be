//! The queue of one peer, with 1,000 and 50,000 instances in it: its costs must not depend on how many wait.

mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use heureka_bench::fleet::Fleet;
use heureka_protocol::batch::ItemResponse;
use heureka_registry::replication::{Outcome, PeerQueue, QueueSettings};
use heureka_registry::{Change, Record, SplitMix64};
use mimalloc::MiMalloc;

/// As in the server.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const SIZES: [usize; 2] = [1_000, 50_000];
/// Longer than a queue waits before the next batch.
const PAUSE_MS: u64 = 1_000;
const BATCH: u64 = 250;

/// A queue in which every instance of a fleet waits with its registration.
struct Waiting {
    queue: PeerQueue,
    changes: Vec<Change>,
    now_ms: u64,
    random: SplitMix64,
}

impl Waiting {
    fn new(size: usize) -> Self {
        let fleet = Fleet::new(1, size);
        let mut registry = common::Registry::new();
        let changes: Vec<_> = (0..size).map(|instance| registry.register(&fleet, instance, 0)).collect();
        let now_ms = common::NOW.mono_ms;
        let mut queue = PeerQueue::new(QueueSettings::default());
        changes.iter().for_each(|change| queue.offer(change, now_ms));
        Self { queue, changes, now_ms, random: SplitMix64::new(1) }
    }

    /// Takes a batch, has all of it confirmed, and lets the same instances wait again.
    fn turn(&mut self, by_place: &mut impl Iterator<Item = usize>) -> usize {
        self.now_ms += PAUSE_MS;
        let Some(batch) = self.queue.next_batch(self.now_ms) else { return 0 };
        let answers = batch.items().iter().map(|_| ItemResponse { status_code: 200, entity: None });
        let outcome = Outcome::Answered(answers.collect());
        black_box(self.queue.on_result(&batch, outcome, self.now_ms, &mut self.random));
        for place in by_place.by_ref().take(batch.items().len()) {
            self.queue.offer(&self.changes[place], self.now_ms);
        }
        batch.items().len()
    }
}

fn queue(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("replication queue");
    group.sample_size(20).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for size in SIZES {
        let mut waiting = Waiting::new(size);
        let records: Vec<Arc<Record>> =
            waiting.changes.iter().map(|change| Arc::clone(&change.record)).collect();
        let mut places = (0..size).cycle();
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("put a change", size), |bencher| {
            bencher.iter(|| {
                let place = places.next().unwrap_or(0);
                waiting.queue.offer(black_box(&waiting.changes[place]), waiting.now_ms);
            });
        });
        group.bench_function(BenchmarkId::new("put a heartbeat", size), |bencher| {
            bencher.iter(|| {
                let place = places.next().unwrap_or(0);
                waiting.queue.offer_heartbeat(black_box(&records[place]), waiting.now_ms);
            });
        });
        let mut in_turn = (0..size).cycle();
        group.throughput(Throughput::Elements(BATCH));
        group.bench_function(BenchmarkId::new("take a batch, answer it, put it again", size), |bencher| {
            bencher.iter(|| assert_eq!(waiting.turn(&mut in_turn), BATCH as usize));
        });
        assert_eq!(waiting.queue.len(), size, "every instance waits again");
    }
    group.finish();
}

criterion_group!(benches, queue);
criterion_main!(benches);
