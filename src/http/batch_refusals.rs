//! What of a peer's batch was not applied, and why: counted by reason, and told in one line a batch. Whoever sends nonsense
//! must not fill the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use heureka_actors::Refused;
use heureka_actors::replicator::ReplicationMetrics;
use heureka_protocol::AppName;
use heureka_protocol::draft::Refusal;
use heureka_protocol::error::ReadError;

/// Why an item was not applied.
#[derive(Debug, thiserror::Error)]
pub enum ItemRefusal {
    /// An unknown action, a missing member, a wrong type.
    #[error("{0}")]
    Unreadable(ReadError),
    /// A registration that lacks something.
    #[error("the registration of {app}/{id}: {refusal}")]
    Invalid {
        /// Whose.
        app: AppName,
        /// Whose.
        id: Arc<str>,
        /// What it lacks.
        refusal: Refusal,
    },
    /// The item may be fine, but the application could not take it.
    #[error("{app}: {refused}")]
    NotApplied {
        /// The application.
        app: AppName,
        /// Why.
        refused: Refused,
    },
}

impl ItemRefusal {
    /// What the sender is told. One of our kind tries an item again that was answered 503, and drops others.
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Unreadable(_) | Self::Invalid { .. } => StatusCode::BAD_REQUEST,
            Self::NotApplied { .. } => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The word for it in metrics.
    const fn reason(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Invalid { .. } => "invalid",
            Self::NotApplied { .. } => "not_applied",
        }
    }
}

/// Counts and tells the refusals of one batch, each with its place in it.
pub fn report(metrics: &ReplicationMetrics, is_ours: bool, refusals: &[(usize, ItemRefusal)]) {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (_, refusal) in refusals {
        *counts.entry(refusal.reason()).or_default() += 1;
    }
    for (reason, items) in counts {
        metrics.count_refused_items(is_ours, reason, items);
    }
    if let Some((place, error)) = refusals.iter().min_by_key(|(place, _)| *place) {
        let items = refusals.len();
        tracing::warn!(items, place, %error, "items of a peer's batch were refused; the first is shown");
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn however_many_items_are_refused_the_log_has_one_line() {
        let lines = Lines::default();
        let own = lines.clone();
        let subscriber = tracing_subscriber::fmt().with_writer(move || own.clone()).with_ansi(false).finish();
        let refusal = |place: usize| {
            let (app, refused) = (AppName::new("SHOP"), Refused::ApplicationFull { limit: place });
            (place, ItemRefusal::NotApplied { app, refused })
        };
        let refusals: Vec<_> = (0..9_000).rev().map(refusal).collect();
        tracing::subscriber::with_default(subscriber, || {
            report(&ReplicationMetrics::default(), false, &refusals);
            report(&ReplicationMetrics::default(), false, &[]);
        });
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains("items=9000 place=0") && text.contains("SHOP: the application has 0"),
            "{text}"
        );
    }
}
