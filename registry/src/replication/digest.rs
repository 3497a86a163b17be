//! What two nodes compare instead of sending everything: a hash per application, then a row per instance of those that
//! differ (`replication.md` 9.3.4).
//!
//! Hashes are of this product only and never meet Java. They must be the same on every machine and in every version that
//! compares them, so the function is written out here.

use std::sync::Arc;

use heureka_protocol::{DataCenter, Instance, InstanceId, Status};

use crate::application::{Mark, MarkedRecord};
use crate::record::Record;
use crate::stamp::{OverrideState, Stamp};
use crate::time::Now;

/// A member of JSON maps that says which Java class they are.
const CLASS_MARKER: &str = "@class";

/// One instance as two nodes compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestRow {
    /// Id.
    pub id: InstanceId,
    /// Dirty timestamp.
    pub dirty: i64,
    /// Effective status.
    pub status: Status,
    /// Override in force, `UNKNOWN` if there is none.
    pub overridden: Status,
    /// Hash of what the instance says of itself.
    pub content: u64,
    /// Since when the content is what it is, at the node that made the row.
    pub content_since: Since,
    /// When the override was last set or removed, as far as that is known there.
    pub override_stamp: Option<Stamp>,
    /// Milliseconds since the instance itself has last talked to that node; `None` if it never did.
    pub contact_age_ms: Option<u64>,
}

/// For how long something has been so at a node. Ages, because clocks of two machines do not agree, and times do not pass
/// differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// Milliseconds; `None` for longer than anybody knows.
    pub age_ms: Option<u64>,
    /// A client did it by a call to that node.
    pub is_own: bool,
}

/// A cancel as two nodes compare it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigestTombstone {
    /// Id.
    pub id: InstanceId,
    /// Dirty timestamp of what was cancelled.
    pub dirty: i64,
    /// Milliseconds since the cancel came to the node that made this.
    pub age_ms: u64,
}

/// All that a peer knows of one application when it is compared with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerApplication {
    /// Its instances.
    pub rows: Vec<DigestRow>,
    /// Its tombstones.
    pub tombstones: Vec<DigestTombstone>,
}

impl PeerApplication {
    /// What a list shows of one application: what is there, but of nothing since when.
    #[must_use]
    pub fn listed<'a>(instances: impl IntoIterator<Item = &'a Instance>) -> Self {
        Self { rows: instances.into_iter().map(DigestRow::listed).collect(), tombstones: Vec::new() }
    }

    /// The same so many milliseconds later. Add what has passed since the peer was asked: its ages are then right or a
    /// little too high, so of two nodes that compare themselves at least one finds its own state to be the later one.
    #[must_use]
    pub fn aged_by(mut self, ms: u64) -> Self {
        let older = |age_ms: &mut Option<u64>| *age_ms = age_ms.map(|age_ms| age_ms.saturating_add(ms));
        for row in &mut self.rows {
            older(&mut row.content_since.age_ms);
            older(&mut row.contact_age_ms);
        }
        for stone in &mut self.tombstones {
            stone.age_ms = stone.age_ms.saturating_add(ms);
        }
        self
    }
}

impl Since {
    /// From a mark.
    #[must_use]
    pub fn of(mark: Mark, now: Now) -> Self {
        Self { age_ms: mark.age_ms(now), is_own: mark.is_own }
    }
}

impl DigestRow {
    /// Whether it has an override, and since when.
    #[must_use]
    pub fn override_state(&self) -> OverrideState {
        OverrideState::of(self.overridden, self.override_stamp)
    }

    /// The row of an instance in a list.
    fn listed(instance: &Instance) -> Self {
        Self {
            id: InstanceId::clone(&instance.instance_id),
            dirty: instance.last_dirty_timestamp,
            status: instance.status,
            overridden: instance.overridden_status,
            content: content_hash(instance),
            content_since: Since::default(),
            override_stamp: None,
            contact_age_ms: None,
        }
    }

    /// The row of an instance.
    #[must_use]
    pub fn of(marked: &MarkedRecord, now: Now) -> Self {
        let Record { instance, lease, override_stamp, .. } = &*marked.record;
        let contact_ms = lease.direct_contact_ms();
        Self {
            content_since: Since::of(marked.content, now),
            override_stamp: override_stamp.get(),
            contact_age_ms: contact_ms.map(|contact_ms| now.mono_ms.saturating_sub(contact_ms)),
            ..Self::listed(instance)
        }
    }
}

/// Hash of an application; its records must come in the order of their ids.
#[must_use]
pub fn application_hash<'a>(records: impl IntoIterator<Item = &'a Arc<Record>>) -> u64 {
    let mut hash = Fnv::new();
    for record in records {
        let instance = &record.instance;
        hash.text(&instance.instance_id);
        hash.number(instance.last_dirty_timestamp.cast_unsigned());
        hash.text(instance.status.as_str());
        hash.text(instance.overridden_status.as_str());
        hash.number(content_hash(instance));
    }
    hash.0
}

/// Hash of what an instance says of itself: everything but times, status and what servers write into it.
#[must_use]
pub fn content_hash(instance: &Instance) -> u64 {
    let mut hash = Fnv::new();
    hash.text(&instance.host_name);
    hash.text(&instance.ip_addr);
    for port in [instance.port, instance.secure_port] {
        hash.number(u64::from(port.number.cast_unsigned()) << 1 | u64::from(port.enabled));
    }
    hash.number(u64::from(instance.lease.renewal_interval_secs.cast_unsigned()));
    hash.number(u64::from(instance.lease.duration_secs.cast_unsigned()));
    hash.text(instance.data_center.name());
    if let DataCenter::Amazon(metadata) = &instance.data_center {
        hash.entries(metadata.iter());
    }
    hash.entries(instance.metadata.iter());
    let texts = [
        &instance.app_group_name,
        &instance.home_page_url,
        &instance.status_page_url,
        &instance.health_check_url,
        &instance.secure_health_check_url,
        &instance.vip_address,
        &instance.secure_vip_address,
        &instance.asg_name,
    ];
    for text in texts {
        hash.text(text.as_deref().unwrap_or("\0"));
    }
    hash.0
}

/// Fowler, Noll and Vo's hash in its variant 1a, 64 bits. Not for secrets: who can forge a collision can as well register.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// With its length, so that two neighbours cannot pass for two others.
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    /// Entries in any order give the same. What looks like Java's class marker is passed over, as by every reader of JSON: a
    /// peer never gets it, so it would be a difference for ever.
    fn entries<'a>(&mut self, entries: impl Iterator<Item = (&'a str, &'a str)>) {
        let (mut count, mut sum) = (0, 0_u64);
        for (key, value) in entries.filter(|(key, _)| *key != CLASS_MARKER) {
            let mut entry = Self::new();
            entry.text(key);
            entry.text(value);
            count += 1;
            sum = sum.wrapping_add(entry.0);
        }
        self.number(count);
        self.number(sum);
    }
}
