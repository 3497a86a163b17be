//! The operations of one application as its actor performs them: the rules, plus counting and an outbox of changes.

use std::sync::Arc;

use heureka_protocol::batch::Action;
use heureka_protocol::{Instance, InstanceId, Status};
use heureka_registry::replication::receive::{self, Applied, Circumstances, Incoming};
use heureka_registry::replication::{OwnApplication, PeerCopy};
use heureka_registry::{
    Application, Cancel, CancelledHere, Change, Heartbeat, LookUp, MetadataLimits, Now, Origin, Record,
    RegistryError, Renewal, RenewalAnswer, Sender, Stamp, StatusOutcome,
};

use crate::error::Refused;
use crate::history::Note;
use crate::shared::Shared;

/// One application with what its operations report to: counters and sinks. Only its actor touches it.
pub struct AppCore {
    pub(crate) shared: Arc<Shared>,
    pub(crate) application: Application,
    pub(crate) outbox: Vec<Change>,
    pub(crate) notes: Vec<Note>,
}

/// What a status operation did, as callers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusAnswer {
    /// No such instance: 404.
    NotFound,
    /// Done, also if nothing had to change: 200.
    Done,
}

impl AppCore {
    fn now(&self) -> Now {
        self.shared.clock.now()
    }

    fn emit(&mut self, change: Option<Change>) {
        self.outbox.extend(change);
    }

    /// Registers an instance (spec `registry.md` 2).
    ///
    /// # Errors
    /// If the application is full and the instance is new.
    pub fn register(&mut self, instance: Instance, origin: Origin) -> Result<(), Refused> {
        self.shared.metrics.register.count(origin);
        self.check_room(&instance.instance_id)?;
        let now = self.now();
        self.count_odd_times(&instance, origin, now);
        let id = InstanceId::clone(&instance.instance_id);
        let change = self.application.register(instance, origin, now, &self.shared.options.rules);
        if change.is_some() {
            self.notes.push(Note::registered(now, self.application.name(), id));
        }
        self.emit(change);
        Ok(())
    }

    fn count_odd_times(&self, instance: &Instance, origin: Origin, now: Now) {
        if self.application.is_stale(instance) {
            self.shared.metrics.stale_registrations.count(origin);
        }
        if Application::is_from_future(instance, now) {
            self.shared.metrics.future_registrations.count(origin);
        }
    }

    /// Refuses a new instance if the application or the registry is full. Known ones may always register again.
    fn check_room(&self, id: &str) -> Result<(), Refused> {
        if self.application.get(id).is_some() {
            return Ok(());
        }
        let limits = &self.shared.options.limits;
        let refused = if self.application.len() >= limits.instances_per_application {
            Refused::ApplicationFull { limit: limits.instances_per_application }
        } else if self.shared.totals().leases >= limits.instances as u64 {
            Refused::InstancesFull { limit: limits.instances }
        } else {
            return Ok(());
        };
        self.shared.metrics.refused_registrations.inc();
        Err(refused)
    }

    /// Takes over the newer record of a peer (spec `replication.md` 4.2), with the stamp of its override.
    ///
    /// # Errors
    /// If the instance was cancelled here later than that: nothing has happened, and the peer must hear of the cancel.
    pub fn adopt(&mut self, theirs: Instance, stamp: Option<Stamp>) -> Result<(), CancelledHere> {
        let now = self.now();
        self.shared.metrics.register.count(Origin::Peer);
        let change = self.application.adopt(theirs, stamp, now, &self.shared.options.rules)?;
        self.emit(Some(change));
        Ok(())
    }

    /// Registers what a peer's list says, for which it was asked at a certain time (spec `replication.md` 6.4).
    ///
    /// # Errors
    /// If the application is full and the instance is new.
    pub fn register_copy(&mut self, copied: PeerCopy, asked_mono_ms: u64) -> Result<(), Refused> {
        let PeerCopy { instance: copy, stamp } = copied;
        self.shared.metrics.register.count(Origin::StartUp);
        self.check_room(&copy.instance_id)?;
        let now = self.now();
        let id = InstanceId::clone(&copy.instance_id);
        let rules = &self.shared.options.rules;
        let change = self.application.register_copy(copy, stamp, asked_mono_ms, now, rules);
        if change.is_some() {
            self.notes.push(Note::registered(now, self.application.name(), id));
        }
        self.emit(change);
        Ok(())
    }

