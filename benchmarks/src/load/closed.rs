//! Closed loop: as fast as the server answers.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use super::outcome::Outcome;
use super::{Pool, Workload};
use crate::http::Connection;

/// What the connections of one stretch share.
struct Stretch {
    workload: Rc<dyn Workload>,
    next: Cell<u64>,
    /// Numbers from here on are not sent.
    last: u64,
    end: Instant,
    outcome: RefCell<Outcome>,
}

/// Nothing that is sent a given number of times takes longer.
const LONGEST: Duration = Duration::from_secs(3600);

/// Keeps all connections of a pool busy for a time. Needs a local task set.
///
/// # Errors
/// If the server cannot be reached at all.
pub async fn closed(
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    duration: Duration,
) -> anyhow::Result<Outcome> {
    run(pool, workload, duration, u64::MAX).await
}

/// Sends so many requests, one after the other on every connection. Needs a local task set.
///
/// # Errors
/// As for [`closed`].
pub async fn send_all(pool: &mut Pool, workload: &Rc<dyn Workload>, count: u64) -> anyhow::Result<Outcome> {
    run(pool, workload, LONGEST, count).await
}

async fn run(
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    duration: Duration,
    count: u64,
) -> anyhow::Result<Outcome> {
    pool.refill().await.context("cannot connect")?;
    let started = Instant::now();
    let stretch = Rc::new(Stretch {
        workload: workload.clone(),
        next: Cell::new(pool.next_request),
        last: pool.next_request.saturating_add(count),
        end: started + duration,
        outcome: RefCell::default(),
    });
    let mut tasks = JoinSet::new();
    for connection in pool.connections.drain(..) {
        tasks.spawn_local(keep_busy(connection, stretch.clone()));
    }
    pool.connections = tasks.join_all().await;
    pool.next_request = stretch.next.get();
    let mut outcome = stretch.outcome.take();
    outcome.elapsed = started.elapsed();
    Ok(outcome)
}

async fn keep_busy(mut connection: Connection, stretch: Rc<Stretch>) -> Connection {
    let mut scratch = Vec::new();
    let expected = stretch.workload.expected_status();
    let mut sent = Instant::now();
    while sent < stretch.end && stretch.next.get() < stretch.last {
        let number = stretch.next.replace(stretch.next.get() + 1);
        let request = stretch.workload.request(number, &mut scratch);
        let result = connection.exchange(request).await;
        let now = Instant::now();
        let is_answered = result.is_ok();
        stretch.outcome.borrow_mut().note(result, expected, now - sent);
        if !is_answered {
            // A server that refuses connections must not turn the loop into a spin.
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        sent = now;
    }
    connection
}
