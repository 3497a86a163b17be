//! Heureka beside actix-web handlers that do nothing: how close to the framework's own limit it is.

use std::rc::Rc;

use super::Plan;
use super::setup::{self, CONNECTIONS, FETCH_CONNECTIONS};
use crate::fleet::Fleet;
use crate::load::Workload;
use crate::measure::{Side, interleave};
use crate::report::{Figure, numbers};
use crate::servers::{Baseline, Server};

/// Heartbeats against the empty handler.
///
/// # Errors
/// If a server fails.
pub async fn heartbeats(plan: &Plan, ours: &Server, fleet: &Fleet) -> anyhow::Result<Figure> {
    let empty = plan.launcher.baseline(Baseline::Empty)?;
    let workload = setup::heartbeats(fleet, plan.seed);
    compare(plan, "heartbeats", ours, &empty, (workload.clone(), workload), CONNECTIONS, 0.85).await
}

/// Repeated registrations against a handler that reads their body.
///
/// # Errors
/// If a server fails.
pub async fn registrations(plan: &Plan, ours: &Server, fleet: &Fleet) -> anyhow::Result<Figure> {
    let reading = plan.launcher.baseline(Baseline::ReadBody)?;
    let workload = setup::registrations(fleet, plan.seed, 0);
    compare(plan, "repeated registrations", ours, &reading, (workload.clone(), workload), CONNECTIONS, 0.60)
        .await
}

/// A read against a handler that serves the same bytes.
///
/// # Errors
/// If a server fails.
pub async fn read(plan: &Plan, ours: &Server, name: &str, path: &str, least: f64) -> anyhow::Result<Figure> {
    let fixed = plan.launcher.baseline(Baseline::Static)?;
    let body = setup::fetch(ours, path).await?;
    setup::keep_static(&fixed, &body).await?;
    let workload = setup::get(path);
    #[allow(clippy::cast_precision_loss)]
    let name = format!("{name} ({})", numbers::bytes(body.len() as f64));
    let connections = if body.len() > 50_000 { FETCH_CONNECTIONS } else { CONNECTIONS };
    compare(plan, &name, ours, &fixed, (workload.clone(), workload), connections, least).await
}

async fn compare(
    plan: &Plan,
    name: &str,
    ours: &Server,
    theirs: &Server,
    workloads: (Rc<dyn Workload>, Rc<dyn Workload>),
    connections: usize,
    least: f64,
) -> anyhow::Result<Figure> {
    let mut sides = [
        Side::new(ours, connections, workloads.0).await?,
        Side::new(theirs, connections, workloads.1).await?,
    ];
    interleave(&mut sides, plan.rhythm).await?;
    Ok(Figure::against(name, &sides[0], &sides[1], least))
}

/// The application of a fleet whose size is closest to the mean.
#[must_use]
pub fn typical_app(fleet: &Fleet) -> String {
    let mean = fleet.len() / fleet.apps().len().max(1);
    let app = fleet.apps().iter().min_by_key(|app| app.len.abs_diff(mean));
    app.map_or_else(String::new, |app| app.name.to_ascii_uppercase())
}
