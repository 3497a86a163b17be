//! Counts that a queue keeps about itself; the owner turns them into metrics (`replication.md` 9.3.9).

use heureka_protocol::batch::Action;

use super::batch::DropReason;
use super::intents::Intents;

/// Totals since the queue was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Events that were offered.
    pub offered: u64,
    /// Events that found their instance waiting already and were merged with it.
    pub merged: u64,
    /// Registrations caused by a heartbeat that the peer answered "not found".
    pub registered_after_404: u64,
    /// Batches that were halved because the peer refused them.
    pub bisected: u64,
    dropped: [[u64; DropReason::COUNT]; Action::ALL.len()],
}

impl Tally {
    /// How many actions of a kind were dropped for a reason; the code of a rejection plays no role.
    #[must_use]
    pub fn dropped(&self, action: Action, reason: DropReason) -> u64 {
        self.dropped[row(action)][reason.index()]
    }

    /// All that was dropped.
    #[must_use]
    pub fn dropped_total(&self) -> u64 {
        self.dropped.iter().flatten().sum()
    }

    pub(super) fn drop_all(&mut self, intents: Intents, reason: DropReason) {
        for action in intents.actions() {
            self.dropped[row(action)][reason.index()] += 1;
        }
    }
}

fn row(action: Action) -> usize {
    Action::ALL.iter().position(|known| *known == action).unwrap_or(0)
}
