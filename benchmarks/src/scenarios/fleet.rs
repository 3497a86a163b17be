//! How many instances one node keeps alive at default intervals.
//!
//! The fleet grows step by step on one server; those that were there before go on with their heartbeats. The servers run
//! without self-preservation and look for expired leases every 10 s, so an instance whose heartbeats are lost is gone.

use std::rc::Rc;
use std::time::Duration;

use super::Plan;
use super::setup;
use super::waiting;
use super::warm_up::{self, Course, WarmUp};
use crate::fleet::Fleet;
use crate::http::RequestWriter;
use crate::load::{Outcome, Pool, Prepared, Workload, open};
use crate::report::{Figure, Section, Verdict, numbers};
use crate::servers::{CpuTime, Server};

/// Seconds between two heartbeats, and between two delta reads, of one instance.
const INTERVAL_SECS: f64 = 30.0;
/// Connections that stand for the fleet's: one each would need more ports than a machine has.
const CONNECTIONS: usize = 500;
/// Longer than an interval: every instance sends a heartbeat.
const AN_INTERVAL: Duration = Duration::from_secs(35);
/// With [`AN_INTERVAL`] longer than a lease of 90 s: what was never renewed is gone by then.
const REST_OF_A_LEASE: Duration = Duration::from_secs(60);
/// Longest time that Java has for warming up.
const WARM_UP: Duration = Duration::from_secs(30);
/// From this size on a whole lease is waited for.
const LARGE: usize = 1_000_000;
/// A generator that sends less than this share of what is due says nothing about the server.
const ON_SCHEDULE: f64 = 0.99;

/// Options of both servers.
pub const OPTIONS: [&str; 4] = [
    setup::SHORT_DELTA[0],
    setup::SHORT_DELTA[1],
    "--eureka.server.enable-self-preservation=false",
    "--eureka.server.eviction-interval-timer-in-ms=10000",
];
/// What is stricter for ours: a lease ends after its duration, not after twice that.
pub const EXACT: &str = "--heureka.lease-expiry=exact";

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Fleet at default intervals",
        "Every instance sends a heartbeat and reads the delta (gzip) once in 30 s; over 500 connections, which stand for one \
         each. Self-preservation is off and leases are looked at every 10 s (ours end after 90 s, Java's after 180 s). Kept \
         alive: every request was answered rightly at once, and the server still lists every instance afterwards. Each size \
         is measured for 35 s, which is longer than an interval but shorter than a lease, the last one for 95 s; the instances of \
         earlier sizes go on, and are as old as all of it together.",
        &[
            "server",
            "instances",
            "kept alive",
            "for",
            "heartbeats/s",
            "p99",
            "delta reads/s",
            "p99",
            "sent late by (p99)",
            "CPU of the server",
            "CPU of the generator",
            "memory",
        ],
    )
}

/// How far a server came.
#[derive(Debug, Default)]
pub struct Carried {
    /// Most instances that were kept alive.
    instances: usize,
    /// Why the next size could not be judged; `None` if it was not carried, or if there was no next size.
    open: Option<String>,
}

impl Carried {
    /// As a figure with a goal.
    #[must_use]
    pub fn figure(self, goal: usize) -> Figure {
        let shown = match self.instances {
            0 => "none of the sizes kept alive".to_owned(),
            instances => format!("{} kept alive", numbers::count(instances as f64)),
        };
        let name = "fleet at default intervals on one node";
        let figure = Figure::judged(name, shown, &numbers::count(goal as f64), self.instances >= goal);
        match self.open {
            Some(why) => figure.open(why),
            None => figure,
        }
    }
}

