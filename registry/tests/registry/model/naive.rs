//! The naive registry: flat lists, no sharing, no clocks of its own, every rule written down again from the
//! specification. Slow and plain on purpose; it shares no code with what it checks.

use heureka_protocol::{ActionType, Status};
use heureka_registry::{ChangeKind, Now, Origin};

use super::history::{APPS, GROUP_ID, Said, Switches, Who};
use super::seen::{Answer, Outcome, SeenApp, SeenChange, SeenLease, id_text};

#[derive(Clone, Debug)]
pub struct NaiveLease {
    who: Who,
    /// Changes whenever another record takes the place of this one.
    version: u64,
    metadata: Vec<(String, String)>,
    status: Status,
    overridden: Status,
    reported: Status,
    dirty: i64,
    updated_ms: i64,
    action: ActionType,
    registered_ms: i64,
    service_up_ms: i64,
    duration_ms: u64,
    clock_ms: u64,
    direct_contact_ms: Option<u64>,
    settings: (i32, i32),
    was_asked: bool,
}

#[derive(Clone, Copy, Debug)]
struct NaiveOverride {
    who: Who,
    status: Status,
    origin: Origin,
    orphan_since_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct NaiveTombstone {
    who: Who,
    dirty: i64,
    at_ms: u64,
    until_ms: u64,
}

#[derive(Clone, Debug)]
struct NaiveDelta {
    who: Who,
    action: ActionType,
    status: Status,
    dirty: i64,
    at_ms: u64,
}

#[derive(Clone, Debug)]
pub struct Naive {
    pub switches: Switches,
    pub now: Now,
    pub group_is_enabled: bool,
    leases: Vec<NaiveLease>,
    overrides: Vec<NaiveOverride>,
    tombstones: Vec<NaiveTombstone>,
    deltas: Vec<NaiveDelta>,
    sequences: [u64; APPS],
    versions: u64,
    published: Vec<NaiveLease>,
    scanned: Vec<Who>,
}

const DURATION_DEFAULT_MS: u64 = 90_000;
const TOMBSTONE_MS: u64 = 300_000;
const SWEEP_MS: u64 = 60_000;
const QUARANTINE_MS: u64 = 10_000;
const ORPHAN_MS: u64 = 3_600_000;
const RETENTION_MS: u64 = 180_000;

fn is_replica(origin: Origin) -> bool {
    origin == Origin::Peer || origin == Origin::StartUp
}

impl Naive {
    pub fn new(switches: Switches, now: Now) -> Self {
        Self {
            switches,
            now,
            group_is_enabled: true,
            leases: Vec::new(),
            overrides: Vec::new(),
            tombstones: Vec::new(),
            deltas: Vec::new(),
            sequences: [1; APPS],
            versions: 0,
            published: Vec::new(),
            scanned: Vec::new(),
        }
    }

    fn position(&self, who: Who) -> Option<usize> {
        self.leases.iter().position(|lease| lease.who == who)
    }

    fn override_of(&self, who: Who) -> Option<Status> {
        self.overrides.iter().find(|entry| entry.who == who).map(|entry| entry.status)
    }

    fn put_override(&mut self, who: Who, status: Status, origin: Origin) {
        self.overrides.retain(|entry| entry.who != who);
        self.overrides.push(NaiveOverride { who, status, origin, orphan_since_ms: None });
    }

    fn tombstone(&self, who: Who) -> Option<NaiveTombstone> {
        self.tombstones.iter().find(|t| t.who == who && self.now.mono_ms < t.until_ms).copied()
    }

    fn is_expired(&self, lease: &NaiveLease, extra_ms: u64) -> bool {
        self.now.mono_ms > lease.clock_ms + lease.duration_ms + extra_ms
    }

    fn renewed_to(&self, lease: &NaiveLease) -> u64 {
        let target =
            if self.switches.exact_expiry { self.now.mono_ms } else { self.now.mono_ms + lease.duration_ms };
        target.max(lease.clock_ms)
    }

