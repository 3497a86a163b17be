//! How the cost of a change grows with the registry: CPU of the server per registration, documents in use.
//!
//! The same 1,000 instances of the same 20 applications register anew, whatever the size of the registry; the rest of it are
//! other applications. So nothing but that size differs between the servers, of which there is one for each size.

use std::time::Duration;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, open};
use crate::report::{Figure, Plot, Section, Series, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Registrations a second. Slow enough that each is published for itself at most ten times a second.
const RATE: f64 = 100.0;
/// Instances that change.
const CHANGING: usize = 1_000;
/// The cost at the largest size may be at most this many times that at the smallest.
const FLAT: f64 = 1.5;

/// The instances that change.
#[must_use]
pub fn changing(plan: &Plan) -> Fleet {
    Fleet::new(plan.seed, CHANGING)
}

/// Fills a fresh server up to a size, the changing instances included.
///
/// # Errors
/// If the server fails.
pub async fn fill(plan: &Plan, server: &Server, size: usize) -> anyhow::Result<()> {
    let others = Fleet::new(plan.seed ^ 13, size.saturating_sub(CHANGING)).of_others();
    setup::register_all(server.address(), &others).await?;
    setup::fill(server, &changing(plan)).await
}

/// One server and what was seen of it.
struct Course<'a> {
    server: &'a Server,
    size: usize,
    writers: Pool,
    /// Shares of a core without changes, round by round.
    idle: Vec<f64>,
    /// Microseconds of CPU per change beyond that.
    costs: Vec<f64>,
    changes: Outcome,
}

/// Servers of one kind, each filled up to its size, smallest first; all are tried in turn.
///
/// # Errors
/// If a server fails.
pub async fn of_changes(
    plan: &Plan,
    servers: &[(usize, Server)],
    rounds: usize,
    section: &mut Section,
) -> anyhow::Result<(Figure, Series)> {
    let changes = setup::renewals(&changing(plan));
    let time = plan.duration(700, 3_000);
    let mut courses = Vec::new();
    for (size, server) in servers {
        let writers = Pool::open(server.address(), 8, 4096).await?;
        let (idle, costs, changes) = (Vec::new(), Vec::new(), Outcome::default());
        courses.push(Course { server, size: *size, writers, idle, costs, changes });
    }
    for round in 0..rounds {
        rest(&mut courses, time).await?;
        let mut order: Vec<usize> = (0..courses.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let Course { server, writers, idle, costs, changes: all, .. } = &mut courses[index];
            read(server).await?;
            let before = server.cpu()?;
            let outcome = open(writers, &changes, RATE, time).await?;
            let used = server.cpu()?.since(&before).total().as_secs_f64();
            let anyway = idle.last().copied().unwrap_or_default() * outcome.elapsed.as_secs_f64();
            costs.push((used - anyway) * 1e6 / outcome.answers.max(1) as f64);
            all.add(&outcome);
        }
    }
    Ok(found(&courses, section))
}

/// What all servers use while nobody changes anything.
async fn rest(courses: &mut [Course<'_>], time: Duration) -> anyhow::Result<()> {
    let mut before = Vec::new();
    for course in courses.iter() {
        read(course.server).await?;
    }
    for course in courses.iter() {
        before.push(course.server.cpu()?);
    }
    tokio::time::sleep(time).await;
    for (course, before) in courses.iter_mut().zip(&before) {
        let used = course.server.cpu()?.since(before).total();
        course.idle.push(used.as_secs_f64() / time.as_secs_f64());
    }
    Ok(())
}

/// Somebody must read, or nothing is encoded.
async fn read(server: &Server) -> anyhow::Result<()> {
    setup::fetch(server, "apps/").await?;
    setup::fetch(server, "apps/delta").await?;
    Ok(())
}

fn found(courses: &[Course<'_>], section: &mut Section) -> (Figure, Series) {
    let mut points = Vec::new();
    for course in courses {
        let cost = Spread::of(course.costs.iter().copied());
        let idle = Spread::of(course.idle.iter().copied());
        section.row([
            course.server.name.clone(),
            numbers::count(course.size as f64),
            format!("{:.2} % of a core", idle.median * 100.0),
            format!("{} ±{:.0} %", numbers::count(cost.median), cost.percent()),
            course.changes.faults().unwrap_or_else(|| "none".to_owned()),
        ]);
        points.push((course.size as f64, cost.median));
    }
    let (Some(smallest), Some(largest)) = (courses.first(), courses.last()) else {
        return (Figure::plain("cost of a change", String::new()), Series { name: String::new(), points });
    };
    let growth = Spread::of(largest.costs.iter().zip(&smallest.costs).map(|(large, small)| large / small));
    let name = format!(
        "{}: cost of a change at {} instances against {}",
        largest.server.name,
        numbers::count(largest.size as f64),
        numbers::count(smallest.size as f64)
    );
    let shown = format!("{:.2} x ±{:.0} %", growth.median, growth.percent());
    let mut figure = Figure::at_most(&name, shown, growth.median, FLAT, "≤ 1.5 x");
    for course in courses {
        figure = figure.checked(&format!("changes at {}", course.size), &course.changes);
    }
    (figure, Series { name: largest.server.name.clone(), points })
}

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Cost of a change",
        "100 registrations a second of the same 1,000 known instances in 20 applications, each newer than the last, whatever the \
         size of the registry; JSON documents, full and delta, gzip, are in use. CPU time of the server per registration beyond \
         what it uses when nothing changes: reading the request, the lease, and the share of a registration in the publication \
         of the changed documents, ten a second at most. A fresh server for each size, in turn.",
        &["server", "instances", "without changes", "µs CPU per change", "faults"],
    )
}

/// The plot of it.
#[must_use]
pub fn plot(series: Vec<Series>) -> Plot {
    Plot {
        file: "cost-of-a-change".to_owned(),
        title: "CPU time of one change".to_owned(),
        x: "instances in the registry".to_owned(),
        y: "microseconds".to_owned(),
        series,
    }
}
