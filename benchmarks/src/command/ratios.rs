//! The table of one node beside actix-web handlers that do nothing.

use std::time::Duration;

use heureka_bench::fleet::Fleet;
use heureka_bench::measure::Rhythm;
use heureka_bench::report::{Figure, table};
use heureka_bench::scenarios::{Plan, baseline, churn, idle, memory, setup, start, visibility};
use heureka_bench::servers::Launcher;

use super::arguments::Arguments;
use super::heureka_binary;

/// Measures and prints.
pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let is_quick = arguments.has("quick");
    let rhythm = match is_quick {
        true => Rhythm { rounds: 5, slice: Duration::from_millis(400) },
        false => Rhythm { rounds: 10, slice: Duration::from_millis(1000) },
    };
    let plan = Plan {
        launcher: Launcher { heureka: heureka_binary(arguments)?, java: None, java_options: Vec::new() },
        seed: arguments.number("seed", 1)?,
        instances: arguments.number("instances", 10_000)?,
        rhythm,
        is_quick,
    };
    let figures = measure(&plan, arguments).await?;
    println!("{}", table(&figures));
    if let Some(path) = arguments.text("json") {
        std::fs::write(path, serde_json::to_string_pretty(&figures)?)?;
    }
    Ok(())
}

async fn measure(plan: &Plan, arguments: &Arguments) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    if arguments.wants("start") {
        figures.push(start::cold(plan, 50.0)?);
    }
    if arguments.wants("memory") {
        let server = plan.launcher.heureka(&[])?;
        figures.extend(memory::filled(plan, &server, plan.instances, 4096.0).await?);
    }
    let fleet = Fleet::new(plan.seed, plan.instances);
    let server = plan.launcher.heureka(&[])?;
    setup::fill(&server, &fleet).await?;
    if arguments.wants("heartbeat") {
        figures.push(baseline::heartbeats(plan, &server, &fleet).await?);
    }
    if arguments.wants("full") {
        figures.push(baseline::read(plan, &server, "full fetch, gzip", "apps/", 0.9).await?);
    }
    if arguments.wants("delta") {
        figures.push(baseline::read(plan, &server, "delta, gzip", "apps/delta", 0.85).await?);
    }
    if arguments.wants("app") {
        let path = format!("apps/{}", baseline::typical_app(&fleet));
        figures.push(baseline::read(plan, &server, "one application", &path, 0.85).await?);
    }
    if arguments.wants("idle") {
        figures.extend(idle::quiet(plan, &server, &fleet).await?);
    }
    if arguments.wants("visible") {
        figures.extend(visibility::writes(plan, &server, &fleet, 0.0).await?);
        figures.extend(visibility::writes(plan, &server, &fleet, 500.0).await?);
    }
    if arguments.wants("churn") {
        figures.push(churn::full_fetches(plan, &server, &fleet, 500.0).await?);
    }
    if arguments.wants("register") {
        figures.push(baseline::registrations(plan, &server, &fleet).await?);
    }
    Ok(figures)
}
