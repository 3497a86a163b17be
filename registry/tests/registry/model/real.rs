//! The real registry, driven by the same steps and looked at through the same eyes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use heureka_protocol::{ActionType, AppName, Instance, InstanceId, LeaseInfo, Status};
use heureka_registry::invariants::{check_application, check_change, check_delta};
use heureka_registry::{
    Application, Change, DeltaLog, GroupStates, Heartbeat, LeaseExpiry, MetadataLimits, Now, Origin,
    QuickRenewal, Record, RenewalAnswer, Rules, StatusOutcome,
};

use super::history::{APPS, GROUP_ID, Said, Switches, Who};
use super::seen::{Answer, Outcome, SeenApp, SeenChange, SeenLease, id_text};
use crate::support::instance;

const RETENTION_MS: u64 = 180_000;

#[derive(Debug)]
struct Group(AtomicBool);

impl GroupStates for Group {
    fn is_enabled(&self, _: &str) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Both applications with what the actors around them would hold.
pub struct Real {
    pub apps: Vec<Application>,
    pub deltas: Vec<DeltaLog>,
    rules: Rules,
    group: Arc<Group>,
    pub now: Now,
    published: Vec<Arc<Record>>,
    scanned: Vec<Vec<InstanceId>>,
}

fn app_name(app: usize) -> AppName {
    AppName::new(&format!("APP-{app}"))
}

fn empty_app(app: usize) -> Application {
    Application::new(app_name(app))
}

impl Real {
    pub fn new(switches: Switches, now: Now) -> Self {
        let group = Arc::new(Group(AtomicBool::new(true)));
        let rules = Rules {
            lease_expiry: if switches.exact_expiry { LeaseExpiry::Exact } else { LeaseExpiry::Java },
            sync_when_timestamp_differs: switches.compare_timestamps,
            store_equal_override: switches.store_equal,
            tombstones_max: switches.tombstones_max,
            groups: switches.on_aws.then(|| group.clone() as Arc<dyn GroupStates>),
            ..Rules::default()
        };
        let apps = (0..APPS).map(empty_app).collect();
        let deltas = (0..APPS).map(|_| DeltaLog::new()).collect();
        Self { apps, deltas, rules, group, now, published: Vec::new(), scanned: vec![Vec::new(); APPS] }
    }

    fn instance(who: Who, said: Said, mark: usize) -> Instance {
        let mut instance = instance(&app_name(who.app), &id_text(who.id));
        instance.status = said.status;
        instance.overridden_status = said.overridden;
        instance.last_dirty_timestamp = said.dirty;
        instance.lease = LeaseInfo {
            duration_secs: said.duration_secs,
            renewal_interval_secs: said.interval_secs,
            ..LeaseInfo::default()
        };
        instance.metadata.insert("mark", mark.to_string());
        instance.asg_name = (who.id == GROUP_ID).then(|| Box::from("group"));
        instance
    }

    /// Does what the actor does with changes, and checks each against the invariants.
    fn outcome(&mut self, app: usize, answer: Answer, changes: impl IntoIterator<Item = Change>) -> Outcome {
        let changes: Vec<Change> = changes.into_iter().collect();
        if let Some(last) = changes.last() {
            check_change(&self.apps[app], last).unwrap();
        }
        for change in &changes {
            self.deltas[app].push(change.record.clone(), change.kind.action(), change.at_mono_ms);
        }
        check_application(&self.apps[app]).unwrap();
        check_delta(&self.apps[app], &self.deltas[app]).unwrap();
        Outcome { answer, changes: changes.iter().map(|change| seen_change(app, change)).collect() }
    }

    pub fn register(&mut self, who: Who, said: Said, mark: usize, origin: Origin) -> Outcome {
        let incoming = Self::instance(who, said, mark);
        let change = self.apps[who.app].register(incoming, origin, self.now, &self.rules);
        self.outcome(who.app, Answer::Done(change.is_some()), change)
    }

    pub fn adopt(&mut self, who: Who, said: Said, mark: usize) -> Outcome {
        let adopted = self.apps[who.app].adopt(Self::instance(who, said, mark), None, self.now, &self.rules);
        let change = adopted.ok();
        self.outcome(who.app, Answer::Done(change.is_some()), change)
    }

