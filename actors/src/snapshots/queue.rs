//! What the rest of the node sees of the snapshots: the sink for changes, and how things stand.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use actix::Addr;
use arc_swap::ArcSwap;
use heureka_registry::{Change, Now, Record};
use heureka_snapshots::news::{WriterState, WriterStats};
use heureka_snapshots::pending::{Pending, Taken};
use heureka_snapshots::report::LoadReport;
use heureka_snapshots::restore::RecoveredMark;
use prometheus_client::metrics::counter::Counter;

use super::actor::{SnapshotActor, Wake};
use crate::shared::ChangeSink;

/// The queue in front of the writer, and the state behind it.
pub struct Snapshots {
    /// Behind a lock because changes come from the threads of all applications; held for one insertion, or for taking
    /// everything out, which moves the map.
    pending: Mutex<Pending>,
    actor: OnceLock<Addr<SnapshotActor>>,
    report: LoadReport,
    recovered: Option<RecoveredMark>,
    stats: ArcSwap<WriterStats>,
    /// What the actor has taken out of the queue but not written yet.
    backlog: AtomicUsize,
    backlog_oldest_mono_ms: AtomicU64,
    pub(super) panics: Counter,
}

/// How the snapshots stand at one moment.
#[derive(Clone, Debug)]
pub struct SnapshotStatus {
    /// How this start went.
    pub report: LoadReport,
    /// What the writer is at.
    pub writer: WriterStats,
    /// Instances whose latest state waits to be written.
    pub waiting: usize,
    /// Age of the oldest change that waits, milliseconds.
    pub lag_ms: u64,
    /// Changes that found no room. They were made good, or are being made good, by writing everything anew.
    pub dropped: u64,
}

impl SnapshotStatus {
    /// One line for pages.
    #[must_use]
    pub fn summary(&self, wall_ms: i64) -> String {
        let WriterStats { state, problem, counts, saved_wall_ms, .. } = &self.writer;
        let mut text = match (state, problem) {
            (WriterState::Failing, Some(problem)) => format!("failing: {problem}"),
            (state, _) => state.as_str().to_owned(),
        };
        if *saved_wall_ms > 0 {
            let age_secs = wall_ms.saturating_sub(*saved_wall_ms).max(0) / 1000;
            text.push_str(&format!("; {} instances, saved {age_secs} s ago", counts.instances));
        }
        if self.waiting > 0 {
            text.push_str(&format!("; {} wait", self.waiting));
        }
        format!("{text}; {}", self.report)
    }
}

impl fmt::Debug for Snapshots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshots").field("report", &self.report).finish_non_exhaustive()
    }
}

impl Snapshots {
    /// A queue for at most so many instances, after a start that went as reported. Nothing is written before the actor
    /// runs.
    #[must_use]
    pub fn new(report: LoadReport, recovered: Option<RecoveredMark>, waiting_max: usize) -> Arc<Self> {
        if report.outcome.is_warning() {
            tracing::warn!(outcome = report.outcome.as_str(), "{report}");
        } else {
            tracing::info!(outcome = report.outcome.as_str(), "{report}");
        }
        Arc::new(Self {
            pending: Mutex::new(Pending::with_limit(waiting_max)),
            actor: OnceLock::new(),
            report,
            recovered,
            stats: ArcSwap::default(),
            backlog: AtomicUsize::new(0),
            backlog_oldest_mono_ms: AtomicU64::new(0),
            panics: Counter::default(),
        })
    }

    /// True if all that is known of an instance comes from the snapshot: it has given no sign of life since the start.
    #[must_use]
    pub fn is_recovered(&self, record: &Record) -> bool {
        self.recovered.is_some_and(|mark| mark.is_recovered(record))
    }

    /// How things stand.
    #[must_use]
    pub fn status(&self, mono_ms: u64) -> SnapshotStatus {
        let pending = self.pending();
        let backlog = self.backlog.load(Ordering::Relaxed);
        let backlog_oldest = (backlog > 0).then(|| self.backlog_oldest_mono_ms.load(Ordering::Relaxed));
        let oldest_ms = backlog_oldest.into_iter().chain(pending.oldest_mono_ms()).min();
        SnapshotStatus {
            report: self.report.clone(),
            writer: WriterStats::clone(&self.stats.load()),
            waiting: pending.len() + backlog,
            lag_ms: oldest_ms.map_or(0, |oldest_ms| mono_ms.saturating_sub(oldest_ms)),
            dropped: pending.dropped(),
        }
    }

    pub(super) fn set_actor(&self, actor: Addr<SnapshotActor>) {
        // Set once, by the actor's start; a second actor would write into the same store.
        let _ = self.actor.set(actor);
    }

    pub(super) fn publish(&self, stats: WriterStats, backlog: usize, oldest_mono_ms: u64) {
        self.stats.store(Arc::new(stats));
        // Figures for people; nothing is decided by them.
        self.backlog.store(backlog, Ordering::Relaxed);
        self.backlog_oldest_mono_ms.store(oldest_mono_ms, Ordering::Relaxed);
    }

    pub(super) const fn recovered(&self) -> Option<RecoveredMark> {
        self.recovered
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes everything out, with the time of the oldest.
    pub(super) fn take(&self) -> (Taken, Option<u64>) {
        let mut pending = self.pending();
        let oldest_ms = pending.oldest_mono_ms();
        (pending.take(), oldest_ms)
    }
}

impl Snapshots {
    /// Puts something into the queue, and wakes the writer if it sleeps.
    fn put(&self, put: impl FnOnce(&mut Pending)) {
        let wake = {
            let mut pending = self.pending();
            let (was_empty, had_removals) = (pending.is_empty(), pending.has_removals());
            put(&mut pending);
            let is_urgent = pending.has_removals();
            (was_empty || (is_urgent && !had_removals)).then_some(Wake { is_urgent })
        };
        // At most two for each time that the queue is emptied, so the mailbox needs no bound of its own.
        if let (Some(wake), Some(actor)) = (wake, self.actor.get()) {
            actor.do_send(wake);
        }
    }
}

impl ChangeSink for Snapshots {
    fn accept(&self, change: &Change) {
        self.put(|pending| pending.accept(change));
    }

    fn accept_repeated_override(&self, record: &Arc<Record>, _is_removal: bool, now: Now) {
        self.put(|pending| pending.accept_again(record, now.mono_ms));
    }
}
