//! One kind of load on a server that somebody else has started, for profiling and for trying things out.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, bail};
use heureka_bench::fleet::Fleet;
use heureka_bench::load::{Outcome, Pool, Workload, closed, open};
use heureka_bench::report::numbers;
use heureka_bench::scenarios::{baseline, setup};
use heureka_bench::servers::CpuTime;

use super::arguments::Arguments;

/// Loads, then says what came of it.
pub async fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let address: SocketAddr = arguments.text("address").context("--address is missing")?.parse()?;
    let (seed, instances) = (arguments.number("seed", 1)?, arguments.number("instances", 10_000)?);
    let fleet = Fleet::new(seed, instances);
    if !arguments.has("no-fill") {
        setup::fill_at(address, &fleet).await?;
    }
    let workload = workload(arguments.text("what").unwrap_or("heartbeat"), &fleet, seed)?;
    let mut pool =
        Pool::open(address, arguments.number("connections", setup::CONNECTIONS)?, 64 * 1024).await?;
    let duration = Duration::from_secs_f64(arguments.number("seconds", 10.0)?);
    let before = CpuTime::own()?;
    let outcome = match arguments.text("rate") {
        Some(_) => open(&mut pool, &workload, arguments.number("rate", 0.0)?, duration).await?,
        None => closed(&mut pool, &workload, duration).await?,
    };
    let own = CpuTime::own()?.since(&before).total().as_secs_f64() / outcome.elapsed.as_secs_f64();
    print(&outcome, own);
    Ok(())
}

fn workload(what: &str, fleet: &Fleet, seed: u64) -> anyhow::Result<Rc<dyn Workload>> {
    let app = baseline::typical_app(fleet);
    Ok(match what {
        "heartbeat" => setup::heartbeats(fleet, seed),
        "register" => setup::registrations(fleet, seed, 0),
        "full" => setup::get("apps/"),
        "delta" => setup::get("apps/delta"),
        "app" => setup::get(&format!("apps/{app}")),
        "vip" => setup::get(&format!("vips/{}", app.to_ascii_lowercase())),
        other => bail!("--what {other}: expected heartbeat, register, full, delta, app or vip"),
    })
}

fn print(outcome: &Outcome, generator_share: f64) {
    let latency = outcome.quantiles();
    println!(
        "{}/s right, {} failed {:?}",
        numbers::count(outcome.rate()),
        outcome.failed(),
        outcome.failures
    );
    println!(
        "latency p50 {}, p90 {}, p99 {}, p99.9 {}, max {}",
        numbers::millis(latency.p50_ms),
        numbers::millis(latency.p90_ms),
        numbers::millis(latency.p99_ms),
        numbers::millis(latency.p999_ms),
        numbers::millis(latency.max_ms)
    );
    println!("generator: {} of a core", numbers::percent(generator_share));
    if outcome.is_generator_behind() {
        println!("the generator could not keep its own schedule: latencies are too high");
    }
}
