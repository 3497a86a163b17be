//! What is measured. Each scenario starts the servers it needs, loads them, and returns figures.

pub mod baseline;
pub mod capacity;
pub mod churn;
pub mod cluster;
pub mod cost;
pub mod deploy;
pub mod fleet;
pub mod idle;
pub mod memory;
pub mod newcomers;
pub mod operations;
pub mod outage;
mod probes;
pub mod propagation;
pub mod restart;
pub mod setup;
pub mod snapshots;
pub mod start;
pub mod storm;
pub mod visibility;
pub mod waiting;
pub mod warm_up;

use std::time::Duration;

use crate::measure::Rhythm;
use crate::servers::Launcher;

/// What all scenarios need to know.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How servers are started.
    pub launcher: Launcher,
    /// Seed of all data.
    pub seed: u64,
    /// Instances of the usual registry.
    pub instances: usize,
    /// Rounds and length of slices.
    pub rhythm: Rhythm,
    /// True if everything should be short.
    pub is_quick: bool,
}

impl Plan {
    /// One of two durations.
    #[must_use]
    pub fn duration(&self, quick_ms: u64, full_ms: u64) -> Duration {
        Duration::from_millis(if self.is_quick { quick_ms } else { full_ms })
    }

    /// A full plan without servers.
    #[cfg(test)]
    fn for_tests() -> Self {
        let launcher = Launcher { heureka: "heureka".into(), java: None, java_options: Vec::new() };
        let rhythm = Rhythm { rounds: 7, slice: Duration::from_secs(1) };
        Self { launcher, seed: 1, instances: 10_000, rhythm, is_quick: false }
    }

    /// One of two counts.
    #[must_use]
    pub fn count(&self, quick: usize, full: usize) -> usize {
        if self.is_quick { quick } else { full }
    }
}
