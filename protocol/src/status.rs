//! Status and action words (spec `wire.md` 6.4).

use std::fmt;

/// Status of an instance. The wire spelling equals the variant in upper case with underscores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Ready for traffic.
    Up,
    /// Not ready, for example because a health check fails.
    Down,
    /// Just starting.
    Starting,
    /// Taken out of traffic on purpose.
    OutOfService,
    /// Anything else, and "no override" where a status describes an override.
    Unknown,
}

impl Status {
    /// All statuses in the order in which the hash code names them (ascending text order).
    pub const IN_TEXT_ORDER: [Self; 5] =
        [Self::Down, Self::OutOfService, Self::Starting, Self::Unknown, Self::Up];

    /// The wire spelling, for example `OUT_OF_SERVICE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Starting => "STARTING",
            Self::OutOfService => "OUT_OF_SERVICE",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// Reads exactly one of the five names, case-sensitive.
    #[must_use]
    pub fn from_exact(text: &str) -> Option<Self> {
        Self::IN_TEXT_ORDER.into_iter().find(|status| status.as_str() == text)
    }

    /// Reads a name in any letter case; `None` for anything else (spec `wire.md` Q30: accept any case).
    #[must_use]
    pub fn from_any_case(text: &str) -> Option<Self> {
        Self::IN_TEXT_ORDER.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(text))
    }

    /// What version 1 of the protocol shows: everything but UP, DOWN and STARTING appears as DOWN (`wire.md` 1.1).
    #[must_use]
    pub const fn in_version_1(self) -> Self {
        match self {
            Self::Up | Self::Down | Self::Starting => self,
            Self::OutOfService | Self::Unknown => Self::Down,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What happened last to an instance, as deltas show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionType {
    /// Registered (again).
    Added,
    /// Status changed.
    Modified,
    /// Cancelled or evicted.
    Deleted,
}

impl ActionType {
    /// The wire spelling, for example `ADDED`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }

    /// Reads a name in any letter case.
    #[must_use]
    pub fn from_any_case(text: &str) -> Option<Self> {
        [Self::Added, Self::Modified, Self::Deleted]
            .into_iter()
            .find(|action| action.as_str().eq_ignore_ascii_case(text))
    }
}
