//! A deployment: a fifth of the fleet restarts within a minute. When does every polling client have the new list?
//!
//! A Java server makes its lists anew every 30 s, by the clock on the wall, and clients poll every 30 s. What comes of that depends
//! on the moment at which a deployment begins, so several begin at different ones, each on a server of its own.

use std::cell::RefCell;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::task::JoinSet;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::random::Random;
use crate::report::{Section, numbers};
use crate::stats::Spread;

/// Clients that poll; each at its own moment of the interval.
const POLLERS: usize = 40;
/// What the new instances say of themselves.
const MARK: &str = "\"deployment\":\"1\"";
/// What begins every instance of a document.
const START: &str = "{\"instanceId\":\"";

/// Options that keep the delta for two and a half polling intervals instead of six, so that one need not wait long until that of
/// the filling is empty: a list that is up to one interval old, asked for once in an interval, still misses nothing.
pub const DELTA: [&str; 2] = [
    "--eureka.server.retention-time-in-m-s-in-delta-queue=75000",
    "--eureka.server.delta-retention-timer-interval-in-ms=5000",
];

/// Options that keep the delta as long as a quick run needs it.
pub const SHORT_DELTA: [&str; 2] = [
    "--eureka.server.retention-time-in-m-s-in-delta-queue=10000",
    "--eureka.server.delta-retention-timer-interval-in-ms=1000",
];

/// The table for it.
#[must_use]
pub fn section(plan: &Plan) -> Section {
    let (minute, interval) = times(plan);
    let text = format!(
        "20 % of the fleet cancel and register again within {} s, while {POLLERS} clients poll the delta every {} s. Deltas keep \
         two and a half of these intervals or more. Time from the last registration until a client has seen all of them: median \
         of the deployments, and extremes. They begin at random moments, one in each part of {} s, on servers of their own that \
         run at the same time; most of the time everybody waits, so a cold JVM makes no difference.",
        minute.as_secs(),
        interval.as_secs(),
        interval.as_secs()
    );
    Section::new(
        "Deployment",
        &text,
        &["server", "instances", "restarted", "deployments", "half of the clients", "every client", "faults"],
    )
}

/// When the deployments begin: each at a random moment of its own part of an interval.
#[must_use]
pub fn phases(plan: &Plan) -> Vec<Duration> {
    let (mut random, count) = (Random::new(plan.seed ^ 11), plan.count(1, 3));
    let interval = times(plan).1;
    (0..count).map(|index| interval.mul_f64((index as f64 + random.unit()) / count as f64)).collect()
}

/// Length of the deployment and polling interval: a minute and 30 s, as in life, unless it must be quick.
fn times(plan: &Plan) -> (Duration, Duration) {
    (plan.duration(4_000, 60_000), plan.duration(2_000, 30_000))
}

/// How one deployment went.
#[derive(Clone, Copy, Debug)]
pub struct Deployment {
    /// Seconds until half of the clients had the new list.
    half: f64,
    /// Seconds until all of them had.
    every: f64,
    /// Requests that had to be sent twice.
    resent: u64,
}

/// The row of one kind of server.
#[must_use]
pub fn row(name: &str, fleet: &Fleet, deployments: &[Deployment]) -> [String; 7] {
    let shown = |value: fn(&Deployment) -> f64| {
        let spread = Spread::of(deployments.iter().map(value));
        format!("{:.1} s ({:.1}–{:.1})", spread.median, spread.low, spread.high)
    };
    let resent: u64 = deployments.iter().map(|deployment| deployment.resent).sum();
    [
        name.to_owned(),
        numbers::count(fleet.len() as f64),
        numbers::count(restarting(fleet).len() as f64),
        deployments.len().to_string(),
        shown(|deployment| deployment.half),
        shown(|deployment| deployment.every),
        if resent == 0 { "none".to_owned() } else { format!("{resent} sent twice") },
    ]
}

fn restarting(fleet: &Fleet) -> Vec<usize> {
    (0..fleet.len()).step_by(5).collect()
}

