//! From node to node: a change on one, and how soon another shows it, in its lists and to a client that polls.
//!
//! Changes are due on a schedule and lists are asked for on one too, so neither waits for the other. A delay counts from the
//! moment a change was due until the end of the first answer that shows it, so up to one polling interval is part of it.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::ensure;

use super::Plan;
use super::probes::{Board, PROBE_APP, Probes};
use super::setup;
use super::waiting;
use super::warm_up;
use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::load::{Pool, beside, open};
use crate::random::Random;
use crate::report::{Figure, Section, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Heartbeats a second on the node that is written to; all of them are replicated.
const HEARTBEATS: f64 = 2_000.0;
/// Time for the first registrations to arrive.
const SETTLE: Duration = Duration::from_secs(2);
/// Length of a stretch of heartbeats before anything is measured.
const WARMING: Duration = Duration::from_secs(4);
/// Connections over which they come.
const BEATING: usize = 64;

/// How a cluster is tried.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Instances that change in turn.
    pub probes: usize,
    /// Changes.
    pub changes: usize,
    /// Time from one change to the next, on average: each is due at a random moment of its own stretch of that length, so that
    /// no timer of a server keeps step with them.
    pub every: Duration,
    /// Time from one look to the next.
    pub look_every: Duration,
    /// What is not visible so long after the last change is lost.
    pub patience: Duration,
    /// How many stretches of heartbeats, of four seconds each, go before.
    pub warm_up: usize,
}

impl Course {
    /// For nodes that are expected to tell each other at once.
    #[must_use]
    pub fn of_ours(plan: &Plan) -> Self {
        Self {
            probes: 40,
            changes: plan.count(25, 250),
            every: Duration::from_millis(200),
            look_every: Duration::from_millis(5),
            patience: Duration::from_secs(20),
            warm_up: 0,
        }
    }

    /// For a server that shows changes every 30 s: every instance changes once, all over such an interval.
    #[must_use]
    pub fn of_java() -> Self {
        Self {
            probes: 60,
            changes: 60,
            every: Duration::from_millis(500),
            look_every: Duration::from_millis(20),
            patience: Duration::from_secs(75),
            warm_up: 5,
        }
    }
}

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Propagation",
        "Registrations and changes of status on one node, five a second (Java: two), under 2,000 heartbeats/s that are replicated \
         too; delay until another node shows them: in the list of the application (read-only tier), and in the delta that a client polls. Up to one \
         polling interval is part of every delay. Everything at its default.",
        &["servers", "seen in", "changes", "polled every", "p50", "p90", "p99", "max", "lost"],
    )
}

/// Writes to the first node of a cluster and looks at the last one, which have been filled with a fleet.
///
/// # Errors
/// If a server fails.
pub async fn between(
    plan: &Plan,
    nodes: &[Server],
    fleet: &Fleet,
    course: Course,
    section: &mut Section,
) -> anyhow::Result<Vec<Figure>> {
    let [writer, .., reader] = nodes else { anyhow::bail!("a cluster has two nodes or more") };
    let probes = Fleet::of_one_app(plan.seed, PROBE_APP, course.probes);
    // Known before anything is measured, so that a list of the application exists.
    setup::register_all(writer.address(), &probes).await?;
    // A Java server that is asked too early answers for half a minute that there is no such application.
    tokio::time::sleep(SETTLE).await;
    waiting::until_app_listed(reader, PROBE_APP, course.probes, course.patience).await?;
    let boards = [Board::new(course.probes), Board::new(course.probes)].map(RefCell::new).map(Rc::new);
    let list = Looker::new(reader, &format!("apps/{}", PROBE_APP.to_ascii_uppercase()), &probes, &boards[0]);
    let client = Looker::new(reader, "apps/delta", &probes, &boards[1]);
    let work = async {
        let writing = write(plan.seed, writer, &probes, course, &boards);
        let (writes, lists, deltas) = tokio::try_join!(writing, list.look(course), client.look(course))?;
        Ok(writes + lists + deltas)
    };
    let mut beating = Pool::open(writer.address(), BEATING, 4096).await?;
    let beats = setup::heartbeats(fleet, plan.seed);
    let mut costs = Vec::new();
    for _ in 0..course.warm_up {
        let before = writer.cpu()?;
        let outcome = open(&mut beating, &beats, HEARTBEATS, WARMING).await?;
        costs.push(writer.cpu()?.since(&before).total().as_secs_f64() / outcome.answers.max(1) as f64);
    }
    if course.warm_up > 0 {
        let how = if warm_up::is_steady(&costs) { "stood still" } else { "did not stand still yet" };
        let time = (WARMING * u32::try_from(course.warm_up)?).as_secs();
        let name = &writer.name;
        section.note(&format!("{name} had {time} s of the heartbeats before; its CPU time for each {how}."));
    }
    let (resent, beats) = beside(&mut beating, &beats, HEARTBEATS, work).await?;
    let mut figures = Vec::new();
    for (seen_in, board) in ["list of the application", "delta"].into_iter().zip(&boards) {
        figures.push(figure(nodes, seen_in, &board.borrow(), course, section));
    }
    let quantiles = beats.quantiles();
    let remark = format!(
        "heartbeats meanwhile: {}/s, p99 {}",
        numbers::count(beats.rate()),
        numbers::millis(quantiles.p99_ms)
    );
    if let Some(first) = figures.first_mut() {
        first.remarks.push(remark);
    }
    // A cluster that leaves heartbeats unanswered was not under the load that the goals are about.
    let checked = figures.into_iter().map(|figure| figure.checked("heartbeats", &beats));
    Ok(checked.map(|figure| figure.checked_resent("changes and looks", resent)).collect())
}

