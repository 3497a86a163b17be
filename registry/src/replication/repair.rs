//! Which differences between two nodes one of them mends (`replication.md` 9.3.4).
//!
//! Each node compares itself with a peer and mends only what is its own to mend: the instance that talks to it, the
//! override that a client set or removed here, the cancel that it remembers. So two nodes never mend the same thing in
//! two directions. A repair is an ordinary item in the queue to that peer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};

use crate::application::Tombstone;
use crate::record::Record;
use crate::time::Now;

use super::digest::DigestRow;
use super::intents::OverrideKind;
use super::key::Key;

/// All that a node knows of one application when it compares.
#[derive(Clone, Debug)]
pub struct OwnApplication {
    /// Its name.
    pub name: AppName,
    /// Its records, each with the time at which a client recorded an override operation here, 0 if none.
    pub records: Vec<(Arc<Record>, i64)>,
    /// Its tombstones.
    pub tombstones: Vec<(InstanceId, Tombstone)>,
}

impl OwnApplication {
    /// The rows for a peer.
    #[must_use]
    pub fn rows(&self) -> Vec<DigestRow> {
        self.records.iter().map(|(record, recorded)| DigestRow::of(&record.instance, *recorded)).collect()
    }
}

/// One thing to tell the peer.
#[derive(Clone, Debug)]
pub struct Repair {
    /// Whose.
    pub key: Key,
    /// What.
    pub remedy: Remedy,
    /// Our record; `None` for a cancel.
    pub record: Option<Arc<Record>>,
    /// For a cancel: how long the peer may hold the lease.
    pub lease_duration_ms: u64,
}

/// What mends a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// The peer lacks the instance, or has an older or other content: send ours.
    Register,
    /// The peer holds what was cancelled here.
    Cancel,
    /// The peer has a newer record: a heartbeat brings it here.
    Heartbeat,
    /// The peer lacks the override that a client set here.
    SetOverride,
    /// The peer has an override that a client removed here.
    RemoveOverride,
}

impl Remedy {
    /// The operation on the override, if it is one.
    #[must_use]
    pub const fn override_kind(self) -> Option<OverrideKind> {
        match self {
            Self::SetOverride => Some(OverrideKind::Set),
            Self::RemoveOverride => Some(OverrideKind::Removed),
            Self::Register | Self::Cancel | Self::Heartbeat => None,
        }
    }

    /// The word for it in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Cancel => "cancel",
            Self::Heartbeat => "heartbeat",
            Self::SetOverride => "set_override",
            Self::RemoveOverride => "remove_override",
        }
    }
}

/// What is ours to mend in one application, compared with the peer's rows.
#[must_use]
pub fn repairs_of(ours: &OwnApplication, theirs: &[DigestRow], now: Now) -> Vec<Repair> {
    let mut theirs: BTreeMap<&str, &DigestRow> = theirs.iter().map(|row| (&*row.id, row)).collect();
    let mut repairs = Vec::new();
    for (record, recorded) in &ours.records {
        let row = theirs.remove(&*record.instance.instance_id);
        if let Some(remedy) = remedy_for(record, *recorded, row, now) {
            let (key, record) = (Key::of(&record.instance), Some(Arc::clone(record)));
            repairs.push(Repair { key, remedy, record, lease_duration_ms: 0 });
        }
    }
    for (id, tombstone) in &ours.tombstones {
        if theirs.get(&**id).is_some_and(|row| row.dirty <= tombstone.last_dirty_timestamp) {
            let key = Key::new(ours.name.clone(), InstanceId::clone(id));
            let lease_duration_ms = tombstone.until_mono_ms.saturating_sub(now.mono_ms) / 2;
            repairs.push(Repair { key, remedy: Remedy::Cancel, record: None, lease_duration_ms });
        }
    }
    repairs
}

fn remedy_for(record: &Record, recorded: i64, theirs: Option<&DigestRow>, now: Now) -> Option<Remedy> {
    let is_owner = is_owner(record, now);
    let Some(theirs) = theirs else { return is_owner.then_some(Remedy::Register) };
    let ours = DigestRow::of(&record.instance, recorded);
    if ours.dirty < theirs.dirty {
        return Some(Remedy::Heartbeat);
    }
    if ours.dirty > theirs.dirty {
        return is_owner.then_some(Remedy::Register);
    }
    if ours.overridden != theirs.overridden {
        // The later operation wins; one that no client made at these nodes loses against any that one did.
        let is_later = recorded > theirs.override_recorded_wall_ms;
        let is_tie = recorded == theirs.override_recorded_wall_ms && is_owner;
        let remedy = match ours.overridden {
            Status::Unknown => Remedy::RemoveOverride,
            _ => Remedy::SetOverride,
        };
        return (is_later || is_tie).then_some(remedy);
    }
    let differs = ours.status != theirs.status || ours.content != theirs.content;
    (differs && is_owner).then_some(Remedy::Register)
}

/// The instance has talked to this node within two of its intervals.
fn is_owner(record: &Record, now: Now) -> bool {
    let secs = u64::from(record.instance.lease.renewal_interval_secs.max(1).unsigned_abs());
    let contact_ms = record.lease.direct_contact_ms();
    contact_ms.is_some_and(|contact_ms| now.mono_ms.saturating_sub(contact_ms) <= 2_000 * secs)
}

/// Remembers the last round with one peer: only what shows twice in a row is mended, the rest is on its way.
#[derive(Debug, Default)]
pub struct Rounds {
    seen: BTreeSet<(AppName, InstanceId, Remedy)>,
}

/// Repairs of a round that are mended at most, besides [`SHARE_PERCENT`] of the registry.
const REPAIRS_FEW: usize = 20;
/// More than this share of the registry is no loss of single events: a partition, a wrong list of peers.
const SHARE_PERCENT: usize = 5;

/// What a round has found.
#[derive(Clone, Debug)]
pub enum Round {
    /// These are to be sent.
    Repairs(Vec<Repair>),
    /// So many that nothing is sent: somebody must look.
    TooMany(usize),
}

impl Rounds {
    /// Takes what is ours to mend in this round and returns what has been so in the last one too.
    pub fn confirm(&mut self, found: Vec<Repair>, registry_size: usize) -> Round {
        let name =
            |repair: &Repair| (repair.key.app().clone(), InstanceId::clone(repair.key.id()), repair.remedy);
        let names: BTreeSet<_> = found.iter().map(name).collect();
        let confirmed: Vec<Repair> =
            found.into_iter().filter(|repair| self.seen.contains(&name(repair))).collect();
        self.seen = names;
        if confirmed.len() > REPAIRS_FEW.max(registry_size * SHARE_PERCENT / 100) {
            return Round::TooMany(confirmed.len());
        }
        Round::Repairs(confirmed)
    }
}
