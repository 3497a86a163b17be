//! Resident memory: of the empty server, and of each instance on top.

use std::time::Duration;

use super::Plan;
use super::setup;
use crate::fleet::Fleet;
use crate::report::{Figure, Plot, Section, Series, numbers};
use crate::servers::{Memory, Server};
use crate::stats::Spread;

/// Time for buffers of the filling to be given back.
const SETTLE: Duration = Duration::from_secs(2);
const MB: f64 = 1024.0 * 1024.0;

/// The table for it.
#[must_use]
pub fn section() -> Section {
    Section::new(
        "Memory",
        "Resident memory of a fresh server, then with a fleet registered and JSON, full, gzip, in use; 2 s after the first read; \
         medians of so many servers. No server is warmed up: a JVM that has worked for a while has a larger heap, so this is the \
         least that Java takes. What both take after the highest rates is among the figures.",
        &[
            "server",
            "instances",
            "servers",
            "empty",
            "filled",
            "per instance",
            "per instance before the first read",
            "peak",
        ],
    )
}

/// Memory of a fresh server, empty and filled.
///
/// # Errors
/// If the server fails.
pub async fn filled(plan: &Plan, server: &Server, instances: usize) -> anyhow::Result<Filled> {
    let empty = server.memory()?;
    let fleet = Fleet::new(plan.seed, instances);
    setup::register_all(server.address(), &fleet).await?;
    tokio::time::sleep(SETTLE).await;
    let registered = server.memory()?;
    setup::fetch(server, "apps/").await?;
    tokio::time::sleep(SETTLE).await;
    let filled = server.memory()?;
    let each = |memory: &Memory| memory.resident.saturating_sub(empty.resident) as f64 / instances as f64;
    Ok(Filled {
        instances,
        empty: empty.resident as f64,
        filled: filled.resident as f64,
        each: each(&filled),
        each_unread: each(&registered),
        peak: filled.peak as f64,
    })
}

/// The medians of several servers of one kind, as a row; and they themselves.
pub fn row(name: &str, servers: &[Filled], section: &mut Section) -> Filled {
    let median = |value: fn(&Filled) -> f64| Spread::of(servers.iter().map(value)).median;
    let found = Filled {
        instances: servers.first().map_or(0, |filled| filled.instances),
        empty: median(|filled| filled.empty),
        filled: median(|filled| filled.filled),
        each: median(|filled| filled.each),
        each_unread: median(|filled| filled.each_unread),
        peak: median(|filled| filled.peak),
    };
    section.row(
        [name.to_owned(), numbers::count(found.instances as f64), servers.len().to_string()]
            .into_iter()
            .chain(
                [found.empty, found.filled, found.each, found.each_unread, found.peak].map(numbers::bytes),
            ),
    );
    found
}

/// What was found for one number of instances.
#[derive(Clone, Copy, Debug)]
pub struct Filled {
    /// Instances.
    pub instances: usize,
    /// Resident bytes before the first of them.
    pub empty: f64,
    /// Resident bytes with all of them.
    pub filled: f64,
    /// Bytes per instance on top of the empty server.
    pub each: f64,
    /// The same before anybody has read.
    pub each_unread: f64,
    /// The most that was resident.
    pub peak: f64,
}

impl Filled {
    /// As figures with goals.
    #[must_use]
    pub fn figures(&self, most_each: f64) -> [Figure; 2] {
        let name = format!("memory per instance at {}", numbers::count(self.instances as f64));
        let goal = format!("≤ {}", numbers::bytes(most_each));
        [
            Figure::at_most(
                "memory of the empty server",
                numbers::bytes(self.empty),
                self.empty,
                15.0 * MB,
                "≤ 15 MB",
            ),
            Figure::at_most(&name, numbers::bytes(self.each), self.each, most_each, &goal),
        ]
    }
}

/// The plot of it.
#[must_use]
pub fn plot(found: &[(String, Vec<Filled>)]) -> Plot {
    let series = found.iter().map(|(name, filled)| Series {
        name: name.clone(),
        points: filled.iter().map(|filled| (filled.instances as f64, filled.filled / MB)).collect(),
    });
    Plot {
        file: "memory".to_owned(),
        title: "Resident memory".to_owned(),
        x: "instances in the registry".to_owned(),
        y: "MB".to_owned(),
        series: series.collect(),
    }
}
