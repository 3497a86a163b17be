//! Open loop: the highest rate whose slow answers are still fast, and the latency at half of it.

use std::rc::Rc;
use std::time::Duration;

use super::Plan;
use super::operations::Operation;
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, Quantiles, Workload, closed, open};
use crate::report::{Plot, Section, Series, numbers};
use crate::servers::Server;

/// A rate counts as carried if 99 of 100 requests are answered within this time after they were due.
const LIMIT_MS: f64 = 10.0;
/// More connections than a closed loop needs: a schedule does not wait for answers.
const CONNECTIONS: usize = 128;
/// Points of the latency curves, as "one in so many is slower".
const ONE_IN: [f64; 7] = [2.0, 5.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0];

/// What one server carries of one operation.
struct Capacity {
    rate: f64,
    at_half: Outcome,
    is_generator_limit: bool,
    /// Everything that was not answered rightly while the rate was looked for, or at half of it.
    faults: Option<String>,
}

/// All operations on all servers.
///
/// # Errors
/// If a server fails.
pub async fn section(
    plan: &Plan,
    servers: &[&Server],
    fleet: &Fleet,
    operations: &[Operation],
) -> anyhow::Result<(Section, Vec<Plot>)> {
    let mut section = Section::new(
        "Capacity and latency",
        "Open loop: requests are sent on a schedule and latency counts from the moment they were due. Capacity is the highest \
         rate that was tried with p99 under 10 ms and every answer right at once; latencies are those at half of it. `*`: at the \
         next higher rate the generator itself was behind its schedule (1 in 100 requests sent more than 1 ms late), so the \
         server may carry more. Faults: requests, at any of the rates, without a right answer, or sent twice; a row that has \
         some says less than one without.",
        &["operation", "server", "capacity", "p50", "p90", "p99", "p99.9", "max", "faults"],
    );
    let mut plots = Vec::new();
    for &operation in operations {
        let mut series = Vec::new();
        // Where no multiple of Java is asked for, its capacity is not worth the time.
        let has_goal = operation.goals().of_java.is_some();
        for server in servers.iter().filter(|server| has_goal || server.name != "Java") {
            let found = find(plan, server, &operation.workload(fleet, plan.seed)).await?;
            let Quantiles { p50_ms, p90_ms, p99_ms, p999_ms, max_ms } = found.at_half.quantiles();
            let mark = if found.is_generator_limit { " *" } else { "" };
            let capacity = format!("{}/s{mark}", numbers::count(found.rate));
            let latencies = [p50_ms, p90_ms, p99_ms, p999_ms, max_ms].map(numbers::millis);
            section.row(
                [operation.name().to_owned(), server.name.clone(), capacity]
                    .into_iter()
                    .chain(latencies)
                    .chain([found.faults.unwrap_or_else(|| "none".to_owned())]),
            );
            series.push(Series { name: server.name.clone(), points: curve(&found.at_half) });
        }
        plots.push(Plot {
            file: format!("latency-{}", operation.name()),
            title: format!("{}: latency at half of the capacity", operation.name()),
            x: "one request in so many is slower".to_owned(),
            y: "milliseconds".to_owned(),
            series,
        });
    }
    Ok((section, plots))
}

fn curve(outcome: &Outcome) -> Vec<(f64, f64)> {
    let is_known = |one_in: &&f64| **one_in <= outcome.latency.len() as f64;
    let at = |one_in: &f64| (*one_in, outcome.latency.value_at_quantile(1.0 - 1.0 / one_in) as f64 / 1000.0);
    ONE_IN.iter().filter(is_known).map(at).collect()
}

async fn find(plan: &Plan, server: &Server, workload: &Rc<dyn Workload>) -> anyhow::Result<Capacity> {
    let mut pool = Pool::open(server.address(), CONNECTIONS, 16 * 1024).await?;
    let highest = closed(&mut pool, workload, plan.duration(400, 1_500)).await?;
    let saturated = highest.rate();
    let mut all = highest;
    let probe = plan.duration(500, 1_500);
    let (mut carried, mut refused) = (0.0, saturated * 1.05);
    let mut is_generator_limit = false;
    let mut rate = saturated * 0.8;
    for _ in 0..plan.count(3, 5) {
        let outcome = open(&mut pool, workload, rate, probe).await?;
        all.add(&outcome);
        if outcome.quantiles().p99_ms < LIMIT_MS && outcome.faults().is_none() {
            carried = rate;
        } else {
            refused = rate;
            is_generator_limit = outcome.is_generator_behind();
        }
        rate = f64::midpoint(carried, refused);
    }
    let half = plan.duration(800, 3_000);
    // A server that carried nothing within the limit is shown at a tenth of its highest rate.
    let half_rate = if carried > 0.0 { carried / 2.0 } else { saturated / 10.0 };
    tokio::time::sleep(Duration::from_millis(200)).await;
    let at_half = open(&mut pool, workload, half_rate, half).await?;
    all.add(&at_half);
    Ok(Capacity { rate: carried, faults: all.faults(), at_half, is_generator_limit })
}
