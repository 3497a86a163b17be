//! All that is known of one application: its leases, overrides and tombstones, and the operations that change them.
//!
//! One owner calls these operations one after the other; every operation is atomic to everybody else (defect D6). Each
//! visible change makes a new [`Record`], retires the clock of the old one and returns one [`Change`](crate::change::Change). Nothing here asks a
//! clock, sends anything or knows another application. The operations live in files of their own below.

mod cancel;
mod eviction;
mod look_up;
mod marks;
mod metadata;
mod odd_times;
mod overrides;
mod register;
mod removals;
mod renew;
mod replace;
mod restore;
mod tombstones;

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};

use crate::change::Origin;
use crate::record::Record;
use crate::rules::Rules;
use crate::stamp::{OverrideState, Stamp, StampCell};
use crate::time::Now;
use crate::totals::LeaseTotals;

pub use cancel::{Cancel, CancelOutcome, CancelledHere};
pub use look_up::LookUp;
pub use marks::{Mark, MarkedRecord};
pub use metadata::MetadataLimits;
pub use overrides::{StatusOutcome, Told};
pub use renew::{Heartbeat, Renewal, RenewalAnswer};
pub use tombstones::Tombstone;

use removals::Removals;
use tombstones::Tombstones;

/// State of one application: everything that its actor owns.
///
/// Maps are ordered by id, so that every history of calls gives the same results on every machine and in every run.
#[derive(Debug)]
pub struct Application {
    name: AppName,
    leases: BTreeMap<InstanceId, Slot>,
    overrides: BTreeMap<InstanceId, Override>,
    tombstones: Tombstones,
    removals: Removals,
    totals: LeaseTotals,
    next_sequence: u64,
    /// Some record may have an operation without a stamp that gets it when the clock is in step.
    has_unstamped: bool,
}

/// A living lease and what only its owner needs to know of it.
#[derive(Debug)]
struct Slot {
    record: Arc<Record>,
    /// A heartbeat was answered 404 because the status is UNKNOWN. The client has been asked, so what it says from now
    /// on is the truth and is not asked again, or it would register on every heartbeat (defect D16).
    was_asked_for_status: bool,
    content: Mark,
    overridden: Mark,
}

/// An override and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Override {
    /// The status in force; never `UNKNOWN`.
    pub status: Status,
    /// Who set it.
    pub origin: Origin,
    /// Since when there is no lease for it; `None` while there is one.
    orphan: Option<Orphan>,
}

/// An override that waits for its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Orphan {
    /// Monotonic time since when, milliseconds.
    since_mono_ms: u64,
    /// Stamp of the operation that set it; with a lease the record has it.
    stamp: Option<Stamp>,
}

impl Application {
    /// An application without any instance.
    #[must_use]
    pub fn new(name: AppName) -> Self {
        Self {
            name,
            leases: BTreeMap::new(),
            overrides: BTreeMap::new(),
            tombstones: Tombstones::default(),
            removals: Removals::default(),
            totals: LeaseTotals::default(),
            next_sequence: 1,
            has_unstamped: false,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &AppName {
        &self.name
    }

    /// Number of leases, expired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.leases.len()
    }

    /// True if there is no lease. Overrides and tombstones may remain: see [`Application::is_forgettable`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// The record of an instance, expired or not.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Record>> {
        self.leases.get(id).map(|slot| &slot.record)
    }

    /// All records in the order of their ids.
    pub fn records(&self) -> impl Iterator<Item = &Arc<Record>> {
        self.leases.values().map(|slot| &slot.record)
    }

    /// All overrides in the order of their ids.
    pub fn overrides(&self) -> impl Iterator<Item = (&InstanceId, Status)> {
        self.overrides.iter().map(|(id, entry)| (id, entry.status))
    }

    /// The override of one instance with its origin.
    #[must_use]
    pub fn override_of(&self, id: &str) -> Option<&Override> {
        self.overrides.get(id)
    }

    /// Number of leases and the renewals a minute that they promise; kept up to date, so asking costs nothing.
    #[must_use]
    pub const fn totals(&self) -> LeaseTotals {
        self.totals
    }

    /// Sequence number that the next change will carry.
    #[must_use]
    pub const fn next_sequence(&self) -> u64 {
        self.next_sequence
    }

    /// Gives what was done before the clock was in step its stamps, once it is.
    pub fn settle_stamps(&mut self, rules: &Rules) {
        if self.has_unstamped && rules.stamps.is_in_step() {
            self.records().for_each(|record| record.override_stamp.settle(&rules.stamps));
            self.has_unstamped = false;
        }
    }

    /// The cell for an operation: with the stamp that it has got, if any. A client's gets it later.
    fn cell_of_operation(&mut self, stamp: Option<Stamp>, origin: Origin, now: Now) -> StampCell {
        if stamp.is_some() || origin != Origin::Client {
            return StampCell::new(stamp);
        }
        self.has_unstamped = true;
        StampCell::unstamped(now)
    }

    fn override_status(&self, id: &str) -> Option<Status> {
        self.overrides.get(id).map(|entry| entry.status)
    }

    /// Whether an instance has an override, and since when, whether it is here, still to come, cancelled or evicted.
    fn override_state(&self, id: &str, now: Now) -> OverrideState {
        if let Some(record) = self.get(id) {
            return record.override_state();
        }
        let orphan = self
            .overrides
            .get(id)
            .map(|entry| OverrideState { status: Some(entry.status), stamp: entry.waiting_stamp() });
        let cancelled = self.tombstones.get(id, now).and_then(|stone| stone.override_stamp);
        let stamp = cancelled.max(self.removals.get(id, now));
        orphan.unwrap_or(OverrideState { status: None, stamp })
    }
}
