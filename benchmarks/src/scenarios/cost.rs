//! How the cost of a change grows with the registry: CPU of the server per registration, documents in use.

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::load::{Pool, open};
use crate::report::{Figure, Plot, Section, Series, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Registrations a second. Slow enough that each is published for itself at most ten times a second.
const RATE: f64 = 100.0;
/// Times that the cost at each size is measured.
const ROUNDS: usize = 3;
/// The cost at the largest size may be at most this many times that at the smallest.
const FLAT: f64 = 1.5;

/// One server, filled step by step.
///
/// # Errors
/// If the server fails.
pub async fn of_changes(
    plan: &Plan,
    server: &Server,
    sizes: &[usize],
    section: &mut Section,
) -> anyhow::Result<(Figure, Series)> {
    let mut points = Vec::new();
    for &size in sizes {
        let fleet = Fleet::new(plan.seed, size);
        setup::fill(server, &fleet).await?;
        setup::fetch(server, "apps/delta").await?;
        waiting::until_delta_is_empty(server, plan.duration(4_000, 20_000)).await?;
        let cost = cost(plan, server, &fleet).await?;
        section.row([
            server.name.clone(),
            numbers::count(size as f64),
            format!("{} ±{:.0} %", numbers::count(cost.median), cost.percent()),
        ]);
        points.push((size as f64, cost.median));
    }
    let growth =
        points.last().map_or(0.0, |last| last.1) / points.first().map_or(1.0, |first| first.1).max(1e-9);
    let largest = sizes.last().copied().unwrap_or(0) as f64;
    let smallest = sizes.first().copied().unwrap_or(0) as f64;
    let name = format!(
        "{}: cost of a change at {} instances against {}",
        server.name,
        numbers::count(largest),
        numbers::count(smallest)
    );
    let figure = Figure::at_most(&name, format!("{growth:.2} x"), growth, FLAT, "≤ 1.5 x");
    Ok((figure, Series { name: server.name.clone(), points }))
}

/// Microseconds of CPU per registration.
async fn cost(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<Spread> {
    let registrations = setup::registrations(fleet, plan.seed ^ 5, 0);
    let mut writers = Pool::open(server.address(), 8, 4096).await?;
    let time = plan.duration(700, 4_000);
    let mut costs = Vec::new();
    for _ in 0..ROUNDS {
        // Somebody must read, or nothing is encoded.
        setup::fetch(server, "apps/").await?;
        setup::fetch(server, "apps/delta").await?;
        let before = server.cpu()?;
        let outcome = open(&mut writers, &registrations, RATE, time).await?;
        let used = server.cpu()?.since(&before).total();
        costs.push(used.as_secs_f64() * 1e6 / outcome.answers.max(1) as f64);
    }
    Ok(Spread::of(costs))
}

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Cost of a change",
        "100 registrations a second of instances that are known; JSON documents, full and delta, gzip, are in use. CPU time of \
         the server per registration, publication of the changed documents included.",
        &["server", "instances", "µs CPU per change"],
    )
}

/// The plot of it.
#[must_use]
pub fn plot(series: Vec<Series>) -> Plot {
    Plot {
        file: "cost-of-a-change".to_owned(),
        title: "CPU time of one change".to_owned(),
        x: "instances in the registry".to_owned(),
        y: "microseconds".to_owned(),
        series,
    }
}
