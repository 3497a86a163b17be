//! The one way in which a record takes the place of another, or leaves: totals, clocks, sequence and change in step.

use std::sync::Arc;

use heureka_protocol::{Instance, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::lease::Lease;
use crate::override_rules::{Situation, decide};
use crate::record::Record;
use crate::rules::Rules;
use crate::time::Now;
use crate::totals::LeaseTotals;

use super::{Application, Mark, Slot};

/// What happens, why and when.
#[derive(Clone, Copy)]
pub(super) struct Event {
    pub(super) kind: ChangeKind,
    pub(super) origin: Origin,
    pub(super) now: Now,
}

impl Event {
    /// Writes into an instance what every change writes.
    fn stamp(self, instance: &mut Instance) {
        instance.action_type = Some(self.kind.action());
        instance.last_updated_timestamp = self.now.wall_ms;
    }
}

impl Application {
    /// Puts a record in the place of the one with its id, if there is one, and retires the clock of that one.
    pub(super) fn put_record(&mut self, mut record: Record, event: Event) -> Change {
        event.stamp(&mut record.instance);
        let id = Arc::clone(&record.instance.instance_id);
        self.totals += LeaseTotals::of(&record);
        let record = Arc::new(record);
        let before = self.leases.get(&id);
        let overridden = |slot: &Slot| slot.record.instance.overridden_status;
        let has_other_override =
            before.map_or(Status::Unknown, overridden) != record.instance.overridden_status;
        let carried = |mark: fn(&Slot) -> Mark| before.map_or_else(Mark::default, mark);
        let slot = Slot {
            record: Arc::clone(&record),
            was_asked_for_status: record.instance.status == Status::Unknown && self.was_asked_for_status(&id),
            content: carried(|slot| slot.content),
            overridden: if has_other_override {
                Mark::of(event.origin, event.now)
            } else {
                carried(|slot| slot.overridden)
            },
        };
        let previous = self.leases.insert(id, slot).map(|slot| slot.record);
        if let Some(previous) = &previous {
            previous.lease.clock.retire();
            self.totals -= LeaseTotals::of(previous);
        }
        self.change(record, previous.map(|record| record.instance.status), event)
    }

    /// Takes a lease out. `last_clock_ms` is the last value of its clock, which the caller has retired.
    pub(super) fn take_record(&mut self, id: &str, last_clock_ms: u64, event: Event) -> Option<Change> {
        let old = self.leases.remove(id)?.record;
        self.totals -= LeaseTotals::of(&old);
        self.overrides.remove(id);
        let mut instance = old.instance.clone();
        event.stamp(&mut instance);
        let mut lease = old.lease.with_clock(last_clock_ms);
        // Above zero even on a machine whose clock stands at the epoch: zero would mean that the lease lives.
        lease.eviction_timestamp = event.now.wall_ms.max(1);
        let override_stamp = old.override_stamp.carried();
        let record = Record { instance, reported_status: old.reported_status, lease, override_stamp };
        Some(self.change(Arc::new(record), Some(old.instance.status), event))
    }

    fn was_asked_for_status(&self, id: &str) -> bool {
        self.leases.get(id).is_some_and(|slot| slot.was_asked_for_status)
    }

    fn change(&mut self, record: Arc<Record>, previous_status: Option<Status>, event: Event) -> Change {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        Change {
            app: self.name.clone(),
            id: Arc::clone(&record.instance.instance_id),
            sequence,
            kind: event.kind,
            origin: event.origin,
            record,
            previous_status,
            at_mono_ms: event.now.mono_ms,
            tombstone: None,
        }
    }

    /// The status that the rules give to an instance of this application that is registered or renewed with a status.
    pub(super) fn status_by_rules(
        &self,
        instance: &Instance,
        reported: Status,
        existing: Option<Status>,
        origin: Origin,
        rules: &Rules,
    ) -> Status {
        let group = instance.asg_name.as_deref().zip(rules.groups.as_ref());
        let (status, _) = decide(Situation {
            record: reported,
            overridden: self.override_status(&instance.instance_id),
            group_is_enabled: group.map(|(name, groups)| groups.is_enabled(name)),
            existing,
            replicated: origin.is_replicated(),
        });
        status
    }
}

/// Retires the clock of a record that is about to be replaced by one with the same lease, and returns a lease whose clock
/// goes on from there. `renewed_ms` moves it forward.
pub(super) fn carry_lease(old: &Record, renewed_ms: Option<u64>, now: Now) -> Lease {
    let last_ms = old.lease.clock.retire().unwrap_or(now.mono_ms);
    old.lease.with_clock(last_ms.max(renewed_ms.unwrap_or(0)))
}
