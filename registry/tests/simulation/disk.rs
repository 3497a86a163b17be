//! What a node keeps on its disk and gets back from it: the stored forms and the restart rules of `heureka-snapshots`.
//! Which changes a crash loses is the simulation's choice: an image may be of the last moment or older.

use std::collections::BTreeMap;
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};
use heureka_registry::{Application, Change, ChangeKind, Now, Override, OverrideState, Record, Rules};
use heureka_snapshots::contents::{Contents, LoadedInstance, Owner};
use heureka_snapshots::key::{Key, Name};
use heureka_snapshots::restore::{RestoreRules, restore};
use heureka_snapshots::stored::{
    StoredInstance, StoredMeta, StoredOverride, StoredTombstone, TombstoneLife, from_payload, seen_wall_ms,
    to_payload,
};

/// Beyond this age a snapshot gives back overrides and tombstones only.
const SNAPSHOT_AGE_MAX_MS: u64 = 3_600_000;

/// Cancels as the writer keeps them: from the changes, not from the registry.
#[derive(Clone, Debug, Default)]
pub struct KeptCancels(BTreeMap<(AppName, InstanceId), StoredTombstone>);

impl KeptCancels {
    pub fn take(&mut self, change: &Change, now: Now, rules: &Rules) {
        let owner = (change.app.clone(), InstanceId::clone(&change.id));
        let life = TombstoneLife {
            ttl_ms: rules.tombstone_ttl_ms,
            eviction_interval_ms: rules.eviction_interval_ms,
        };
        match change.kind {
            ChangeKind::Cancelled => {
                let known = change.tombstone.as_deref();
                let stone = StoredTombstone::of(&change.record, known, change.at_mono_ms, now, life);
                self.0.insert(owner, stone);
            }
            ChangeKind::Evicted => {}
            _ => {
                self.0.remove(&owner);
            }
        }
    }
}

/// A snapshot.
#[derive(Clone, Debug, Default)]
pub struct Image {
    saved_timestamp: i64,
    instances: Vec<(Owner, Vec<u8>)>,
    overrides: Vec<(Owner, StoredOverride)>,
    cancels: KeptCancels,
}

impl Image {
    pub fn of<'a>(apps: impl Iterator<Item = &'a Application>, cancels: &KeptCancels, now: Now) -> Self {
        let mut image = Self { saved_timestamp: now.wall_ms, cancels: cancels.clone(), ..Self::default() };
        for app in apps {
            let owner = |id: &InstanceId| (app.name().clone(), InstanceId::clone(id));
            let instances = app.records().map(|record| {
                let stored = StoredInstance::of(record, seen_wall_ms(&record.lease, now));
                (owner(&record.instance.instance_id), to_payload(&stored).unwrap())
            });
            image.instances.extend(instances);
            let overrides = app.overrides().filter_map(|(id, status)| {
                let waiting = app.override_of(id).and_then(Override::waiting_stamp);
                let stamp = app.get(id).map_or(waiting, |record| record.override_stamp.get());
                Some((owner(id), StoredOverride::of(OverrideState::of(status, stamp))?))
            });
            image.overrides.extend(overrides);
        }
        image
    }

    /// The records in it, as they were.
    pub fn records(&self, now: Now) -> Vec<Arc<Record>> {
        self.loaded(now).into_iter().map(|loaded| loaded.record).collect()
    }

    pub fn override_of(&self, app: &str, id: &str) -> Option<Status> {
        let stored = self.overrides.iter().find(|((name, owner), _)| **name == *app && **owner == *id);
        stored.map(|(_, stored)| stored.status.into())
    }

    fn loaded(&self, now: Now) -> Vec<LoadedInstance> {
        let load = |((app, id), payload): &(Owner, Vec<u8>)| {
            let key = Key::Instance(Name { app, id }).to_bytes().unwrap();
            let stored = from_payload(payload).unwrap();
            LoadedInstance::of(stored, &key, (app.clone(), InstanceId::clone(id)), now).unwrap()
        };
        self.instances.iter().map(load).collect()
    }

    /// True if it holds the cancel of an instance.
    pub fn has_cancel(&self, app: &AppName, id: &InstanceId) -> bool {
        self.cancels.0.contains_key(&(app.clone(), InstanceId::clone(id)))
    }

    /// What a restart gives back, with the cancels that the writer goes on with.
    pub fn restored(
        &self,
        now: Now,
        rules: &Rules,
        forgets_cancels: bool,
    ) -> (Vec<Application>, KeptCancels) {
        let cancels = if forgets_cancels { KeptCancels::default() } else { self.cancels.clone() };
        let contents = Contents {
            meta: StoredMeta { saved_timestamp: self.saved_timestamp, ..StoredMeta::default() },
            instances: self.loaded(now),
            overrides: self.overrides.clone(),
            tombstones: cancels.0.iter().map(|(owner, stone)| (owner.clone(), *stone)).collect(),
            ..Contents::default()
        };
        let restore_rules =
            RestoreRules { max_age_ms: SNAPSHOT_AGE_MAX_MS, orphan_ttl_ms: rules.orphan_override_ttl_ms };
        let restored = restore(contents, restore_rules, now);
        let apps = restored.applications.into_iter().map(|app| {
            Application::restored(app.name, app.records, app.overrides, app.tombstones, now, rules)
        });
        (apps.collect(), cancels)
    }
}
