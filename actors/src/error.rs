//! Why the actors did not do what they were asked.

use thiserror::Error;

/// A refusal. Nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// Too much waits already: try again soon (503).
    #[error("the registry is overloaded: {waiting} requests wait for it")]
    Overloaded {
        /// How many wait.
        waiting: usize,
    },
    /// No answer in time; the operation may still happen (503).
    #[error("the registry did not answer in time")]
    TimedOut,
    /// The operation panicked; the actor has recovered (500).
    #[error("the operation failed inside the registry; it was rolled back and logged")]
    Internal,
    /// The node is stopping (503).
    #[error("the registry is stopping")]
    Stopping,
    /// The application has as many instances as allowed (503).
    #[error(
        "the application has {limit} instances, which is the limit (heureka.limits.max-instances-per-application)"
    )]
    ApplicationFull {
        /// Instances allowed.
        limit: usize,
    },
    /// The registry has as many instances as allowed (503).
    #[error("the registry has {limit} instances, which is the limit (heureka.limits.max-instances)")]
    InstancesFull {
        /// Instances allowed.
        limit: usize,
    },
    /// The registry has as many applications as allowed (503).
    #[error("the registry has {limit} applications, which is the limit (heureka.limits.max-applications)")]
    RegistryFull {
        /// Applications allowed.
        limit: usize,
    },
}

impl Refused {
    /// True if the same call may succeed a little later.
    #[must_use]
    pub const fn is_worth_a_retry(self) -> bool {
        matches!(self, Self::Overloaded { .. } | Self::TimedOut | Self::Stopping)
    }
}
