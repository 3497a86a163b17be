//! The parts of the suite, most important first.

mod cluster;
mod growth;
mod node;
mod rates;

use std::time::Instant;

use heureka_bench::report::{Figure, Findings};
use heureka_bench::scenarios::Plan;
use heureka_bench::servers::Server;

/// A part that `--only` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Cold starts.
    Start,
    /// Warm starts, and starts from a peer.
    Restart,
    /// Highest rates, capacity, visibility, churn, quiet.
    Rates,
    /// From node to node.
    Propagation,
    /// Resident memory.
    Memory,
    /// What replication costs, and a peer that is away.
    Cluster,
    /// What snapshots cost.
    Snapshots,
    /// The cost of a change by size.
    Cost,
    /// Everybody at once.
    Storm,
    /// How many instances a node carries.
    Fleet,
    /// A deployment.
    Deploy,
}

/// All parts in the order in which they run: a run that is broken off should have measured what matters most. Beside each the
/// seconds that it may take in full on two quiet cores, Java included: what it waits and measures by design, and what filling and
/// starting took when it was tried. Together they must leave room below the forty minutes of a run; a run says what each took.
pub const PARTS: [(&str, Part, u64); 11] = [
    ("start", Part::Start, 35),
    ("restart", Part::Restart, 125),
    ("rates", Part::Rates, 587),
    ("propagation", Part::Propagation, 200),
    ("memory", Part::Memory, 130),
    ("cluster", Part::Cluster, 187),
    ("snapshots", Part::Snapshots, 127),
    ("cost", Part::Cost, 183),
    ("storm", Part::Storm, 36),
    ("fleet", Part::Fleet, 445),
    ("deploy", Part::Deploy, 225),
];

/// One run of the suite.
pub struct Run<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// What has been found so far.
    pub findings: Findings,
    /// When it began.
    pub started: Instant,
}

impl Run<'_> {
    /// Runs one part. What it has found before it fails is kept.
    pub async fn part(&mut self, part: Part) -> anyhow::Result<()> {
        match part {
            Part::Start => self.start(),
            Part::Restart => self.restart().await,
            Part::Rates => self.rates().await,
            Part::Propagation => self.propagation().await,
            Part::Memory => self.memory().await,
            Part::Cluster => self.cluster().await,
            Part::Snapshots => self.snapshots().await,
            Part::Cost => self.cost().await,
            Part::Storm => self.storm().await,
            Part::Fleet => self.fleet().await,
            Part::Deploy => self.deploy().await,
        }
    }

    /// Fresh servers of both kinds with these options: ours first.
    fn servers(&mut self, options: &[&str]) -> anyhow::Result<Vec<Server>> {
        let ours = self.plan.launcher.heureka(options)?;
        Ok(std::iter::once(ours).chain(self.java(options)).collect())
    }

    /// The same, but ours only if it must be quick: a JVM takes longer to start than the part itself.
    fn servers_if_time(&mut self, options: &[&str]) -> anyhow::Result<Vec<Server>> {
        match self.plan.is_quick {
            true => Ok(vec![self.plan.launcher.heureka(options)?]),
            false => self.servers(options),
        }
    }

    /// A Java server, if there is one. One that does not start is a problem of its own: ours is measured all the same.
    fn java(&mut self, options: &[&str]) -> Option<Server> {
        match self.plan.launcher.java(options) {
            Ok(server) => server,
            Err(error) => {
                self.problem(format!("{error:#}"));
                None
            }
        }
    }

    /// Notes that something about the Java server could not be measured; ours has been.
    fn note_java(&mut self, what: &str, result: anyhow::Result<()>) {
        if let Err(error) = result {
            self.problem(format!("{what} of Java: {error:#}"));
        }
    }

    /// Keeps a figure, or notes why there is none, so that the rest of the part can go on.
    fn keep(&mut self, what: &str, figure: anyhow::Result<Figure>) {
        match figure {
            Ok(figure) => self.findings.figures.push(figure),
            Err(error) => self.problem(format!("{what}: {error:#}")),
        }
    }

    /// Notes something that could not be measured.
    pub fn problem(&mut self, problem: String) {
        eprintln!("         {problem}");
        self.findings.problems.push(problem);
    }

    /// Sizes by how much time there is.
    fn sizes<'s>(&self, quick: &'s [usize], full: &'s [usize]) -> &'s [usize] {
        if self.plan.is_quick { quick } else { full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fit_into_thirty_eight_minutes() {
        let budget: u64 = PARTS.iter().map(|(_, _, seconds)| seconds).sum();
        assert!(budget <= 38 * 60, "{budget} s");
    }
}