    /// The table of `registry.md` 3.7.
    fn rule(&self, who: Who, says: Status, existing: Option<Status>, replica: bool) -> Status {
        if says == Status::Down || says == Status::Starting || says == Status::Unknown {
            return says;
        }
        if let Some(overridden) = self.override_of(who) {
            return overridden;
        }
        if self.switches.on_aws && who.id == GROUP_ID {
            return if self.group_is_enabled { Status::Up } else { Status::OutOfService };
        }
        match existing {
            Some(Status::Up) if !replica => Status::Up,
            Some(Status::OutOfService) if !replica => Status::OutOfService,
            _ => says,
        }
    }

    /// Notes a change of a lease that is at its place already.
    fn note(&mut self, at: usize, kind: ChangeKind, origin: Origin, previous: Option<Status>) -> SeenChange {
        self.versions += 1;
        let (now, version) = (self.now, self.versions);
        let lease = &mut self.leases[at];
        lease.version = version;
        lease.updated_ms = now.wall_ms;
        lease.action = match kind {
            ChangeKind::Registered => ActionType::Added,
            ChangeKind::Cancelled | ChangeKind::Evicted => ActionType::Deleted,
            _ => ActionType::Modified,
        };
        let lease = lease.clone();
        self.deltas.retain(|entry| entry.who != lease.who);
        self.deltas.push(NaiveDelta {
            who: lease.who,
            action: lease.action,
            status: lease.status,
            dirty: lease.dirty,
            at_ms: now.mono_ms,
        });
        let sequence = self.sequences[lease.who.app];
        self.sequences[lease.who.app] += 1;
        SeenChange {
            app: lease.who.app,
            id: id_text(lease.who.id),
            sequence,
            kind,
            origin,
            previous,
            status: lease.status,
            eviction_ms: if lease.action == ActionType::Deleted { now.wall_ms.max(1) } else { 0 },
            at_mono_ms: now.mono_ms,
        }
    }

    pub fn register(&mut self, who: Who, said: Said, mark: usize, origin: Origin) -> Outcome {
        if let Some(tombstone) = self.tombstone(who).filter(|_| is_replica(origin)) {
            let is_young = self.now.mono_ms - tombstone.at_ms < QUARANTINE_MS;
            let is_same = said.dirty == tombstone.dirty && (origin == Origin::StartUp || is_young);
            if said.dirty < tombstone.dirty || is_same {
                return Outcome { answer: Answer::Done(false), changes: vec![] };
            }
        }
        self.tombstones.retain(|t| t.who != who);
        let change = self.enter(who, said, mark, origin);
        let at = self.position(who).unwrap();
        if origin == Origin::Client {
            self.leases[at].direct_contact_ms = Some(self.now.mono_ms);
        }
        Outcome { answer: Answer::Done(true), changes: vec![change] }
    }

    fn enter(&mut self, who: Who, said: Said, mark: usize, origin: Origin) -> SeenChange {
        let old = self.position(who).map(|at| self.leases.remove(at));
        let duration_ms = if said.duration_secs > 0 {
            said.duration_secs.unsigned_abs().into()
        } else {
            DURATION_DEFAULT_MS / 1000
        } * 1000;
        let hides_report =
            is_replica(origin) && said.overridden != Status::Unknown && said.overridden == said.status;
        let mut content = NaiveLease {
            who,
            version: 0,
            metadata: vec![("mark".to_owned(), mark.to_string())],
            status: said.status,
            overridden: said.overridden,
            reported: if hides_report {
                old.as_ref().map_or(Status::Unknown, |old| old.reported)
            } else {
                said.status
            },
            dirty: said.dirty,
            updated_ms: 0,
            action: ActionType::Added,
            registered_ms: 0,
            service_up_ms: 0,
            duration_ms: 0,
            clock_ms: 0,
            direct_contact_ms: None,
            settings: (said.duration_secs, said.interval_secs),
            was_asked: false,
        };
        if let Some(old) = old.as_ref().filter(|old| old.dirty > said.dirty) {
            content = old.clone();
        }
        self.start(content, old, duration_ms, origin)
    }