    /// Applies an item of a peer's batch (spec `replication.md` 5), with the stamp that a header tells of it.
    ///
    /// # Errors
    /// If the application is full and the instance is new.
    pub fn apply(
        &mut self,
        id: &str,
        incoming: Incoming,
        stamp: Option<Stamp>,
        sender: Sender,
    ) -> Result<Applied, Refused> {
        let action = incoming.action();
        self.count_incoming(action);
        if action == Action::Register {
            self.check_room(id)?;
        }
        let now = self.now();
        if let Incoming::Register(instance) = &incoming {
            self.count_odd_times(instance, Origin::Peer, now);
        }
        let circumstances = Circumstances { sender, is_copying: self.shared.is_copying(), stamp };
        let rules = &self.shared.options.rules;
        let applied = receive::apply(&mut self.application, id, incoming, circumstances, now, rules);
        self.note_incoming(id, action, &applied, now);
        self.emit(applied.change.clone());
        Ok(applied)
    }

    fn count_incoming(&self, action: Action) {
        let metrics = &self.shared.metrics;
        let counter = match action {
            Action::Register => &metrics.register,
            Action::Heartbeat => &metrics.renew,
            Action::Cancel => &metrics.cancel,
            Action::StatusUpdate => &metrics.status_update,
            Action::DeleteStatusOverride => &metrics.status_override_delete,
        };
        counter.count(Origin::Peer);
    }

    fn note_incoming(&mut self, id: &str, action: Action, applied: &Applied, now: Now) {
        let app = self.application.name();
        match action {
            Action::Register if applied.change.is_some() => {
                self.notes.push(Note::registered(now, app, InstanceId::from(id)));
            }
            Action::Heartbeat if applied.is_renewal => self.shared.count_renewal(),
            Action::Heartbeat => self.shared.metrics.renew_not_found.count(Origin::Peer),
            Action::Cancel => {
                // Java's history of cancellations also shows those of unknown instances (defect D15).
                self.notes.push(Note::cancelled(now, app, InstanceId::from(id)));
                if applied.change.is_none() {
                    self.shared.metrics.cancel_not_found.count(Origin::Peer);
                }
            }
            Action::Register | Action::StatusUpdate | Action::DeleteStatusOverride => {}
        }
    }

    /// A heartbeat (spec `registry.md` 3.1).
    pub fn renew(&mut self, id: &str, beat: &Heartbeat, origin: Origin) -> RenewalAnswer {
        self.shared.metrics.renew.count(origin);
        let now = self.now();
        let renewal: Renewal = self.application.renew(id, beat, origin, now, &self.shared.options.rules);
        if renewal.counts() {
            self.shared.count_renewal();
        } else {
            self.shared.metrics.renew_not_found.count(origin);
        }
        let is_plain = renewal.change.is_none() && matches!(renewal.answer, RenewalAnswer::Renewed);
        if origin.is_sent_on()
            && is_plain
            && let Some(record) = self.application.get(id)
        {
            self.shared.send_renewal_to_sinks(record);
        }
        self.emit(renewal.change);
        renewal.answer
    }

    /// A cancel; false if there was no such instance (spec `registry.md` 3.2).
    pub fn cancel(&mut self, id: &str, origin: Origin) -> bool {
        self.shared.metrics.cancel.count(origin);
        let now = self.now();
        // Java's history of cancellations also shows those of unknown instances (defect D15).
        self.notes.push(Note::cancelled(now, self.application.name(), InstanceId::from(id)));
        let change = self.application.cancel(id, origin, now, &self.shared.options.rules);
        let is_found = change.is_some();
        if !is_found {
            self.shared.metrics.cancel_not_found.count(origin);
        }
        self.emit(change);
        is_found
    }

    /// Remembers the cancel of an instance that is not here and may still come with the lists of the peers. One that has
    /// come meanwhile is cancelled.
    pub fn remember_cancel(&mut self, id: &str, origin: Origin) {
        let now = self.now();
        let cancel = Cancel { is_copying: true, ..Cancel::from(origin) };
        let change = self.application.cancel_as(id, cancel, now, &self.shared.options.rules).change();
        self.emit(change);
    }

    /// Sets an override (spec `registry.md` 3.3). The caller sees 404 for an instance that look-ups hide.
    pub fn set_status(
        &mut self,
        id: &str,
        status: Status,
        dirty: Option<i64>,
        origin: Origin,
    ) -> StatusAnswer {
        self.shared.metrics.status_update.count(origin);
        if !self.is_visible(id, origin) {
            return StatusAnswer::NotFound;
        }
        let now = self.now();
        let outcome = self.application.set_status(id, status, dirty, origin, now, &self.shared.options.rules);
        self.tell_repeated(id, &outcome, origin, status == Status::Unknown);
        self.status_answer(outcome)
    }

