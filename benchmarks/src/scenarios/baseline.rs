//! Heureka beside actix-web handlers that do nothing, and beside Java: the highest rates, in alternating slices.

use std::time::Duration;

use super::Plan;
use super::operations::Operation;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::measure::{Rhythm, Side, interleave};
use crate::report::{Figure, numbers};
use crate::servers::Server;

/// How long a delta may take to become empty; longer than its retention in servers started for this.
const DELTA_PATIENCE: Duration = Duration::from_secs(10);

/// One operation on our server and on its baseline.
///
/// # Errors
/// If a server fails.
pub async fn against_baseline(
    plan: &Plan,
    ours: &Server,
    fleet: &Fleet,
    operation: Operation,
) -> anyhow::Result<Figure> {
    let bare = plan.launcher.baseline(operation.baseline())?;
    let mut name = operation.name().to_owned();
    if let Some(path) = operation.path(fleet) {
        if operation == Operation::Delta {
            // Or the delta would shrink between here and its comparison.
            waiting::until_delta_is_empty(ours, DELTA_PATIENCE).await?;
        }
        let body = setup::fetch(ours, &path).await?;
        setup::keep_static(&bare, &body).await?;
        let size = numbers::bytes(body.len() as f64);
        name = format!("{name} ({size})");
    }
    let workload = operation.workload(fleet, plan.seed);
    let connections = operation.connections();
    let mut sides = [
        Side::new(ours, connections, workload.clone()).await?,
        Side::new(&bare, connections, workload).await?,
    ];
    interleave(&mut sides, plan.rhythm).await?;
    Ok(Figure::against(
        &format!("{name} against actix-web"),
        &sides[0],
        &sides[1],
        operation.goals().of_baseline,
    ))
}

/// One operation on our server and on Java.
///
/// # Errors
/// If a server fails.
pub async fn against_java(
    plan: &Plan,
    ours: &Server,
    java: &Server,
    fleet: &Fleet,
    operation: Operation,
) -> anyhow::Result<Figure> {
    if operation == Operation::Delta {
        waiting::until_delta_is_small(java).await?;
        waiting::until_delta_is_small(ours).await?;
    }
    let workload = operation.workload(fleet, plan.seed);
    let connections = operation.connections();
    let mut sides = [
        Side::new(ours, connections, workload.clone()).await?,
        Side::new(java, connections, workload).await?,
    ];
    // Where nothing is asked for, fewer rounds do.
    let rounds = if operation.has_goal_against_java() { plan.rhythm.rounds } else { plan.count(2, 3) };
    interleave(&mut sides, Rhythm { rounds, ..plan.rhythm }).await?;
    Ok(Figure::times(
        &format!("{} against Java", operation.name()),
        &sides[0],
        &sides[1],
        operation.goals().of_java,
    ))
}

/// The application of a fleet whose size is closest to the mean.
#[must_use]
pub fn typical_app(fleet: &Fleet) -> String {
    let mean = fleet.len() / fleet.apps().len().max(1);
    let app = fleet.apps().iter().min_by_key(|app| app.len.abs_diff(mean));
    app.map_or_else(String::new, |app| app.name.to_ascii_uppercase())
}
