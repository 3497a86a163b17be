//! What happened during one stretch of load.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::http::Answer;

/// Latencies are kept from 1 microsecond up to this many, two digits exact.
const MAX_MICROS: u64 = 120_000_000;
/// Stands for "no answer" among the statuses.
const NO_ANSWER: u16 = 0;

/// Counts and histograms of one stretch.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How long it took.
    pub elapsed: Duration,
    /// Right answers.
    pub answers: u64,
    /// Other answers by status; 0 for none at all.
    pub failures: BTreeMap<u16, u64>,
    /// Requests that were sent twice, because the server had closed a connection that it should have kept.
    pub resent: u64,
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
            resent: 0,
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

    /// What went wrong, in words; `None` if every request was answered rightly at the first attempt. A figure that is judged
    /// must not come from anything else.
    #[must_use]
    pub fn faults(&self) -> Option<String> {
        let named = |(status, count): (&u16, &u64)| match *status {
            NO_ANSWER => format!("{count} without an answer"),
            status => format!("{count} answered {status}"),
        };
        let mut faults: Vec<String> = self.failures.iter().map(named).collect();
        if self.resent > 0 {
            faults.push(format!("{} sent twice", self.resent));
        }
        (!faults.is_empty()).then(|| format!("{} of {}", faults.join(", "), self.answers + self.failed()))
    }

    /// Points of the latency distribution.
    #[must_use]
    pub fn quantiles(&self) -> Quantiles {
        quantiles(&self.latency)
    }

    /// True if the generator could not keep its own schedule: 1 in 100 requests was let go more than a millisecond late.
    #[must_use]
    pub fn is_generator_behind(&self) -> bool {
        self.lag_p99_ms() > 1.0
    }

    /// By how much the generator was late, in milliseconds; 99 of 100 requests were sent earlier.
    #[must_use]
    pub fn lag_p99_ms(&self) -> f64 {
        self.lag.value_at_quantile(0.99) as f64 / 1000.0
    }

    /// Notes how an exchange ended.
    pub(super) fn note(&mut self, answer: io::Result<Answer>, expected: u16, latency: Duration) {
        self.latency.saturating_record(micros(latency));
        let Ok(answer) = answer else { return self.note_failure(NO_ANSWER) };
        self.body_bytes += answer.body_len;
        self.resent += u64::from(answer.is_resent);
        if answer.status == expected {
            self.answers += 1;
        } else {
            self.note_failure(answer.status);
        }
    }

    /// Notes a request that was never answered.
    pub(super) fn note_unanswered(&mut self, latency: Duration) {
        self.latency.saturating_record(micros(latency));
        self.note_failure(NO_ANSWER);
    }

    fn note_failure(&mut self, status: u16) {
        *self.failures.entry(status).or_default() += 1;
    }

    /// What happened in several stretches.
    pub fn sum<'o>(outcomes: impl IntoIterator<Item = &'o Self>) -> Self {
        let mut all = Self::default();
        outcomes.into_iter().for_each(|outcome| all.add(outcome));
        all
    }

    /// Adds what happened in another stretch.
    pub fn add(&mut self, other: &Self) {
        self.elapsed += other.elapsed;
        self.answers += other.answers;
        self.resent += other.resent;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_a_right_answer_at_once_is_a_fault() {
        let answer = |status, is_resent| Ok(Answer { status, body_len: 0, is_resent });
        let mut outcome = Outcome::default();
        outcome.note(answer(200, false), 200, Duration::ZERO);
        assert_eq!(outcome.faults(), None);
        outcome.note(answer(200, true), 200, Duration::ZERO);
        assert_eq!(outcome.faults().unwrap(), "1 sent twice of 2");
        outcome.note(answer(503, false), 200, Duration::ZERO);
        outcome.note_unanswered(Duration::ZERO);
        let mut all = Outcome::default();
        all.add(&outcome);
        let faults = all.faults().unwrap();
        assert_eq!(faults, "1 without an answer, 1 answered 503, 1 sent twice of 4");
        assert_eq!((all.answers, all.failed()), (2, 2));
    }
}
