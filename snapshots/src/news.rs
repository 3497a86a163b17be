//! What the writer has to tell: events to log once each, and figures to show at any time.

use std::fmt;
use std::path::PathBuf;

use crate::seal::Counts;

/// Something that happened once. The text is for the log and the status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Writing has begun to fail; nothing is kept from now on.
    Failing(String),
    /// Writing works again after so many attempts.
    Recovered {
        /// Attempts that failed.
        attempts: u32,
    },
    /// A store in doubt was moved aside while running.
    MovedAside {
        /// Why.
        why: String,
        /// Where it is now, if it could be moved.
        to: Option<PathBuf>,
    },
    /// A store that this process could not load was moved aside when another one had taken its place.
    Replaced {
        /// Where it is now, if it could be moved.
        to: Option<PathBuf>,
    },
    /// A store was written anew and took the place of the old one.
    Rewritten {
        /// Bytes on disk before.
        before_bytes: u64,
        /// Bytes on disk after.
        after_bytes: u64,
    },
    /// The store no longer follows the registry and is being written anew.
    Incomplete,
}

impl News {
    /// True if somebody should look at it.
    #[must_use]
    pub const fn is_warning(&self) -> bool {
        matches!(self, Self::Failing(_) | Self::MovedAside { .. } | Self::Incomplete)
    }
}

impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failing(cause) => {
                write!(f, "snapshots fail, a restart would be cold or old; the service goes on: {cause}")
            }
            Self::Recovered { attempts } => {
                write!(f, "snapshots work again after {attempts} failed attempts")
            }
            Self::MovedAside { why, to: Some(to) } => {
                write!(f, "the snapshot was moved to {} and is written anew: {why}", to.display())
            }
            Self::MovedAside { why, to: None } => write!(f, "the snapshot is written anew: {why}"),
            Self::Replaced { to: Some(to) } => {
                write!(
                    f,
                    "the snapshot that could not be used was moved to {}: a new one is complete",
                    to.display()
                )
            }
            Self::Replaced { to: None } => f.write_str("a new snapshot is complete"),
            Self::Rewritten { before_bytes, after_bytes } => {
                write!(f, "the snapshot was written anew: {before_bytes} bytes became {after_bytes}")
            }
            Self::Incomplete => {
                f.write_str("too many changes waited for the snapshot; it is written anew from the registry")
            }
        }
    }
}

/// In which state the writer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriterState {
    /// The node has not opened for traffic; nothing is written.
    #[default]
    Waiting,
    /// The store follows the registry.
    Following,
    /// A store is being written anew.
    Rewriting,
    /// Nothing can be written; it is tried again now and then.
    Failing,
}

impl WriterState {
    /// A word for pages and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Following => "following",
            Self::Rewriting => "rewriting",
            Self::Failing => "failing",
        }
    }
}

/// Figures of the writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterStats {
    /// State.
    pub state: WriterState,
    /// Why it fails, while it does.
    pub problem: Option<String>,
    /// Keys in the store by kind.
    pub counts: Counts,
    /// Bytes of all keys and values.
    pub live_bytes: u64,
    /// Bytes on disk when they were last measured.
    pub disk_bytes: u64,
    /// Wall clock of the last moment at which the store equalled the registry, 0 if there was none.
    pub saved_wall_ms: i64,
    /// Rounds that wrote something.
    pub rounds: u64,
    /// Attempts that failed.
    pub failures: u64,
    /// Instances that were too large to be stored.
    pub oversized: u64,
    /// Stores written anew.
    pub rewrites: u64,
}
