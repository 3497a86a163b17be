//! A JVM is measured when its figures stand still.

use std::time::{Duration, Instant};

use super::Plan;
use super::operations::Operation;
use crate::fleet::Fleet;
use crate::load::{Pool, closed};
use crate::servers::Server;

/// Rates of this many slices in a row must lie close together.
const STEADY: usize = 3;
/// How close: the largest is at most this much more than the smallest.
const SPREAD: f64 = 1.10;

/// Loads a server with heartbeats, registrations and reads until its heartbeat rate stands still or the time is over; returns
/// the time it took and whether it stood still.
///
/// # Errors
/// If the server fails.
pub async fn until_steady(plan: &Plan, server: &Server, fleet: &Fleet) -> anyhow::Result<(Duration, bool)> {
    let started = Instant::now();
    let patience = plan.duration(15_000, 120_000);
    let slice = plan.duration(500, 2_000);
    let mut rates: Vec<f64> = Vec::new();
    while started.elapsed() < patience {
        let mut rate = 0.0;
        for operation in Operation::ALL {
            let mut pool = Pool::open(server.address(), operation.connections(), 64 * 1024).await?;
            let outcome = closed(&mut pool, &operation.workload(fleet, plan.seed), slice).await?;
            if operation == Operation::Heartbeat {
                rate = outcome.rate();
            }
        }
        rates.push(rate);
        if is_steady(&rates) {
            return Ok((started.elapsed(), true));
        }
    }
    Ok((started.elapsed(), false))
}

fn is_steady(rates: &[f64]) -> bool {
    let Some(last) = rates.len().checked_sub(STEADY).map(|start| &rates[start..]) else { return false };
    let low = last.iter().copied().fold(f64::INFINITY, f64::min);
    let high = last.iter().copied().fold(0.0, f64::max);
    high <= low * SPREAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_means_three_alike_in_a_row() {
        assert!(!is_steady(&[100.0, 100.0]));
        assert!(!is_steady(&[100.0, 150.0, 200.0]));
        assert!(is_steady(&[10.0, 100.0, 105.0, 109.0]));
    }
}
