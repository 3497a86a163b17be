//! A registry, a disk and a writer between them, under a clock of their own: with crashes, failures and restarts.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use heureka_protocol::{AppName, Instance, InstanceId, Status};
use heureka_registry::{Application, Change, Heartbeat, Now, Origin, Record, Rules};
use heureka_snapshots::backlog::Backlog;
use heureka_snapshots::failure_points::{FailurePoints, Step};
use heureka_snapshots::lock_file::Holder;
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::opening::{Opened, Opening, open};
use heureka_snapshots::pending::Pending;
use heureka_snapshots::report::LoadReport;
use heureka_snapshots::restore::RestoreRules;
use heureka_snapshots::store::OpenStore;
use heureka_snapshots::writer::{Place, Writer, WriterSettings};
use tempfile::TempDir;

use crate::support::{NOW, instance};

/// How long a start waits in tests: long enough for the slowest machine.
pub const PATIENCE: Duration = Duration::from_secs(60);
pub const HOUR_MS: u64 = 3_600_000;

/// Lets so many steps pass, then fails for ever.
#[derive(Debug)]
pub struct FailAt {
    left: AtomicU64,
    pub passed: Mutex<Vec<Step>>,
}

impl FailAt {
    pub fn never() -> Arc<Self> {
        Self::after(u64::MAX)
    }

    pub fn after(steps: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(steps), passed: Mutex::default() })
    }
}

impl FailurePoints for FailAt {
    fn reach(&self, step: Step) -> io::Result<()> {
        self.passed.lock().unwrap().push(step);
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| io::Error::other("the process ends here"))
    }
}

/// What is known of an instance, in a form that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub instance: Instance,
    pub reported: Status,
    pub duration_ms: u64,
    pub registered: i64,
}

/// Everything that a snapshot is to give back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    pub instances: BTreeMap<(AppName, InstanceId), Known>,
    pub overrides: BTreeMap<(AppName, InstanceId), Status>,
    pub tombstones: BTreeMap<(AppName, InstanceId), i64>,
}

fn known(record: &Record) -> Known {
    Known {
        instance: record.instance.clone(),
        reported: record.reported_status,
        duration_ms: record.lease.duration_ms,
        registered: record.lease.registration_timestamp,
    }
}

impl Picture {
    pub fn of<'a>(apps: impl IntoIterator<Item = &'a Application>, now: Now) -> Self {
        let mut picture = Self::default();
        for app in apps {
            let owner = |id: &InstanceId| (app.name().clone(), Arc::clone(id));
            for record in app.records() {
                picture.instances.insert(owner(&record.instance.instance_id), known(record));
            }
            picture.overrides.extend(app.overrides().map(|(id, status)| (owner(id), status)));
            let living = app.tombstones().filter(|(_, tombstone)| tombstone.until_mono_ms > now.mono_ms);
            picture.tombstones.extend(living.map(|(id, t)| (owner(id), t.last_dirty_timestamp)));
        }
        picture
    }

    /// The time of the last change of an instance is the only thing that a crash between two rounds may make older.
    pub fn ids(&self) -> Vec<String> {
        self.instances.keys().map(|(app, id)| format!("{app}/{id}")).collect()
    }
}

/// In memory where that is possible: these tests are about order, not about the speed of a disk.
fn fast_folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A node that has run with three instances (one overridden) and a cancelled one, and is gone.
pub fn crashed() -> World {
    let mut world = World::following();
    for id in ["a", "b", "c", "d"] {
        world.register(instance("SHOP", id));
    }
    world.set_status("SHOP", "b", Status::OutOfService);
    world.cancel("SHOP", "d");
    world.round();
    world.crash();
    world
}

/// Names of the stores that were moved aside.
pub fn quarantines(world: &World) -> Vec<String> {
    let names = std::fs::read_dir(world.place().path).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.contains(".quarantine-")).collect();
    names.sort();
    names
}

/// One node over several lives.
pub struct World {
    pub dir: TempDir,
    pub disk: MemoryDisk,
    pub opener: Arc<dyn OpenStore>,
    pub failure_points: Arc<FailAt>,
    pub rules: Rules,
    pub settings: WriterSettings,
    pub now: Now,
    pub apps: BTreeMap<AppName, Application>,
    pub pending: Pending,
    pub backlog: Backlog,
    pub writer: Option<Writer>,
    pub report: Option<LoadReport>,
    pub recovered: Option<heureka_snapshots::restore::RecoveredMark>,
    /// The registry when the last round succeeded, once the node had opened.
    pub saved: Picture,
}

impl World {
    pub fn new() -> Self {
        let disk = MemoryDisk::new();
        Self::with_store(disk.clone(), Arc::new(disk))
    }

    pub fn with_store(disk: MemoryDisk, opener: Arc<dyn OpenStore>) -> Self {
        Self {
            dir: fast_folder(),
            disk,
            opener,
            failure_points: FailAt::never(),
            rules: Rules::default(),
            settings: WriterSettings::default(),
            now: NOW,
            apps: BTreeMap::new(),
            pending: Pending::with_limit(100_000),
            backlog: Backlog::default(),
            writer: None,
            report: None,
            recovered: None,
            saved: Picture::default(),
        }
    }

    /// A node that has started for the first time, has opened and follows.
    pub fn following() -> Self {
        let mut world = Self::new();
        world.start();
        world.open();
        world.round();
        world
    }

    pub fn pass(&mut self, ms: u64) {
        self.now.mono_ms += ms;
        self.now.wall_ms += i64::try_from(ms).unwrap();
    }

    pub fn place(&self) -> Place {
        Place {
            path: self.dir.path().join("data"),
            holder: Holder { pid: 1, host: "test".into(), started_wall_ms: 0 },
            opener: Arc::clone(&self.opener),
            failure_points: Arc::<FailAt>::clone(&self.failure_points),
        }
    }

