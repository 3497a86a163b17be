//! What a quiet registry costs.

use std::time::Duration;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::load::{Pool, open};
use crate::report::{Figure, numbers};
use crate::servers::{CpuTime, Server};

/// Seconds between two heartbeats of an instance, and between two reads of the delta.
const INTERVAL_SECS: f64 = 30.0;
/// CPU that a node with a quiet fleet may take, as a share of a core.
const LIMIT: f64 = 0.02;

/// What was found for one server.
pub struct Quiet {
    /// CPU with and without traffic.
    pub figures: Vec<Figure>,
    /// Resident bytes at the end.
    pub resident: f64,
}

/// CPU of a server whose instances do nothing but live: untouched; with their heartbeats, which is judged, for one whole
/// interval; with heartbeats and delta reads.
///
/// # Errors
/// If the server fails.
pub async fn quiet(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<Quiet> {
    let rate = fleet.len() as f64 / INTERVAL_SECS;
    let (beats, deltas) = (setup::heartbeats(fleet, plan.seed), setup::get("apps/delta"));
    let mut beating = Pool::open(server.address(), 64, 4096).await?;
    let mut reading = Pool::open(server.address(), 64, 16 * 1024).await?;

    let (before, time) = (server.cpu()?, plan.duration(1_500, 6_000));
    tokio::time::sleep(time).await;
    let untouched = share(server, &before, time)?;

    let (before, time) = (server.cpu()?, plan.duration(1_500, 30_000));
    let alone = open(&mut beating, &beats, rate, time).await?;
    let with_beats = share(server, &before, alone.elapsed)?;
    let resident = server.memory()?.resident as f64;

    let (before, time) = (server.cpu()?, plan.duration(1_500, 10_000));
    let (beats, deltas) =
        tokio::join!(open(&mut beating, &beats, rate, time), open(&mut reading, &deltas, rate, time));
    let (beats, deltas) = (beats?, deltas?);
    let with_reads = share(server, &before, beats.elapsed)?;

    let size = numbers::count(fleet.len() as f64);
    let name = |what: &str| format!("{}: CPU of {size} quiet instances, {what}", server.name);
    let shown = |share: f64| format!("{:.2} % of a core", share * 100.0);
    let living = format!("{}; {} resident", shown(with_beats), numbers::bytes(resident));
    let latency = (beats.quantiles(), deltas.quantiles());
    let remark = format!(
        "p99 of heartbeats {}, of delta reads {} ({} each)",
        numbers::millis(latency.0.p99_ms),
        numbers::millis(latency.1.p99_ms),
        numbers::bytes(deltas.body_bytes as f64 / deltas.answers.max(1) as f64),
    );
    let judged = match server.name.as_str() {
        "Heureka" => {
            Figure::at_most(&name("heartbeats every 30 s"), living, with_beats, LIMIT, "≤ 2 % of a core")
        }
        _ => Figure::plain(&name("heartbeats every 30 s"), living),
    };
    let figures = vec![
        Figure::plain(&name("no traffic"), shown(untouched)),
        judged.checked("heartbeats", &alone),
        Figure::plain(&name("heartbeats and delta reads every 30 s"), shown(with_reads))
            .remark(remark)
            .checked("heartbeats", &beats)
            .checked("delta reads", &deltas),
    ];
    Ok(Quiet { figures, resident })
}

fn share(server: &Server, before: &CpuTime, time: Duration) -> anyhow::Result<f64> {
    Ok(server.cpu()?.since(before).total().as_secs_f64() / time.as_secs_f64())
}
