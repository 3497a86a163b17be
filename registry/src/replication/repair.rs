//! Which differences between two nodes one of them mends (`replication.md` 9.3.4).
//!
//! Each node compares itself with a peer and mends only what is its own to mend; the peer does the same the other way. Of
//! two nodes that differ never both mend: both look at the same ages and flags. A repair is an ordinary item in the queue
//! to that peer.
//!
//! Mending must never undo what is newer. Of an override whichever node has the later operation mends, whoever did it: stamps
//! say it, and the receiver looks at them again. For the rest only ages are known: a third node's word may have reached the
//! peer and still be on its way here, so a peer whose state is younger than ours is left alone for as long as a word can be
//! on its way, unless the same word is known to be the client's own at this node. And what is on its way to the peer from
//! here is not missing there yet.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};

use crate::application::{Application, CancelledHere, MarkedRecord, Tombstone};
use crate::record::Record;
use crate::time::Now;

use super::digest::{DigestRow, DigestTombstone, PeerApplication, Since};
use super::intents::OverrideKind;
use super::key::Key;
use super::queue::PeerQueue;
use super::settings::QueueSettings;

/// All that a node knows of one application when it compares.
#[derive(Clone, Debug)]
pub struct OwnApplication {
    /// Its name.
    pub name: AppName,
    /// Its records.
    pub records: Vec<MarkedRecord>,
    /// Its tombstones.
    pub tombstones: Vec<(InstanceId, Tombstone)>,
}

impl OwnApplication {
    /// As it stands now.
    #[must_use]
    pub fn of(app: &Application, now: Now) -> Self {
        let tombstones = app.tombstones().filter(|(id, _)| app.tombstone(id, now).is_some());
        Self {
            name: app.name().clone(),
            records: app.marked_records().collect(),
            tombstones: tombstones.map(|(id, stone)| (InstanceId::clone(id), *stone)).collect(),
        }
    }

    /// The same for a peer.
    #[must_use]
    pub fn for_peer(&self, now: Now) -> PeerApplication {
        let tombstone = |(id, stone): &(InstanceId, Tombstone)| DigestTombstone {
            id: InstanceId::clone(id),
            dirty: stone.last_dirty_timestamp,
            age_ms: now.mono_ms.saturating_sub(stone.cancelled_mono_ms),
        };
        PeerApplication {
            rows: self.records.iter().map(|marked| DigestRow::of(marked, now)).collect(),
            tombstones: self.tombstones.iter().map(tombstone).collect(),
        }
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
    /// For a cancel.
    pub cancelled: CancelledHere,
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
    /// What was cancelled here has talked to the peer since: nothing is sent, the cancel is forgotten.
    ForgetCancel,
}

impl Remedy {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Register,
        Self::Cancel,
        Self::Heartbeat,
        Self::SetOverride,
        Self::RemoveOverride,
        Self::ForgetCancel,
    ];

    /// The operation on the override, if it is one.
    #[must_use]
    pub const fn override_kind(self) -> Option<OverrideKind> {
        match self {
            Self::SetOverride => Some(OverrideKind::Set),
            Self::RemoveOverride => Some(OverrideKind::Removed),
            Self::Register | Self::Cancel | Self::Heartbeat | Self::ForgetCancel => None,
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
            Self::ForgetCancel => "forget_cancel",
        }
    }

    /// The word in metrics for the difference that it mends.
    #[must_use]
    pub const fn difference(self) -> &'static str {
        match self {
            Self::Register => "missing_or_older",
            Self::Cancel => "cancelled_here",
            Self::Heartbeat => "newer_there",
            Self::SetOverride => "override_missing",
            Self::RemoveOverride => "override_left",
            Self::ForgetCancel => "cancel_outdated",
        }
    }
}