    /// A fresh lease for given content.
    fn start(
        &mut self,
        mut lease: NaiveLease,
        old: Option<NaiveLease>,
        duration_ms: u64,
        origin: Origin,
    ) -> SeenChange {
        let who = lease.who;
        if lease.overridden != Status::Unknown && self.override_of(who).is_none() {
            self.put_override(who, lease.overridden, origin);
        }
        for entry in self.overrides.iter_mut().filter(|entry| entry.who == who) {
            entry.orphan_since_ms = None;
        }
        lease.overridden = self.override_of(who).unwrap_or(Status::Unknown);
        let previous = old.as_ref().map(|old| old.status);
        lease.status = self.rule(who, lease.status, previous, is_replica(origin));
        lease.duration_ms = duration_ms;
        lease.clock_ms = self.now.mono_ms;
        lease.registered_ms = self.now.wall_ms;
        lease.service_up_ms = old.as_ref().map_or(0, |old| old.service_up_ms);
        if lease.status == Status::Up && lease.service_up_ms == 0 {
            lease.service_up_ms = self.now.wall_ms;
        }
        lease.direct_contact_ms = old.as_ref().and_then(|old| old.direct_contact_ms);
        lease.was_asked = old.is_some_and(|old| old.was_asked) && lease.status == Status::Unknown;
        self.leases.push(lease);
        self.note(self.leases.len() - 1, ChangeKind::Registered, origin, previous)
    }

    pub fn adopt(&mut self, who: Who, said: Said, mark: usize) -> Outcome {
        if self.tombstone(who).is_some_and(|t| t.dirty >= said.dirty) {
            return Outcome { answer: Answer::Done(false), changes: vec![] };
        }
        if said.overridden != Status::Unknown && self.override_of(who) != Some(said.overridden) {
            self.put_override(who, said.overridden, Origin::Peer);
        }
        self.register(who, said, mark, Origin::Peer)
    }

    pub fn renew(
        &mut self,
        who: Who,
        dirty: Option<i64>,
        overridden: Option<Status>,
        origin: Origin,
    ) -> Outcome {
        let refused = Outcome { answer: Answer::Renewal(404, false, None), changes: vec![] };
        let Some(at) = self.position(who) else { return refused };
        let lease = self.leases[at].clone();
        let by_rules = self.rule(who, lease.status, Some(lease.status), is_replica(origin));
        if by_rules == Status::Unknown && !lease.was_asked {
            self.leases[at].was_asked = true;
            return refused;
        }
        self.leases[at].clock_ms = self.renewed_to(&lease);
        if origin == Origin::Client {
            self.leases[at].direct_contact_ms = Some(self.now.mono_ms);
        }
        let compared = dirty.filter(|_| self.switches.compare_timestamps);
        let is_newer = compared.is_some_and(|dirty| dirty > lease.dirty);
        let is_older = compared.is_some_and(|dirty| dirty < lease.dirty);
        if is_newer && is_replica(origin) {
            let wanted = overridden.filter(|status| *status != Status::Unknown);
            match wanted {
                Some(status) if self.override_of(who) != Some(status) => {
                    self.put_override(who, status, origin)
                }
                _ => {}
            }
        }
        let changes = self.correct(who, origin).into_iter().collect();
        let answer = match (is_newer, is_older && is_replica(origin)) {
            (true, _) => Answer::Renewal(404, true, None),
            (_, true) => Answer::Renewal(409, true, Some(lease.dirty)),
            _ => Answer::Renewal(200, true, None),
        };
        Outcome { answer, changes }
    }

