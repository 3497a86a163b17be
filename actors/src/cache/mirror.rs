//! A copy of another region's registry, kept up to date from its lists and deltas (spec `replication.md` 7.1).
//!
//! It knows no network: whoever asks the region hands the answers in. An answer that brings nothing new changes nothing,
//! so that what has been encoded stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::applications::Applications;
use heureka_protocol::{ActionType, AppName, Instance, InstanceId, LeaseInfo};
use heureka_registry::{Lease, Now, Record, StampCell};

use super::entry::Entry;
use super::view::View;

/// Instances up to which the first copy is news too. A larger one would stand in every delta for minutes; who sees it appear
/// finds another hash code and fetches once.
const NEWS_MAX: usize = 1_000;

/// The copy.
#[derive(Debug)]
pub struct MirrorWriter {
    view: View,
    /// How long deltas show a change, in milliseconds.
    retention_ms: u64,
    has_changed: bool,
    /// True once there was an instance: what comes and goes from then on is news, also after an empty copy.
    was_filled: bool,
}

impl MirrorWriter {
    /// An empty copy.
    #[must_use]
    pub fn new(retention_ms: u64) -> Self {
        Self { view: View::default(), retention_ms, has_changed: false, was_filled: false }
    }

    /// True if there is no instance: then a delta says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.view.counts().total() == 0
    }

    /// Takes a whole list. What differs becomes news for deltas, but for a large first copy.
    pub fn take_list(&mut self, list: Applications, now: Now) {
        let mut apps: BTreeMap<AppName, BTreeMap<InstanceId, Instance>> = BTreeMap::new();
        for instance in list.applications.into_iter().flat_map(|(_, instances)| instances) {
            let app = apps.entry(instance.app.clone()).or_default();
            app.insert(instance.instance_id.clone(), instance);
        }
        let is_first = !self.was_filled;
        self.was_filled |= !apps.is_empty();
        if is_first && apps.values().map(BTreeMap::len).sum::<usize>() > NEWS_MAX {
            let entries = |instances: BTreeMap<InstanceId, Instance>| {
                instances.into_values().map(|instance| entry(instance, ActionType::Added, now)).collect()
            };
            self.has_changed = !apps.is_empty();
            let version = self.view.version();
            self.view =
                View::of_entries(apps.into_iter().map(|(name, instances)| (name, entries(instances))));
            self.view.raise_version(version);
            return;
        }
        let is_gone = |entry: &&Arc<Entry>| {
            apps.get(entry.app()).is_none_or(|instances| !instances.contains_key(entry.id()))
        };
        let gone: Vec<Arc<Entry>> =
            self.view.apps().flat_map(|app| app.entries()).filter(is_gone).cloned().collect();
        for last in gone {
            self.remove(&last, now);
        }
        for instance in apps.into_values().flat_map(BTreeMap::into_values) {
            self.put(instance, now);
        }
    }

    /// Takes a delta. False if the copy is then not what the region says it is, and a whole list is needed.
    #[must_use]
    pub fn take_delta(&mut self, delta: Applications, now: Now) -> bool {
        for instance in delta.applications.into_iter().flat_map(|(_, instances)| instances) {
            if instance.action_type == Some(ActionType::Deleted) {
                let known =
                    self.view.app(&instance.app).and_then(|app| app.get(&instance.instance_id)).cloned();
                if let Some(last) = known {
                    self.remove(&last, now);
                }
            } else {
                self.put(instance, now);
            }
        }
        delta.hash.is_some_and(|hash| *hash == *self.view.counts().hash_code())
    }

    /// The next version, if anything has changed since the last one.
    pub fn publish(&mut self, now: Now) -> Option<Arc<View>> {
        self.has_changed |= self.view.expire_recent(now.mono_ms.saturating_sub(self.retention_ms));
        if !std::mem::take(&mut self.has_changed) {
            return None;
        }
        self.view.bump_version();
        Some(Arc::new(self.view.clone()))
    }

    /// Keeps the removals that deltas show within a bound, as [`View::bound_removals`] does; returns how many they lose.
    pub fn bound_removals(&mut self, max_bytes: usize) -> usize {
        let dropped = self.view.bound_removals(max_bytes);
        self.has_changed |= dropped > 0;
        dropped
    }

    fn put(&mut self, instance: Instance, now: Now) {
        let known = self.view.app(&instance.app).and_then(|app| app.get(&instance.instance_id));
        let action = match known {
            Some(known) if says_the_same(&known.record.instance, &instance) => return,
            Some(_) => ActionType::Modified,
            None => ActionType::Added,
        };
        self.view.take(entry(instance, action, now), false, now.mono_ms);
        self.has_changed = true;
    }

    fn remove(&mut self, last: &Arc<Entry>, now: Now) {
        let instance = last.record.instance.clone();
        self.view.take(entry(instance, ActionType::Deleted, now), true, now.mono_ms);
        self.has_changed = true;
    }
}

/// An instance with the lease times that its own region publishes.
fn entry(instance: Instance, action: ActionType, now: Now) -> Arc<Entry> {
    let lease = instance.lease;
    let duration_ms = u64::try_from(lease.duration_secs).unwrap_or(0) * 1000;
    let record = Record {
        reported_status: instance.status,
        lease: Lease::starting(now, duration_ms),
        instance: Instance { action_type: Some(action), ..instance },
        override_stamp: StampCell::default(),
    };
    Arc::new(Entry { record: Arc::new(record), lease })
}

/// True if only lease times and the last action differ: heartbeats are no news.
fn says_the_same(known: &Instance, new: &Instance) -> bool {
    let shown = |instance: &Instance| Instance {
        action_type: None,
        lease: LeaseInfo {
            renewal_interval_secs: instance.lease.renewal_interval_secs,
            duration_secs: instance.lease.duration_secs,
            ..LeaseInfo::default()
        },
        ..instance.clone()
    };
    shown(known) == shown(new)
}
