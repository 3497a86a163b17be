//! Warm restarts: from the start of the process to the first full answer of a node that has a snapshot.

use std::path::PathBuf;

use anyhow::ensure;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::report::{Figure, numbers};
use crate::stats::Spread;

/// A folder that is gone when the scenario ends.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // Left-overs in a temporary folder do no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Fills a node, stops it in order, and starts it again several times.
///
/// # Errors
/// If the node fails, or does not know after a restart what it knew before.
pub async fn warm(plan: &Plan, instances: usize, limit_ms: f64) -> anyhow::Result<Figure> {
    let folder = Folder(std::env::temp_dir().join(format!("heureka-bench-snapshot-{}", std::process::id())));
    let option = format!("--heureka.snapshots.folder={}", folder.0.display());
    let options = [option.as_str()];
    let fleet = Fleet::new(plan.seed, instances);
    let first = plan.launcher.heureka(&options)?;
    setup::fill(&first, &fleet).await?;
    let mut stops = vec![first.process.stop().as_secs_f64() * 1000.0];
    let mut starts = Vec::new();
    for _ in 0..plan.count(3, 7) {
        let server = plan.launcher.heureka_answering(&options)?;
        starts.push(server.started_in.as_secs_f64() * 1000.0);
        let text = setup::text_of(&setup::fetch(&server, "apps/").await?)?;
        let known = text.matches("\"instanceId\"").count();
        ensure!(known >= instances, "{known} of {instances} instances are there after a restart");
        stops.push(server.process.stop().as_secs_f64() * 1000.0);
    }
    let (starts, stops) = (Spread::of(starts), Spread::of(stops));
    let name = format!("warm start with {} to the first full answer", numbers::count(instances as f64));
    let shown = format!("{} (worst {})", numbers::millis(starts.median), numbers::millis(starts.high));
    let figure = Figure::at_most(&name, shown, starts.median, limit_ms, &format!("≤ {limit_ms:.0} ms"));
    Ok(figure.remark(format!("stopped in {}", numbers::millis(stops.median))))
}