    fn correct(&mut self, who: Who, origin: Origin) -> Option<SeenChange> {
        let at = self.position(who)?;
        let before = self.leases[at].status;
        let status = self.rule(who, before, Some(before), is_replica(origin));
        let overridden = self.override_of(who).unwrap_or(Status::Unknown);
        if status == before && overridden == self.leases[at].overridden {
            return None;
        }
        self.leases[at].status = status;
        self.leases[at].overridden = overridden;
        self.leases[at].was_asked &= status == Status::Unknown;
        Some(self.note(at, ChangeKind::StatusCorrected, origin, Some(before)))
    }

    pub fn correct_all(&mut self) -> Outcome {
        let mut all: Vec<Who> = self.leases.iter().map(|lease| lease.who).collect();
        all.sort();
        let changes = all.into_iter().filter_map(|who| self.correct(who, Origin::Client)).collect();
        Outcome { answer: Answer::None, changes }
    }

    pub fn publish(&mut self) {
        self.published = self.leases.clone();
    }

    pub fn quick(&mut self, who: Who, dirty: Option<i64>) -> Outcome {
        let held = self.published.iter().find(|lease| lease.who == who).cloned();
        let current = self.position(who);
        let renewed = match (held, current) {
            (Some(held), Some(at)) if held.version == self.leases[at].version => {
                let is_plain =
                    held.status != Status::Unknown && dirty.is_none_or(|dirty| dirty <= held.dirty);
                if is_plain {
                    self.leases[at].clock_ms = self.renewed_to(&self.leases[at]);
                    self.leases[at].direct_contact_ms = Some(self.now.mono_ms);
                }
                is_plain
            }
            _ => false,
        };
        Outcome { answer: Answer::Done(renewed), changes: vec![] }
    }

    fn remove(&mut self, at: usize, kind: ChangeKind, origin: Origin) -> SeenChange {
        let before = self.leases[at].status;
        let who = self.leases[at].who;
        let change = self.note(at, kind, origin, Some(before));
        self.leases.remove(at);
        self.overrides.retain(|entry| entry.who != who);
        change
    }

    pub fn cancel(&mut self, who: Who, origin: Origin) -> Outcome {
        self.overrides.retain(|entry| entry.who != who);
        let Some(at) = self.position(who) else {
            return Outcome { answer: Answer::Done(false), changes: vec![] };
        };
        let lease = self.leases[at].clone();
        let change = self.remove(at, ChangeKind::Cancelled, origin);
        let life_ms = TOMBSTONE_MS.max(2 * lease.duration_ms + SWEEP_MS);
        let at_ms = self.now.mono_ms;
        self.tombstones.retain(|t| t.who != who);
        self.tombstones.push(NaiveTombstone { who, dirty: lease.dirty, at_ms, until_ms: at_ms + life_ms });
        self.bound_tombstones(who.app);
        Outcome { answer: Answer::Done(true), changes: vec![change] }
    }

    fn bound_tombstones(&mut self, app: usize) {
        loop {
            let mut of_app: Vec<_> = self.tombstones.iter().filter(|t| t.who.app == app).collect();
            if of_app.len() <= self.switches.tombstones_max {
                return;
            }
            of_app.sort_by_key(|t| (t.at_ms, t.who.id));
            let oldest = of_app[0].who;
            self.tombstones.retain(|t| t.who != oldest);
        }
    }

    pub fn set_status(&mut self, who: Who, status: Status, dirty: Option<i64>, origin: Origin) -> Outcome {
        if status == Status::Unknown {
            return self.remove_override(who, None, dirty, origin);
        }
        let Some(at) = self.position(who) else {
            return Outcome { answer: Answer::Done(false), changes: vec![] };
        };
        self.leases[at].clock_ms = self.renewed_to(&self.leases[at]);
        let pins = self.switches.store_equal && self.override_of(who) != Some(status);
        if self.leases[at].status == status && !pins {
            return Outcome { answer: Answer::Done(true), changes: vec![] };
        }
        self.put_override(who, status, origin);
        if status == Status::Up && self.leases[at].service_up_ms == 0 {
            self.leases[at].service_up_ms = self.now.wall_ms;
        }
        let change = self.show(at, (status, status), dirty, ChangeKind::StatusOverridden, origin);
        Outcome { answer: Answer::Done(true), changes: vec![change] }
    }

