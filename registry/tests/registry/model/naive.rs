//! The naive registry: flat lists, no sharing, no clocks of its own, every rule written down again from the
//! specification. Slow and plain on purpose; it shares no code with what it checks.

mod look;
mod operations;

use heureka_protocol::{ActionType, Status};
use heureka_registry::{ChangeKind, Now, Origin};

use super::history::{APPS, GROUP_ID, Said, Switches, Who};
use super::seen::{Answer, Outcome, SeenChange, id_text};

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
}
