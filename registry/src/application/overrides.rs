//! Status overrides: set, removed, left without a lease (`registry.md` 3.3, 3.4; defects D13 to D18).

use std::sync::Arc;

use heureka_protocol::{Instance, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::stamp::{OverrideState, Stamp};
use crate::time::Now;

use super::replace::{Event, carry_lease};
use super::{Application, Orphan, Override};

/// How a status operation ended.
#[derive(Clone, Debug)]
pub enum StatusOutcome {
    /// No such lease: 404.
    NotFound,
    /// The lease is renewed, nothing visible has changed: 200.
    Unchanged,
    /// 200.
    Changed(Change),
}

impl StatusOutcome {
    /// The change, if there was one.
    #[must_use]
    pub fn change(self) -> Option<Change> {
        match self {
            Self::Changed(change) => Some(change),
            Self::NotFound | Self::Unchanged => None,
        }
    }
}

/// What a node of our kind tells of an override with its stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The override that is in force there.
    pub overridden: Option<Status>,
    /// The status that the instance has there, of use if there is no override.
    pub shown: Option<Status>,
    /// When it was set or removed.
    pub stamp: Stamp,
}

impl Told {
    /// It was removed, and nothing more is known.
    #[must_use]
    pub const fn removed(stamp: Stamp) -> Self {
        Self { overridden: None, shown: None, stamp }
    }

    pub(super) const fn state(self) -> OverrideState {
        OverrideState { status: self.overridden, stamp: Some(self.stamp) }
    }
}

impl Override {
    pub(super) const fn new(status: Status, origin: Origin) -> Self {
        Self { status, origin, orphan: None }
    }

    pub(super) const fn orphaned(status: Status, stamp: Option<Stamp>, origin: Origin, now: Now) -> Self {
        Self { status, origin, orphan: Some(Orphan { since_mono_ms: now.mono_ms, stamp }) }
    }

    /// Stamp of an override that waits for its instance; with a lease the record has it.
    #[must_use]
    pub fn waiting_stamp(&self) -> Option<Stamp> {
        self.orphan.and_then(|orphan| orphan.stamp)
    }

    pub(super) const fn adopt_lease(&mut self) {
        self.orphan = None;
    }

    const fn is_over(&self, now: Now, rules: &Rules) -> bool {
        match self.orphan {
            Some(orphan) => now.mono_ms.saturating_sub(orphan.since_mono_ms) > rules.orphan_override_ttl_ms,
            None => false,
        }
    }
}

impl Application {
    /// Sets an override: status and overridden status become `status` at once (invariants S-1 to S-3, S-6).
    ///
    /// As in Java nothing but the lease changes if the instance has that status already, unless the rules say
    /// [`Rules::store_equal_override`]. `UNKNOWN` removes the override (defect D16).
    pub fn set_status(
        &mut self,
        id: &str,
        status: Status,
        dirty: Option<i64>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        if status == Status::Unknown {
            return self.remove_override(id, None, dirty, origin, now, rules);
        }
        self.settle_stamps(rules);
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        if record.instance.status == status && !rules.store_equal_override {
            if self.override_status(id) == Some(status) {
                stamp_again(&record, now, rules);
            }
            return renewed_only(&record, now, rules);
        }
        let stamp = next_stamp(&record, now, rules);
        self.impose(&record, (status, stamp), dirty, origin, now, rules)
    }

    /// Stores or removes the override as a peer of our kind has done that does not know when that was. An override is stored
    /// also if the instance has that status already: the peer's had another one (defect D9). The dirty timestamp stays: it
    /// says of which time the content is.
    pub fn take_unstamped(
        &mut self,
        id: &str,
        overridden: Option<Status>,
        shown: Option<Status>,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        self.settle_stamps(rules);
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        let stamp = Stamp::after(record.override_stamp.get());
        match overridden {
            Some(status) => self.impose(&record, (status, stamp), None, Origin::Peer, now, rules),
            None => self.lift_override(&record, (shown, stamp), None, Origin::Peer, now, rules),
        }
    }

    /// Takes over what a peer of our kind has done to the override, unless something later is known here. Then the lease is
    /// renewed and nothing more.
    pub fn take_told(&mut self, id: &str, told: Told, now: Now, rules: &Rules) -> StatusOutcome {
        self.settle_stamps(rules);
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        let ours = record.override_state();
        if ours.stamp.is_some() && !ours.yields_to(told.state()) {
            return renewed_only(&record, now, rules);
        }
        let stamp = Some(told.stamp);
        match told.overridden {
            Some(status) => self.impose(&record, (status, stamp), None, Origin::Peer, now, rules),
            None => self.lift_override(&record, (told.shown, stamp), None, Origin::Peer, now, rules),
        }
    }

