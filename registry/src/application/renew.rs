//! Heartbeats (`registry.md` 3.1, 3.5; `replication.md` 4.3).

use std::sync::Arc;

use heureka_protocol::Status;

use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::stamp::{Stamp, StampCell};
use crate::time::Now;

use super::replace::{Event, carry_lease};
use super::{Application, Override, Told};

/// What a heartbeat says besides whose it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Dirty timestamp of the sender's copy, if it named one.
    pub last_dirty: Option<i64>,
    /// Override that the sender knows of; only a peer's counts.
    pub overridden: Option<Status>,
    /// The status that the instance has there.
    pub shown: Option<Status>,
    /// Since when the override is what it is there. Only nodes of our kind tell it.
    pub stamp: Option<Stamp>,
}

impl Heartbeat {
    fn told(&self) -> Option<Told> {
        let overridden = self.overridden.filter(|status| *status != Status::Unknown);
        let shown = self.shown.filter(|status| *status != Status::Unknown);
        Some(Told { overridden, shown, stamp: self.stamp? })
    }

    /// What the instance itself reports, if a peer says it: the status that it has there without an override.
    fn report(&self, origin: Origin) -> Option<Status> {
        let is_overridden = self.overridden.is_some_and(|status| status != Status::Unknown);
        self.shown.filter(|status| *status != Status::Unknown && !is_overridden && origin.is_replicated())
    }
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
        let shown = record.instance.status;
        let by_rules = self.status_by_rules(&record.instance, shown, Some(shown), origin, rules);
        let comparison = compare(&record, beat, rules);
        let is_unknown = by_rules == Status::Unknown;
        let report = beat.report(origin).filter(|_| is_unknown && comparison == Comparison::Same);
        if is_unknown && report.is_none() && self.ask_for_status(id) {
            return Renewal::refused(RenewalAnswer::UnknownStatus);
        }
        if origin == Origin::Client {
            record.lease.note_direct_contact(now.mono_ms);
        }
        record.lease.clock.advance(record.lease.renewed_clock(now.mono_ms, rules.lease_expiry));
        if beat.stamp.is_some() {
            self.settle_stamps(rules);
        }
        let change = match beat.told().filter(|_| origin.is_replicated()) {
            Some(told) if record.override_state().yields_to(told.state()) => {
                self.take_later(&record, told, comparison, now, rules)
            }
            None if comparison == Comparison::SenderIsNewer && origin.is_replicated() => {
                self.store_override(&record, beat.overridden, origin, now, rules)
            }
            Some(_) | None => self.correct_to(&record, report.unwrap_or(shown), origin, now, rules),
        };
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
    fn store_override(
        &mut self,
        record: &Record,
        overridden: Option<Status>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let id = &record.instance.instance_id;
        let mut stamp = None;
        let wanted = overridden.filter(|status| *status != Status::Unknown);
        if let Some(status) = wanted
            && self.override_status(id) != wanted
        {
            self.overrides.insert(Arc::clone(id), Override::new(status, origin));
            stamp = rules.stamps.stamp(record.override_stamp.get(), now);
        }
        let event = Event { kind: ChangeKind::StatusCorrected, origin, now };
        self.correct_from(record, record.instance.status, stamp, event, rules)
    }

    /// A node of our kind tells its override with every heartbeat, so whoever has missed an operation hears of it then.
    fn take_later(
        &mut self,
        record: &Record,
        told: Told,
        comparison: Comparison,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let origin = Origin::Peer;
        let (ours, id) = (record.override_state(), &record.instance.instance_id);
        let is_other = ours.status != told.overridden;
        match told.overridden {
            Some(status) if is_other => {
                self.overrides.insert(Arc::clone(id), Override::new(status, origin));
            }
            Some(_) => {}
            None => {
                self.overrides.remove(id);
            }
        }
        // Of the same registration the sender knows best what it shows with that override, or without one.
        let shown = told.shown.filter(|_| comparison == Comparison::Same);
        let known = if is_other { record.status_under(told.overridden) } else { record.instance.status };
        let event = Event { kind: ChangeKind::StatusCorrected, origin, now };
        let stamp = Some(told.stamp);
        let change = self.correct_from(record, shown.unwrap_or(known), stamp, event, rules);
        if change.is_none() {
            record.override_stamp.raise(stamp);
        }
        change
    }

    /// Brings a record in line with the rules and the override in force; a change only if it was not (H-5, H-6).
    pub(super) fn correct(
        &mut self,
        record: &Record,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        self.correct_to(record, record.instance.status, origin, now, rules)
    }

    /// The same with the status that the rules are to begin with.
    fn correct_to(
        &mut self,
        record: &Record,
        base: Status,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> Option<Change> {
        let event = Event { kind: ChangeKind::StatusCorrected, origin, now };
        self.correct_from(record, base, None, event, rules)
    }

    /// The same with the stamp of the override in force if it is another one.
    fn correct_from(
        &mut self,
        record: &Record,
        base: Status,
        stamp: Option<Stamp>,
        event: Event,
        rules: &Rules,
    ) -> Option<Change> {
        let id = &record.instance.instance_id;
        let status = self.status_by_rules(&record.instance, base, Some(base), event.origin, rules);
        let overridden = self.override_status(id).unwrap_or(Status::Unknown);
        if status == record.instance.status && overridden == record.instance.overridden_status {
            return None;
        }
        let lease = carry_lease(record, None, event.now);
        let mut instance = record.instance.clone();
        instance.status = status;
        instance.overridden_status = overridden;
        let known = record.override_stamp.carried();
        let (reported_status, override_stamp) =
            (record.reported_status, stamp.map_or(known, |stamp| StampCell::new(Some(stamp))));
        let corrected = Record { instance, reported_status, lease, override_stamp };
        Some(self.put_record(corrected, event))
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
