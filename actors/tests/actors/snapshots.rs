//! The snapshot actor under paused time: when it writes, what it survives, what is there after the next start.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heureka_actors::snapshots::{RunningSnapshots, SnapshotActor, SnapshotOptions, Snapshots};
use heureka_actors::{ChangeSink, Clock, Handle, Running, start_with};
use heureka_protocol::Status;
use heureka_registry::{Application, ClockReading, Heartbeat, Origin, Record, Stamp, StartedFrom};
use heureka_snapshots::failure_points::NoFailures;
use heureka_snapshots::lock_file::Holder;
use heureka_snapshots::memory_store::MemoryDisk;
use heureka_snapshots::news::WriterState;
use heureka_snapshots::opening::{Opened, Opening, open};
use heureka_snapshots::restore::RestoreRules;
use heureka_snapshots::writer::Place;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use crate::support::{WALL_START_MS, instance, options};

/// One life of a node, as far as this crate knows nodes.
struct Life {
    handle: Handle,
    snapshots: Arc<Snapshots>,
    running: RunningSnapshots,
}

struct Home {
    dir: tempfile::TempDir,
    disk: MemoryDisk,
    clock: Clock,
    waiting_max: usize,
}

impl Home {
    fn new() -> Self {
        tokio::time::pause();
        let dir = tempfile::tempdir().expect("a folder");
        Self { dir, disk: MemoryDisk::new(), clock: Clock::starting_at(WALL_START_MS), waiting_max: 1_000 }
    }

    fn open(&self) -> Opened {
        let place = Place {
            path: self.dir.path().join("data"),
            holder: Holder { pid: 1, host: "test".into(), started_wall_ms: 0 },
            opener: Arc::new(self.disk.clone()),
            failure_points: Arc::new(NoFailures),
        };
        let opening = Opening {
            place,
            rules: RestoreRules { max_age_ms: 3_600_000, orphan_ttl_ms: 3_600_000 },
            time_limit: Duration::from_secs(60),
            new_node_id: "node".into(),
            software: "test".into(),
        };
        open(opening, self.clock.now()).expect("nobody else")
    }

    fn start(&self) -> Life {
        let now = self.clock.now();
        let Opened { applications, recovered, report, start } = self.open();
        let applications = applications.into_iter().map(|restored| {
            let overrides = restored.overrides.into_iter().map(|(id, status, _)| (id, status));
            Application::from_records(restored.name, restored.records, overrides, 1, now)
        });
        let snapshots = Snapshots::new(report, recovered, self.waiting_max);
        let sinks: Vec<Arc<dyn ChangeSink>> = vec![snapshots.clone()];
        let Running { handle, .. } =
            start_with(self.clock.clone(), options(), sinks, 7, applications.collect());
        let snapshot_options = SnapshotOptions { has_own_thread: false, ..SnapshotOptions::default() };
        let running = SnapshotActor::start(&snapshots, start, handle.clone(), snapshot_options);
        Life { handle, snapshots, running }
    }

    fn stored(&self) -> usize {
        let store = self.dir.path().join("data/store-1");
        let values = self.disk.values(Path::new(&store));
        values.keys().filter(|key| key.first() == Some(&b'i')).count()
    }
}

impl Life {
    fn open(&self) {
        self.handle.open_for_traffic(StartedFrom::Snapshot);
    }

    async fn register(&self, app: &str, id: &str) {
        self.handle.register(instance(app, id), Origin::Client).await.expect("registered");
    }

    async fn stop(self) {
        self.handle.flush().await;
        self.running.stop().await;
    }

    fn state(&self) -> WriterState {
        self.snapshots.status(0).writer.state
    }
}