    pub fn remove_override(
        &mut self,
        who: Who,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
    ) -> Outcome {
        let Some(at) = self.position(who) else {
            return Outcome { answer: Answer::Done(false), changes: vec![] };
        };
        self.leases[at].clock_ms = self.renewed_to(&self.leases[at]);
        if self.override_of(who).is_none() {
            return Outcome { answer: Answer::Done(true), changes: vec![] };
        }
        self.overrides.retain(|entry| entry.who != who);
        let shown = match status {
            None | Some(Status::Unknown) => self.leases[at].reported,
            Some(given) => given,
        };
        let change = self.show(at, (shown, Status::Unknown), dirty, ChangeKind::OverrideRemoved, origin);
        Outcome { answer: Answer::Done(true), changes: vec![change] }
    }

    fn show(
        &mut self,
        at: usize,
        (status, overridden): (Status, Status),
        dirty: Option<i64>,
        kind: ChangeKind,
        origin: Origin,
    ) -> SeenChange {
        let lease = &mut self.leases[at];
        let before = lease.status;
        lease.status = status;
        lease.overridden = overridden;
        lease.was_asked &= status == Status::Unknown;
        if dirty.is_some_and(|dirty| dirty > lease.dirty) {
            lease.dirty = dirty.unwrap();
        }
        self.note(at, kind, origin, Some(before))
    }

    pub fn metadata(&mut self, who: Who, entry: Option<u8>, mark: usize) -> Outcome {
        let Some(at) = self.position(who) else {
            return Outcome { answer: Answer::Done(false), changes: vec![] };
        };
        let Some(key) = entry else { return Outcome { answer: Answer::Done(true), changes: vec![] } };
        let old = self.leases.remove(at);
        let mut lease = old.clone();
        let key = format!("k{key}");
        match lease.metadata.iter_mut().find(|(k, _)| *k == key) {
            Some((_, value)) => *value = mark.to_string(),
            None => lease.metadata.push((key, mark.to_string())),
        }
        let duration_secs = if old.settings.0 > 0 { u64::from(old.settings.0.unsigned_abs()) } else { 90 };
        let change = self.start(lease, Some(old), duration_secs * 1000, Origin::Client);
        Outcome { answer: Answer::Done(true), changes: vec![change] }
    }

    pub fn scan(&mut self, extra_ms: u64) -> Outcome {
        let mut found: Vec<Who> = self
            .leases
            .iter()
            .filter(|lease| self.is_expired(lease, extra_ms))
            .map(|lease| lease.who)
            .collect();
        found.sort();
        self.scanned = found.clone();
        let found = found.into_iter().map(|who| (who.app, id_text(who.id))).collect();
        Outcome { answer: Answer::Found(found), changes: vec![] }
    }

    pub fn evict(&mut self, extra_ms: u64) -> Outcome {
        let mut changes = Vec::new();
        for who in std::mem::take(&mut self.scanned) {
            if let Some(at) = self.position(who).filter(|at| self.is_expired(&self.leases[*at], extra_ms)) {
                changes.push(self.remove(at, ChangeKind::Evicted, Origin::Eviction));
            }
        }
        Outcome { answer: Answer::None, changes }
    }

    pub fn sweep(&mut self) {
        let now_ms = self.now.mono_ms;
        self.overrides
            .retain(|entry| entry.orphan_since_ms.is_none_or(|since_ms| now_ms - since_ms <= ORPHAN_MS));
        self.tombstones.retain(|t| now_ms < t.until_ms);
    }

