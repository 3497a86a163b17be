//! Restarts: from the start of the process to the first full answer that shows everything.

use std::time::Duration;

use anyhow::ensure;

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::report::{Figure, Section, numbers};
use crate::servers::{Folder, Sites};
use crate::stats::Spread;

/// Longest wait for a first answer; a Java server on a busy machine takes its time.
const PATIENCE: Duration = Duration::from_secs(120);

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Restarts",
        "From the start of the process to the end of the first answer to a full fetch that shows every instance. Warm: from the \
         snapshot of a node that was stopped in order. From a peer: without a snapshot, everything comes from another node. No \
         start is warmed up, of either server.",
        &["server", "start", "instances", "starts", "median", "worst", "stopped in"],
    )
}

fn row(section: &mut Section, server: &str, how: &str, instances: usize, starts: &Spread, stops: &Spread) {
    let stopped = if stops.count == 0 { String::new() } else { numbers::millis(stops.median) };
    section.row([
        server.to_owned(),
        how.to_owned(),
        if instances == 0 { "none".to_owned() } else { numbers::count(instances as f64) },
        starts.count.to_string(),
        numbers::millis(starts.median),
        numbers::millis(starts.high),
        stopped,
    ]);
}

fn figure(how: &str, instances: usize, starts: &Spread, limit_ms: f64) -> Figure {
    let name = format!("{how} with {} to the first full answer", numbers::count(instances as f64));
    let shown = format!("{} (worst {})", numbers::millis(starts.median), numbers::millis(starts.high));
    Figure::at_most(&name, shown, starts.median, limit_ms, &format!("≤ {limit_ms:.0} ms"))
}

/// Starts with nothing to know.
///
/// # Errors
/// If a node does not come up.
pub async fn cold(plan: &Plan, section: &mut Section) -> anyhow::Result<()> {
    let mut starts = Vec::new();
    for _ in 0..plan.count(3, 7) {
        let mut server = Sites::new(1)?.spawn_heureka(&plan.launcher, 0, &[])?;
        starts.push(millis(waiting::until_complete(&mut server, 0, PATIENCE).await?));
    }
    row(section, "Heureka", "cold", 0, &Spread::of(starts), &Spread::default());
    Ok(())
}

/// Fills a node, stops it in order, and starts it again several times.
///
/// # Errors
/// If the node fails, or does not know after a restart what it knew before.
pub async fn warm(
    plan: &Plan,
    instances: usize,
    limit_ms: f64,
    section: &mut Section,
) -> anyhow::Result<Figure> {
    let folder = Folder::new();
    let option = folder.option();
    let options = [option.as_str()];
    let first = plan.launcher.heureka(&options)?;
    setup::fill(&first, &Fleet::new(plan.seed, instances)).await?;
    ensure!(waiting::until_written(&first, PATIENCE).await?, "the snapshot was not complete in {PATIENCE:?}");
    let mut stops = vec![millis(first.process.stop())];
    let mut starts = Vec::new();
    for _ in 0..plan.count(3, 5) {
        let mut server = Sites::new(1)?.spawn_heureka(&plan.launcher, 0, &options)?;
        starts.push(millis(waiting::until_complete(&mut server, instances, PATIENCE).await?));
        stops.push(millis(server.process.stop()));
    }
    let (starts, stops) = (Spread::of(starts), Spread::of(stops));
    row(section, "Heureka", "warm", instances, &starts, &stops);
    Ok(figure("warm start", instances, &starts, limit_ms))
}

/// Fills a node and starts a peer beside it several times, without a snapshot.
///
/// # Errors
/// If a node fails, or the peer never has everything.
pub async fn from_peer(
    plan: &Plan,
    instances: usize,
    limit_ms: f64,
    section: &mut Section,
) -> anyhow::Result<Figure> {
    let sites = Sites::new(2)?;
    let mut full = sites.spawn_heureka(&plan.launcher, 0, &[])?;
    waiting::until_complete(&mut full, 0, PATIENCE).await?;
    setup::fill(&full, &Fleet::new(plan.seed, instances)).await?;
    let mut starts = Vec::new();
    for _ in 0..plan.count(2, 5) {
        let mut server = sites.spawn_heureka(&plan.launcher, 1, &[])?;
        starts.push(millis(waiting::until_complete(&mut server, instances, PATIENCE).await?));
    }
    let starts = Spread::of(starts);
    row(section, "Heureka", "from a peer", instances, &starts, &Spread::default());
    Ok(figure("start from a peer", instances, &starts, limit_ms))
}

/// A Java server alone and empty; then one that copies from the first, which has been filled. Nothing if there is no Java.
///
/// # Errors
/// If a server fails, or the copy never becomes complete.
pub async fn java(plan: &Plan, instances: usize, section: &mut Section) -> anyhow::Result<()> {
    let sites = Sites::new(2)?;
    let alone = ["--eureka.client.fetch-registry=false"];
    let Some(mut full) = sites.spawn_java(&plan.launcher, 0, &alone)? else { return Ok(()) };
    let started = millis(waiting::until_complete(&mut full, 0, PATIENCE).await?);
    row(section, "Java", "empty", 0, &Spread::of([started]), &Spread::default());
    let fleet = Fleet::new(plan.seed, instances);
    setup::fill(&full, &fleet).await?;
    // A list that was made while the server filled may be kept for three minutes without the last ones, until another change;
    // after that for 30 s. A peer would copy it as it is.
    setup::register(full.address(), &fleet, 0..1).await?;
    waiting::until_listed(&full, instances).await?;
    let copying = ["--eureka.client.fetch-registry=true", "--eureka.client.register-with-eureka=true"];
    let mut starts = Vec::new();
    for _ in 0..2 {
        let Some(mut copy) = sites.spawn_java(&plan.launcher, 1, &copying)? else { break };
        starts.push(millis(waiting::until_complete(&mut copy, instances, PATIENCE).await?));
    }
    row(section, "Java", "from a peer", instances, &Spread::of(starts), &Spread::default());
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