    pub fn opening(&self) -> Opening {
        Opening {
            place: self.place(),
            rules: RestoreRules { max_age_ms: HOUR_MS, orphan_ttl_ms: self.rules.orphan_override_ttl_ms },
            time_limit: PATIENCE,
            new_node_id: "node-1".into(),
            software: "0.1.0".into(),
        }
    }

    /// Starts the process: loads and restores, as a node does.
    pub fn start(&mut self) {
        assert!(self.writer.is_none(), "it runs already");
        let Opened { applications, recovered, report, start } = open(self.opening(), self.now).unwrap();
        self.pending = Pending::with_limit(100_000);
        self.backlog = Backlog::default();
        self.apps.clear();
        for restored in applications {
            let name = restored.name.clone();
            let (records, overrides, tombstones) =
                (restored.records, restored.overrides, restored.tombstones);
            let app =
                Application::restored(name.clone(), records, overrides, tombstones, self.now, &self.rules);
            self.apps.insert(name, app);
        }
        self.report = Some(report);
        self.recovered = recovered;
        self.writer = Some(Writer::new(self.settings, start));
    }

    pub fn outcome(&self) -> &'static str {
        self.report.as_ref().unwrap().outcome.as_str()
    }

    pub fn open(&mut self) {
        self.writer().open_for_traffic();
    }

    pub fn writer(&mut self) -> &mut Writer {
        self.writer.as_mut().unwrap()
    }

    /// The process ends without any warning.
    pub fn crash(&mut self) {
        self.writer = None;
    }

    /// So does the machine.
    pub fn lose_power(&mut self) {
        self.writer = None;
        self.disk.lose_power();
    }

    pub fn stop(&mut self) {
        self.round();
        self.end(true);
    }

    /// Closes; `is_complete` says whether changes still wait.
    pub fn end(&mut self, is_complete: bool) {
        let now = self.now;
        self.writer().close(is_complete, now).unwrap();
        self.writer = None;
    }

    /// Crash, start, open, first round.
    pub fn restart(&mut self) {
        self.crash();
        self.start();
        self.open();
        self.round();
    }

    pub fn picture(&self) -> Picture {
        Picture::of(self.apps.values(), self.now)
    }

    /// What the actor does until nothing is left to do. False if a round failed.
    pub fn try_round(&mut self) -> bool {
        loop {
            if !self.tick() {
                return false;
            }
            let writer = self.writer.as_ref().unwrap();
            if !writer.has_more_to_do() && !writer.wants_records() && self.backlog.is_empty() {
                self.saved = self.picture();
                return true;
            }
        }
    }

    /// Rounds until one of them leaves a rewrite under way, or fails.
    pub fn try_round_until_busy(&mut self) {
        while self.tick() && !self.writer().has_more_to_do() && self.writer().wants_records() {}
    }

    fn tick(&mut self) -> bool {
        let now = self.now;
        let writer = self.writer.as_mut().unwrap();
        writer.recover(now);
        if self.pending.is_incomplete() {
            writer.note_incomplete();
        }
        if writer.wants_records() {
            self.pending.start_anew();
            self.backlog.expect_records();
            let records: Vec<_> = self.apps.values().flat_map(|app| app.records().cloned()).collect();
            self.backlog.settle_with(&records);
            let cancels = self.apps.values().flat_map(|app| {
                app.tombstones().map(|(id, stone)| ((app.name().clone(), Arc::clone(id)), *stone))
            });
            writer.take_records(records, cancels.collect::<Vec<_>>(), now);
        }
        if !writer.is_ready() {
            return false;
        }
        self.backlog.merge(self.pending.take());
        let slice = self.backlog.next_slice(usize::MAX);
        let is_written = writer.round(&slice, now).is_ok();
        if !is_written {
            self.backlog.give_back(slice);
        }
        is_written
    }

    pub fn round(&mut self) {
        assert!(self.try_round(), "{:?}", self.writer().stats());
    }

    pub fn sweep(&mut self) {
        let now = self.now;
        let records: Vec<_> = self.apps.values().flat_map(|app| app.records().cloned()).collect();
        self.writer().sweep(records.iter().map(|record| &**record), now).unwrap();
    }

    fn change(&mut self, name: &str, step: impl FnOnce(&mut Application, Now, &Rules) -> Vec<Change>) {
        let name = AppName::new(name);
        let app = self.apps.entry(name.clone()).or_insert_with(|| Application::new(name));
        for change in step(app, self.now, &self.rules) {
            self.pending.accept(&change);
        }
    }

    pub fn register(&mut self, instance: Instance) {
        let app = instance.app.clone();
        self.change(&app, |app, now, rules| {
            app.register(instance, Origin::Client, now, rules).into_iter().collect()
        });
    }

    pub fn cancel(&mut self, app: &str, id: &str) {
        self.change(app, |app, now, rules| app.cancel(id, Origin::Client, now, rules).into_iter().collect());
    }

    pub fn evict(&mut self, app: &str, id: &str) {
        self.change(app, |app, now, rules| app.evict(&[id.into()], now, 0, rules));
    }

    pub fn set_status(&mut self, app: &str, id: &str, status: Status) {
        self.change(app, |app, now, rules| {
            let outcome = app.set_status(id, status, None, Origin::Client, now, rules);
            match outcome {
                heureka_registry::StatusOutcome::Changed(change) => vec![change],
                _ => Vec::new(),
            }
        });
    }

    pub fn beat(&mut self, app: &str, id: &str) {
        self.change(app, |app, now, rules| {
            app.renew(id, &Heartbeat::default(), Origin::Client, now, rules).change.into_iter().collect()
        });
    }
}
