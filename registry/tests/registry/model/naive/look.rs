//! What can be seen of the naive registry.

use heureka_protocol::{ActionType, Status};

use super::{Naive, NaiveLease};
use crate::model::seen::{SeenApp, SeenLease, id_text};

impl Naive {
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
