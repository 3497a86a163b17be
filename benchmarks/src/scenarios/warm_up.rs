//! A JVM is measured when its figures stand still.
//!
//! Judged by CPU time per answer, of every call that is measured later: rates jump with whatever else the machine does, and
//! one call may be compiled long after another. The time of the compiler threads counts, so code that is still being
//! compiled does not look steady.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Plan;
use super::operations::Operation;
use crate::fleet::Fleet;
use crate::load::{Pool, Workload};
use crate::measure::slice;
use crate::report::numbers;
use crate::servers::Server;

/// Costs of this many slices in a row must lie close together.
const STEADY: usize = 3;
/// How close: the largest is at most this much more than the smallest.
const SPREAD: f64 = 1.15;
/// A cost that falls by this factor or more from each slice to the next is still on its way, however close they are.
const FALLING: f64 = 0.97;

/// How a warm-up went.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUp {
    /// How long it took.
    pub time: Duration,
    /// How often every call was tried.
    pub rounds: usize,
    /// Microseconds of CPU per heartbeat in the first and the last slice.
    pub heartbeat_us: (f64, f64),
    /// Calls whose cost had not come to rest.
    pub moving: Vec<&'static str>,
}

impl WarmUp {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        let (first, last) = self.heartbeat_us;
        let rest = match self.moving.as_slice() {
            [] => "every call's CPU time per answer stood still".to_owned(),
            moving => {
                format!("the time was over before the CPU time of {} stood still", moving.join(", "))
            }
        };
        let (time, rounds) = (self.time.as_secs_f64(), self.rounds);
        let (first, last) = (numbers::count(first), numbers::count(last));
        format!(
            "{time:.0} s, {rounds} rounds, a heartbeat took {first} µs CPU at first and {last} at last; {rest}"
        )
    }
}

/// One call and what it has cost so far.
struct Course {
    operation: Operation,
    pool: Pool,
    workload: Rc<dyn Workload>,
    costs: Vec<f64>,
}

/// Loads a server with every call in turn until all their costs stand still or the time is over.
///
/// # Errors
/// If the server fails.
pub async fn until_steady(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<WarmUp> {
    let started = Instant::now();
    let patience = plan.duration(7_000, 80_000);
    let length = plan.duration(250, 1_500);
    let mut courses = Vec::new();
    for operation in Operation::ALL {
        let pool = Pool::open(server.address(), operation.connections(), 64 * 1024).await?;
        let workload = operation.workload(fleet, plan.seed);
        courses.push(Course { operation, pool, workload, costs: Vec::new() });
    }
    while started.elapsed() < patience && courses.iter().any(|course| !is_steady(&course.costs)) {
        for course in &mut courses {
            // The last round may be cut short: the time is a promise.
            if started.elapsed() < patience {
                let measured = slice(server, &mut course.pool, &course.workload, length).await?;
                course.costs.push(measured.cpu_us());
            }
        }
    }
    Ok(summary(&courses, started.elapsed()))
}

fn summary(courses: &[Course], time: Duration) -> WarmUp {
    let moving = courses.iter().filter(|course| !is_steady(&course.costs));
    let heartbeat = courses.iter().find(|course| course.operation == Operation::Heartbeat);
    let costs = heartbeat.map_or(&[][..], |course| &course.costs);
    let end = |cost: Option<&f64>| cost.copied().unwrap_or(0.0);
    WarmUp {
        time,
        rounds: costs.len(),
        heartbeat_us: (end(costs.first()), end(costs.last())),
        moving: moving.map(|course| course.operation.name()).collect(),
    }
}

fn is_steady(costs: &[f64]) -> bool {
    let Some(last) = costs.len().checked_sub(STEADY).map(|start| &costs[start..]) else { return false };
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    let high = last.iter().copied().fold(0.0, f64::max);
    let is_falling = last.windows(2).all(|pair| pair[1] <= pair[0] * FALLING);
    high <= low * SPREAD && !is_falling
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_means_three_alike_in_a_row() {
        assert!(!is_steady(&[100.0, 100.0]));
        assert!(!is_steady(&[200.0, 150.0, 100.0]));
        assert!(is_steady(&[900.0, 100.0, 105.0, 109.0]));
    }

    #[test]
    fn what_still_gets_cheaper_with_every_round_is_not_steady() {
        assert!(!is_steady(&[110.0, 105.0, 100.0]));
        assert!(is_steady(&[110.0, 104.0, 105.0]));
    }

    #[test]
    fn a_warm_up_without_rest_says_which_calls() {
        let warm_up = WarmUp {
            time: Duration::from_secs(100),
            rounds: 7,
            heartbeat_us: (300.0, 40.0),
            moving: vec!["full", "vip"],
        };
        let text = warm_up.describe();
        assert!(text.contains("full, vip") && text.contains("100 s, 7 rounds"), "{text}");
        let text = WarmUp { moving: Vec::new(), ..warm_up }.describe();
        assert!(text.ends_with("stood still") && !text.contains("over"), "{text}");
    }
}
