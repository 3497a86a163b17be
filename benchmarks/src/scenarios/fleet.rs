//! How many instances one node carries at default intervals.

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::load::{Generated, Outcome, Pool, open};
use crate::report::{Section, numbers};
use crate::servers::Server;

use std::rc::Rc;

use crate::http::RequestWriter;
use crate::load::Workload;

/// Seconds between two heartbeats, and between two delta reads, of one instance.
const INTERVAL_SECS: f64 = 30.0;
/// Connections that stand for the fleet's: one each would need more ports than a machine has.
const CONNECTIONS: usize = 500;
/// A node keeps up if 99 of 100 heartbeats are answered within this time after they were due.
const LIMIT_MS: f64 = 100.0;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Fleet at default intervals",
        "Every instance sends a heartbeat and reads the delta (gzip) once in 30 s; over 500 connections, which stand for one \
         each. The node keeps up if p99 of both stays under 100 ms from the moment due and no answer is wrong.",
        &[
            "server",
            "instances",
            "keeps up",
            "heartbeats/s",
            "p99",
            "delta reads/s",
            "p99",
            "CPU of the server",
            "memory",
        ],
    )
}

/// Fills a server with so many instances, and says whether it keeps up with them.
///
/// # Errors
/// If the server fails.
pub async fn carries(
    plan: &Plan,
    server: &Server,
    instances: usize,
    section: &mut Section,
) -> anyhow::Result<bool> {
    let fleet = Fleet::new(plan.seed, instances);
    setup::fill(server, &fleet).await?;
    waiting::until_delta_is_empty(server, plan.duration(4_000, 20_000)).await?;
    step(plan, server, &fleet, section).await
}

async fn step(plan: &Plan, server: &Server, fleet: &Fleet, section: &mut Section) -> anyhow::Result<bool> {
    let time = plan.duration(3_000, 15_000);
    let rate = fleet.len() as f64 / INTERVAL_SECS;
    let mut beating = Pool::open(server.address(), CONNECTIONS / 2, 2048).await?;
    let mut reading = Pool::open(server.address(), CONNECTIONS / 2, 16 * 1024).await?;
    let (beats, deltas) = (heartbeats(fleet), setup::get("apps/delta"));
    let before = server.cpu()?;
    let (beats, deltas) =
        tokio::join!(open(&mut beating, &beats, rate, time), open(&mut reading, &deltas, rate, time));
    let used = server.cpu()?.since(&before).total().as_secs_f64() / time.as_secs_f64();
    let (beats, deltas) = (beats?, deltas?);
    let is_fine = |outcome: &Outcome| outcome.failed() == 0 && outcome.quantiles().p99_ms < LIMIT_MS;
    let keeps_up = is_fine(&beats) && is_fine(&deltas);
    let is_behind = beats.is_generator_behind() || deltas.is_generator_behind();
    let verdict = match (keeps_up, is_behind) {
        (true, _) => "yes",
        (false, true) => "no, nor does the generator",
        (false, false) => "no",
    };
    section.row([
        server.name.clone(),
        numbers::count(fleet.len() as f64),
        verdict.to_owned(),
        numbers::count(beats.rate()),
        numbers::millis(beats.quantiles().p99_ms),
        numbers::count(deltas.rate()),
        numbers::millis(deltas.quantiles().p99_ms),
        format!("{:.0} % of a core", used * 100.0),
        numbers::bytes(server.memory()?.resident as f64),
    ]);
    Ok(keeps_up)
}

/// Heartbeats of all instances, written when they are sent: a million kept ready would take half a gigabyte.
fn heartbeats(fleet: &Fleet) -> Rc<dyn Workload> {
    let fleet = fleet.clone();
    // A stride that has no common factor with any size used here visits every instance.
    let write = move |number: u64, out: &mut Vec<u8>| {
        let instance = (number.wrapping_mul(7_919) % fleet.len() as u64) as usize;
        RequestWriter::SPRING.heartbeat(&fleet.record(instance, 0), out);
    };
    Rc::new(Generated { write, expected_status: 200 })
}
