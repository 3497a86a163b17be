//! Allocations of a heartbeat and of a registration, and the bytes that an instance keeps, layer by layer.

mod common;

use std::alloc::System;
use std::hint::black_box;

use heureka_actors::cache::{Encoding, Scope, Variant};
use heureka_bench::fleet::Fleet;
use heureka_protocol::{Form, Limits, json};
use heureka_registry::LeaseExpiry;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const INSTANCES: usize = 10_000;

/// Does something and says how often it allocated and what it kept, per instance.
fn count<R>(name: &str, times: usize, work: impl FnOnce() -> R) -> R {
    let region = Region::new(ALLOCATOR);
    let result = work();
    let stats = region.change();
    // Growth by reallocation is part of both sums.
    let kept = stats.bytes_allocated as f64 - stats.bytes_deallocated as f64;
    let allocations = (stats.allocations + stats.reallocations) as f64 / times as f64;
    println!("| {name} | {allocations:.2} | {:.0} |", kept / times as f64);
    result
}

fn main() {
    println!("| step, per instance | allocations | bytes kept |\n|---|---|---|");
    let fleet = Fleet::new(1, INSTANCES);
    let bodies: Vec<Vec<u8>> = (0..INSTANCES).map(|instance| common::body(&fleet, instance, 0)).collect();
    let text = bodies.iter().map(Vec::len).sum::<usize>() / INSTANCES;
    println!("| the registration itself | | {text} |");
    let drafts = count("read from JSON", INSTANCES, || {
        let limits = Limits::default();
        bodies.iter().map(|body| json::read_instance(body, &limits)).collect::<Vec<_>>()
    });
    drop(drafts);
    let app = |instance| fleet.app_of(instance).name.clone();
    let instances = count("read and completed", INSTANCES, || {
        bodies.iter().enumerate().map(|(i, body)| common::read(body, &app(i))).collect::<Vec<_>>()
    });
    drop(instances);
    registry(&fleet);
}

fn registry(fleet: &Fleet) {
    let mut registry = common::Registry::new();
    let changes = count("read and registered", INSTANCES, || {
        (0..INSTANCES).map(|instance| registry.register(fleet, instance, 0)).collect::<Vec<_>>()
    });
    println!("| (of that, the list of changes itself) | | {} |", size_of::<heureka_registry::Change>());
    count("taken into the view", INSTANCES, || {
        for change in &changes {
            registry.view.apply(change, common::NOW);
        }
    });
    drop(changes);
    let document = |scope, encoding| Variant { scope, form: Form::JsonFull, encoding };
    count("full document, gzip", INSTANCES, || {
        registry.view.document(document(Scope::Full, Encoding::Gzip)).len()
    });
    count("delta beside it, gzip", INSTANCES, || {
        registry.view.document(document(Scope::Delta, Encoding::Gzip)).len()
    });
    count("full document, plain", INSTANCES, || {
        registry.view.document(document(Scope::Full, Encoding::Identity)).len()
    });
    heartbeat(fleet, &registry);
}

/// The heartbeat path below HTTP: look the record up in the view, move its clock.
fn heartbeat(fleet: &Fleet, registry: &common::Registry) {
    let keys: Vec<(String, String)> = (0..INSTANCES)
        .map(|instance| {
            let record = fleet.record(instance, 0);
            (record.app.to_ascii_uppercase(), record.id)
        })
        .collect();
    count("heartbeat below HTTP", INSTANCES, || {
        for (app, id) in &keys {
            let entry = registry.view.app(app).and_then(|app| app.get(id));
            let answer =
                entry.map(|entry| entry.record.try_quick_renewal(Some(0), common::NOW, LeaseExpiry::Java));
            black_box(answer);
        }
    });
}
