//! Which of the contents of a store come back to life, and how. Pure: contents and a moment in, applications out.
//!
//! - An instance comes back with a fresh grace of one lease duration. It counts as *recovered* until it gives a sign of
//!   life ([`RecoveredMark`]).
//! - An instance that was cancelled or whose lease had ended never does.
//! - A snapshot beyond its age gives back overrides and tombstones only; so does, for itself, an instance that had given
//!   no sign of life for that long. Without this a node that restarts often would keep the dead alive for ever. A sign of
//!   life from the future, before the wall clock was set back, is replaced by another or counts from now.
//! - An override whose instance does not come back waits for it, for a while (`registry.md` defect D13).

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::quality::RandomState;
use heureka_protocol::{AppName, InstanceId, Status};
use heureka_registry::{Now, Record, Stamp, Tombstone};

use crate::contents::{Contents, LoadedInstance, Owner, SeenTimes};
use crate::key::{Key, Name};
use crate::stored::{StoredOverride, StoredStatus, StoredTombstone};

/// By how much a stored sign of life may lag behind the last one, besides the lease durations.
const SEEN_LAG_MS: u64 = 300_000;

/// A registration in the very millisecond of the start is younger than it by less than this. One that is further ahead was
/// made before the wall clock was set back.
const SAME_MOMENT_MS: i64 = 1_000;

/// Settings of a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestoreRules {
    /// A snapshot beyond this age gives back overrides and tombstones only.
    pub max_age_ms: u64,
    /// Life of an override without an instance.
    pub orphan_ttl_ms: u64,
}

/// One application, ready for `Application::from_records` and `restore_tombstone`.
#[derive(Debug)]
pub struct RestoredApplication {
    /// Name.
    pub name: AppName,
    /// Records whose leases count from now.
    pub records: Vec<Arc<Record>>,
    /// Overrides, with and without a record, and when they were set.
    pub overrides: Vec<(InstanceId, Status, Option<Stamp>)>,
    /// Tombstones that still count.
    pub tombstones: Vec<(InstanceId, Tombstone)>,
}

/// What came back, and what did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreCounts {
    /// Instances that are back.
    pub instances: u64,
    /// Overrides that are back.
    pub overrides: u64,
    /// Tombstones that are back.
    pub tombstones: u64,
    /// Instances left out because the snapshot, or their last sign of life, is too old.
    pub too_old: u64,
    /// Instances left out because they were cancelled or their lease had ended.
    pub ended: u64,
}

/// Tells recovered instances from those that have given a sign of life since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredMark {
    /// Where the clock of every restored lease stands.
    pub mono_ms: u64,
    /// When that was.
    pub wall_ms: i64,
}

impl RecoveredMark {
    /// True if all that is known of the record comes from the snapshot. A heartbeat moves the clock; a registration has a
    /// time of its own.
    #[must_use]
    pub fn is_recovered(&self, record: &Record) -> bool {
        let registered_after_ms = record.lease.registration_timestamp.saturating_sub(self.wall_ms);
        record.lease.clock.get() == Some(self.mono_ms)
            && record.lease.direct_contact_ms().is_none()
            && !(0..SAME_MOMENT_MS).contains(&registered_after_ms)
    }
}

/// Work that a start leaves for the writer.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Keys to remove: unreadable, or of no use any more.
    pub remove: Vec<Vec<u8>>,
    /// Overrides without an instance, and when they are over on the monotonic clock.
    pub orphans: Vec<(Owner, StoredOverride, u64)>,
    /// Tombstones that came back, and when they are over on the monotonic clock.
    pub tombstones: Vec<(Owner, StoredTombstone, u64)>,
    /// Last signs of life of the instances that came back, as they are stored.
    pub seen: SeenTimes,
}

/// What a restart gives back.
#[derive(Debug)]
pub struct Restored {
    /// Applications in the order of their names.
    pub applications: Vec<RestoredApplication>,
    /// Figures.
    pub counts: RestoreCounts,
    /// Age of the snapshot; negative if the clock was set back meanwhile.
    pub age_ms: i64,
    /// True if it was too old for instances.
    pub is_too_old: bool,
    /// For the writer.
    pub leftovers: Leftovers,
}

/// Applies the rules to contents that have been checked.
#[must_use]
pub fn restore(contents: Contents, rules: RestoreRules, now: Now) -> Restored {
    let age_ms = now.wall_ms.saturating_sub(contents.meta.saved_timestamp);
    let is_too_old = age_ms.unsigned_abs() > rules.max_age_ms;
    let mut restorer = Restorer {
        rules,
        now,
        is_too_old,
        applications: HashMap::default(),
        counts: RestoreCounts::default(),
        leftovers: Leftovers { remove: contents.bad_keys, ..Leftovers::default() },
    };
    for (owner, tombstone) in contents.tombstones {
        match tombstone.restored(now) {
            Some(restored) => restorer.add_tombstone(owner, tombstone, restored),
            None => restorer.leave_out(Key::Tombstone(name(&owner))),
        }
    }
    restorer.leftovers.seen.reserve(contents.instances.len());
    for instance in contents.instances {
        restorer.add_instance(instance, &contents.seen);
    }
    for (owner, stored) in contents.overrides {
        restorer.add_override(owner, stored);
    }
    let Restorer { applications, counts, leftovers, .. } = restorer;
    let mut applications: Vec<_> = applications.into_values().collect();
    applications.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Restored { applications, counts, age_ms, is_too_old, leftovers }
}

