//! A deployment: a fifth of the fleet restarts within a minute. When does every polling client have the new list?

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use tokio::task::JoinSet;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::report::{Section, numbers};
use crate::servers::Server;
use crate::stats::Spread;

/// Clients that poll; each at its own moment of the interval.
const POLLERS: usize = 40;
/// What the new instances say of themselves.
const MARK: &str = "\"deployment\":\"1\"";
/// What begins every instance of a document.
const START: &str = "{\"instanceId\":\"";

/// Options that keep the delta for three polling intervals instead of six: half as long to wait until that of the filling is empty.
pub const DELTA: [&str; 2] = [
    "--eureka.server.retention-time-in-m-s-in-delta-queue=90000",
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
        "20 % of the fleet cancel and register again within {} s, while {POLLERS} clients poll the delta every {} s. Deltas keep at \
         least three of these intervals. Time from the \
         last registration until a client has seen all of them.",
        minute.as_secs(),
        interval.as_secs()
    );
    Section::new(
        "Deployment",
        &text,
        &["server", "instances", "restarted", "half of the clients", "every client"],
    )
}

/// Length of the deployment and polling interval: a minute and 30 s, as in life, unless it must be quick.
fn times(plan: &Plan) -> (Duration, Duration) {
    (plan.duration(4_000, 60_000), plan.duration(2_000, 30_000))
}

/// One server with a fleet in it; returns its row.
///
/// # Errors
/// If the server fails.
pub async fn run(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<[String; 5]> {
    let (minute, interval) = times(plan);
    let restarting: Vec<usize> = (0..fleet.len()).step_by(5).collect();
    let ended = Rc::new(RefCell::new(None));
    let mut pollers = JoinSet::new();
    for index in 0..POLLERS {
        let offset = interval.mul_f64(index as f64 / POLLERS as f64);
        let poller =
            Poller { address: server.address(), interval, wanted: restarting.len(), ended: ended.clone() };
        pollers.spawn_local(poller.run(offset));
    }
    restart(server, fleet, &restarting, minute).await?;
    *ended.borrow_mut() = Some(Instant::now());
    let mut delays = Vec::new();
    while let Some(delay) = pollers.join_next().await {
        delays.push(delay??);
    }
    let delays = Spread::of(delays);
    Ok([
        server.name.clone(),
        numbers::count(fleet.len() as f64),
        numbers::count(restarting.len() as f64),
        format!("{:.1} s", delays.median),
        format!("{:.1} s", delays.high),
    ])
}

/// Cancels and registers instances, evenly over a time.
async fn restart(server: &Server, fleet: &Fleet, instances: &[usize], time: Duration) -> anyhow::Result<()> {
    let mut connection = Connection::new(server.address(), 16 * 1024);
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
    Ok(())
}

struct Poller {
    address: std::net::SocketAddr,
    interval: Duration,
    wanted: usize,
    ended: Rc<RefCell<Option<Instant>>>,
}

impl Poller {
    /// Polls until every new instance has been seen; seconds from the end of the deployment until then.
    async fn run(self, offset: Duration) -> anyhow::Result<f64> {
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
                return Ok(ended.elapsed().as_secs_f64());
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
    fn only_marked_instances_count() {
        let text = format!("x{START}a:1\",{MARK},..{START}b:1\",\"deployment\":\"0\"{START}c\",{MARK}");
        assert_eq!(new_instances(&text).collect::<Vec<_>>(), ["a:1", "c"]);
    }
}
