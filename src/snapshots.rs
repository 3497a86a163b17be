//! Warm restart, as the node sees it: settings in, applications to start with out, and a writer beside the registry.
//!
//! A snapshot can stop a start for one reason only: another process uses its folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use heureka_actors::side_by_side;
use heureka_actors::snapshots::{RunningSnapshots, SnapshotActor, SnapshotOptions, Snapshots};
use heureka_actors::{Clock, Handle, Options};
use heureka_config::Settings;
use heureka_config::settings::SnapshotSettings;
use heureka_registry::{Application, Now, Rules};
use heureka_snapshots::failure_points::NoFailures;
use heureka_snapshots::lock_file::Holder;
use heureka_snapshots::opening::{Opened, Opening, open};
use heureka_snapshots::restore::{RestoreRules, RestoredApplication};
use heureka_snapshots::sled_store::Sled;
use heureka_snapshots::stored::TombstoneLife;
use heureka_snapshots::writer::{Place, Start, WriterSettings};

use crate::peers::identity;

/// Longest wait for a snapshot. A million instances take a tenth of it; a cold start is better than a longer wait.
const LOAD_TIME_LIMIT: Duration = Duration::from_secs(20);
/// Instances whose latest state may wait for the disk: more than change while a disk recovers, 50 MB at most.
const WAITING_MAX: usize = 262_144;

/// What a start has found.
pub struct Loaded {
    /// Applications to start the registry with.
    pub applications: Vec<Application>,
    /// The sink for changes; `None` if snapshots are switched off.
    pub snapshots: Option<Arc<Snapshots>>,
    start: Option<Start>,
    options: SnapshotOptions,
}

/// Rules of a restart with these settings.
#[must_use]
pub fn restore_rules(settings: &SnapshotSettings, rules: &Rules) -> RestoreRules {
    RestoreRules {
        max_age_ms: settings.max_age_secs.saturating_mul(1000),
        orphan_ttl_ms: rules.orphan_override_ttl_ms,
    }
}

/// Loads what the last run has kept.
///
/// # Errors
/// If another process uses the folder.
pub fn load(settings: &Settings, options: &Options, clock: &Clock) -> anyhow::Result<Loaded> {
    let snapshot_options = snapshot_options(&settings.snapshots, &options.rules);
    if !settings.snapshots.enabled {
        let applications = Vec::new();
        return Ok(Loaded { applications, snapshots: None, start: None, options: snapshot_options });
    }
    let now = clock.now();
    let opening = Opening {
        place: place(&settings.snapshots.folder, now),
        rules: restore_rules(&settings.snapshots, &options.rules),
        time_limit: LOAD_TIME_LIMIT,
        new_node_id: identity::draw(clock).node,
        software: env!("CARGO_PKG_VERSION").into(),
    };
    let Opened { applications, recovered, report, start } = match open(opening, now) {
        Ok(opened) => opened,
        Err(held) => bail!(
            "{held}; every node needs a folder of its own (heureka.snapshots.folder: {})",
            settings.snapshots.folder.display()
        ),
    };
    let applications = side_by_side::map(applications, |restored| application(restored, now, &options.rules));
    let snapshots = Some(Snapshots::new(report, recovered, WAITING_MAX));
    Ok(Loaded { applications, snapshots, start: Some(start), options: snapshot_options })
}

impl Loaded {
    /// True if the snapshot has given back instances: then the node may open at once.
    #[must_use]
    pub fn is_warm(&self) -> bool {
        self.applications.iter().any(|application| !application.is_empty())
    }
}

/// Starts the writer beside a registry that has been started with the loaded applications; `None` if snapshots are off.
#[must_use]
pub fn run(loaded: Loaded, registry: &Handle) -> Option<RunningSnapshots> {
    let Loaded { snapshots: Some(snapshots), start: Some(start), options, .. } = loaded else { return None };
    Some(SnapshotActor::start(&snapshots, start, registry.clone(), options))
}

fn application(restored: RestoredApplication, now: Now, rules: &Rules) -> Application {
    let RestoredApplication { name, records, overrides, tombstones } = restored;
    Application::restored(name, records, overrides, tombstones, now, rules)
}

/// Where the snapshots of this process are.
fn place(folder: &Path, now: Now) -> Place {
    Place {
        path: folder.to_path_buf(),
        holder: Holder::this_process(now.wall_ms),
        opener: Arc::new(Sled),
        failure_points: Arc::new(NoFailures),
    }
}

fn snapshot_options(settings: &SnapshotSettings, rules: &Rules) -> SnapshotOptions {
    let tombstones =
        TombstoneLife { ttl_ms: rules.tombstone_ttl_ms, eviction_interval_ms: rules.eviction_interval_ms };
    SnapshotOptions {
        write_behind: Duration::from_millis(settings.write_behind_ms),
        writer: WriterSettings { tombstones, ..WriterSettings::default() },
        ..SnapshotOptions::default()
    }
}
