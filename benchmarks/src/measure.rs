//! Comparison of servers: A B A B, in short slices, so that whatever else the machine does hits both alike.

use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;

use crate::load::{Outcome, Pool, Quantiles, Workload, closed, send_all};
use crate::servers::{CpuTime, Server};
use crate::stats::Spread;

/// One server in a comparison.
pub struct Side<'a> {
    /// The server.
    pub server: &'a Server,
    /// Connections to it.
    pub pool: Pool,
    /// What it is asked.
    pub workload: Rc<dyn Workload>,
    slices: Vec<Slice>,
}

/// How long and how often.
#[derive(Clone, Copy, Debug)]
pub struct Rhythm {
    /// Number of slices of each side that count. One more goes before them as warm-up.
    pub rounds: usize,
    /// Length of a slice.
    pub slice: Duration,
}

/// One stretch of load on one side.
#[derive(Clone, Debug)]
pub struct Slice {
    /// What the generator saw.
    pub outcome: Outcome,
    /// What the server used.
    pub server: CpuTime,
    /// What the generator used.
    pub generator: Duration,
}

/// What one side reached.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Name of the server.
    pub server: String,
    /// Right answers a second.
    pub rate: Spread,
    /// CPU time of the server per answer, in microseconds. Other programs on the machine disturb it far less than the rate.
    pub cpu_us: Spread,
    /// Latency over all slices.
    pub latency: Quantiles,
    /// Share of one core that the generator used; near 1 it is the limit itself.
    pub generator_share: f64,
    /// Share of one core that the busiest thread of the server used; near 1 that thread is the limit.
    pub busiest_thread_share: f64,
    /// Bytes per body, on average.
    pub body_bytes: f64,
    /// What went wrong: answers with another status, none at all, requests sent twice.
    pub faults: Option<String>,
}

impl<'a> Side<'a> {
    /// A server that is asked something over so many connections.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub async fn new(
        server: &'a Server,
        connections: usize,
        workload: Rc<dyn Workload>,
    ) -> anyhow::Result<Self> {
        let pool = Pool::open(server.address(), connections, BUFFER_BYTES).await?;
        Ok(Self { server, pool, workload, slices: Vec::new() })
    }

    /// Loads it for a while, which does not count. Should follow soon after the connections have been opened: a server closes
    /// those that say nothing for some seconds.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn warm(&mut self, duration: Duration) -> anyhow::Result<()> {
        slice(self.server, &mut self.pool, &self.workload, duration).await.map(drop)
    }

    /// Loads it for one slice, which counts.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn run(&mut self, duration: Duration) -> anyhow::Result<()> {
        let measured = slice(self.server, &mut self.pool, &self.workload, duration).await?;
        self.slices.push(measured);
        Ok(())
    }

    /// Sends it so many requests, which count as a slice.
    ///
    /// # Errors
    /// If the server fails.
    pub async fn run_times(&mut self, count: u64) -> anyhow::Result<()> {
        let (before, own_before) = (self.server.cpu()?, CpuTime::own()?);
        let outcome = send_all(&mut self.pool, &self.workload, count).await?;
        self.slices.push(Slice::since(self.server, outcome, &before, &own_before)?);
        Ok(())
    }

    /// Forgets what has been measured so far: it was for warming up.
    pub fn forget(&mut self) {
        self.slices.clear();
    }

    /// What it has reached.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut all = Outcome::default();
        let mut generator = Duration::ZERO;
        let mut busiest = Duration::ZERO;
        for slice in &self.slices {
            all.add(&slice.outcome);
            generator += slice.generator;
            busiest += slice.server.threads().first().map_or(Duration::ZERO, |(_, time)| *time);
        }
        let elapsed = all.elapsed.as_secs_f64().max(1e-9);
        Summary {
            server: self.server.name.clone(),
            rate: Spread::of(self.slices.iter().map(|slice| slice.outcome.rate())),
            cpu_us: Spread::of(self.slices.iter().map(Slice::cpu_us)),
            latency: all.quantiles(),
            generator_share: generator.as_secs_f64() / elapsed,
            busiest_thread_share: busiest.as_secs_f64() / elapsed,
            body_bytes: all.body_bytes as f64 / (all.answers.max(1)) as f64,
            faults: all.faults(),
        }
    }

    /// Its slices.
    #[must_use]
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }
}

/// Large enough for any head, and for bodies in few reads.
const BUFFER_BYTES: usize = 64 * 1024;

impl Slice {
    fn since(
        server: &Server,
        outcome: Outcome,
        before: &CpuTime,
        own_before: &CpuTime,
    ) -> anyhow::Result<Self> {
        let (after, own_after) = (server.cpu()?, CpuTime::own()?);
        Ok(Self { outcome, server: after.since(before), generator: own_after.since(own_before).total() })
    }

    /// CPU time of the server per answer, in microseconds.
    #[must_use]
    pub fn cpu_us(&self) -> f64 {
        self.server.total().as_secs_f64() * 1e6 / self.outcome.answers.max(1) as f64
    }
}

/// Runs one slice of closed-loop load on a server.
///
/// # Errors
/// If the server fails.
pub async fn slice(
    server: &Server,
    pool: &mut Pool,
    workload: &Rc<dyn Workload>,
    duration: Duration,
) -> anyhow::Result<Slice> {
    let (before, own_before) = (server.cpu()?, CpuTime::own()?);
    let outcome = closed(pool, workload, duration).await?;
    Slice::since(server, outcome, &before, &own_before)
}

/// Runs all sides in turn, several rounds. Every other round goes backwards, so that no side always follows the same one.
///
/// # Errors
/// If a server fails.
pub async fn interleave(sides: &mut [Side<'_>], rhythm: Rhythm) -> anyhow::Result<()> {
    for round in 0..=rhythm.rounds {
        let mut order: Vec<usize> = (0..sides.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let side = &mut sides[index];
            let measured = slice(side.server, &mut side.pool, &side.workload, rhythm.slice).await?;
            if round > 0 {
                side.slices.push(measured);
            }
        }
    }
    Ok(())
}

/// Rate of the first side in terms of the second, round by round.
#[must_use]
pub fn rate_ratio(ours: &Side<'_>, theirs: &Side<'_>) -> Spread {
    Spread::of(ours.slices.iter().zip(&theirs.slices).map(|(a, b)| a.outcome.rate() / b.outcome.rate()))
}

/// The same by CPU time per answer: what the rates would be if nothing but the server's CPU were the limit.
#[must_use]
pub fn cpu_ratio(ours: &Side<'_>, theirs: &Side<'_>) -> Spread {
    Spread::of(ours.slices.iter().zip(&theirs.slices).map(|(a, b)| b.cpu_us() / a.cpu_us()))
}
