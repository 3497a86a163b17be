//! Everybody at once: after a restart of the server all clients register again and fetch everything.

use std::time::Instant;

use super::Plan;
use super::setup;
use super::waiting;
use crate::fleet::Fleet;
use crate::load::{Pool, send_all};
use crate::report::{Section, numbers};
use crate::servers::Server;

/// Clients that are really connected at the same time.
const CONNECTIONS: usize = 1_000;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Storm after a restart",
        "The server has just started and is empty. All instances register over 1,000 connections as fast as they are let; then \
         each of 1,000 clients fetches the whole registry (gzip) at once.",
        &[
            "server",
            "instances",
            "all registered in",
            "refused",
            "listed after",
            "1,000 full fetches in",
            "p50",
            "p99",
        ],
    )
}

/// One server, freshly started.
///
/// # Errors
/// If the server fails.
pub async fn after_restart(plan: &Plan, server: &Server, section: &mut Section) -> anyhow::Result<()> {
    let fleet = Fleet::new(plan.seed, plan.instances);
    let registrations = setup::registrations(&fleet, plan.seed, 0);
    let started = Instant::now();
    let mut pool = Pool::open(server.address(), CONNECTIONS, 4096).await?;
    let outcome = send_all(&mut pool, &registrations, fleet.len() as u64).await?;
    let registered = started.elapsed();
    // A server that refuses some, or lets their connections wait in vain, is not to be waited for.
    let listed = waiting::until_listed(server, usize::try_from(outcome.answers)?).await?;
    drop(pool);
    let mut pool = Pool::open(server.address(), CONNECTIONS, 16 * 1024).await?;
    let fetched = send_all(&mut pool, &setup::get("apps/"), CONNECTIONS as u64).await?;
    let latency = fetched.quantiles();
    section.row([
        server.name.clone(),
        numbers::count(fleet.len() as f64),
        numbers::millis(registered.as_secs_f64() * 1000.0),
        outcome.failed().to_string(),
        numbers::millis(listed.as_secs_f64() * 1000.0),
        numbers::millis(fetched.elapsed.as_secs_f64() * 1000.0),
        numbers::millis(latency.p50_ms),
        numbers::millis(latency.p99_ms),
    ]);
    Ok(())
}
