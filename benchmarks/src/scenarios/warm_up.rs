//! A JVM is measured when its figures stand still.
//!
//! Judged by CPU time per answer, of every call that is measured later: rates jump with whatever else the machine does, and
//! one call may be compiled long after another. The time of the compiler threads counts, so code that is still being
//! compiled does not look steady.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::Plan;
use super::operations::Operation;
use super::setup;
use crate::fleet::Fleet;
use crate::load::{Pool, Workload};
use crate::measure::slice;
use crate::report::numbers;
use crate::servers::Server;
use crate::stats::Spread;

/// Costs of this many slices in a row must lie close together.
const STEADY: usize = 3;
/// How close: the largest is at most this much more than the smallest.
const SPREAD: f64 = 1.15;
/// A cost that falls by this factor or more from each slice to the next is still on its way, however close they are.
const FALLING: f64 = 0.97;

/// A cost that is lower by this factor at the end of a measurement than at its start was measured too early.
const STILL_FALLING: f64 = 0.9;

/// How a warm-up went.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUp {
    /// How long it took.
    pub time: Duration,
    /// How often every call was tried.
    pub rounds: usize,
    /// The first call, and microseconds of CPU for each of it in the first and the last slice.
    pub cost_us: (String, f64, f64),
    /// Calls whose cost had not come to rest.
    pub moving: Vec<String>,
}

impl WarmUp {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        let (name, first, last) = &self.cost_us;
        let rest = match self.moving.as_slice() {
            [] => "every call's CPU time per answer stood still".to_owned(),
            moving => {
                format!("the time was over before the CPU time of {} stood still", moving.join(", "))
            }
        };
        let (time, rounds) = (self.time.as_secs_f64(), self.rounds);
        let (first, last) = (numbers::count(*first), numbers::count(*last));
        format!(
            "{time:.0} s, {rounds} rounds, {name} took {first} µs CPU at first and {last} at last; {rest}"
        )
    }
}

/// One call and what it has cost so far.
pub struct Course {
    name: String,
    pool: Pool,
    workload: Rc<dyn Workload>,
    costs: Vec<f64>,
}

impl Course {
    /// A call by its requests.
    ///
    /// # Errors
    /// If the server cannot be reached.
    pub async fn new(name: &str, server: &Server, workload: Rc<dyn Workload>) -> anyhow::Result<Self> {
        let pool = Pool::open(server.address(), setup::CONNECTIONS, 64 * 1024).await?;
        Ok(Self { name: name.to_owned(), pool, workload, costs: Vec::new() })
    }
}

/// Loads a server with these operations in turn until all their costs stand still or the time is over.
///
/// # Errors
/// If the server fails.
pub async fn with_operations(
    plan: &Plan,
    server: &Server,
    fleet: &Fleet,
    operations: &[Operation],
    patience: Duration,
) -> anyhow::Result<WarmUp> {
    let mut courses = Vec::new();
    for operation in operations {
        let pool = Pool::open(server.address(), operation.connections(), 64 * 1024).await?;
        let (name, workload) = (operation.name().to_owned(), operation.workload(fleet, plan.seed));
        courses.push(Course { name, pool, workload, costs: Vec::new() });
    }
    until_steady(plan, server, courses, patience).await
}

/// The same with any calls.
///
/// # Errors
/// If the server fails.
pub async fn until_steady(
    plan: &Plan,
    server: &Server,
    mut courses: Vec<Course>,
    patience: Duration,
) -> anyhow::Result<WarmUp> {
    let started = Instant::now();
    let length = plan.duration(250, 1_500);
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
    let (name, costs) =
        courses.first().map_or(("nothing", &[][..]), |course| (course.name.as_str(), &course.costs));
    let end = |cost: Option<&f64>| cost.copied().unwrap_or(0.0);
    WarmUp {
        time,
        rounds: costs.len(),
        cost_us: (name.to_owned(), end(costs.first()), end(costs.last())),
        moving: moving.map(|course| course.name.clone()).collect(),
    }
}

/// The median costs of the first and the last third of a measurement, if they show that the server was still warming up.
#[must_use]
pub fn still_falling(costs: &[f64]) -> Option<(f64, f64)> {
    let third = costs.len().div_ceil(3);
    let median = |costs: &[f64]| Spread::of(costs.iter().copied()).median;
    let (first, last) = (median(&costs[..third]), median(&costs[costs.len() - third..]));
    (last < first * STILL_FALLING).then_some((first, last))
}

/// True if the last costs lie close together and do not fall from one to the next.
#[must_use]
pub fn is_steady(costs: &[f64]) -> bool {
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
    fn what_was_cheaper_at_the_end_than_at_the_start_was_measured_too_early() {
        assert_eq!(still_falling(&[100.0, 120.0, 95.0, 99.0, 103.0, 98.0, 97.0]), None);
        assert_eq!(still_falling(&[140.0, 130.0, 120.0, 110.0, 105.0, 100.0]), Some((135.0, 102.5)));
        assert_eq!(still_falling(&[]), None);
    }

    #[test]
    fn a_warm_up_without_rest_says_which_calls() {
        let warm_up = WarmUp {
            time: Duration::from_secs(100),
            rounds: 7,
            cost_us: ("heartbeat".to_owned(), 300.0, 40.0),
            moving: vec!["full".to_owned(), "vip".to_owned()],
        };
        let text = warm_up.describe();
        assert!(text.contains("full, vip") && text.contains("100 s, 7 rounds"), "{text}");
        let text = WarmUp { moving: Vec::new(), ..warm_up }.describe();
        assert!(text.ends_with("stood still") && !text.contains("over"), "{text}");
    }
}
