//! The changes of one application in the last minutes, as deltas offer them (`registry.md` 6.1, 6.2).
//!
//! Everybody gets the same entries again and again and must be able to apply them twice. The log keeps records by value,
//! so an entry shows what was true at its change. It builds no document and knows no hash.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use foldhash::quality::RandomState;
use heureka_protocol::{ActionType, InstanceId};

use crate::record::Record;

/// One change that a delta shows.
#[derive(Clone, Debug)]
pub struct DeltaEntry {
    /// The record after the change.
    pub record: Arc<Record>,
    /// What happened.
    pub action: ActionType,
    /// Monotonic time of the change, milliseconds.
    pub at_mono_ms: u64,
}

/// Log of one application: at most one entry per instance, the last change wins (invariants D-4 to D-7).
#[derive(Clone, Debug, Default)]
pub struct DeltaLog {
    by_position: BTreeMap<u64, DeltaEntry>,
    positions: HashMap<InstanceId, u64, RandomState>,
    next_position: u64,
}

impl DeltaLog {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a change; an earlier entry of the same instance goes.
    pub fn push(&mut self, record: Arc<Record>, action: ActionType, at_mono_ms: u64) {
        let position = self.next_position;
        self.next_position += 1;
        if let Some(old) = self.positions.insert(Arc::clone(&record.instance.instance_id), position) {
            self.by_position.remove(&old);
        }
        self.by_position.insert(position, DeltaEntry { record, action, at_mono_ms });
    }

    /// Drops the entries that are strictly older than `before_mono_ms`; true if there were any.
    pub fn expire(&mut self, before_mono_ms: u64) -> bool {
        let length = self.by_position.len();
        while let Some(oldest) = self.by_position.first_entry() {
            if oldest.get().at_mono_ms >= before_mono_ms {
                break;
            }
            self.positions.remove(&oldest.remove().record.instance.instance_id);
        }
        self.by_position.len() < length
    }

    /// The entries as a delta must list them: ADDED and MODIFIED in the order of their changes, then DELETED. Java
    /// clients mishandle a removal that comes before an addition (defect D10).
    pub fn entries(&self) -> impl Iterator<Item = &DeltaEntry> {
        let removals = |is_removal: bool| {
            let entries = self.by_position.values();
            entries.filter(move |entry| (entry.action == ActionType::Deleted) == is_removal)
        };
        removals(false).chain(removals(true))
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_position.len()
    }

    /// True if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_position.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use heureka_protocol::{AppName, DataCenter, Instance, LeaseInfo, Metadata, Port, Status};

    use super::*;
    use crate::lease::Lease;
    use crate::time::Now;

    fn record(id: usize) -> Arc<Record> {
        let instance = Instance {
            instance_id: Arc::from(id.to_string()),
            host_name: Box::from("host"),
            app: AppName::new("A"),
            ip_addr: Box::from("10.0.0.1"),
            sid: None,
            status: Status::Up,
            overridden_status: Status::Unknown,
            port: Port::DEFAULT_PLAIN,
            secure_port: Port::DEFAULT_SECURE,
            country_id: 1,
            data_center: DataCenter::MyOwn,
            lease: LeaseInfo::default(),
            metadata: Metadata::new(),
            app_group_name: None,
            home_page_url: None,
            status_page_url: None,
            health_check_url: None,
            secure_health_check_url: None,
            vip_address: None,
            secure_vip_address: None,
            is_coordinating_discovery_server: false,
            last_updated_timestamp: 0,
            last_dirty_timestamp: 0,
            action_type: None,
            asg_name: None,
        };
        let lease = Lease::starting(Now { mono_ms: 0, wall_ms: 0 }, 90_000);
        Arc::new(Record { instance, reported_status: Status::Up, lease })
    }

    #[test]
    fn an_expired_entry_leaves_nothing_behind() {
        let mut log = DeltaLog::new();
        for id in 0..100 {
            log.push(record(id % 10), ActionType::Added, 0);
        }
        assert_eq!((log.positions.len(), log.by_position.len()), (10, 10));
        log.expire(1);
        assert_eq!((log.positions.len(), log.by_position.len()), (0, 0));
    }
}
