//! The naive registry's other operations: heartbeats, cancels, statuses, metadata, eviction, restarts.

use heureka_protocol::Status;
use heureka_registry::{ChangeKind, Origin};

use super::{Naive, NaiveTombstone, ORPHAN_MS, RETENTION_MS, SWEEP_MS, TOMBSTONE_MS, is_replica};
use crate::model::history::Who;
use crate::model::seen::{Answer, Outcome, SeenChange, id_text};

impl Naive {
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
        let (leases, now_ms) = (&self.leases, self.now.mono_ms);
        for entry in &mut self.overrides {
            let has_lease = leases.iter().any(|lease| lease.who == entry.who);
            entry.orphan_since_ms = if has_lease { None } else { entry.orphan_since_ms.or(Some(now_ms)) };
        }
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
}
