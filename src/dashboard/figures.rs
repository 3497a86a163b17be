//! The figures at the top of the start page: what an operator wants to know first.

use heureka_actors::cache::View;
use heureka_protocol::Status;
use heureka_registry::{Explanation, ProtectionState};

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

/// Instances, applications, the statuses that occur, renewals, and whether eviction pauses.
pub fn figures(view: &View, explanation: &Explanation) -> Vec<Figure> {
    let counts = view.counts();
    let all = counts.total();
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
    let renewals = format!("{} / {}", grouped_count(explanation.renewals), grouped(explanation.threshold));
    figures.push(Figure::new("renews last min / threshold", renewals, "plain"));
    figures.extend((all > 0).then(|| pause(explanation.state)).flatten());
    figures
}

/// That expired instances are kept, if they are. Only protection at work shall catch the eye: a pause at the start is normal.
fn pause(state: ProtectionState) -> Option<Figure> {
    let class = if state == ProtectionState::TooFewRenewals { "state paused" } else { "state calm" };
    state.is_eviction_paused().then(|| Figure::new("", "eviction paused".to_owned(), class))
}

fn noun(count: u64, singular: &str) -> String {
    if count == 1 { singular.to_owned() } else { format!("{singular}s") }
}
