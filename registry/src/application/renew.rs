//! Heartbeats (`registry.md` 3.1, 3.5; `replication.md` 4.3).

use std::sync::Arc;

use heureka_protocol::Status;

use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::time::Now;

use super::replace::{Event, carry_lease};
use super::{Application, Override};

/// What a heartbeat says besides whose it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Dirty timestamp of the sender's copy, if it named one.
    pub last_dirty: Option<i64>,
    /// Override that the sender knows of; only a peer's counts.
    pub overridden: Option<Status>,
}

/// How a heartbeat ended.
#[derive(Clone, Debug)]
pub struct Renewal {
    /// What to tell the sender.
    pub answer: RenewalAnswer,
    /// The change, if the heartbeat corrected the status or stored an override (defects D11, D12).
    pub change: Option<Change>,
}

/// What to tell the sender of a heartbeat.
#[derive(Clone, Debug)]
pub enum RenewalAnswer {
    /// No such lease: 404.
    NotFound,
    /// The status is UNKNOWN: 404, once, so that the client registers with its status. Not renewed.
    UnknownStatus,
    /// Renewed: 200.
    Renewed,
    /// Renewed, but the sender's copy is newer: 404, so that it registers.
    RenewedSendAgain,
    /// Renewed, but this record is newer than the peer's copy: 409 with it. Never for a client.
    Conflict(Arc<Record>),
}

impl Renewal {
    /// True if it counts in the renew rate: the lease was renewed, whatever the answer (invariant H-3).
    #[must_use]
    pub const fn counts(&self) -> bool {
        !matches!(self.answer, RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus)
    }

    const fn refused(answer: RenewalAnswer) -> Self {
        Self { answer, change: None }
    }
}

/// How the dirty timestamp of a heartbeat compares with the stored one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Same,
    SenderIsNewer,
    RegistryIsNewer,
}

impl Application {
    /// Renews a lease and compares the sender's copy with the stored one (invariants H-1 to H-6).
    pub fn renew(&mut self, id: &str, beat: &Heartbeat, origin: Origin, now: Now, rules: &Rules) -> Renewal {
        let Some(record) = self.get(id).map(Arc::clone) else {
            return Renewal::refused(RenewalAnswer::NotFound);
        };
        let existing = Some(record.instance.status);
        let by_rules = self.status_by_rules(&record.instance, existing, origin.is_replicated(), rules);
        if by_rules == Status::Unknown && self.ask_for_status(id) {
            return Renewal::refused(RenewalAnswer::UnknownStatus);
        }
        if origin == Origin::Client {
            record.lease.note_direct_contact(now.mono_ms);
        }
        record.lease.clock.advance(record.lease.renewed_clock(now.mono_ms, rules.lease_expiry));
        let comparison = compare(&record, beat, rules);
        if comparison == Comparison::SenderIsNewer && origin.is_replicated() {
            self.store_override(&record, beat.overridden, origin);
        }
        let change = self.correct(&record, origin, now, rules);
        let current = change.as_ref().map_or(record, |change| Arc::clone(&change.record));
        let answer = match comparison {
            Comparison::SenderIsNewer => RenewalAnswer::RenewedSendAgain,
            Comparison::RegistryIsNewer if origin.is_replicated() => RenewalAnswer::Conflict(current),
            Comparison::Same | Comparison::RegistryIsNewer => RenewalAnswer::Renewed,
        };
        Renewal { answer, change }
    }

    /// True the first time: the client has not been asked for its status since it became unknown.
    fn ask_for_status(&mut self, id: &str) -> bool {
        self.leases.get_mut(id).is_some_and(|slot| !std::mem::replace(&mut slot.was_asked_for_status, true))
    }

    /// Java's "store overridden status if required": a peer's override replaces a different one.
    fn store_override(&mut self, record: &Record, overridden: Option<Status>, origin: Origin) {
        let id = &record.instance.instance_id;
        let wanted = overridden.filter(|status| *status != Status::Unknown);
        if let Some(status) = wanted
            && self.override_status(id) != wanted
        {
            self.overrides.insert(Arc::clone(id), Override::new(status, origin));
        }
    }

    /// Brings a record in line with the rules and the override in force; a change only if it was not (H-5, H-6).
    pub(super) fn correct(
        &mut self,
        record: &Record,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let existing = Some(record.instance.status);
        let status = self.status_by_rules(&record.instance, existing, origin.is_replicated(), rules);
        let overridden = self.override_status(&record.instance.instance_id).unwrap_or(Status::Unknown);
        if status == record.instance.status && overridden == record.instance.overridden_status {
            return None;
        }
        let lease = carry_lease(record, None, now);
        let mut instance = record.instance.clone();
        instance.status = status;
        instance.overridden_status = overridden;
        let corrected = Record { instance, reported_status: record.reported_status, lease };
        Some(self.put_record(corrected, Event { kind: ChangeKind::StatusCorrected, origin, now }))
    }
}

fn compare(record: &Record, beat: &Heartbeat, rules: &Rules) -> Comparison {
    let stored = record.instance.last_dirty_timestamp;
    match beat.last_dirty {
        Some(sent) if rules.sync_when_timestamp_differs && sent > stored => Comparison::SenderIsNewer,
        Some(sent) if rules.sync_when_timestamp_differs && sent < stored => Comparison::RegistryIsNewer,
        _ => Comparison::Same,
    }
}
