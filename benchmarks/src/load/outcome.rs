//! What happened during one stretch of load.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Latencies are kept from 1 microsecond up to this many, two digits exact.
const MAX_MICROS: u64 = 120_000_000;
/// Stands for "no answer" among the statuses.
pub(super) const NO_ANSWER: u16 = 0;

/// Counts and histograms of one stretch.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How long it took.
    pub elapsed: Duration,
    /// Right answers.
    pub answers: u64,
    /// Other answers by status; 0 for none at all.
    pub failures: BTreeMap<u16, u64>,
    /// Bytes of all bodies, as sent.
    pub body_bytes: u64,
    /// Microseconds: from sending (closed loop) or from the moment due (open loop) to the end of the answer.
    pub latency: Histogram<u64>,
    /// Microseconds by which the generator itself was behind its schedule; empty for a closed loop.
    pub lag: Histogram<u64>,
}

/// The usual points of a latency distribution, in milliseconds.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    /// Half are faster.
    pub p50_ms: f64,
    /// 90 % are faster.
    pub p90_ms: f64,
    /// 99 % are faster.
    pub p99_ms: f64,
    /// 99.9 % are faster.
    pub p999_ms: f64,
    /// The slowest.
    pub max_ms: f64,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            elapsed: Duration::ZERO,
            answers: 0,
            failures: BTreeMap::new(),
            body_bytes: 0,
            latency: new_histogram(),
            lag: new_histogram(),
        }
    }
}

fn new_histogram() -> Histogram<u64> {
    // The bounds are valid: low is 1, high at least twice that, digits at most 5. The fallback never happens.
    let auto = || Histogram::new(2).unwrap_or_else(|_| unreachable!("two digits are valid"));
    Histogram::new_with_bounds(1, MAX_MICROS, 2).unwrap_or_else(|_| auto())
}

pub(super) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(MAX_MICROS).clamp(1, MAX_MICROS)
}

impl Outcome {
    /// Right answers a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Wrong answers and missing ones.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Points of the latency distribution.
    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        quantiles(&self.latency)
    }

    /// True if the generator could not keep its own schedule: 1 in 100 requests was let go more than a millisecond late.
    #[must_use]
    pub fn is_generator_behind(&self) -> bool {
        self.lag.value_at_quantile(0.99) > 1_000
    }

    pub(super) fn note(&mut self, status: u16, expected: u16, body_len: u64, latency: Duration) {
        self.body_bytes += body_len;
        if status == expected {
            self.answers += 1;
        } else {
            *self.failures.entry(status).or_default() += 1;
        }
        self.latency.saturating_record(micros(latency));
    }

    /// Adds what happened in another stretch.
    pub fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.answers += other.answers;
        self.body_bytes += other.body_bytes;
        for (status, count) in &other.failures {
            *self.failures.entry(*status).or_default() += count;
        }
        // Same bounds, so adding cannot fail.
        let _ = self.latency.add(&other.latency);
        let _ = self.lag.add(&other.lag);
    }
}

/// Points of a distribution of microseconds.
fn quantiles(histogram: &Histogram<u64>) -> Quantiles {
    let at = |quantile| histogram.value_at_quantile(quantile) as f64 / 1000.0;
    Quantiles {
        p50_ms: at(0.5),
        p90_ms: at(0.9),
        p99_ms: at(0.99),
        p999_ms: at(0.999),
        max_ms: histogram.max() as f64 / 1000.0,
    }
}