    /// Renews the lease and changes nothing else, for an operation that changed nothing where it was done.
    pub fn touch(&self, id: &str, now: Now, rules: &Rules) -> StatusOutcome {
        self.get(id).map_or(StatusOutcome::NotFound, |record| renewed_only(record, now, rules))
    }

    fn impose(
        &mut self,
        record: &Record,
        (status, stamp): (Status, Option<Stamp>),
        dirty: Option<i64>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        let id = &record.instance.instance_id;
        if record.instance.status == status && self.override_status(id) == Some(status) {
            record.override_stamp.raise(stamp);
            return renewed_only(record, now, rules);
        }
        self.overrides.insert(Arc::clone(id), Override::new(status, origin));
        let event = Event { kind: ChangeKind::StatusOverridden, origin, now };
        let state = OverrideState { status: Some(status), stamp };
        StatusOutcome::Changed(self.put_status(record, (status, state), dirty, event, rules))
    }

    /// Removes an override (invariants S-4 to S-6). The instance gets `status`; without one, or with `UNKNOWN`, which Java
    /// sends for "none given", it returns to the status that it last reported itself (design, "Decisions").
    pub fn remove_override(
        &mut self,
        id: &str,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        self.settle_stamps(rules);
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        let stamp = next_stamp(&record, now, rules);
        self.lift_override(&record, (status, stamp), dirty, origin, now, rules)
    }

    pub(super) fn lift_override(
        &mut self,
        record: &Record,
        (status, stamp): (Option<Status>, Option<Stamp>),
        dirty: Option<i64>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        if self.overrides.remove(&record.instance.instance_id).is_none() {
            record.override_stamp.raise(stamp);
            return renewed_only(record, now, rules);
        }
        let status = status.filter(|status| *status != Status::Unknown).unwrap_or(record.reported_status);
        let event = Event { kind: ChangeKind::OverrideRemoved, origin, now };
        let state = OverrideState { status: None, stamp };
        StatusOutcome::Changed(self.put_status(record, (status, state), dirty, event, rules))
    }

    /// Forgets overrides without a lease, tombstones and removals whose time has passed. Call it now and then.
    pub fn sweep(&mut self, now: Now, rules: &Rules) {
        self.overrides.retain(|_, entry| !entry.is_over(now, rules));
        self.tombstones.expire(now);
        self.removals.expire(now);
    }

    /// True if nothing would be lost by dropping the whole application (defect D25). Call [`Application::sweep`] first.
    #[must_use]
    pub fn is_forgettable(&self) -> bool {
        let nothing_remembered = self.tombstones.len() == 0 && self.removals.is_empty();
        self.leases.is_empty() && self.overrides.is_empty() && nothing_remembered
    }

    fn put_status(
        &mut self,
        old: &Record,
        (status, state): (Status, OverrideState),
        dirty: Option<i64>,
        event: Event,
        rules: &Rules,
    ) -> Change {
        let renewed_ms = old.lease.renewed_clock(event.now.mono_ms, rules.lease_expiry);
        let mut lease = carry_lease(old, Some(renewed_ms), event.now);
        let is_service_start = status == Status::Up && event.kind == ChangeKind::StatusOverridden;
        if is_service_start && lease.service_up_timestamp == 0 {
            lease.service_up_timestamp = event.now.wall_ms;
        }
        let stored = old.instance.last_dirty_timestamp;
        let instance = Instance {
            status,
            overridden_status: state.status.unwrap_or(Status::Unknown),
            last_dirty_timestamp: dirty.map_or(stored, |dirty| stored.max(dirty)),
            ..old.instance.clone()
        };
        let override_stamp = self.cell_of_operation(state.stamp, event.origin, event.now);
        self.put_record(
            Record { instance, reported_status: old.reported_status, lease, override_stamp },
            event,
        )
    }
}

/// The stamp of an operation on a record that is done now.
fn next_stamp(record: &Record, now: Now, rules: &Rules) -> Option<Stamp> {
    rules.stamps.stamp(record.override_stamp.get(), now)
}

/// What was done once is done again: nothing changes but the time.
fn stamp_again(record: &Record, now: Now, rules: &Rules) {
    record.override_stamp.raise(next_stamp(record, now, rules));
}

fn renewed_only(record: &Record, now: Now, rules: &Rules) -> StatusOutcome {
    record.lease.clock.advance(record.lease.renewed_clock(now.mono_ms, rules.lease_expiry));
    StatusOutcome::Unchanged
}
