//! Instances, moments and a node of one application with a clock that only the test moves.

use std::sync::Arc;

use heureka_protocol::{AppName, Instance, Status};
use heureka_registry::{
    Application, Change, Heartbeat, Now, Origin, Record, Renewal, RenewalAnswer, Rules, StatusOutcome,
};

/// Wall clock of monotonic moment 0 in tests.
pub const EPOCH_MS: i64 = 1_700_000_000_000;

/// A moment with both clocks in step.
pub fn at(mono_ms: u64) -> Now {
    Now { mono_ms, wall_ms: EPOCH_MS + i64::try_from(mono_ms).unwrap() }
}

/// An instance as a client with Spring's defaults sends it.
pub fn instance(app: &str, id: &str) -> Instance {
    Instance {
        last_dirty_timestamp: 100,
        ..Instance::with_defaults(AppName::new(app), Arc::from(id), "host", "10.0.0.1")
    }
}

/// An instance of the node's application with a status and a dirty timestamp.
pub fn says(id: &str, status: Status, dirty: i64) -> Instance {
    Instance { status, last_dirty_timestamp: dirty, ..instance("ORDERS", id) }
}

/// One application with rules and a clock. Every change is checked against the invariants when it is made.
pub struct Node {
    pub app: Application,
    pub rules: Rules,
    pub now: Now,
}

impl Node {
    pub fn new() -> Self {
        Self { app: Application::new(AppName::new("ORDERS")), rules: Rules::default(), now: at(1_000_000) }
    }

    /// A node that already knows `i-1` as UP with dirty timestamp 100.
    pub fn with_one() -> Self {
        let mut node = Self::new();
        node.register(says("i-1", Status::Up, 100));
        node
    }

    pub fn pass(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        self.now.wall_ms += i64::try_from(ms).unwrap();
    }

    pub fn register(&mut self, instance: Instance) -> Change {
        self.register_from(instance, Origin::Client).unwrap()
    }

    pub fn register_from(&mut self, instance: Instance, origin: Origin) -> Option<Change> {
        let change = self.app.register(instance, origin, self.now, &self.rules);
        self.checked(change)
    }

    pub fn renew(&mut self, id: &str) -> Renewal {
        self.renew_with(id, None, Origin::Client)
    }

    pub fn renew_with(&mut self, id: &str, last_dirty: Option<i64>, origin: Origin) -> Renewal {
        let beat = Heartbeat { last_dirty, ..Heartbeat::default() };
        let renewal = self.app.renew(id, &beat, origin, self.now, &self.rules);
        self.checked(renewal.change.clone());
        renewal
    }

    pub fn cancel(&mut self, id: &str) -> Option<Change> {
        let change = self.app.cancel(id, Origin::Client, self.now, &self.rules);
        self.checked(change)
    }

    pub fn set_status(&mut self, id: &str, status: Status) -> StatusOutcome {
        self.set_status_dirty(id, status, None)
    }

    pub fn set_status_dirty(&mut self, id: &str, status: Status, dirty: Option<i64>) -> StatusOutcome {
        let outcome = self.app.set_status(id, status, dirty, Origin::Client, self.now, &self.rules);
        self.checked(changed(&outcome));
        outcome
    }

    pub fn remove_override(&mut self, id: &str, status: Option<Status>) -> StatusOutcome {
        let outcome = self.app.remove_override(id, status, None, Origin::Client, self.now, &self.rules);
        self.checked(changed(&outcome));
        outcome
    }

    pub fn record(&self, id: &str) -> &Arc<Record> {
        self.app.get(id).unwrap()
    }

    pub fn status(&self, id: &str) -> Status {
        self.record(id).instance.status
    }

    /// Status, overridden status and override.
    pub fn statuses(&self, id: &str) -> (Status, Status, Option<Status>) {
        let instance = &self.record(id).instance;
        (instance.status, instance.overridden_status, self.app.override_of(id).map(|entry| entry.status))
    }

    pub fn is_expired(&self, id: &str) -> bool {
        self.record(id).lease.is_expired(self.now.mono_ms, 0)
    }

    fn checked(&self, change: Option<Change>) -> Option<Change> {
        if let Some(change) = &change {
            heureka_registry::invariants::check_change(&self.app, change).unwrap();
        }
        heureka_registry::invariants::check_application(&self.app).unwrap();
        change
    }
}

/// The change of a status operation.
pub fn changed(outcome: &StatusOutcome) -> Option<Change> {
    match outcome {
        StatusOutcome::Changed(change) => Some(change.clone()),
        StatusOutcome::NotFound | StatusOutcome::Unchanged => None,
    }
}

/// The HTTP status that an answer to a heartbeat means.
pub fn http(renewal: &Renewal) -> u16 {
    match renewal.answer {
        RenewalAnswer::Renewed => 200,
        RenewalAnswer::Conflict(_) => 409,
        RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus | RenewalAnswer::RenewedSendAgain => 404,
    }
}