    pub fn renew(
        &mut self,
        who: Who,
        last_dirty: Option<i64>,
        overridden: Option<Status>,
        origin: Origin,
    ) -> Outcome {
        let beat = Heartbeat { last_dirty, overridden, ..Heartbeat::default() };
        let renewal = self.apps[who.app].renew(&id_text(who.id), &beat, origin, self.now, &self.rules);
        let conflict = match &renewal.answer {
            RenewalAnswer::Conflict(record) => Some(record.instance.last_dirty_timestamp),
            _ => None,
        };
        let answer = Answer::Renewal(crate::support::http(&renewal), renewal.counts(), conflict);
        self.outcome(who.app, answer, renewal.change)
    }

    pub fn publish(&mut self) {
        self.published = self.apps.iter().flat_map(|app| app.records().cloned()).collect();
    }

    pub fn quick(&mut self, who: Who, dirty: Option<i64>) -> Outcome {
        let (app, id) = (app_name(who.app), id_text(who.id));
        let is_it = |record: &&Arc<Record>| record.instance.app == app && *record.instance.instance_id == *id;
        let held = self.published.iter().find(is_it);
        let renewed = held.is_some_and(|record| {
            record.try_quick_renewal(dirty, self.now, self.rules.lease_expiry) == QuickRenewal::Renewed
        });
        self.outcome(who.app, Answer::Done(renewed), None)
    }

    pub fn cancel(&mut self, who: Who, origin: Origin) -> Outcome {
        let change = self.apps[who.app].cancel(&id_text(who.id), origin, self.now, &self.rules);
        self.outcome(who.app, Answer::Done(change.is_some()), change)
    }

    pub fn set_status(&mut self, who: Who, status: Status, dirty: Option<i64>, origin: Origin) -> Outcome {
        let id = id_text(who.id);
        let outcome = self.apps[who.app].set_status(&id, status, dirty, origin, self.now, &self.rules);
        self.status_outcome(who.app, &outcome)
    }

    pub fn remove_override(
        &mut self,
        who: Who,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
    ) -> Outcome {
        let id = id_text(who.id);
        let outcome = self.apps[who.app].remove_override(&id, status, dirty, origin, self.now, &self.rules);
        self.status_outcome(who.app, &outcome)
    }

    fn status_outcome(&mut self, app: usize, outcome: &StatusOutcome) -> Outcome {
        let is_found = !matches!(outcome, StatusOutcome::NotFound);
        self.outcome(app, Answer::Done(is_found), crate::support::changed(outcome))
    }

    pub fn metadata(&mut self, who: Who, entry: Option<u8>, mark: usize) -> Outcome {
        let entries = entry.map(|key| (format!("k{key}"), mark.to_string())).into_iter().collect();
        let limits = MetadataLimits::default();
        let id = id_text(who.id);
        let merged =
            self.apps[who.app].merge_metadata(&id, entries, limits, Origin::Client, self.now, &self.rules);
        self.outcome(who.app, Answer::Done(merged.is_ok()), merged.ok().flatten())
    }

    pub fn scan(&mut self, extra_ms: u64) -> Outcome {
        self.scanned = self.apps.iter().map(|app| app.expired(self.now, extra_ms)).collect();
        let found = self.scanned.iter().enumerate();
        let found = found.flat_map(|(app, ids)| ids.iter().map(move |id| (app, id.to_string()))).collect();
        Outcome { answer: Answer::Found(found), changes: vec![] }
    }

    pub fn evict(&mut self, extra_ms: u64) -> Outcome {
        let scanned = std::mem::replace(&mut self.scanned, vec![Vec::new(); APPS]);
        let mut all = Outcome { answer: Answer::None, changes: vec![] };
        for (app, ids) in scanned.iter().enumerate() {
            let changes = self.apps[app].evict(ids, self.now, extra_ms, &self.rules);
            all.changes.extend(self.outcome(app, Answer::None, changes).changes);
        }
        all
    }

    pub fn sweep(&mut self) {
        for app in &mut self.apps {
            app.sweep(self.now, &self.rules);
        }
    }

    pub fn expire_delta(&mut self) {
        for log in &mut self.deltas {
            let before = log.len();
            let has_dropped = log.expire(self.now.mono_ms.saturating_sub(RETENTION_MS));
            assert_eq!(has_dropped, log.len() < before);
        }
    }

    pub fn lift_tombstone(&mut self, who: Who, dirty: i64) {
        self.apps[who.app].lift_tombstone(&id_text(who.id), dirty, self.now);
    }

    pub fn set_group(&self, enabled: bool) {
        self.group.0.store(enabled, Ordering::Relaxed);
    }

