//! Open loop: on a schedule.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::task::JoinSet;

use super::outcome::{Outcome, micros};
use super::pacer::{Pacer, TICK};
use super::queue::{Due, Queue};
use super::{Pool, Workload};
use crate::http::Connection;

/// How long requests that were due may still be answered after the schedule has ended. What is left then counts as failed.
const GRACE: Duration = Duration::from_secs(2);

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
    let ((), outcome) = beside(pool, workload, rate, async {
        tokio::time::sleep(duration).await;
        Ok(())
    })
    .await?;
    Ok(outcome)
}

/// Keeps a rate up, without a pause, until something else is done; returns what came of both. Needs a local task set.
///
/// # Errors
/// As for [`open`], or those of the work.
pub async fn beside<T>(
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    rate: f64,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<(T, Outcome)> {
    pool.refill().await.context("cannot connect")?;
    let shared = Rc::new(Shared {
        workload: workload.clone(),
        queue: Queue::default(),
        outcome: RefCell::default(),
        released: Cell::new(0),
    });
    let mut tasks = JoinSet::new();
    for connection in pool.connections.drain(..) {
        tasks.spawn_local(serve_queue(connection, shared.clone()));
    }
    let started = Instant::now();
    let done = tokio::select! {
        done = work => done,
        failed = pace(&shared, pool.next_request, rate, started) => Err(failed),
    };
    let elapsed = started.elapsed();
    pool.next_request += shared.released.get();
    shared.queue.close();
    pool.connections = finish(tasks, &shared).await;
    let mut outcome = shared.outcome.take();
    outcome.elapsed = elapsed;
    Ok((done?, outcome))
}

struct Shared {
    workload: Rc<dyn Workload>,
    queue: Queue,
    outcome: RefCell<Outcome>,
    /// Requests that have been due so far.
    released: Cell<u64>,
}

/// Puts requests into the queue when they are due, for ever; ends only if the timer fails.
async fn pace(shared: &Shared, first: u64, rate: f64, started: Instant) -> anyhow::Error {
    let pacer = match Pacer::start().context("cannot start the timer of the schedule") {
        Ok(pacer) => pacer,
        Err(error) => return error,
    };
    let per_tick = rate * TICK.as_secs_f64();
    let mut tick = 0.0;
    loop {
        if let Err(error) = pacer.tick().await {
            return error.into();
        }
        let now = Instant::now();
        // Several ticks may have passed; each keeps its own time.
        while started + TICK.mul_f64(tick) <= now {
            let at = started + TICK.mul_f64(tick);
            tick += 1.0;
            let (released, target) = (shared.released.get(), (per_tick * tick) as u64);
            if target > released {
                shared.outcome.borrow_mut().lag.saturating_record_n(micros(now - at), target - released);
            }
            for number in released..target {
                shared.queue.push(Due { number: first + number, at });
            }
            shared.released.set(target.max(released));
        }
    }
}

async fn serve_queue(mut connection: Connection, shared: Rc<Shared>) -> Connection {
    let mut scratch = Vec::new();
    let expected = shared.workload.expected_status();
    while let Some(due) = shared.queue.pop().await {
        let request = shared.workload.request(due.number, &mut scratch);
        let result = connection.exchange(request).await;
        let is_answered = result.is_ok();
        shared.outcome.borrow_mut().note(result, expected, due.at.elapsed());
        if !is_answered {
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
        for due in shared.queue.abandon() {
            outcome.note_unanswered(due.at.elapsed());
        }
        for _ in 0..tasks.len() {
            outcome.note_unanswered(GRACE);
        }
        tasks.abort_all();
    }
    connections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Prepared;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// Answers every request with 200.
    async fn server() -> std::net::SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::task::spawn_local(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::task::spawn_local(async move {
                    let mut request = [0; 1024];
                    while let Ok(1..) = stream.read(&mut request).await {
                        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.unwrap();
                    }
                });
            }
        });
        address
    }

    #[tokio::test]
    async fn the_schedule_beside_some_work_ends_with_it_and_loses_no_answer() {
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let mut pool = Pool::open(server().await, 4, 4096).await.unwrap();
                let one = Prepared::single(200, |out| out.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n"));
                let workload: Rc<dyn Workload> = Rc::new(one);
                let work = async {
                    tokio::time::sleep(Duration::from_millis(150)).await;
                    Ok(7)
                };
                let (done, outcome) = beside(&mut pool, &workload, 400.0, work).await.unwrap();
                assert_eq!((done, outcome.faults()), (7, None));
                assert!(outcome.answers > 0);
                // Every request that was due was answered and counted, and no connection was lost.
                assert_eq!((outcome.answers, pool.connections.len()), (pool.next_request, 4));
            })
            .await;
    }
}
