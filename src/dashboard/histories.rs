//! The tables of the last events (spec `spring.md` 2.8).

use heureka_registry::histories::{Histories, History};

use super::numbers::event_time;

/// One table.
#[derive(Debug)]
pub struct HistoryTable<'a> {
    /// Its heading.
    pub title: &'static str,
    /// Its id, as Spring's.
    pub table_id: &'static str,
    /// Newest first.
    pub rows: Vec<EventRow<'a>>,
    /// What it says if there is no row.
    pub none: &'static str,
}

/// One event.
#[derive(Debug)]
pub struct EventRow<'a> {
    /// When.
    pub time: String,
    /// Application.
    pub app: &'a str,
    /// Instance.
    pub id: &'a str,
}

/// Both tables.
pub fn tables(histories: &Histories) -> [HistoryTable<'_>; 2] {
    [
        HistoryTable {
            title: "Last newly registered leases",
            table_id: "lastNRegistered",
            rows: rows(&histories.registered),
            none: "No registrations since the start.",
        },
        HistoryTable {
            title: "Last cancelled leases",
            table_id: "lastNCanceled",
            rows: rows(&histories.cancelled),
            none: "No cancellations or evictions since the start.",
        },
    ]
}

fn rows(history: &History) -> Vec<EventRow<'_>> {
    let entries = history.newest_first();
    entries
        .map(|entry| EventRow { time: event_time(entry.at_wall_ms), app: &entry.app, id: &entry.id })
        .collect()
}
