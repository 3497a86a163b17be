//! Open loop: on a schedule.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use super::outcome::{NO_ANSWER, Outcome, micros};
use super::pacer::{Pacer, TICK};
use super::queue::{Due, Queue};
use super::{Pool, Workload};
use crate::http::Connection;

/// How long requests that were due may still be answered after the schedule has ended. What is left then counts as failed.
const GRACE: Duration = Duration::from_secs(2);

/// Length of the stretches of [`beside`].
const BESIDE: Duration = Duration::from_millis(500);

/// Sends `rate` requests a second for a time, spread over the connections of a pool. Needs a local task set.
///
/// # Errors
/// If the server cannot be reached, or the timer fails.
pub async fn open(
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    rate: f64,
    duration: Duration,
) -> anyhow::Result<Outcome> {
    pool.refill().await.context("cannot connect")?;
    let shared =
        Rc::new(Shared { workload: workload.clone(), queue: Queue::default(), outcome: RefCell::default() });
    let mut tasks = JoinSet::new();
    for connection in pool.connections.drain(..) {
        tasks.spawn_local(serve_queue(connection, shared.clone()));
    }
    let started = Instant::now();
    pool.next_request = pace(&shared, pool.next_request, rate, started, duration).await?;
    shared.queue.close();
    pool.connections = finish(tasks, &shared).await;
    let mut outcome = shared.outcome.take();
    outcome.elapsed = started.elapsed().max(duration);
    Ok(outcome)
}

/// Keeps a rate up while something else is done; returns what came of both. Needs a local task set.
///
/// # Errors
/// As for [`open`], or those of the work.
pub async fn beside<T>(
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    rate: f64,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(T, Outcome)> {
    tokio::pin!(work);
    let mut all = Outcome::default();
    loop {
        let stretch = open(pool, workload, rate, BESIDE);
        tokio::select! {
            done = &mut work => return Ok((done?, all)),
            outcome = stretch => all.add(&outcome?),
        }
    }
}

struct Shared {
    workload: Rc<dyn Workload>,
    queue: Queue,
    outcome: RefCell<Outcome>,
}

/// Puts requests into the queue when they are due; returns the number of the next one.
async fn pace(
    shared: &Shared,
    first: u64,
    rate: f64,
    started: Instant,
    duration: Duration,
) -> anyhow::Result<u64> {
    let pacer = Pacer::start().context("cannot start the timer of the schedule")?;
    let per_tick = rate * TICK.as_secs_f64();
    let ticks = (duration.as_secs_f64() / TICK.as_secs_f64()).round();
    let (mut tick, mut released) = (0.0, 0_u64);
    while tick < ticks {
        pacer.tick().await?;
        let now = Instant::now();
        // Several ticks may have passed; each keeps its own time.
        while tick < ticks && started + TICK.mul_f64(tick) <= now {
            let at = started + TICK.mul_f64(tick);
            tick += 1.0;
            let target = (per_tick * tick) as u64;
            if target > released {
                shared.outcome.borrow_mut().lag.saturating_record_n(micros(now - at), target - released);
            }
            for number in released..target {
                shared.queue.push(Due { number: first + number, at });
            }
            released = target;
        }
    }
    Ok(first + released)
}

async fn serve_queue(mut connection: Connection, shared: Rc<Shared>) -> Connection {
    let mut scratch = Vec::new();
    let expected = shared.workload.expected_status();
    while let Some(due) = shared.queue.pop().await {
        let request = shared.workload.request(due.number, &mut scratch);
        let result = connection.exchange(request).await;
        let (status, body_len) = result.map_or((NO_ANSWER, 0), |answer| (answer.status, answer.body_len));
        shared.outcome.borrow_mut().note(status, expected, body_len, due.at.elapsed());
        if status == NO_ANSWER {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    connection
}

/// Waits for the answers that are still out, but not for ever. Connections that are in the middle of an exchange by then are lost.
async fn finish(mut tasks: JoinSet<Connection>, shared: &Shared) -> Vec<Connection> {
    let mut connections = Vec::new();
    let collect = async {
        while let Some(joined) = tasks.join_next().await {
            connections.extend(joined.ok());
        }
    };
    if tokio::time::timeout(GRACE, collect).await.is_err() {
        let mut outcome = shared.outcome.borrow_mut();
        let abandoned = shared.queue.abandon();
        for due in &abandoned {
            outcome.note(NO_ANSWER, 200, 0, due.at.elapsed());
        }
        let in_flight = tasks.len();
        *outcome.failures.entry(NO_ANSWER).or_default() += in_flight as u64;
        tasks.abort_all();
    }
    connections
}