/// One deployment on a server with a fleet in it, after a pause.
///
/// # Errors
/// If the server fails, or answers anything wrongly.
pub async fn run(
    plan: Plan,
    address: SocketAddr,
    fleet: Fleet,
    phase: Duration,
) -> anyhow::Result<Deployment> {
    tokio::time::sleep(phase).await;
    let (minute, interval) = times(&plan);
    let restarting = restarting(&fleet);
    let ended = Rc::new(RefCell::new(None));
    let mut pollers = JoinSet::new();
    for index in 0..POLLERS {
        let offset = interval.mul_f64(index as f64 / POLLERS as f64);
        let poller = Poller { address, interval, wanted: restarting.len(), ended: ended.clone() };
        pollers.spawn_local(poller.run(offset));
    }
    let mut resent = restart(address, &fleet, &restarting, minute).await?;
    *ended.borrow_mut() = Some(Instant::now());
    let mut delays = Vec::new();
    while let Some(delay) = pollers.join_next().await {
        let (delay, again) = delay??;
        delays.push(delay);
        resent += again;
    }
    let delays = Spread::of(delays);
    Ok(Deployment { half: delays.median, every: delays.high, resent })
}

/// Cancels and registers instances, evenly over a time; says how many requests had to be sent twice.
async fn restart(
    address: SocketAddr,
    fleet: &Fleet,
    instances: &[usize],
    time: Duration,
) -> anyhow::Result<u64> {
    let mut connection = Connection::new(address, 16 * 1024);
    let (mut scratch, mut request) = (Vec::new(), Vec::new());
    let started = Instant::now();
    let pause = time / u32::try_from(instances.len()).unwrap_or(u32::MAX).max(1);
    for (index, &instance) in instances.iter().enumerate() {
        let due = started + pause * u32::try_from(index).unwrap_or(u32::MAX);
        tokio::time::sleep_until(due.into()).await;
        let record = fleet.record(instance, 1);
        request.clear();
        RequestWriter::SPRING.cancel(&record, &mut request);
        let gone = connection.exchange(&request).await?.status;
        request.clear();
        RequestWriter::SPRING.register(&record, &mut scratch, &mut request);
        let back = connection.exchange(&request).await?.status;
        ensure!((gone, back) == (200, 204), "cancel was answered {gone}, registration {back}");
    }
    Ok(connection.resent())
}

struct Poller {
    address: SocketAddr,
    interval: Duration,
    wanted: usize,
    ended: Rc<RefCell<Option<Instant>>>,
}

impl Poller {
    /// Polls until every new instance has been seen; seconds from the end of the deployment until then, and how many polls had to
    /// be sent twice.
    async fn run(self, offset: Duration) -> anyhow::Result<(f64, u64)> {
        let mut connection = Connection::new(self.address, 64 * 1024);
        let mut request = Vec::new();
        RequestWriter::SPRING.get("apps/delta", &mut request);
        let mut seen: HashSet<String> = HashSet::new();
        let mut next = Instant::now() + offset;
        let patience = self.interval * 6 + Duration::from_secs(90);
        loop {
            tokio::time::sleep_until(next.into()).await;
            next += self.interval;
            let mut body = Vec::new();
            let answer = connection.fetch(&request, &mut body).await?;
            ensure!(answer.status == 200, "a delta was answered {}", answer.status);
            seen.extend(new_instances(&setup::text_of(&body)?).map(str::to_owned));
            let ended = *self.ended.borrow();
            if let (true, Some(ended)) = (seen.len() >= self.wanted, ended) {
                return Ok((ended.elapsed().as_secs_f64(), connection.resent()));
            }
            ensure!(
                ended.is_none_or(|ended| ended.elapsed() < patience),
                "a client never had the whole new list"
            );
        }
    }
}

/// Ids of the instances of a document that carry the mark.
fn new_instances(document: &str) -> impl Iterator<Item = &str> {
    let instances = document.split(START).skip(1);
    instances.filter(|instance| instance.contains(MARK)).filter_map(|instance| instance.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deployments_begin_in_different_parts_of_the_interval_and_show_their_extremes() {
        let plan = Plan::for_tests();
        let phases = phases(&plan);
        assert_eq!(phases.len(), 3);
        for (index, phase) in phases.iter().enumerate() {
            let start = index as f64 * 10.0;
            assert!((start..start + 10.0).contains(&phase.as_secs_f64()), "{phases:?}");
        }
        let went = |every, resent| Deployment { half: 1.0, every, resent };
        let row = row("A", &Fleet::new(1, 100), &[went(30.0, 0), went(40.0, 2), went(60.0, 0)]);
        assert_eq!(row[2..], ["20.0", "3", "1.0 s (1.0–1.0)", "40.0 s (30.0–60.0)", "2 sent twice"]);
    }

    #[test]
    fn only_marked_instances_count() {
        let text = format!("x{START}a:1\",{MARK},..{START}b:1\",\"deployment\":\"0\"{START}c\",{MARK}");
        assert_eq!(new_instances(&text).collect::<Vec<_>>(), ["a:1", "c"]);
    }
}
