//! How soon a write is visible: to reads of the same data at once, to list queries within the merge window.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::ensure;
use memchr::memmem;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::load::{Outcome, Pool, beside};
use crate::random::Random;
use crate::report::{Figure, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Pause between two looks at a list.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// A write that is not visible after this long counts as lost.
const PATIENCE: Duration = Duration::from_secs(40);

/// Delays of many writes, in milliseconds.
#[derive(Default)]
struct Delays {
    /// From the answer of the write to the first list that shows it.
    lists: Vec<f64>,
    /// Reads of the instance right after the write's answer that did not show it.
    stale: usize,
    /// Requests of the watcher that had to be sent twice.
    resent: u64,
}

/// Writes one instance after the other and looks for each; while `background` registrations a second come in.
///
/// # Errors
/// If the server fails or a write never becomes visible.
pub async fn writes(
    plan: &Plan,
    ours: &Server,
    fleet: &Fleet,
    background: f64,
) -> anyhow::Result<Vec<Figure>> {
    let samples = plan.count(15, 120);
    let registrations = setup::registrations(fleet, plan.seed ^ 2, 0);
    let mut delays = Delays::default();
    let watching = watch(plan.seed, ours, fleet, samples, &mut delays);
    let writes = if background > 0.0 {
        let mut writers = Pool::open(ours.address(), 16, 4096).await?;
        beside(&mut writers, &registrations, background, watching).await?.1
    } else {
        watching.await?;
        Outcome::default()
    };
    let resent = delays.resent;
    let figures = figures(&mut delays, samples, background).into_iter();
    let figures = figures.map(|figure| figure.checked("registrations beside it", &writes));
    Ok(figures.map(|figure| figure.checked_resent("writes and looks", resent)).collect())
}

fn figures(delays: &mut Delays, samples: usize, background: f64) -> Vec<Figure> {
    let under =
        if background > 0.0 { format!(", {background:.0} registrations/s beside it") } else { String::new() };
    let spread = Spread::of(delays.lists.iter().copied());
    delays.lists.sort_by(f64::total_cmp);
    let p99 =
        delays.lists.get((delays.lists.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0);
    let stale = delays.stale;
    let shown = format!("p50 {}, p99 {}", numbers::millis(spread.median), numbers::millis(p99));
    vec![
        Figure::judged(
            &format!("write → read of the instance{under}"),
            format!("{stale} of {samples} stale"),
            "at once",
            stale == 0,
        ),
        Figure::at_most(
            &format!("write → list of its application{under}"),
            shown,
            p99,
            150.0,
            "p99 ≤ 150 ms",
        ),
    ]
}

async fn watch(
    seed: u64,
    ours: &Server,
    fleet: &Fleet,
    samples: usize,
    delays: &mut Delays,
) -> anyhow::Result<()> {
    // Different in every call: a second round must not find the marks of the first.
    let first_generation =
        u32::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() % 2_000_000_000)?;
    let mut connection = Connection::new(ours.address(), 64 * 1024);
    let mut random = Random::new(seed ^ 3);
    let (mut scratch, mut request, mut body) = (Vec::new(), Vec::new(), Vec::new());
    for sample in 0..samples {
        let instance = random.below(fleet.len() as u64) as usize;
        // A generation that no other writer uses, so the text that is looked for is unique.
        let generation = first_generation + u32::try_from(sample).unwrap_or(0);
        let record = fleet.record(instance, generation);
        request.clear();
        RequestWriter::SPRING.register(&record, &mut scratch, &mut request);
        let answer = connection.exchange(&request).await?;
        let written = Instant::now();
        ensure!(answer.status == 204, "a registration was answered {}", answer.status);
        let mark = format!("\"deployment\":\"{generation}\"");
        let app = record.app.to_ascii_uppercase();
        look(&mut connection, &format!("apps/{app}/{}", record.id), &mut request, &mut body).await?;
        delays.stale += usize::from(memmem::find(&body, mark.as_bytes()).is_none());
        let list = format!("apps/{app}");
        loop {
            look(&mut connection, &list, &mut request, &mut body).await?;
            if memmem::find(&body, mark.as_bytes()).is_some() {
                break;
            }
            ensure!(written.elapsed() < PATIENCE, "a write was not visible after {PATIENCE:?}");
            tokio::time::sleep(LOOK_EVERY).await;
        }
        delays.lists.push(written.elapsed().as_secs_f64() * 1000.0);
        // Writes must fall into all parts of the merge window.
        tokio::time::sleep(Duration::from_millis(random.below(120))).await;
    }
    delays.resent = connection.resent();
    Ok(())
}

async fn look(
    connection: &mut Connection,
    path: &str,
    request: &mut Vec<u8>,
    body: &mut Vec<u8>,
) -> anyhow::Result<()> {
    request.clear();
    body.clear();
    RequestWriter::SPRING.get(path, request);
    let answer = connection.fetch(request, body).await?;
    ensure!(answer.status == 200, "{path} was answered {}", answer.status);
    if body.starts_with(&[0x1F, 0x8B]) {
        *body = setup::text_of(body)?.into_bytes();
    }
    Ok(())
}
