//! One line of a table: what was measured, against what, and whether the goal is reached.

use serde::Serialize;

use super::numbers;
use crate::load::Outcome;
use crate::measure::{Side, Slice, Summary, cpu_ratio, rate_ratio};
use crate::scenarios::warm_up;
use crate::stats::Spread;

/// Whether a goal is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Reached.
    Met,
    /// Not reached.
    Missed,
    /// There is no goal, or it could not be judged.
    Open,
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// What was measured, readable.
    pub measured: String,
    /// What it is compared with, readable.
    pub compared: String,
    /// Rate in terms of the other side.
    pub ratio: Option<Spread>,
    /// CPU time per answer of the other side in terms of ours.
    pub cpu_ratio: Option<Spread>,
    /// The goal, readable.
    pub goal: String,
    /// Whether it is reached.
    pub verdict: Verdict,
    /// What must be known to read the figure.
    pub remarks: Vec<String>,
    /// Both sides in full, where there are two.
    pub sides: Vec<Summary>,
}

/// Resident memory that a server may take, in terms of Java's.
const MEMORY_OF_JAVA: f64 = 0.1;
/// Above this share of a core a thread counts as the limit.
const SATURATED: f64 = 0.9;

impl Figure {
    /// A single value with a goal that it must not exceed.
    #[must_use]
    pub fn at_most(name: &str, measured: String, value: f64, limit: f64, goal: &str) -> Self {
        Self::judged(name, measured, goal, value <= limit)
    }

    /// A value whose goal has been judged.
    #[must_use]
    pub fn judged(name: &str, measured: String, goal: &str, is_met: bool) -> Self {
        let verdict = if is_met { Verdict::Met } else { Verdict::Missed };
        Self { verdict, goal: goal.to_owned(), ..Self::plain(name, measured) }
    }

    /// A value without a goal.
    #[must_use]
    pub fn plain(name: &str, measured: String) -> Self {
        Self {
            name: name.to_owned(),
            measured,
            compared: String::new(),
            ratio: None,
            cpu_ratio: None,
            goal: String::new(),
            verdict: Verdict::Open,
            remarks: Vec::new(),
            sides: Vec::new(),
        }
    }

    /// Our rate against that of a baseline, with the least share of it that is wanted. Where the generator was the limit
    /// of the baseline, rates say nothing about the servers and CPU time per answer decides.
    #[must_use]
    pub fn against(name: &str, ours: &Side<'_>, theirs: &Side<'_>, least: f64) -> Self {
        let (our, their) = (ours.summary(), theirs.summary());
        let (rates, cpu) = (rate_ratio(ours, theirs), cpu_ratio(ours, theirs));
        let is_generator_limit = their.generator_share > SATURATED && their.busiest_thread_share < SATURATED;
        let decisive = if is_generator_limit { cpu } else { rates };
        let mut figure = Self::judged(
            name,
            describe(&our),
            &format!("≥ {}", numbers::percent(least)),
            decisive.median >= least,
        );
        if is_generator_limit {
            figure.remarks.push("the generator was the limit of the baseline: judged by CPU".to_owned());
        }
        for side in [&our, &their] {
            if let Some(faults) = &side.faults {
                figure = figure.open(format!("{}: {faults}", side.server));
            }
        }
        figure.compared = format!("{}: {}", their.server, describe(&their));
        figure.ratio = Some(rates);
        figure.cpu_ratio = Some(cpu);
        figure.sides = vec![our, their];
        figure
    }

    /// Our rate in multiples of another server's, with the least multiple that is wanted, if any is.
    #[must_use]
    pub fn times(name: &str, ours: &Side<'_>, theirs: &Side<'_>, least: Option<f64>) -> Self {
        let mut figure = Self::against(name, ours, theirs, least.unwrap_or(1.0));
        figure.goal = least.map_or_else(String::new, |least| format!("≥ {least:.0} x"));
        if least.is_none() {
            figure.verdict = Verdict::Open;
        }
        let costs: Vec<f64> = theirs.slices().iter().map(Slice::cpu_us).collect();
        figure.unless_warming_up(warm_up::still_falling(&costs))
    }

    /// Our resident bytes against Java's, of which they may be a tenth.
    #[must_use]
    pub fn memory_against_java(name: &str, ours: f64, java: f64) -> Self {
        let mut figure =
            Self::at_most(name, numbers::bytes(ours), ours, java * MEMORY_OF_JAVA, "≤ 1/10 of Java");
        figure.compared = format!("Java: {}, {:.1} x", numbers::bytes(java), java / ours.max(1.0));
        figure
    }

    /// The same figure without a verdict, and why.
    #[must_use]
    pub fn open(mut self, why: impl Into<String>) -> Self {
        self.verdict = Verdict::Open;
        self.remark(why)
    }

    /// The same figure, without a verdict if some request behind it was not answered rightly at the first attempt.
    #[must_use]
    pub fn checked(self, what: &str, outcome: &Outcome) -> Self {
        match outcome.faults() {
            Some(faults) => self.open(format!("{what}: {faults}")),
            None => self,
        }
    }

    /// The same figure, without a verdict if some of its requests had to be sent twice.
    #[must_use]
    pub fn checked_resent(self, what: &str, resent: u64) -> Self {
        if resent == 0 { self } else { self.open(format!("{what}: {resent} sent twice")) }
    }

    /// The same figure, not taken for good if the other side was still getting faster: microseconds of CPU per answer, in the first
    /// and the last third.
    #[must_use]
    pub fn unless_warming_up(self, falling: Option<(f64, f64)>) -> Self {
        let Some((first, last)) = falling else { return self };
        let why = format!("Java was not steady: {first:.0} µs CPU per answer at first, {last:.0} at last");
        // A goal that is missed beside a slow start is missed beside a fast one too.
        if self.verdict == Verdict::Met { self.open(why) } else { self.remark(why) }
    }

    /// The same figure with a remark.
    #[must_use]
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }
}

fn describe(side: &Summary) -> String {
    format!(
        "{}, {:.1} µs CPU, p99 {}",
        numbers::rate(&side.rate),
        side.cpu_us.median,
        numbers::millis(side.latency.p99_ms)
    )
}
