//! The figures at the top of the start page: what an operator wants to know first.

use heureka_actors::cache::View;
use heureka_protocol::Status;
use heureka_registry::Explanation;

use super::numbers::{grouped, grouped_count};

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it counts.
    pub name: String,
    /// The figure.
    pub value: String,
    /// Style class.
    pub class: &'static str,
}

impl Figure {
    fn new(name: impl Into<String>, value: String, class: &'static str) -> Self {
        Self { name: name.into(), value, class }
    }
}

/// Instances, applications, the statuses that occur, renewals, eviction.
pub fn figures(view: &View, explanation: &Explanation) -> Vec<Figure> {
    let counts = view.counts();
    let all: u64 = Status::IN_TEXT_ORDER.into_iter().map(|status| counts.get(status)).sum();
    let applications = u64::try_from(view.apps().count()).unwrap_or(u64::MAX);
    let mut figures = vec![
        Figure::new(noun(all, "instance"), grouped_count(all), "plain"),
        Figure::new(noun(applications, "application"), grouped_count(applications), "plain"),
    ];
    for status in Status::IN_TEXT_ORDER.into_iter().rev() {
        let count = counts.get(status);
        if count > 0 {
            figures.push(Figure::new(status.as_str(), grouped_count(count), status.as_str()));
        }
    }
    let threshold = grouped(explanation.threshold);
    let renewals = format!("renewals last min, threshold {threshold}");
    figures.push(Figure::new(renewals, grouped_count(explanation.renewals), "plain"));
    let is_paused = explanation.state.is_eviction_paused();
    let (state, class) = if is_paused { ("paused", "paused") } else { ("on", "plain") };
    figures.push(Figure::new("eviction", state.to_owned(), class));
    figures
}

fn noun(count: u64, singular: &str) -> String {
    if count == 1 { singular.to_owned() } else { format!("{singular}s") }
}