    /// Removes an override (spec `registry.md` 3.4).
    pub fn remove_override(
        &mut self,
        id: &str,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
    ) -> StatusAnswer {
        self.shared.metrics.status_override_delete.count(origin);
        if !self.is_visible(id, origin) {
            return StatusAnswer::NotFound;
        }
        let now = self.now();
        let outcome =
            self.application.remove_override(id, status, dirty, origin, now, &self.shared.options.rules);
        self.tell_repeated(id, &outcome, origin, true);
        self.status_answer(outcome)
    }

    fn tell_repeated(&self, id: &str, outcome: &StatusOutcome, origin: Origin, is_removal: bool) {
        if origin.is_sent_on()
            && matches!(outcome, StatusOutcome::Unchanged)
            && let Some(record) = self.application.get(id)
        {
            self.shared.send_repeated_override_to_sinks(record, is_removal);
        }
    }

    fn status_answer(&mut self, outcome: StatusOutcome) -> StatusAnswer {
        match outcome {
            StatusOutcome::NotFound => StatusAnswer::NotFound,
            StatusOutcome::Unchanged => StatusAnswer::Done,
            StatusOutcome::Changed(change) => {
                self.emit(Some(change));
                StatusAnswer::Done
            }
        }
    }

    /// Adds metadata entries; the instance then counts as registered again (spec `wire.md` 1.13).
    ///
    /// # Errors
    /// If there is no such instance or the metadata would exceed the limits.
    pub fn merge_metadata(
        &mut self,
        id: &str,
        entries: Vec<(String, String)>,
        limits: MetadataLimits,
        origin: Origin,
    ) -> Result<(), RegistryError> {
        if !self.is_visible(id, origin) {
            return Err(RegistryError::InstanceNotFound);
        }
        let now = self.now();
        let rules = &self.shared.options.rules;
        let change = self.application.merge_metadata(id, entries, limits, origin, now, rules)?;
        if change.is_some() {
            self.shared.metrics.register.count(origin);
            self.notes.push(Note::registered(now, self.application.name(), InstanceId::from(id)));
        }
        self.emit(change);
        Ok(())
    }

    /// The record that a look-up by id shows: expired leases are hidden while leases may expire.
    #[must_use]
    pub fn look_up(&self, id: &str) -> Option<Arc<Record>> {
        match self.application.look_up(id, self.now(), self.shared.is_lease_expiration_enabled()) {
            LookUp::Visible(record) => Some(record.clone()),
            LookUp::Hidden | LookUp::Absent => None,
        }
    }

    /// Calls of clients to a single instance see what look-ups see; batches of peers see every lease.
    fn is_visible(&self, id: &str, origin: Origin) -> bool {
        origin.is_replicated()
            || self.application.is_visible(id, self.now(), self.shared.is_lease_expiration_enabled())
    }

    /// Ids of expired leases, with `extra_ms` more to live.
    #[must_use]
    pub fn expired(&self, extra_ms: u64) -> Vec<InstanceId> {
        self.application.expired(self.now(), extra_ms)
    }

    /// Evicts those of the ids that are still expired; returns how many.
    pub fn evict(&mut self, ids: &[InstanceId], extra_ms: u64) -> usize {
        let now = self.now();
        let changes = self.application.evict(ids, now, extra_ms, &self.shared.options.rules);
        for change in &changes {
            self.shared.metrics.expired.count(Origin::Eviction);
            self.shared.metrics.cancel.count(Origin::Eviction);
            self.notes.push(Note::cancelled(now, &change.app, change.id.clone()));
        }
        let count = changes.len();
        self.outbox.extend(changes);
        count
    }

    /// Gives operations on overrides their stamps that were done before the clock was in step.
    pub fn settle_stamps(&mut self) {
        self.application.settle_stamps(&self.shared.options.rules);
    }

    /// All that is known of the application, to compare it with a peer's (spec `replication.md` 9.3.4).
    #[must_use]
    pub fn for_comparison(&mut self) -> OwnApplication {
        self.settle_stamps();
        OwnApplication::of(&self.application, self.now())
    }

    /// Forgets a cancel: the instance is known to live at a peer.
    pub fn forget_cancel(&mut self, id: &str) {
        let now = self.now();
        self.application.lift_tombstone(id, i64::MAX, now);
    }

    /// Forgets what is over; true if the application could be dropped without losing anything.
    pub fn sweep(&mut self) -> bool {
        let now = self.now();
        self.application.sweep(now, &self.shared.options.rules);
        self.application.is_forgettable()
    }

    /// Overrides in force.
    #[must_use]
    pub fn overrides(&self) -> Vec<(InstanceId, Status)> {
        self.application.overrides().map(|(id, status)| (id.clone(), status)).collect()
    }
}
