//! Counted queues. actix bounds a mailbox per sender handle only, so what is queued is counted in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many things wait somewhere, with a limit for those that may be refused.
#[derive(Debug)]
pub struct Backlog {
    waiting: AtomicUsize,
    limit: usize,
}

impl Backlog {
    /// An empty queue with a limit.
    #[must_use]
    pub const fn with_limit(limit: usize) -> Self {
        Self { waiting: AtomicUsize::new(0), limit }
    }

    /// Counts one more, whatever the limit: for what must not be refused any more.
    pub fn enter(&self) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one less.
    pub fn leave(&self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// True if nothing more should be let in.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// True if nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The limit.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Counts one more if there is room; the permit counts it off when dropped.
    #[must_use]
    pub fn try_enter(self: &Arc<Self>) -> Option<Permit> {
        if self.is_full() {
            return None;
        }
        self.enter();
        Some(Permit(self.clone()))
    }
}

/// One place in a [`Backlog`].
#[derive(Debug)]
pub struct Permit(Arc<Backlog>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.leave();
    }
}