    pub fn expire_delta(&mut self) {
        let now_ms = self.now.mono_ms;
        self.deltas.retain(|entry| entry.at_ms + RETENTION_MS >= now_ms);
    }

    pub fn lift_tombstone(&mut self, who: Who, dirty: i64) {
        let now_ms = self.now.mono_ms;
        self.tombstones.retain(|t| t.who != who || t.dirty > dirty || now_ms >= t.until_ms);
    }

    pub fn panic(&mut self, broken: Option<Who>) {
        if let Some(at) = broken.and_then(|who| self.position(who)) {
            self.versions += 1;
            self.leases[at].version = self.versions;
            self.leases[at].clock_ms = self.now.mono_ms;
        }
        self.after_restart();
    }

    pub fn restart(&mut self, lost: Who) {
        self.leases.retain(|lease| lease.who != lost);
        self.deltas.clear();
        self.published.clear();
        self.after_restart();
    }

    fn after_restart(&mut self) {
        for lease in &mut self.leases {
            lease.was_asked = false;
        }
        let (leases, now_ms) = (&self.leases, self.now.mono_ms);
        for entry in &mut self.overrides {
            let has_lease = leases.iter().any(|lease| lease.who == entry.who);
            entry.origin = Origin::StartUp;
            entry.orphan_since_ms = if has_lease { None } else { Some(now_ms) };
        }
    }

    pub fn seen(&self, app: usize) -> SeenApp {
        let mut leases: Vec<&NaiveLease> = self.leases.iter().filter(|lease| lease.who.app == app).collect();
        leases.sort_by_key(|lease| lease.who);
        let micros = |lease: &&NaiveLease| match lease.settings.1 {
            secs if secs > 0 => 60_000_000 / u64::from(secs.unsigned_abs()),
            _ => 2_000_000,
        };
        let mut overrides: Vec<_> = self.overrides.iter().filter(|entry| entry.who.app == app).collect();
        overrides.sort_by_key(|entry| entry.who);
        let mut tombstones: Vec<_> = self.tombstones.iter().filter(|t| t.who.app == app).collect();
        tombstones.sort_by_key(|t| t.who);
        SeenApp {
            leases_and_micros: (leases.len().try_into().unwrap(), leases.iter().map(micros).sum()),
            is_forgettable: leases.is_empty() && overrides.is_empty() && tombstones.is_empty(),
            leases: leases.into_iter().map(|lease| self.seen_lease(lease)).collect(),
            overrides: overrides.iter().map(|e| (id_text(e.who.id), e.status, e.origin)).collect(),
            tombstones: tombstones.iter().map(|t| (id_text(t.who.id), t.dirty, t.until_ms)).collect(),
            next_sequence: self.sequences[app],
            delta: self.seen_delta(app),
        }
    }

    fn seen_delta(&self, app: usize) -> Vec<(String, ActionType, Status, i64)> {
        let of_app = self.deltas.iter().filter(|entry| entry.who.app == app);
        let (gone, here): (Vec<_>, Vec<_>) = of_app.partition(|entry| entry.action == ActionType::Deleted);
        let all = here.into_iter().chain(gone);
        all.map(|entry| (id_text(entry.who.id), entry.action, entry.status, entry.dirty)).collect()
    }

    fn seen_lease(&self, lease: &NaiveLease) -> SeenLease {
        SeenLease {
            id: id_text(lease.who.id),
            metadata: lease.metadata.clone(),
            status: lease.status,
            overridden: lease.overridden,
            reported: lease.reported,
            dirty: lease.dirty,
            updated_ms: lease.updated_ms,
            action: lease.action,
            registered_ms: lease.registered_ms,
            service_up_ms: lease.service_up_ms,
            duration_ms: lease.duration_ms,
            clock_ms: Some(lease.clock_ms),
            direct_contact_ms: lease.direct_contact_ms,
            settings: lease.settings,
            is_visible: !self.is_expired(lease, 0),
        }
    }
}