/// Contents come in the order of their keys, so each list of an application is in the order of ids.
struct Restorer {
    rules: RestoreRules,
    now: Now,
    is_too_old: bool,
    applications: HashMap<AppName, RestoredApplication, RandomState>,
    counts: RestoreCounts,
    leftovers: Leftovers,
}

impl Restorer {
    fn application(&mut self, app: &AppName) -> &mut RestoredApplication {
        self.applications.entry(app.clone()).or_insert_with(|| RestoredApplication {
            name: app.clone(),
            records: Vec::new(),
            overrides: Vec::new(),
            tombstones: Vec::new(),
        })
    }

    fn add_tombstone(&mut self, (app, id): Owner, stored: StoredTombstone, restored: Tombstone) {
        self.counts.tombstones += 1;
        self.application(&app).tombstones.push((Arc::clone(&id), restored));
        self.leftovers.tombstones.push(((app, id), stored, restored.until_mono_ms));
    }

    fn add_instance(&mut self, loaded: LoadedInstance, seen: &SeenTimes) {
        let instance = &loaded.record.instance;
        let (app, id) = (&instance.app, &instance.instance_id);
        let seen_ms = loaded.last_seen_ms(seen, self.now);
        if loaded.is_ended || self.is_cancelled(app, id) {
            self.counts.ended += 1;
            self.leave_out(Key::Instance(Name { app, id }));
        } else if self.is_too_old || self.is_forgotten(seen_ms, loaded.record.lease.duration_ms) {
            self.counts.too_old += 1;
            self.leave_out(Key::Instance(Name { app, id }));
        } else {
            self.counts.instances += 1;
            self.leftovers.seen.insert(loaded.seen_hash, self.stored_secs(&loaded, seen));
            let app = app.clone();
            self.application(&app).records.push(loaded.record);
        }
    }

    fn is_cancelled(&self, app: &AppName, id: &InstanceId) -> bool {
        let is_in = |app: &RestoredApplication| app.tombstones.binary_search_by(|(t, _)| t.cmp(id)).is_ok();
        self.applications.get(app).is_some_and(is_in)
    }

    /// True if the instance has not been heard of for longer than a snapshot may be old.
    fn is_forgotten(&self, seen_ms: i64, duration_ms: u64) -> bool {
        let lag_ms = duration_ms.saturating_mul(2).saturating_add(SEEN_LAG_MS);
        let silence_ms = self.now.wall_ms.saturating_sub(seen_ms).unsigned_abs();
        silence_ms > self.rules.max_age_ms.saturating_add(lag_ms)
    }

    /// What the writer is to take for the stored sign of life. One in the future is left as it is, so that the writer sees
    /// that it must be written anew.
    fn stored_secs(&self, loaded: &LoadedInstance, seen: &SeenTimes) -> u32 {
        let secs_of = |ms: i64| u32::try_from(ms / 1000).unwrap_or(0);
        let stored_secs = seen.get(&loaded.seen_hash).copied().unwrap_or(secs_of(loaded.seen_timestamp));
        if stored_secs > secs_of(self.now.wall_ms) {
            stored_secs
        } else {
            secs_of(loaded.last_seen_ms(seen, self.now))
        }
    }

    fn add_override(&mut self, (app, id): Owner, stored: StoredOverride) {
        let (now, ttl_ms) = (self.now, self.rules.orphan_ttl_ms);
        let has_instance = self.applications.get(&app).is_some_and(|app| {
            app.records.binary_search_by(|record| record.instance.instance_id.cmp(&id)).is_ok()
        });
        if !has_instance {
            let since_ms = stored.orphaned_timestamp.unwrap_or(now.wall_ms).min(now.wall_ms);
            let age_ms = now.wall_ms.saturating_sub(since_ms).unsigned_abs();
            if stored.status == StoredStatus::Unknown || age_ms > ttl_ms {
                self.leave_out(Key::Override(Name { app: &app, id: &id }));
                return;
            }
            let orphan = StoredOverride { orphaned_timestamp: Some(since_ms), ..stored };
            let until_mono_ms = now.mono_ms.saturating_add(ttl_ms - age_ms);
            self.leftovers.orphans.push(((app.clone(), Arc::clone(&id)), orphan, until_mono_ms));
        }
        self.counts.overrides += 1;
        let stamp = stored.stamp.and_then(Stamp::new);
        self.application(&app).overrides.push((id, stored.status.into(), stamp));
    }

    fn leave_out(&mut self, key: Key<'_>) {
        self.leftovers.remove.extend(key.to_bytes());
    }
}

fn name((app, id): &Owner) -> Name<'_> {
    Name { app, id }
}
