//! Resident memory: of the empty server, and of each instance on top.

use std::time::Duration;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::report::{Figure, numbers};
use crate::servers::{Memory, Server};

/// Time for buffers of the filling to be given back.
const SETTLE: Duration = Duration::from_secs(2);

/// Memory of a fresh server, then of the same one with a fleet in it, JSON in use.
///
/// # Errors
/// If the server fails.
#[allow(clippy::cast_precision_loss)]
pub async fn filled(
    plan: &Plan,
    server: &Server,
    instances: usize,
    most_bytes: f64,
) -> anyhow::Result<Vec<Figure>> {
    let empty = server.memory()?;
    let fleet = Fleet::new(plan.seed, instances);
    setup::register_all(server.address(), &fleet).await?;
    tokio::time::sleep(SETTLE).await;
    let registered = server.memory()?;
    setup::fetch(server, "apps/").await?;
    tokio::time::sleep(SETTLE).await;
    let filled = server.memory()?;
    let mb = 1024.0 * 1024.0;
    let each_of = |memory: &Memory| memory.resident.saturating_sub(empty.resident) as f64 / instances as f64;
    let each = each_of(&filled);
    let name = &server.name;
    let shown = format!("{} ({} in all)", numbers::bytes(each), numbers::bytes(filled.resident as f64));
    let figure = Figure::at_most(
        &format!("{name}: memory per instance at {}", numbers::count(instances as f64)),
        shown,
        each,
        most_bytes,
        &format!("≤ {}", numbers::bytes(most_bytes)),
    );
    let peak = numbers::bytes(filled.peak as f64);
    Ok(vec![
        Figure::at_most(
            &format!("{name}: memory of the empty server"),
            format!(
                "{} ({} heap and stacks)",
                numbers::bytes(empty.resident as f64),
                numbers::bytes(empty.anonymous as f64)
            ),
            empty.resident as f64,
            15.0 * mb,
            "≤ 15 MB",
        ),
        figure.remark(format!("{} before the first read; peak {peak}", numbers::bytes(each_of(&registered)))),
    ])
}