/// What is ours to mend in one application, compared with the peer's. `settings` say how long a word may be on its way.
#[must_use]
pub fn repairs_of(
    ours: &OwnApplication,
    theirs: &PeerApplication,
    now: Now,
    settings: &QueueSettings,
) -> Vec<Repair> {
    let mut rows: BTreeMap<&str, &DigestRow> = theirs.rows.iter().map(|row| (&*row.id, row)).collect();
    let graves: BTreeMap<&str, &DigestTombstone> =
        theirs.tombstones.iter().map(|stone| (&*stone.id, stone)).collect();
    let mut repairs = Vec::new();
    for marked in &ours.records {
        let id = &*marked.record.instance.instance_id;
        let remedy = match rows.remove(id) {
            Some(row) => remedy_for(marked, row, now, settings),
            None => remedy_if_missing(marked, graves.get(id).copied(), now),
        };
        if let Some(remedy) = remedy {
            let (key, record) = (Key::of(&marked.record.instance), Some(Arc::clone(&marked.record)));
            repairs.push(Repair { key, remedy, record, cancelled: CancelledHere::default() });
        }
    }
    for (id, stone) in &ours.tombstones {
        let Some(row) = rows.get(&**id) else { continue };
        if let Some((remedy, cancelled)) = remedy_for_cancelled(stone, row, now, settings) {
            let key = Key::new(ours.name.clone(), InstanceId::clone(id));
            repairs.push(Repair { key, remedy, record: None, cancelled });
        }
    }
    repairs
}

fn remedy_for(
    marked: &MarkedRecord,
    theirs: &DigestRow,
    now: Now,
    settings: &QueueSettings,
) -> Option<Remedy> {
    let ours = DigestRow::of(marked, now);
    let (is_owner, is_theirs) = (is_owned(&ours, marked), is_owned(theirs, marked));
    if ours.dirty < theirs.dirty {
        return Some(Remedy::Heartbeat);
    }
    if ours.dirty > theirs.dirty {
        return is_owner.then_some(Remedy::Register);
    }
    let longest_way_ms = settings.longest_way_ms(marked.record.lease.duration_ms);
    let is_ours_to_mend = |ours: Since, theirs: Since, rank: Ordering| {
        let (ours, theirs) = (Side { since: ours, is_owner }, Side { since: theirs, is_owner: is_theirs });
        ours.prevails_over(theirs, rank, longest_way_ms)
    };
    let (our_state, their_state) = (ours.override_state(), theirs.override_state());
    // An override that was removed with a status leaves that: it belongs to the operation, not to the content.
    let is_left_by_operation = ours.status != theirs.status && our_state.stamp != their_state.stamp;
    if ours.overridden != theirs.overridden || is_left_by_operation {
        let remedy = match ours.overridden {
            Status::Unknown => Remedy::RemoveOverride,
            _ => Remedy::SetOverride,
        };
        return their_state.yields_to(our_state).then_some(remedy);
    }
    let rank = (ours.content, ours.status.as_str()).cmp(&(theirs.content, theirs.status.as_str()));
    let is_mended = rank.is_ne() && is_ours_to_mend(ours.content_since, theirs.content_since, rank);
    is_mended.then_some(Remedy::Register)
}

/// One of two nodes that differ.
#[derive(Clone, Copy)]
struct Side {
    since: Since,
    /// The instance talks to this node.
    is_owner: bool,
}

impl Side {
    /// Whether this node's state is the one to keep, and this node the one to say so. With the same ages never true both
    /// ways round; those of two states that began within the time of one request may look different from both sides, and
    /// then whoever comes first decides.
    ///
    /// The later of two states wins at once if a client has made it at that node, or if the instance talks to that node
    /// and no client has made the other one. Else it came from somewhere else, perhaps late, and nobody mends until no
    /// word can be on its way any more; then the earlier state wins.
    fn prevails_over(self, other: Self, rank: Ordering, longest_way_ms: u64) -> bool {
        let (ours_ms, theirs_ms) = (self.age_ms(), other.age_ms());
        if ours_ms == theirs_ms {
            let flags = |side: Self| (side.since.is_own, side.is_owner);
            return self.has_a_say() && flags(self).cmp(&flags(other)).then(rank).is_gt();
        }
        if ours_ms < theirs_ms {
            return self.may_win_over(other);
        }
        self.has_a_say() && theirs_ms >= longest_way_ms && !other.may_win_over(self)
    }