fn figure(nodes: &[Server], seen_in: &str, board: &Board, course: Course, section: &mut Section) -> Figure {
    let delays = Spread::of(board.delays_ms().iter().copied());
    let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|share| board.quantile_ms(share));
    let lost = course.changes - delays.count;
    let servers = format!("{} {}", nodes.len(), nodes[0].name);
    section.row(
        [servers, seen_in.to_owned(), course.changes.to_string()]
            .into_iter()
            .chain([format!("{} ms", course.look_every.as_millis())])
            .chain([p50, p90, p99, delays.high].map(numbers::millis))
            .chain([lost.to_string()]),
    );
    let name = format!("{}: change on one node → {seen_in} of another", nodes[0].name);
    let shown = format!("p50 {}, p99 {}", numbers::millis(p50), numbers::millis(p99));
    if nodes[0].name != "Heureka" {
        return Figure::plain(&name, shown);
    }
    let is_met = lost == 0 && p50 < 50.0 && p99 < 250.0;
    Figure::judged(&name, shown, "p50 < 50 ms, p99 < 250 ms", is_met)
}

/// Makes the changes when they are due; says how many had to be sent twice. What is to be seen stands on the boards before it is
/// sent.
async fn write(
    seed: u64,
    server: &Server,
    fleet: &Fleet,
    course: Course,
    boards: &[Rc<RefCell<Board>>],
) -> anyhow::Result<u64> {
    let mut connection = Connection::new(server.address(), 16 * 1024);
    let mut probes = Probes::new(course.probes);
    let (mut scratch, mut request) = (Vec::new(), Vec::new());
    let mut random = Random::new(seed ^ 7);
    let started = Instant::now();
    for number in 0..course.changes {
        let due = started + course.every.mul_f64(number as f64 + random.unit());
        tokio::time::sleep_until(due.into()).await;
        let (probe, change) = probes.next();
        for board in boards {
            board.borrow_mut().expect(probe, change.after, due);
        }
        request.clear();
        change.write(&fleet.record(probe, change.after.generation), &mut scratch, &mut request);
        let answer = connection.exchange(&request).await?;
        ensure!(answer.status / 100 == 2, "a change was answered {}", answer.status);
    }
    boards.iter().for_each(|board| board.borrow_mut().close());
    Ok(connection.resent())
}

/// Asks one node for one document, again and again.
struct Looker {
    connection: Connection,
    request: Vec<u8>,
    ids: Vec<String>,
    board: Rc<RefCell<Board>>,
}

impl Looker {
    fn new(server: &Server, path: &str, fleet: &Fleet, board: &Rc<RefCell<Board>>) -> Self {
        let mut request = Vec::new();
        RequestWriter::SPRING.get(path, &mut request);
        Self {
            connection: Connection::new(server.address(), 64 * 1024),
            request,
            ids: (0..fleet.len()).map(|instance| fleet.record(instance, 0).id).collect(),
            board: board.clone(),
        }
    }

    /// Looks until everything has been seen, or nothing more is to be hoped for; says how many looks had to be sent twice.
    async fn look(mut self, course: Course) -> anyhow::Result<u64> {
        let started = Instant::now();
        let end = started + course.every * u32::try_from(course.changes)? + course.patience;
        let mut due = started;
        let mut body = Vec::new();
        while !self.board.borrow().is_done() && due < end {
            tokio::time::sleep_until(due.into()).await;
            body.clear();
            let answer = self.connection.fetch(&self.request, &mut body).await?;
            let now = Instant::now();
            ensure!(answer.status == 200, "a look was answered {}", answer.status);
            self.board.borrow_mut().see(&setup::text_of(&body)?, &self.ids, now);
            // A look that took longer than the interval leaves others out; they would show nothing new.
            let passed = now.saturating_duration_since(started).as_nanos() / course.look_every.as_nanos();
            due = started + course.look_every * u32::try_from(passed + 1)?;
        }
        Ok(self.connection.resent())
    }
}
