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
mod overrides;
mod register;
mod renew;
mod replace;
mod restore;
mod tombstones;

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};

use crate::change::Origin;
use crate::record::Record;
use crate::totals::LeaseTotals;

pub use cancel::{Cancel, CancelOutcome, CancelledHere};
pub use look_up::LookUp;
pub use marks::{Mark, MarkedRecord};
pub use metadata::MetadataLimits;
pub use overrides::StatusOutcome;
pub use renew::{Heartbeat, Renewal, RenewalAnswer};
pub use tombstones::Tombstone;

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
    totals: LeaseTotals,
    next_sequence: u64,
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
    /// Monotonic time since when there is no lease for it; `None` while there is one.
    orphaned_mono_ms: Option<u64>,
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
            totals: LeaseTotals::default(),
            next_sequence: 1,
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

    fn override_status(&self, id: &str) -> Option<Status> {
        self.overrides.get(id).map(|entry| entry.status)
    }
}
