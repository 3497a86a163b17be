//! What replication costs: CPU per heartbeat where it comes in, and where it arrives from a peer.

use std::rc::Rc;
use std::time::Duration;

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, Workload, open};
use crate::report::{Figure, Section, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Seconds between two heartbeats of an instance.
const INTERVAL_SECS: f64 = 30.0;
/// Nodes of the cluster.
const NODES: usize = 3;
/// Time for the last batches to arrive: twice the time that heartbeats wait for company.
const SETTLE: Duration = Duration::from_secs(1);
/// Time for every connection to be used.
const WARM_UP: Duration = Duration::from_millis(500);
/// A replicated heartbeat may cost its receiver this share of a direct one.
const SHARE: f64 = 0.3;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Cost of replication",
        "Three nodes; heartbeats every 30 s come in on one of them. CPU time per heartbeat beyond that of the same node without \
         traffic, in turn: on a node alone, on the node of the three that takes them and tells both others, and on one of those.",
        &["server", "instances", "heartbeats/s", "alone", "received and sent on", "received from a peer"],
    )
}

/// CPU per heartbeat, in microseconds, round by round, and all heartbeats.
#[derive(Default)]
struct Costs {
    beats: Outcome,
    alone: Vec<f64>,
    sending: Vec<f64>,
    receiving: Vec<f64>,
}

/// Fills a cluster and a node of its own, and sends both the same heartbeats in turn.
///
/// # Errors
/// If a node fails.
pub async fn of_heartbeats(plan: &Plan, instances: usize, section: &mut Section) -> anyhow::Result<Figure> {
    let nodes = plan.launcher.heureka_cluster(NODES, &setup::SHORT_DELTA)?;
    let alone = plan.launcher.heureka(&setup::SHORT_DELTA)?;
    let fleet = Fleet::new(plan.seed, instances);
    setup::fill(&nodes[0], &fleet).await?;
    setup::fill(&alone, &fleet).await?;
    waiting::until_same_hash(&nodes[0], &nodes[1], Duration::from_secs(60)).await?;
    waiting::until_delta_is_empty(&nodes[1], plan.duration(3_000, 20_000)).await?;
    let rate = instances as f64 / INTERVAL_SECS;
    let costs = measure(plan, &nodes, &alone, &setup::heartbeats(&fleet, plan.seed), rate).await?;
    let ratios = Spread::of(costs.receiving.iter().zip(&costs.alone).map(|(ours, direct)| ours / direct));
    let [direct, sending, receiving] = [&costs.alone, &costs.sending, &costs.receiving]
        .map(|costs| Spread::of(costs.iter().copied()))
        .map(|cost| format!("{:.1} µs ±{:.0} %", cost.median, cost.percent()));
    section.row([
        "Heureka".to_owned(),
        numbers::count(instances as f64),
        numbers::count(rate),
        direct.clone(),
        sending,
        receiving.clone(),
    ]);
    let name = "CPU of a replicated heartbeat on the receiving node, against a direct one";
    let mut figure = Figure::at_most(name, receiving, ratios.median, SHARE, "≤ 30 %");
    figure.compared = format!("direct: {direct}");
    figure.measured += &format!(", {}", numbers::percent(ratios.median));
    Ok(figure.checked("heartbeats", &costs.beats))
}

async fn measure(
    plan: &Plan,
    nodes: &[Server],
    alone: &Server,
    beats: &Rc<dyn Workload>,
    rate: f64,
) -> anyhow::Result<Costs> {
    let time = plan.duration(1_000, 5_000);
    let mut to_cluster = Pool::open(nodes[0].address(), setup::CONNECTIONS, 4096).await?;
    let mut to_alone = Pool::open(alone.address(), setup::CONNECTIONS, 4096).await?;
    // A server closes connections that say nothing for some seconds after they were opened.
    for pool in [&mut to_cluster, &mut to_alone] {
        open(pool, beats, rate, WARM_UP).await?;
    }
    let mut costs = Costs::default();
    let all = [alone, &nodes[0], &nodes[1]];
    for _ in 0..plan.count(2, 4) {
        let quiet = used_by(&all, tokio::time::sleep(time)).await?.0;
        let (direct, outcome) = used_by(&all, open(&mut to_alone, beats, rate, time)).await?;
        let outcome = outcome?;
        costs.beats.add(&outcome);
        let count = outcome.answers.max(1) as f64;
        costs.alone.push((direct[0] - quiet[0]).max(0.0) / count);
        let (replicated, outcome) = used_by(&all, open(&mut to_cluster, beats, rate, time)).await?;
        let outcome = outcome?;
        costs.beats.add(&outcome);
        let count = outcome.answers.max(1) as f64;
        costs.sending.push((replicated[1] - quiet[1]).max(0.0) / count);
        costs.receiving.push((replicated[2] - quiet[2]).max(0.0) / count);
    }
    Ok(costs)
}

/// Microseconds of CPU of each server while something happens, and until it has settled.
async fn used_by<T>(servers: &[&Server; 3], work: impl Future<Output = T>) -> anyhow::Result<([f64; 3], T)> {
    let mut used = [0.0; 3];
    let mut before = Vec::new();
    for server in servers {
        before.push(server.cpu()?);
    }
    let done = work.await;
    tokio::time::sleep(SETTLE).await;
    for ((used, server), before) in used.iter_mut().zip(servers).zip(&before) {
        *used = server.cpu()?.since(before).total().as_secs_f64() * 1e6;
    }
    Ok((used, done))
}
