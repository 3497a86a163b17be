//! How a start found its snapshot: one value for the log, the metrics and the status page.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::restore::RestoreCounts;

/// What a start came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was there: the first start in this folder.
    FirstStart,
    /// There is a store, but it never was complete: the last run ended before it opened for traffic, or while its first
    /// store was written.
    NothingKept,
    /// The registry is back.
    Warm,
    /// The snapshot was too old for instances; overrides and tombstones are back.
    TooOld,
    /// The snapshot could not be believed; it was moved aside, the start is cold.
    Quarantined {
        /// Why.
        why: String,
        /// Where it is now.
        moved_to: Option<PathBuf>,
    },
    /// The folder, or a snapshot in it with which nothing need be wrong, cannot be used; the start is cold. What is there stays
    /// for the next start, or until a new snapshot is complete.
    Unusable {
        /// Why.
        why: String,
    },
}

impl Outcome {
    /// A word for metrics.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::FirstStart => "first_start",
            Self::NothingKept => "nothing_kept",
            Self::Warm => "warm",
            Self::TooOld => "too_old",
            Self::Quarantined { .. } => "quarantined",
            Self::Unusable { .. } => "unusable",
        }
    }

    /// True if somebody should look at it.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(self, Self::TooOld | Self::Quarantined { .. } | Self::Unusable { .. })
    }
}

/// Report of a start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadReport {
    /// What it came to.
    pub outcome: Outcome,
    /// What came back, and what did not.
    pub counts: RestoreCounts,
    /// Records that were damaged and skipped.
    pub bad_records: u64,
    /// Why the first of them was.
    pub first_fault: Option<String>,
    /// True if the last run stopped in order, false after a crash, `None` if there was no last run.
    pub was_clean: Option<bool>,
    /// Age of the snapshot; negative if the clock was set back meanwhile.
    pub age_ms: Option<i64>,
    /// Identity of the node, kept over restarts as long as the snapshot is.
    pub node_id: String,
    /// Number of this start under that identity.
    pub starts: u64,
    /// How long it took.
    pub took: Duration,
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::FirstStart => f.write_str("cold start: no snapshot was there")?,
            Outcome::NothingKept => {
                f.write_str("cold start: the last run ended before its snapshot was complete")?
            }
            Outcome::Warm => write!(
                f,
                "warm start: {} instances, {} overrides and {} tombstones are back",
                self.counts.instances, self.counts.overrides, self.counts.tombstones
            )?,
            Outcome::TooOld => write!(
                f,
                "cold start: the snapshot is too old for instances; {} overrides and {} tombstones are back",
                self.counts.overrides, self.counts.tombstones
            )?,
            Outcome::Quarantined { why, moved_to: Some(path) } => {
                write!(f, "cold start: the snapshot was moved to {}: {why}", path.display())?;
            }
            Outcome::Quarantined { why, moved_to: None } => {
                write!(f, "cold start: no usable snapshot: {why}")?
            }
            Outcome::Unusable { why } => {
                write!(f, "cold start; the snapshot cannot be used now and stays as it is: {why}")?
            }
        }
        match self.was_clean {
            Some(true) => f.write_str("; the last run stopped clean")?,
            Some(false) => f.write_str("; the last run crashed")?,
            None => {}
        }
        let RestoreCounts { too_old, ended, .. } = self.counts;
        if too_old > 0 && self.outcome == Outcome::Warm {
            write!(f, "; {too_old} instances were left out: no sign of life of them is young enough")?;
        }
        if ended > 0 {
            write!(f, "; {ended} were left out: their leases had ended, or they were cancelled")?;
        }
        if self.bad_records > 0 {
            write!(f, "; {} damaged records were skipped", self.bad_records)?;
        }
        Ok(())
    }
}