/// Grows the fleet of a server until it keeps it alive no more.
///
/// # Errors
/// If the server fails.
pub async fn ramp(
    plan: &Plan,
    server: &Server,
    sizes: &[usize],
    section: &mut Section,
) -> anyhow::Result<Carried> {
    let fleet = Fleet::new(plan.seed, sizes.last().copied().unwrap_or_default());
    let mut beats = Prepared::new(200);
    let mut carried = Carried::default();
    let mut registered = 0;
    for &size in sizes {
        for instance in registered..size {
            beats.add(|out| RequestWriter::SPRING.heartbeat(&fleet.record(instance, 0), out));
        }
        setup::register(server.address(), &fleet, registered..size).await?;
        registered = size;
        waiting::until_delta_is_settled(server, &fleet).await?;
        let all = Rc::new(beats);
        if carried.instances == 0 && server.name == "Java" {
            let warmed = warm_up(plan, server, &all, size).await?;
            section.note(&format!("Java was warmed up before: {}.", warmed.describe()));
        }
        let step = step(plan, server, &all, size).await?;
        // Nobody else holds them any more.
        beats = Rc::try_unwrap(all).unwrap_or_else(|all| (*all).clone());
        section.row(step.cells(server, size)?);
        match step.judge(size) {
            (Verdict::Met, _) => carried.instances = size,
            (Verdict::Missed, _) => break,
            (Verdict::Open, why) => {
                carried.open = Some(format!("{}: {why}", numbers::count(size as f64)));
                break;
            }
        }
    }
    Ok(carried)
}

/// A JVM first needs the same calls as fast as it takes them.
async fn warm_up(plan: &Plan, server: &Server, all: &Rc<Prepared>, size: usize) -> anyhow::Result<WarmUp> {
    let beats: Rc<dyn Workload> = Rc::new(FirstOf { all: all.clone(), size });
    let courses = vec![
        Course::new("heartbeat", server, beats).await?,
        Course::new("delta", server, setup::get("apps/delta")).await?,
    ];
    warm_up::until_steady(plan, server, courses, WARM_UP).await
}

/// What was seen at one size.
struct Step {
    beats: Outcome,
    deltas: Outcome,
    server: Duration,
    generator: Duration,
    /// Instances that the server lists afterwards.
    listed: usize,
}

async fn step(plan: &Plan, server: &Server, all: &Rc<Prepared>, size: usize) -> anyhow::Result<Step> {
    let rate = size as f64 / INTERVAL_SECS;
    let mut beating = Pool::open(server.address(), CONNECTIONS / 2, 2048).await?;
    let mut reading = Pool::open(server.address(), CONNECTIONS / 2, 16 * 1024).await?;
    let workload: Rc<dyn Workload> = Rc::new(FirstOf { all: all.clone(), size });
    let reads = setup::get("apps/delta");
    let (mut beats, mut deltas) = (Outcome::default(), Outcome::default());
    let (before, own_before) = (server.cpu()?, CpuTime::own()?);
    let stretches = match plan.is_quick {
        true => &[Duration::from_secs(3)][..],
        false if size < LARGE => &[AN_INTERVAL][..],
        false => &[AN_INTERVAL, REST_OF_A_LEASE][..],
    };
    for &time in stretches {
        let (more_beats, more_deltas) =
            tokio::join!(open(&mut beating, &workload, rate, time), open(&mut reading, &reads, rate, time));
        beats.add(&more_beats?);
        deltas.add(&more_deltas?);
        if beats.faults().or(deltas.faults()).is_some() {
            break;
        }
    }
    let (after, own_after) = (server.cpu()?, CpuTime::own()?);
    let listed = waiting::count_of(server).await?;
    let (server, generator) = (after.since(&before).total(), own_after.since(&own_before).total());
    Ok(Step { beats, deltas, server, generator, listed })
}

