//! Everybody at once: after a restart of the server all clients register again and fetch everything.

use std::time::Instant;

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, send_all};
use crate::report::{Section, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Clients that are really connected at the same time.
const CONNECTIONS: usize = 1_000;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Storm after a restart",
        "The server has just started and is empty. All instances register over 1,000 connections as fast as they are let; then \
         each of 1,000 clients fetches the whole registry (gzip) at once. Both servers are cold, as after every restart. Medians \
         of so many storms, each on a server of its own.",
        &[
            "server",
            "instances",
            "storms",
            "all registered in",
            "faults",
            "listed after",
            "1,000 full fetches in",
            "p50",
            "p99",
            "faults",
        ],
    )
}

/// What came of one storm, in milliseconds.
pub struct Storm {
    registered: f64,
    listed: f64,
    fetched: f64,
    p50: f64,
    p99: f64,
    registrations: Outcome,
    fetches: Outcome,
}

/// One server, freshly started.
///
/// # Errors
/// If the server fails.
pub async fn after_restart(plan: &Plan, server: &Server) -> anyhow::Result<Storm> {
    let fleet = Fleet::new(plan.seed, plan.instances);
    let workload = setup::registrations(&fleet, plan.seed, 0);
    let started = Instant::now();
    let mut pool = Pool::open(server.address(), CONNECTIONS, 4096).await?;
    let registrations = send_all(&mut pool, &workload, fleet.len() as u64).await?;
    let registered = started.elapsed().as_secs_f64() * 1000.0;
    // A server that refuses some, or lets their connections wait in vain, is not to be waited for.
    let listed = waiting::until_listed(server, usize::try_from(registrations.answers)?).await?;
    drop(pool);
    let mut pool = Pool::open(server.address(), CONNECTIONS, 16 * 1024).await?;
    let fetches = send_all(&mut pool, &setup::get("apps/"), CONNECTIONS as u64).await?;
    let latency = fetches.quantiles();
    Ok(Storm {
        registered,
        listed: listed.as_secs_f64() * 1000.0,
        fetched: fetches.elapsed.as_secs_f64() * 1000.0,
        p50: latency.p50_ms,
        p99: latency.p99_ms,
        registrations,
        fetches,
    })
}

/// The medians of several storms, as a row.
pub fn row(plan: &Plan, name: &str, storms: &[Storm], section: &mut Section) {
    let median = |value: fn(&Storm) -> f64| numbers::millis(Spread::of(storms.iter().map(value)).median);
    let faults = |outcome: fn(&Storm) -> &Outcome| {
        Outcome::sum(storms.iter().map(outcome)).faults().unwrap_or_else(|| "none".to_owned())
    };
    section.row([
        name.to_owned(),
        numbers::count(plan.instances as f64),
        storms.len().to_string(),
        median(|storm| storm.registered),
        faults(|storm| &storm.registrations),
        median(|storm| storm.listed),
        median(|storm| storm.fetched),
        median(|storm| storm.p50),
        median(|storm| storm.p99),
        faults(|storm| &storm.fetches),
    ]);
}
