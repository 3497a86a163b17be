//! What the registry holds for one instance, and what views, deltas, peers and snapshots share of it.

use heureka_protocol::{Instance, LeaseInfo, Status};

use crate::lease::{Lease, LeaseExpiry};
use crate::stamp::{OverrideState, StampCell};
use crate::time::Now;

/// One instance with its lease. Immutable but for the lease clock; every change makes a new record and retires the
/// clock of the old one.
#[derive(Debug)]
pub struct Record {
    /// The instance with effective status and override. Of its `lease` member only the two settings of the client count;
    /// the published times come from [`Record::lease_info`].
    pub instance: Instance,
    /// The status that the instance itself last reported. Removing an override returns to it.
    pub reported_status: Status,
    /// Lease times and clock.
    pub lease: Lease,
    /// When the override was last set or removed, as far as that is known.
    pub override_stamp: StampCell,
}

/// How a heartbeat ended that did not ask the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickRenewal {
    /// The lease is renewed; answer 200.
    Renewed,
    /// Nothing has changed; the owner of the application must decide.
    AskOwner,
}

impl Record {
    /// Whether it has an override, and since when.
    #[must_use]
    pub fn override_state(&self) -> OverrideState {
        OverrideState::of(self.instance.overridden_status, self.override_stamp.get())
    }

    /// The status with another override, or without one, before the rules: what the instance reports, if the override in
    /// force hides that here. If nobody knows it, the other override shows until the instance says it.
    #[must_use]
    pub fn status_under(&self, overridden: Option<Status>) -> Status {
        let is_hidden = self.instance.overridden_status == self.instance.status;
        match (is_hidden, self.reported_status) {
            (false, _) => self.instance.status,
            (true, Status::Unknown) => overridden.unwrap_or(Status::Unknown),
            (true, reported) => reported,
        }
    }

    /// Renews the lease of a client's heartbeat if the answer is certain without the owner: the record is current, its
    /// status is known, and the client's dirty timestamp (if it names one) is not newer than ours.
    ///
    /// Sound because every change of a record retires its clock first (`lease.rs`), and because the status of a record
    /// always is what the override rules give for it, so a renewal has nothing to correct.
    #[must_use]
    pub fn try_quick_renewal(&self, dirty: Option<i64>, now: Now, expiry: LeaseExpiry) -> QuickRenewal {
        let is_plain = self.lease.eviction_timestamp == 0
            && self.instance.status != Status::Unknown
            && dirty.is_none_or(|dirty| dirty <= self.instance.last_dirty_timestamp);
        if is_plain && self.lease.clock.advance(self.lease.renewed_clock(now.mono_ms, expiry)) {
            self.lease.note_direct_contact(now.mono_ms);
            QuickRenewal::Renewed
        } else {
            QuickRenewal::AskOwner
        }
    }

    /// Lease info as published (spec `registry.md` 1.5), with the last renewal as Java shows it: in the future after a
    /// heartbeat. For a retired clock the last renewal falls back to the registration time.
    #[must_use]
    pub fn lease_info(&self, now: Now) -> LeaseInfo {
        let last_renewal = self.lease.clock.get().map(|mono_ms| now.wall_of(mono_ms));
        LeaseInfo {
            registration_timestamp: self.lease.registration_timestamp,
            last_renewal_timestamp: last_renewal.unwrap_or(self.lease.registration_timestamp),
            eviction_timestamp: self.lease.eviction_timestamp,
            service_up_timestamp: self.lease.service_up_timestamp,
            ..self.instance.lease
        }
    }
}
