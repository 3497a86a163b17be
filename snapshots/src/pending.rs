//! Changes on their way to the store, merged: of every instance only its latest state waits.
//!
//! Bounded. When it is full, what is known already is still replaced, but nothing new is taken in: then the store no
//! longer follows the registry, which is remembered until everything is written anew.

use std::collections::HashMap;
use std::sync::Arc;

use heureka_registry::{Change, ChangeKind, Record, Tombstone};

use crate::contents::Owner;

/// The latest state of an instance.
#[derive(Clone, Debug)]
pub enum Latest {
    /// It is registered.
    Present(Arc<Record>),
    /// It was cancelled.
    Cancelled(Box<Cancelled>),
    /// It was evicted.
    Evicted,
}

/// About how many bytes a record takes in a store: its texts, and something for the rest. Records differ by a factor of a
/// hundred, so that their number says little about the work that they make.
pub(crate) fn rough_bytes(record: &Record) -> usize {
    let instance = &record.instance;
    let texts = [
        &instance.app_group_name,
        &instance.home_page_url,
        &instance.status_page_url,
        &instance.health_check_url,
        &instance.secure_health_check_url,
        &instance.vip_address,
        &instance.secure_vip_address,
    ];
    let texts: usize = texts.into_iter().flatten().map(|text| text.len()).sum();
    let metadata: usize = instance.metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
    400 + instance.instance_id.len() + instance.host_name.len() + texts + metadata
}

/// An instance that was cancelled.
#[derive(Clone, Debug)]
pub struct Cancelled {
    /// Its last record.
    pub record: Arc<Record>,
    /// What the registry remembers of the cancel.
    pub tombstone: Option<Tombstone>,
    /// When it was cancelled, monotonic milliseconds.
    pub at_mono_ms: u64,
}

/// What was taken out to be written.
pub type Taken = Vec<(Owner, Latest)>;

/// Changes that wait.
#[derive(Debug)]
pub struct Pending {
    latest: HashMap<Owner, Latest, foldhash::quality::RandomState>,
    limit: usize,
    oldest_mono_ms: Option<u64>,
    has_removals: bool,
    dropped: u64,
    is_incomplete: bool,
}

impl Pending {
    /// Nothing waits. At most `limit` instances ever will.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            latest: HashMap::default(),
            limit,
            oldest_mono_ms: None,
            has_removals: false,
            dropped: 0,
            is_incomplete: false,
        }
    }

    /// Takes a change in. Changes of one instance must come in their order.
    pub fn accept(&mut self, change: &Change) {
        let latest = match change.kind {
            ChangeKind::Cancelled => Latest::Cancelled(Box::new(Cancelled {
                record: Arc::clone(&change.record),
                tombstone: change.tombstone.as_deref().copied(),
                at_mono_ms: change.at_mono_ms,
            })),
            ChangeKind::Evicted => Latest::Evicted,
            _ => Latest::Present(Arc::clone(&change.record)),
        };
        let owner = (change.app.clone(), Arc::clone(&change.id));
        self.put(owner, latest, change.kind.is_removal(), change.at_mono_ms);
    }

    /// Takes a record in that is known already, because of what may change in it without a change: when its override was
    /// last set or removed.
    pub fn accept_again(&mut self, record: &Arc<Record>, now_mono_ms: u64) {
        let owner = (record.instance.app.clone(), Arc::clone(&record.instance.instance_id));
        self.put(owner, Latest::Present(Arc::clone(record)), false, now_mono_ms);
    }

    fn put(&mut self, owner: Owner, latest: Latest, is_removal: bool, at_mono_ms: u64) {
        if self.latest.len() >= self.limit && !self.latest.contains_key(&owner) {
            self.dropped += 1;
            self.is_incomplete = true;
            return;
        }
        self.latest.insert(owner, latest);
        self.has_removals |= is_removal;
        self.oldest_mono_ms.get_or_insert(at_mono_ms);
    }

    /// Takes everything out.
    pub fn take(&mut self) -> Taken {
        self.oldest_mono_ms = None;
        self.has_removals = false;
        // A new map, so that the room of a burst is given back.
        std::mem::take(&mut self.latest).into_iter().collect()
    }

    /// Forgets that changes were dropped: everything that was registered before is about to be written anew. True if
    /// there was something to forget.
    pub const fn start_anew(&mut self) -> bool {
        std::mem::replace(&mut self.is_incomplete, false)
    }

    /// Number of instances that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.latest.len()
    }

    /// True if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.latest.is_empty()
    }

    /// Monotonic time of the oldest change that waits, milliseconds.
    #[must_use]
    pub const fn oldest_mono_ms(&self) -> Option<u64> {
        self.oldest_mono_ms
    }

    /// True if an instance that is gone waits: those are urgent, or a crash would bring it back.
    #[must_use]
    pub const fn has_removals(&self) -> bool {
        self.has_removals
    }

    /// Changes that were not taken in, since the start.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// True if changes were dropped and nothing has been written anew since.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }
}
