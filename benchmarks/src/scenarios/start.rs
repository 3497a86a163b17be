//! From the start of the process to its first answer.

use super::Plan;
use crate::report::{Figure, numbers};
use crate::servers::Baseline;
use crate::stats::Spread;

/// Cold starts, in turn with those of the empty handler, which say what process and framework cost alone.
///
/// # Errors
/// If a server does not start.
pub fn cold(plan: &Plan, limit_ms: f64) -> anyhow::Result<Figure> {
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..plan.count(7, 15) {
        ours.push(plan.launcher.heureka_answering(&[])?.started_in.as_secs_f64() * 1000.0);
        bare.push(plan.launcher.baseline(Baseline::Empty)?.started_in.as_secs_f64() * 1000.0);
    }
    let (ours, bare) = (Spread::of(ours), Spread::of(bare));
    let shown = format!("{} (worst {})", numbers::millis(ours.median), numbers::millis(ours.high));
    let goal = format!("≤ {limit_ms:.0} ms");
    let mut figure =
        Figure::at_most("cold start to the first full answer", shown, ours.median, limit_ms, &goal);
    figure.compared = format!("actix-web empty: {}", numbers::millis(bare.median));
    Ok(figure)
}