async fn pass(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

#[actix::test]
async fn an_override_that_is_set_or_removed_again_is_kept_with_its_later_time() {
    let home = Home::new();
    let life = home.start();
    life.open();
    let stamps = &life.handle.shared().options.rules.stamps;
    stamps.hear(ClockReading { ms: 500_000, is_in_step: true }, home.clock.now());
    life.register("SHOP", "a").await;
    life.register("SHOP", "b").await;
    for _ in 0..2 {
        pass(10_000).await;
        life.handle.set_status("SHOP", "a", Status::Down, None, Origin::Client).await.expect("set");
        life.handle.remove_override("SHOP", "b", None, None, Origin::Client).await.expect("removed");
    }
    life.stop().await;
    let kept: Vec<_> = home.open().applications.into_iter().flat_map(|app| app.records).collect();
    let is_later = |record: &Arc<Record>| record.override_state().stamp > Stamp::new(515_000);
    assert!(kept.len() == 2 && kept.iter().all(is_later), "{kept:?}");
}

#[actix::test]
async fn a_change_is_written_within_the_promised_time_and_a_cancel_almost_at_once() {
    let home = Home::new();
    let life = home.start();
    life.open();
    // Between two of the rounds that happen anyway.
    pass(1_200).await;
    life.register("SHOP", "a").await;
    life.register("SHOP", "b").await;
    assert_eq!((life.snapshots.status(home.clock.now().mono_ms).waiting, home.stored()), (2, 0));
    pass(400).await;
    assert_eq!(home.stored(), 0);
    assert!((400..=402).contains(&life.snapshots.status(home.clock.now().mono_ms).lag_ms));
    pass(101).await;
    assert_eq!(home.stored(), 2);
    let status = life.snapshots.status(home.clock.now().mono_ms);
    assert_eq!((status.waiting, status.lag_ms, status.writer.state), (0, 0, WriterState::Following));
    life.register("SHOP", "c").await;
    life.handle.cancel("SHOP", "a", Origin::Client).await.expect("cancelled");
    pass(11).await;
    assert_eq!((home.stored(), life.snapshots.status(0).writer.counts.tombstones), (2, 1));
}

#[actix::test]
async fn nothing_is_written_before_the_node_opens_and_everything_after() {
    let home = Home::new();
    let life = home.start();
    life.register("SHOP", "a").await;
    pass(10_000).await;
    assert_eq!((home.stored(), life.state()), (0, WriterState::Waiting));
    life.open();
    pass(1_001).await;
    assert_eq!((home.stored(), life.state()), (1, WriterState::Following));
}

#[actix::test]
async fn a_node_that_stops_comes_back_as_it_was() {
    let home = Home::new();
    let life = home.start();
    life.open();
    life.register("SHOP", "a").await;
    life.register("SHOP", "b").await;
    life.handle.set_status("SHOP", "b", Status::OutOfService, None, Origin::Client).await.expect("set");
    pass(20).await;
    life.stop().await;
    let life = home.start();
    let report = life.snapshots.status(0).report;
    assert_eq!((report.outcome.as_str(), report.was_clean), ("warm", Some(true)));
    let record = life.handle.instance("SHOP", "b").await.expect("an answer").expect("it is back");
    assert_eq!(record.instance.status, Status::OutOfService);
    assert!(life.snapshots.is_recovered(&record));
    pass(5).await;
    life.handle.renew("SHOP", "b", Heartbeat::default(), Origin::Client).await.expect("an answer");
    let record = life.handle.instance("SHOP", "b").await.expect("an answer").expect("it is there");
    assert!(!life.snapshots.is_recovered(&record));
}

const THREE_HOURS_MS: i64 = 3 * 3_600_000;

#[actix::test]
async fn a_wall_clock_that_is_set_forward_costs_no_instance() {
    come_back_after_the_clock_was_set_by(THREE_HOURS_MS).await;
}

#[actix::test]
async fn a_wall_clock_that_is_set_back_costs_no_instance() {
    come_back_after_the_clock_was_set_by(-THREE_HOURS_MS).await;
}

async fn come_back_after_the_clock_was_set_by(ms: i64) {
    let home = Home::new();
    let life = home.start();
    life.open();
    life.register("SHOP", "a").await;
    pass(5_000).await;
    home.clock.set_wall_by(ms);
    life.handle.renew("SHOP", "a", Heartbeat::default(), Origin::Client).await.expect("an answer");
    // Long before signs of life are written anyway, and before the store says again that it is there.
    pass(1_001).await;
    let age_ms = home.clock.now().wall_ms - life.snapshots.status(0).writer.saved_wall_ms;
    assert!((0..=2_000).contains(&age_ms), "after a crash now the snapshot is {age_ms} ms old");
    life.stop().await;
    let life = home.start();
    let report = life.snapshots.status(0).report;
    assert_eq!((report.counts.instances, report.counts.too_old), (1, 0), "{report}");
}

#[actix::test]
async fn a_disk_that_fails_holds_nobody_up_and_is_made_good() {
    let home = Home::new();
    let life = home.start();
    life.open();
    life.register("SHOP", "a").await;
    pass(1_000).await;
    home.disk.fail_after(0);
    for index in 0..100 {
        life.register("CART", &format!("{index}")).await;
    }
    pass(700).await;
    let status = life.snapshots.status(home.clock.now().mono_ms);
    assert_eq!((status.writer.state, status.waiting), (WriterState::Failing, 100));
    assert!(status.lag_ms >= 700 && status.writer.problem.is_some());
    pass(20_000).await;
    assert_eq!(life.state(), WriterState::Failing);
    home.disk.repair();
    pass(70_000).await;
    let status = life.snapshots.status(home.clock.now().mono_ms);
    assert_eq!((status.writer.state, status.waiting), (WriterState::Following, 0));
    assert_eq!(status.writer.counts.instances, 101);
}

#[actix::test]
async fn too_many_changes_are_made_good_from_the_registry() {
    let home = Home { waiting_max: 5, ..Home::new() };
    let life = home.start();
    life.open();
    pass(1_000).await;
    for index in 0..100 {
        life.register(["SHOP", "CART"][index % 2], &format!("{index}")).await;
    }
    assert_eq!(life.snapshots.status(0).dropped, 95);
    pass(5_000).await;
    assert_eq!(life.state(), WriterState::Following);
    assert_eq!(life.snapshots.status(0).writer.counts.instances, 100);
}

#[actix::test]
async fn one_line_tells_how_it_stands() {
    let home = Home::new();
    let life = home.start();
    let line = |life: &Life| {
        let now = home.clock.now();
        life.snapshots.status(now.mono_ms).summary(now.wall_ms)
    };
    assert_eq!(line(&life), "waiting; cold start: no snapshot was there");
    life.open();
    life.register("SHOP", "a").await;
    pass(1_500).await;
    assert!(line(&life).starts_with("following; 1 instances, saved "), "{}", line(&life));
    home.disk.fail_after(0);
    life.register("SHOP", "b").await;
    pass(600).await;
    let text = line(&life);
    assert!(
        text.starts_with("failing: cannot write the snapshot store") && text.contains("; 1 wait"),
        "{text}"
    );
}

#[actix::test]
async fn metrics_tell_how_it_stands() {
    let home = Home::new();
    let life = home.start();
    life.open();
    life.register("SHOP", "a").await;
    pass(1_000).await;
    let mut registry = Registry::default();
    life.snapshots.register_metrics(&home.clock, &mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).expect("text");
    for line in [
        "snapshot_queue_instances 0",
        "snapshot_state{state=\"following\"} 1",
        "snapshot_state{state=\"failing\"} 0",
        "snapshot_instances 1",
        "snapshot_start{outcome=\"first_start\"} 1",
        "snapshot_failures_total 0",
        "snapshot_panics_total 0",
    ] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line} is not in\n{text}");
    }
}
