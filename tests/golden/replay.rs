//! Plays a scenario against a server and collects what is not as required.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::case::Case;
use super::compare::{Frame, compare};
use super::differences::DIFFERENCES;
use super::http::{TIMEOUT, send};
use super::recording::Scenario;

/// Allowance for clocks that are read in another order than they are compared, in milliseconds.
const SLACK_MS: i64 = 1000;

/// What one scenario brought to light.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Number of answers that were compared.
    pub(crate) compared: usize,
    /// The answers that are not as required.
    pub(crate) failures: Vec<Failure>,
    /// The rows of `differences.rs` that changed a requirement.
    pub(crate) applied: BTreeSet<&'static str>,
}

/// One answer that is not as required.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Scenario and exchange.
    pub(crate) exchange: String,
    /// What was sent.
    pub(crate) request: String,
    /// What is different.
    pub(crate) differences: Vec<String>,
    /// The rows of `differences.rs` that changed this requirement.
    pub(crate) applied: Vec<&'static str>,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{} ({})", self.exchange, self.request)?;
        for difference in &self.differences {
            writeln!(out, "    {difference}")?;
        }
        for row in DIFFERENCES.iter().filter(|row| self.applied.contains(&row.id)) {
            let (java, heureka, why) = (row.java, row.heureka, row.why);
            writeln!(out, "    required instead of Java's by `{}`: {java} -> {heureka} ({why})", row.id)?;
        }
        Ok(())
    }
}

/// The server that a scenario is played against, and the time of the test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    /// Port of the server on this machine.
    pub(crate) port: u16,
    /// A time before the server was started, in milliseconds since 1970.
    pub(crate) since_ms: i64,
    /// The wall clock.
    pub(crate) now_ms: fn() -> i64,
    /// Waits.
    pub(crate) pause: fn(Duration),
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

/// Plays the exchanges of a scenario in order.
pub(crate) fn play(all: &[Scenario], scenario: &Scenario, stage: Stage) -> Outcome {
    let mut outcome = Outcome::default();
    let version = Cell::new(0);
    for exchange in &scenario.exchanges {
        let Some(request) = &exchange.request else { continue };
        let (expected, applied) = Case { all, scenario, exchange, port: stage.port }.required();
        if expected.wait_ms > 0 {
            (stage.pause)(Duration::from_millis(expected.wait_ms));
        }
        let answer = send(stage.port, request, TIMEOUT);
        let window = (stage.since_ms - SLACK_MS, (stage.now_ms)() + SLACK_MS);
        let frame = Frame::new(window, version.get());
        let differences = match answer {
            Ok(answer) => compare(&expected, &answer, &frame),
            Err(error) => vec![format!("no answer: {error}")],
        };
        version.set(frame.version.get());
        outcome.compared += 1;
        outcome.applied.extend(&applied);
        if !differences.is_empty() {
            let path: String = request.path.chars().take(120).collect();
            outcome.failures.push(Failure {
                exchange: format!("{}: {}", scenario.scenario, exchange.name),
                request: format!("{} {path}", request.method),
                differences,
                applied,
            });
        }
    }
    outcome
}
