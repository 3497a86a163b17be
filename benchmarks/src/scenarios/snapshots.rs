//! What snapshots cost: rates with and without them, disk, memory.

use std::time::{Duration, Instant};

use super::Plan;
use super::setup;
use super::waiting::{gauge, until_written};
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, open};
use crate::measure::Side;
use crate::report::{Figure, Section, numbers};
use crate::servers::{Folder, Server};

/// Switches them off.
const OFF: &str = "--heureka.snapshots.enabled=false";
/// Least share of the rate without snapshots that registrations must reach.
const REGISTER_SHARE: f64 = 0.9;
/// What counts as nothing measurable.
const HEARTBEAT_SHARE: f64 = 0.97;
/// Memory that they may take.
const MEMORY_MB: f64 = 64.0;
/// Disk that they may take, in multiples of what is alive.
const DISK_FACTOR: f64 = 3.0;
/// The node looks at the size of its store every 5 s.
const SETTLED_FOR: Duration = Duration::from_secs(7);
const MB: f64 = 1024.0 * 1024.0;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Snapshots",
        "Two nodes, one with snapshots and one without. Disk: all files, once they keep their size after every instance has \
         registered anew twice, beside the records that live. Memory: resident, after the same filling.",
        &["instances", "memory with", "memory without", "live data", "disk", "factor"],
    )
}

/// Where what is found goes, piece by piece.
pub struct Report<'a> {
    /// Figures.
    pub figures: &'a mut Vec<Figure>,
    /// The table.
    pub section: &'a mut Section,
}

/// Measures all of them.
///
/// # Errors
/// If a node fails.
pub async fn costs(plan: &Plan, report: Report<'_>) -> anyhow::Result<()> {
    let fleet = Fleet::new(plan.seed, plan.count(10_000, 100_000));
    let folder = Folder::new();
    let with = plan.launcher.heureka(&[&folder.option()])?;
    let mut without = plan.launcher.heureka(&[OFF])?;
    without.name = "without".to_owned();
    for server in [&with, &without] {
        setup::fill(server, &fleet).await?;
    }
    until_written(&with, plan.duration(4_000, 60_000)).await?;
    let bytes = [with.memory()?.resident, without.memory()?.resident].map(|bytes| bytes as f64);
    report.figures.push(memory(fleet.len(), bytes));
    report.figures.push(rates(plan, &with, &without, &fleet, Kind::Register).await?);
    report.figures.push(rates(plan, &with, &without, &fleet, Kind::Heartbeat).await?);
    drop(without);
    let renewed = churn(plan, &with, &fleet).await?;
    until_written(&with, plan.duration(4_000, 60_000)).await?;
    until_settled(&folder, plan.duration(1_000, 30_000)).await;
    let live = gauge(&with, "eureka_snapshot_live_bytes").await?;
    let disk = folder.bytes() as f64;
    let factor = disk / live.max(1.0);
    report.section.row([
        numbers::count(fleet.len() as f64),
        numbers::bytes(bytes[0]),
        numbers::bytes(bytes[1]),
        numbers::bytes(live),
        numbers::bytes(disk),
        format!("{factor:.1} x"),
    ]);
    let name = format!("disk of a snapshot of {}, after churn", numbers::count(fleet.len() as f64));
    let mut figure =
        Figure::at_most(&name, format!("{factor:.1} x of what lives"), factor, DISK_FACTOR, "≤ 3 x");
    figure.compared = format!("{} for {}", numbers::bytes(disk), numbers::bytes(live));
    report.figures.push(figure.checked("registrations", &renewed));
    Ok(())
}

fn memory(instances: usize, [with, without]: [f64; 2]) -> Figure {
    let more = (with - without) / MB;
    let name = format!("memory of snapshots of {}", numbers::count(instances as f64));
    let mut figure = Figure::at_most(&name, format!("{more:.1} MB"), more, MEMORY_MB, "≤ 64 MB");
    figure.compared = format!("{} with, {} without", numbers::bytes(with), numbers::bytes(without));
    figure
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Register,
    Heartbeat,
}

/// The same calls to both in turn. Slices are long against the second for which changes wait before they are written, and
/// what is left of one is written before the next begins.
async fn rates(
    plan: &Plan,
    with: &Server,
    without: &Server,
    fleet: &Fleet,
    kind: Kind,
) -> anyhow::Result<Figure> {
    let (workload, name, least) = match kind {
        Kind::Register => (setup::registrations(fleet, plan.seed, 0), "registrations", REGISTER_SHARE),
        Kind::Heartbeat => (setup::heartbeats(fleet, plan.seed), "heartbeats", HEARTBEAT_SHARE),
    };
    let mut sides = [
        Side::new(with, setup::CONNECTIONS, workload.clone()).await?,
        Side::new(without, setup::CONNECTIONS, workload).await?,
    ];
    for side in &mut sides {
        side.warm(plan.duration(200, 1_000)).await?;
    }
    let length = plan.duration(1_200, if kind == Kind::Register { 4_000 } else { 2_000 });
    for round in 0..plan.count(2, 5) {
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for index in order {
            sides[index].run(length).await?;
            if kind == Kind::Register && index == 0 {
                until_written(with, plan.duration(2_000, 5_000)).await?;
            }
        }
    }
    let name = format!("{name} with snapshots, against without");
    Ok(Figure::against(&name, &sides[0], &sides[1], least))
}

/// Waits until the files have kept their size for a while, but not for ever. After a churn the node writes its store anew.
async fn until_settled(folder: &Folder, patience: Duration) {
    let started = Instant::now();
    let mut last = (folder.bytes(), Instant::now());
    while started.elapsed() < patience && last.1.elapsed() < SETTLED_FOR {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let bytes = folder.bytes();
        if bytes != last.0 {
            last = (bytes, Instant::now());
        }
    }
}

/// Every instance registers anew, several times, at a rate that the writer can follow.
async fn churn(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<Outcome> {
    let time = plan.duration(3_000, 20_000);
    let mut pool = Pool::open(server.address(), setup::CONNECTIONS, 4096).await?;
    open(&mut pool, &setup::renewals(fleet), 10_000.0, time).await
}