impl Step {
    /// Whether the fleet was kept alive, and in words.
    fn judge(&self, size: usize) -> (Verdict, String) {
        let due = size as f64 / INTERVAL_SECS;
        let is_on_schedule = |outcome: &Outcome| {
            let sent = (outcome.answers + outcome.failed()) as f64;
            sent >= due * outcome.elapsed.as_secs_f64() * ON_SCHEDULE
        };
        if !is_on_schedule(&self.beats) || !is_on_schedule(&self.deltas) {
            return (Verdict::Open, "open: the generator sent less than was due".to_owned());
        }
        let faults = [("heartbeats", &self.beats), ("delta reads", &self.deltas)];
        let faults = faults.into_iter().filter_map(|(what, all)| Some(format!("{what}: {}", all.faults()?)));
        let faults = faults.collect::<Vec<_>>().join("; ");
        if !faults.is_empty() {
            let is_behind = self.beats.is_generator_behind() || self.deltas.is_generator_behind();
            let limit = if is_behind { "; the generator was behind its schedule" } else { "" };
            return (Verdict::Open, format!("open: {faults}{limit}"));
        }
        match size.saturating_sub(self.listed) {
            0 => (Verdict::Met, "yes".to_owned()),
            gone => (Verdict::Missed, format!("no: {} gone", gone)),
        }
    }

    fn cells(&self, server: &Server, size: usize) -> anyhow::Result<[String; 12]> {
        let elapsed = self.beats.elapsed.as_secs_f64();
        let core = |used: Duration| format!("{:.0} % of a core", used.as_secs_f64() / elapsed * 100.0);
        let late = self.beats.lag_p99_ms().max(self.deltas.lag_p99_ms());
        Ok([
            server.name.clone(),
            numbers::count(size as f64),
            self.judge(size).1,
            format!("{elapsed:.0} s"),
            numbers::count(self.beats.rate()),
            numbers::millis(self.beats.quantiles().p99_ms),
            numbers::count(self.deltas.rate()),
            numbers::millis(self.deltas.quantiles().p99_ms),
            numbers::millis(late),
            core(self.server),
            core(self.generator),
            numbers::bytes(server.memory()?.resident as f64),
        ])
    }
}

/// The heartbeats of the first instances, in an order that visits each once in a round.
struct FirstOf {
    all: Rc<Prepared>,
    size: usize,
}

impl Workload for FirstOf {
    fn request<'a>(&'a self, number: u64, _: &'a mut Vec<u8>) -> &'a [u8] {
        // The stride has no common factor with any size used here.
        self.all.get((number.wrapping_mul(7_919) % self.size as u64) as usize)
    }

    fn expected_status(&self) -> u16 {
        self.all.expected_status()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step_of(sent: u64, listed: usize) -> Step {
        let answered = Outcome { elapsed: Duration::from_secs(30), answers: sent, ..Outcome::default() };
        let (server, generator) = (Duration::ZERO, Duration::ZERO);
        Step { beats: answered.clone(), deltas: answered, server, generator, listed }
    }

    #[test]
    fn a_fleet_is_kept_alive_if_all_of_it_was_sent_answered_and_is_still_there() {
        assert_eq!(step_of(10_000, 10_000).judge(10_000).0, Verdict::Met);
        assert_eq!(step_of(10_000, 9_999).judge(10_000), (Verdict::Missed, "no: 1 gone".to_owned()));
        assert_eq!(step_of(9_000, 10_000).judge(10_000).0, Verdict::Open);
        let mut failed = step_of(10_000, 9_000);
        failed.deltas.resent = 3;
        let (verdict, why) = failed.judge(10_000);
        assert_eq!((verdict, why.as_str()), (Verdict::Open, "open: delta reads: 3 sent twice of 10000"));
    }

    #[test]
    fn what_could_not_be_judged_leaves_the_figure_open() {
        let figure = |instances, open| Carried { instances, open }.figure(1_000_000);
        assert_eq!(figure(1_000_000, None).verdict, Verdict::Met);
        assert_eq!(figure(500_000, None).verdict, Verdict::Missed);
        assert_eq!(figure(500_000, Some("faults".to_owned())).verdict, Verdict::Open);
    }

    #[test]
    fn every_instance_of_a_prefix_has_its_turn_once_in_a_round() {
        let mut all = Prepared::new(200);
        (0..200_u8).for_each(|instance| all.add(|out| out.push(instance)));
        let first = FirstOf { all: Rc::new(all), size: 100 };
        let mut seen: Vec<u8> = (0..100).map(|number| first.request(number, &mut Vec::new())[0]).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
    }
}
