//! Status overrides: set, removed, left without a lease (`registry.md` 3.3, 3.4; defects D13 to D18).

use std::sync::Arc;

use heureka_protocol::{Instance, Status};

use crate::change::{Change, ChangeKind, Origin};
use crate::record::Record;
use crate::rules::Rules;
use crate::time::Now;

use super::replace::{Event, carry_lease};
use super::{Application, Override};

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

impl Override {
    pub(super) const fn new(status: Status, origin: Origin) -> Self {
        Self { status, origin, orphaned_mono_ms: None }
    }

    pub(super) const fn orphaned(status: Status, origin: Origin, now: Now) -> Self {
        Self { status, origin, orphaned_mono_ms: Some(now.mono_ms) }
    }

    pub(super) const fn adopt_lease(&mut self) {
        self.orphaned_mono_ms = None;
    }

    const fn is_over(&self, now: Now, rules: &Rules) -> bool {
        match self.orphaned_mono_ms {
            Some(since_ms) => now.mono_ms.saturating_sub(since_ms) > rules.orphan_override_ttl_ms,
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
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        if record.instance.status == status && !rules.store_equal_override {
            return renewed_only(&record, now, rules);
        }
        self.impose(&record, status, dirty, origin, now, rules)
    }

    /// Stores the override that a peer of our kind has stored, also if the instance has that status already: the peer's had
    /// another one (defect D9). The dirty timestamp stays: it says of which time the content is.
    pub fn take_override(&mut self, id: &str, status: Status, now: Now, rules: &Rules) -> StatusOutcome {
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        self.impose(&record, status, None, Origin::Peer, now, rules)
    }

    /// Renews the lease and changes nothing else, for an operation that changed nothing where it was done.
    pub fn touch(&self, id: &str, now: Now, rules: &Rules) -> StatusOutcome {
        self.get(id).map_or(StatusOutcome::NotFound, |record| renewed_only(record, now, rules))
    }

    fn impose(
        &mut self,
        record: &Record,
        status: Status,
        dirty: Option<i64>,
        origin: Origin,
        now: Now,
        rules: &Rules,
    ) -> StatusOutcome {
        let id = &record.instance.instance_id;
        if record.instance.status == status && self.override_status(id) == Some(status) {
            return renewed_only(record, now, rules);
        }
        self.overrides.insert(Arc::clone(id), Override::new(status, origin));
        let event = Event { kind: ChangeKind::StatusOverridden, origin, now };
        StatusOutcome::Changed(self.put_status(record, (status, status), dirty, event, rules))
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
        let Some(record) = self.get(id).map(Arc::clone) else { return StatusOutcome::NotFound };
        if self.overrides.remove(id).is_none() {
            return renewed_only(&record, now, rules);
        }
        let status = status.filter(|status| *status != Status::Unknown).unwrap_or(record.reported_status);
        let event = Event { kind: ChangeKind::OverrideRemoved, origin, now };
        StatusOutcome::Changed(self.put_status(&record, (status, Status::Unknown), dirty, event, rules))
    }

    /// Forgets overrides without a lease, and tombstones, whose time has passed. Call it now and then.
    pub fn sweep(&mut self, now: Now, rules: &Rules) {
        self.overrides.retain(|_, entry| !entry.is_over(now, rules));
        self.tombstones.expire(now);
    }

    /// True if nothing would be lost by dropping the whole application (defect D25). Call [`Application::sweep`] first.
    #[must_use]
    pub fn is_forgettable(&self) -> bool {
        self.leases.is_empty() && self.overrides.is_empty() && self.tombstones.len() == 0
    }

    fn put_status(
        &mut self,
        old: &Record,
        (status, overridden): (Status, Status),
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
            overridden_status: overridden,
            last_dirty_timestamp: dirty.map_or(stored, |dirty| stored.max(dirty)),
            ..old.instance.clone()
        };
        self.put_record(Record { instance, reported_status: old.reported_status, lease }, event)
    }
}

fn renewed_only(record: &Record, now: Now, rules: &Rules) -> StatusOutcome {
    record.lease.clock.advance(record.lease.renewed_clock(now.mono_ms, rules.lease_expiry));
    StatusOutcome::Unchanged
}