    pub fn correct_all(&mut self) -> Outcome {
        let mut all = Outcome { answer: Answer::None, changes: vec![] };
        for app in 0..APPS {
            let changes = self.apps[app].correct_statuses(Origin::Client, self.now, &self.rules);
            all.changes.extend(self.outcome(app, Answer::None, changes).changes);
        }
        all
    }

    pub fn panic(&mut self, broken: Option<Who>) {
        if let Some(record) = broken.and_then(|who| self.apps[who.app].get(&id_text(who.id))) {
            record.lease.clock.retire();
        }
        for app in &mut self.apps {
            let records: Vec<_> = app.records().cloned().collect();
            *app = app.rebuilt(records, self.now, &self.rules);
        }
    }

    pub fn restart(&mut self, lost: Who) {
        self.deltas = (0..APPS).map(|_| DeltaLog::new()).collect();
        self.published.clear();
        let (app, id) = (app_name(lost.app), id_text(lost.id));
        self.start_again(|record| record.instance.app != app || *record.instance.instance_id != *id);
    }

    fn start_again(&mut self, is_kept: impl Fn(&Record) -> bool) {
        for number in 0..APPS {
            let old = std::mem::replace(&mut self.apps[number], empty_app(number));
            let records: Vec<_> = old.records().filter(|record| is_kept(record)).cloned().collect();
            let overrides = old.overrides().map(|(id, status)| (id.clone(), status));
            let mut app = Application::from_records(
                app_name(number),
                records,
                overrides,
                old.next_sequence(),
                self.now,
            );
            let tombstones: Vec<_> = old.tombstones().map(|(id, t)| (id.clone(), *t)).collect();
            for (id, tombstone) in tombstones {
                app.restore_tombstone(id, tombstone, &self.rules);
            }
            self.apps[number] = app;
        }
    }

    pub fn seen(&self, app: usize) -> SeenApp {
        let it = &self.apps[app];
        let totals = it.totals();
        let tombstone = |(id, t): (&InstanceId, &heureka_registry::Tombstone)| {
            (id.to_string(), t.last_dirty_timestamp, t.until_mono_ms)
        };
        SeenApp {
            leases: it.records().map(|record| self.seen_lease(app, record)).collect(),
            overrides: it
                .overrides()
                .map(|(id, status)| (id.to_string(), status, it.override_of(id).unwrap().origin))
                .collect(),
            tombstones: it.tombstones().map(tombstone).collect(),
            leases_and_micros: (totals.leases, totals.renewals_per_minute_micros),
            next_sequence: it.next_sequence(),
            delta: self.deltas[app].entries().map(seen_delta).collect(),
            is_forgettable: it.is_forgettable(),
        }
    }

    fn seen_lease(&self, app: usize, record: &Record) -> SeenLease {
        let Record { instance, reported_status, lease, .. } = record;
        let metadata = instance.metadata.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
        SeenLease {
            id: instance.instance_id.to_string(),
            metadata: metadata.collect(),
            status: instance.status,
            overridden: instance.overridden_status,
            reported: *reported_status,
            dirty: instance.last_dirty_timestamp,
            updated_ms: instance.last_updated_timestamp,
            action: instance.action_type.unwrap(),
            registered_ms: lease.registration_timestamp,
            service_up_ms: lease.service_up_timestamp,
            duration_ms: lease.duration_ms,
            clock_ms: lease.clock.get(),
            direct_contact_ms: lease.direct_contact_ms(),
            settings: (instance.lease.duration_secs, instance.lease.renewal_interval_secs),
            is_visible: self.apps[app].is_visible(&instance.instance_id, self.now, true),
        }
    }
}

fn seen_delta(entry: &heureka_registry::DeltaEntry) -> (String, ActionType, Status, i64) {
    let instance = &entry.record.instance;
    assert_eq!(instance.action_type, Some(entry.action));
    (instance.instance_id.to_string(), entry.action, instance.status, instance.last_dirty_timestamp)
}

fn seen_change(app: usize, change: &Change) -> SeenChange {
    assert_eq!(change.app, app_name(app));
    SeenChange {
        app,
        id: change.id.to_string(),
        sequence: change.sequence,
        kind: change.kind,
        origin: change.origin,
        previous: change.previous_status,
        status: change.record.instance.status,
        eviction_ms: change.record.lease.eviction_timestamp,
        at_mono_ms: change.at_mono_ms,
    }
}