    fn age_ms(self) -> u64 {
        self.since.age_ms.unwrap_or(u64::MAX)
    }

    const fn has_a_say(self) -> bool {
        self.since.is_own || self.is_owner
    }

    /// Whether its state wins if it is the later one.
    const fn may_win_over(self, earlier: Self) -> bool {
        self.has_a_say() && (self.since.is_own || !earlier.since.is_own)
    }
}

/// The peer lacks an instance: only the node that it talks to brings it, and not against a cancel that the peer has heard
/// of since.
fn remedy_if_missing(marked: &MarkedRecord, grave: Option<&DigestTombstone>, now: Now) -> Option<Remedy> {
    let ours = DigestRow::of(marked, now);
    let is_cancelled = grave.is_some_and(|grave| {
        ours.dirty <= grave.dirty && ours.contact_age_ms.is_none_or(|age_ms| age_ms >= grave.age_ms)
    });
    (is_owned(&ours, marked) && !is_cancelled).then_some(Remedy::Register)
}

/// The peer holds what was cancelled here. An instance that has talked to it since the cancel lives; one that somebody has
/// registered there since may live.
fn remedy_for_cancelled(
    stone: &Tombstone,
    theirs: &DigestRow,
    now: Now,
    settings: &QueueSettings,
) -> Option<(Remedy, CancelledHere)> {
    let cancelled = CancelledHere {
        last_dirty_timestamp: stone.last_dirty_timestamp,
        lease_duration_ms: stone.until_mono_ms.saturating_sub(now.mono_ms) / 2,
        override_stamp: stone.override_stamp,
    };
    let age_ms = now.mono_ms.saturating_sub(stone.cancelled_mono_ms);
    if theirs.dirty > stone.last_dirty_timestamp {
        return None;
    }
    if theirs.contact_age_ms.is_some_and(|contact_age_ms| contact_age_ms < age_ms) {
        return Some((Remedy::ForgetCancel, cancelled));
    }
    let registered_age_ms = theirs.content_since.age_ms.unwrap_or(u64::MAX);
    let longest_way_ms = settings.longest_way_ms(cancelled.lease_duration_ms);
    (registered_age_ms >= age_ms.min(longest_way_ms)).then_some((Remedy::Cancel, cancelled))
}

/// The instance has talked to the node of the row within two of its intervals.
fn is_owned(row: &DigestRow, marked: &MarkedRecord) -> bool {
    let secs = u64::from(marked.record.instance.lease.renewal_interval_secs.max(1).unsigned_abs());
    row.contact_age_ms.is_some_and(|age_ms| age_ms <= 2_000 * secs)
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
    /// These are to be sent, but for [`Remedy::ForgetCancel`], which is to be done here.
    Repairs(Vec<Repair>),
    /// So many that nothing is sent: somebody must look.
    TooMany(usize),
}

impl Rounds {
    /// How many repairs a round does at most.
    #[must_use]
    pub fn most(registry_size: usize) -> usize {
        REPAIRS_FEW.max(registry_size * SHARE_PERCENT / 100)
    }

    /// Takes what is ours to mend in this round and returns what has been so in the last one too. What the queue is about
    /// to tell the peer, or tells it just now, is no difference.
    pub fn confirm(&mut self, mut found: Vec<Repair>, queue: &PeerQueue, registry_size: usize) -> Round {
        found.retain(|repair| !queue.is_telling(&repair.key));
        let name =
            |repair: &Repair| (repair.key.app().clone(), InstanceId::clone(repair.key.id()), repair.remedy);
        let names: BTreeSet<_> = found.iter().map(name).collect();
        let confirmed: Vec<Repair> =
            found.into_iter().filter(|repair| self.seen.contains(&name(repair))).collect();
        self.seen = names;
        if confirmed.len() > Self::most(registry_size) {
            return Round::TooMany(confirmed.len());
        }
        Round::Repairs(confirmed)
    }
}
