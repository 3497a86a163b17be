//! Reading and writing one instance, and the hash code.

mod common;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use heureka_bench::fleet::{Fleet, write_xml};
use heureka_protocol::{Form, Limits, Place, StatusCounts, document, json, xml};

fn reading(criterion: &mut Criterion) {
    let fleet = Fleet::new(1, 1000);
    let bodies: Vec<Vec<u8>> = (0..1000).map(|instance| common::body(&fleet, instance, 0)).collect();
    let limits = Limits::default();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Bytes(bodies.iter().map(Vec::len).sum::<usize>() as u64 / 1000));
    let mut next = (0..1000).cycle();
    group.bench_function("json", |bencher| {
        bencher
            .iter(|| next.next().map(|index: usize| json::read_instance(black_box(&bodies[index]), &limits)));
    });
    let bodies: Vec<Vec<u8>> = (0..1000)
        .map(|instance| {
            let mut body = Vec::new();
            write_xml(&fleet.record(instance, 0), &mut body);
            body
        })
        .collect();
    group.throughput(Throughput::Bytes(bodies.iter().map(Vec::len).sum::<usize>() as u64 / 1000));
    group.bench_function("xml", |bencher| {
        bencher
            .iter(|| next.next().map(|index: usize| xml::read_instance(black_box(&bodies[index]), &limits)));
    });
    group.finish();
}

fn writing(criterion: &mut Criterion) {
    let fleet = Fleet::new(1, 1000);
    let app = |instance| fleet.app_of(instance).name.clone();
    let instances: Vec<_> = (0..1000).map(|i| common::read(&common::body(&fleet, i, 0), &app(i))).collect();
    let mut group = criterion.benchmark_group("write");
    let mut next = (0..1000).cycle();
    let mut out = Vec::with_capacity(8192);
    for form in Form::ALL {
        group.bench_function(format!("{form:?}"), |bencher| {
            bencher.iter(|| {
                out.clear();
                let instance = &instances[next.next().unwrap_or(0)];
                document::write_instance(
                    form,
                    Place::InApplications,
                    black_box(instance),
                    &instance.lease,
                    &mut out,
                );
                out.len()
            });
        });
    }
    group.finish();
    let counts: StatusCounts = instances.iter().map(|instance| instance.status).collect();
    criterion.bench_function("hash code", |bencher| bencher.iter(|| black_box(&counts).hash_code()));
}

criterion_group!(benches, reading, writing);
criterion_main!(benches);
