//! Heartbeats on their way to the peers: gathered where they happen, carried over a few times a second.
//!
//! A heartbeat is answered without any actor, so what it does for replication must cost next to nothing: one push to a
//! list that few threads share. Heartbeats are replaceable: when a list is full, the rest of them is dropped and counted.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use heureka_registry::Record;
use prometheus_client::metrics::counter::Counter;
use tokio::sync::Notify;

/// Lists; each thread keeps to one.
const LISTS: usize = 8;
/// Heartbeats in a list at most: what 2 cores answer in half a second.
const LIST_MAX: usize = 65_536;

/// The lists.
#[derive(Debug, Default)]
pub(super) struct Renewals {
    lists: [Mutex<Vec<Arc<Record>>>; LISTS],
    is_announced: AtomicBool,
    wake: Notify,
    dropped: Counter,
}

impl Renewals {
    /// Adds a heartbeat.
    pub(super) fn push(&self, record: &Arc<Record>) {
        let mut list = self.lists[own_list()].lock().unwrap_or_else(PoisonError::into_inner);
        if list.len() >= LIST_MAX {
            self.dropped.inc();
            return;
        }
        list.push(Arc::clone(record));
        drop(list);
        // A plain load first: nearly always somebody has announced already, and a swap would bounce the cache line.
        if !self.is_announced.load(Ordering::Acquire) && !self.is_announced.swap(true, Ordering::AcqRel) {
            self.wake.notify_one();
        }
    }

    /// Waits until there are heartbeats.
    pub(super) async fn announced(&self) {
        self.wake.notified().await;
    }

    /// Takes all heartbeats.
    pub(super) fn take(&self) -> Vec<Arc<Record>> {
        // Before the lists are read: a heartbeat that is pushed after its list was read announces itself again.
        self.is_announced.store(false, Ordering::Release);
        let mut all = Vec::new();
        for list in &self.lists {
            all.append(&mut list.lock().unwrap_or_else(PoisonError::into_inner));
        }
        all
    }

    /// Counts heartbeats for which there was no room.
    pub(super) const fn dropped(&self) -> &Counter {
        &self.dropped
    }
}

fn own_list() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: Cell<usize> = Cell::new(NEXT.fetch_add(1, Ordering::Relaxed) % LISTS);
    }
    OWN.get()
}
