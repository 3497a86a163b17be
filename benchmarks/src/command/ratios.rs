//! The table of one node beside actix-web handlers that do nothing.

use heureka_bench::fleet::Fleet;
use heureka_bench::report::{Figure, table};
use heureka_bench::scenarios::operations::Operation;
use heureka_bench::scenarios::{
    Plan, baseline, churn, idle, memory, newcomers, setup, start, visibility, waiting,
};

use super::arguments::Arguments;
use super::plan;

/// Measures and prints.
pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let plan = plan(arguments)?;
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
        let filled = memory::filled(plan, &server, plan.instances).await?;
        figures.extend(filled.figures(4096.0));
    }
    let fleet = Fleet::new(plan.seed, plan.instances);
    let server = plan.launcher.heureka(&setup::SHORT_DELTA)?;
    setup::fill(&server, &fleet).await?;
    waiting::until_delta_is_empty(&server, plan.duration(5_000, 20_000)).await?;
    for operation in Operation::ALL.into_iter().filter(|&operation| operation != Operation::Register) {
        if arguments.wants(operation.name()) {
            figures.push(baseline::against_baseline(plan, &server, &fleet, operation).await?);
        }
    }
    if arguments.wants("idle") {
        figures.extend(idle::quiet(plan, &server, &fleet).await?.figures);
    }
    if arguments.wants("visible") {
        figures.extend(visibility::writes(plan, &server, &fleet, 0.0).await?);
        figures.extend(visibility::writes(plan, &server, &fleet, 500.0).await?);
    }
    if arguments.wants("churn") {
        let servers = std::slice::from_ref(&server);
        let courses = churn::full_fetches(plan, servers, &fleet, 500.0, plan.rhythm.rounds).await?;
        figures.extend(courses.iter().map(|course| course.figure(500.0)));
    }
    if arguments.wants("register") {
        figures.push(baseline::against_baseline(plan, &server, &fleet, Operation::Register).await?);
        figures.push(newcomers::against_baseline(plan, &server).await?);
    }
    Ok(figures)
}
