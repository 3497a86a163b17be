//! Full fetches while instances register.

use std::rc::Rc;

use super::Plan;
use super::setup::{self, FETCH_CONNECTIONS};
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, Workload, open};
use crate::measure::{Slice, slice};
use crate::report::{Figure, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Connections over which registrations come in.
const WRITERS: usize = 16;

/// What full fetches reached, quiet and while registrations came in, in turn.
struct Pairs {
    quiet: Vec<Slice>,
    churning: Vec<Slice>,
    writes: Outcome,
}

/// Full fetches a second, quiet and under registrations.
///
/// # Errors
/// If the server fails.
pub async fn full_fetches(plan: &Plan, ours: &Server, fleet: &Fleet, rate: f64) -> anyhow::Result<Figure> {
    let pairs = measure(plan, ours, fleet, rate).await?;
    let rates = |slices: &[Slice]| Spread::of(slices.iter().map(|slice| slice.outcome.rate()));
    let (quiet, churning) = (rates(&pairs.quiet), rates(&pairs.churning));
    let pair = pairs.churning.iter().zip(&pairs.quiet);
    let kept = Spread::of(pair.map(|(with, without)| with.outcome.rate() / without.outcome.rate()));
    let name = format!("{}: full fetches under {rate:.0} registrations/s", ours.name);
    let mut figure = match ours.name.as_str() {
        "Heureka" => Figure::judged(&name, numbers::rate(&churning), "≥ 90 % of quiet", kept.median >= 0.9),
        _ => Figure::plain(&name, numbers::rate(&churning)),
    };
    figure.compared = format!("quiet: {}", numbers::rate(&quiet));
    figure.ratio = Some(kept);
    let writes = pairs.writes.quantiles();
    figure.remarks.push(format!(
        "registrations meanwhile: {} answered, {} failed, p50 {}, p99 {}",
        pairs.writes.answers,
        pairs.writes.failed(),
        numbers::millis(writes.p50_ms),
        numbers::millis(writes.p99_ms)
    ));
    Ok(figure)
}

async fn measure(plan: &Plan, ours: &Server, fleet: &Fleet, rate: f64) -> anyhow::Result<Pairs> {
    let fetches = setup::get("apps/");
    let registrations = setup::registrations(fleet, plan.seed ^ 1, 0);
    let mut readers = Pool::open(ours.address(), FETCH_CONNECTIONS, 64 * 1024).await?;
    let mut writers = Pool::open(ours.address(), WRITERS, 4096).await?;
    let mut pairs = Pairs { quiet: Vec::new(), churning: Vec::new(), writes: Outcome::default() };
    for round in 0..=plan.rhythm.rounds {
        let quiet = slice(ours, &mut readers, &fetches, plan.rhythm.slice).await?;
        let (churning, writes) = slice_under(
            ours,
            &mut readers,
            &fetches,
            plan,
            Writes { pool: &mut writers, what: &registrations, rate },
        )
        .await?;
        // What was written last must be published before the next quiet slice.
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        if round > 0 {
            pairs.quiet.push(quiet);
            pairs.churning.push(churning);
            pairs.writes.add(&writes);
        }
    }
    Ok(pairs)
}

struct Writes<'a> {
    pool: &'a mut Pool,
    what: &'a Rc<dyn Workload>,
    rate: f64,
}

async fn slice_under(
    ours: &Server,
    readers: &mut Pool,
    fetches: &Rc<dyn Workload>,
    plan: &Plan,
    writes: Writes<'_>,
) -> anyhow::Result<(Slice, Outcome)> {
    let reading = slice(ours, readers, fetches, plan.rhythm.slice);
    let writing = open(writes.pool, writes.what, writes.rate, plan.rhythm.slice);
    let (slice, outcome) = tokio::join!(reading, writing);
    Ok((slice?, outcome?))
}
