//! Notes for the histories of the start page: who registered and who was cancelled last.

use heureka_protocol::{AppName, InstanceId};
use heureka_registry::Now;
use heureka_registry::histories::{Histories, HistoryEntry};

/// Which history a note belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteKind {
    /// A registration, repeated ones included.
    Registered,
    /// A cancellation, evictions and those of unknown instances included.
    Cancelled,
}

/// One line of a history, on its way there.
#[derive(Clone, Debug)]
pub struct Note {
    kind: NoteKind,
    entry: HistoryEntry,
}

impl Note {
    /// A registration.
    #[must_use]
    pub fn registered(now: Now, app: &AppName, id: InstanceId) -> Self {
        Self::new(NoteKind::Registered, now, app, id)
    }

    /// A cancellation.
    #[must_use]
    pub fn cancelled(now: Now, app: &AppName, id: InstanceId) -> Self {
        Self::new(NoteKind::Cancelled, now, app, id)
    }

    fn new(kind: NoteKind, now: Now, app: &AppName, id: InstanceId) -> Self {
        Self { kind, entry: HistoryEntry { at_wall_ms: now.wall_ms, app: app.clone(), id } }
    }

    /// Puts the note into the history that it belongs to.
    pub fn add_to(self, histories: &mut Histories) {
        match self.kind {
            NoteKind::Registered => histories.registered.push(self.entry),
            NoteKind::Cancelled => histories.cancelled.push(self.entry),
        }
    }
}
