//! Full fetches while instances register.

use std::rc::Rc;
use std::time::Duration;

use super::Plan;
use super::setup::{self, FETCH_CONNECTIONS};
use super::warm_up;
use crate::fleet::Fleet;
use crate::load::{Outcome, Pool, Workload, open};
use crate::measure::{Slice, slice};
use crate::report::{Figure, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Connections over which registrations come in.
const WRITERS: usize = 16;
/// Least share of the quiet rate that is wanted.
const KEPT: f64 = 0.9;
/// Least multiple of Java's rate under the same registrations.
const OF_JAVA: f64 = 5.0;
/// What was written last is published by then.
const PUBLISHED: Duration = Duration::from_millis(200);

/// One server and what its full fetches reached, quiet and while registrations came in, in turn.
pub struct Course<'a> {
    server: &'a Server,
    readers: Pool,
    writers: Pool,
    quiet: Vec<Slice>,
    churning: Vec<Slice>,
    writes: Outcome,
}

/// Full fetches from all servers in turn, quiet and under so many registrations a second.
///
/// # Errors
/// If a server fails.
pub async fn full_fetches<'a>(
    plan: &Plan,
    servers: &'a [Server],
    fleet: &Fleet,
    rate: f64,
    rounds: usize,
) -> anyhow::Result<Vec<Course<'a>>> {
    let (fetches, registrations) = (setup::get("apps/"), setup::registrations(fleet, plan.seed ^ 1, 0));
    let mut courses = Vec::new();
    for server in servers {
        let readers = Pool::open(server.address(), FETCH_CONNECTIONS, 64 * 1024).await?;
        let writers = Pool::open(server.address(), WRITERS, 4096).await?;
        let (quiet, churning, writes) = (Vec::new(), Vec::new(), Outcome::default());
        courses.push(Course { server, readers, writers, quiet, churning, writes });
    }
    for round in 0..=rounds {
        let mut order: Vec<usize> = (0..courses.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let course = &mut courses[index];
            course.round(plan, &fetches, &registrations, rate).await?;
            if round == 0 {
                course.forget();
            }
        }
    }
    Ok(courses)
}

impl Course<'_> {
    async fn round(
        &mut self,
        plan: &Plan,
        fetches: &Rc<dyn Workload>,
        registrations: &Rc<dyn Workload>,
        rate: f64,
    ) -> anyhow::Result<()> {
        let length = plan.rhythm.slice;
        self.quiet.push(slice(self.server, &mut self.readers, fetches, length).await?);
        let reading = slice(self.server, &mut self.readers, fetches, length);
        let writing = open(&mut self.writers, registrations, rate, length);
        let (slice, writes) = tokio::join!(reading, writing);
        self.churning.push(slice?);
        self.writes.add(&writes?);
        tokio::time::sleep(PUBLISHED).await;
        Ok(())
    }

    /// The first round does not count.
    fn forget(&mut self) {
        self.quiet.clear();
        self.churning.clear();
        self.writes = Outcome::default();
    }

    /// What it reached under registrations, in terms of what it reached quiet.
    #[must_use]
    pub fn figure(&self, rate: f64) -> Figure {
        let [quiet, churning] = [&self.quiet, &self.churning].map(|slices| rates(slices));
        let pair = self.churning.iter().zip(&self.quiet);
        let kept = Spread::of(pair.map(|(with, without)| with.outcome.rate() / without.outcome.rate()));
        let name = format!("{}: full fetches under {rate:.0} registrations/s", self.server.name);
        let mut figure = match self.server.name.as_str() {
            "Heureka" => {
                Figure::judged(&name, numbers::rate(&churning), "≥ 90 % of quiet", kept.median >= KEPT)
            }
            _ => Figure::plain(&name, numbers::rate(&churning)),
        };
        figure.compared = format!("quiet: {}", numbers::rate(&quiet));
        figure.ratio = Some(kept);
        let writes = self.writes.quantiles();
        let remark = format!(
            "registrations meanwhile: {} answered, p50 {}, p99 {}",
            self.writes.answers,
            numbers::millis(writes.p50_ms),
            numbers::millis(writes.p99_ms)
        );
        self.checked(figure.remark(remark)).checked("quiet fetches", &all(&self.quiet))
    }

    /// What it reached under registrations, in terms of what Java reached under the same ones.
    #[must_use]
    pub fn against_java(&self, java: &Self, rate: f64) -> Figure {
        let pairs = self.churning.iter().zip(&java.churning);
        let ratio = Spread::of(pairs.map(|(ours, theirs)| ours.outcome.rate() / theirs.outcome.rate()));
        let name = format!("full fetches under {rate:.0} registrations/s against Java");
        let shown = numbers::rate(&rates(&self.churning));
        let mut figure = Figure::judged(&name, shown, "≥ 5 x", ratio.median >= OF_JAVA);
        figure.compared = format!("Java: {}", numbers::rate(&rates(&java.churning)));
        figure.ratio = Some(ratio);
        let costs: Vec<f64> = java.churning.iter().map(Slice::cpu_us).collect();
        java.checked(self.checked(figure)).unless_warming_up(warm_up::still_falling(&costs))
    }

    /// What was not answered rightly at once, of reads and registrations; `None` if everything was.
    #[must_use]
    pub fn faults(&self) -> Option<String> {
        let mut everything = all(&self.quiet);
        everything.add(&all(&self.churning));
        everything.add(&self.writes);
        everything.faults()
    }

    fn checked(&self, figure: Figure) -> Figure {
        let name = &self.server.name;
        figure
            .checked(&format!("{name}, registrations"), &self.writes)
            .checked(&format!("{name}, fetches under registrations"), &all(&self.churning))
    }
}

fn rates(slices: &[Slice]) -> Spread {
    Spread::of(slices.iter().map(|slice| slice.outcome.rate()))
}

fn all(slices: &[Slice]) -> Outcome {
    Outcome::sum(slices.iter().map(|slice| &slice.outcome))
}
