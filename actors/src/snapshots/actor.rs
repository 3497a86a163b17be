//! The actor that writes: a timer and a thread around the writer of `heureka-snapshots`, which does everything else.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use heureka_protocol::{AppName, InstanceId};
use heureka_registry::{Now, Record, Tombstone};
use heureka_snapshots::backlog::Backlog;
use heureka_snapshots::contents::Owner;
use heureka_snapshots::restore::Leftovers;
use heureka_snapshots::stored::StoredMeta;
use heureka_snapshots::writer::{Place, Start, Writer, WriterSettings};
use tokio::time::Instant;

use super::queue::Snapshots;
use crate::error::Refused;
use crate::guard::guarded;
use crate::handle::Handle;

/// An instance that is gone must not come back after a crash, so it is written almost at once; the wait lets the changes of
/// a mass cancellation share a batch.
const URGENT_WAIT: Duration = Duration::from_millis(10);
/// Changes of one round: some 15 ms of work.
const SLICE: usize = 1_000;
/// Instances that may wait for their turn besides those in the queue.
const BACKLOG_MAX: usize = 262_144;
/// Under load the writer pauses so many times as long as it has worked: a fifth of one core is enough for 15,000 changes a
/// second, and requests keep the rest.
const PAUSE_FACTOR: u32 = 4;
/// Rounds happen at least this often: time passes for deadlines, retries and the age of the store.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);
/// Longest wait for the last round and the close at a stop. A disk that hangs must not keep the process alive.
const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// The wall clock was set if it is so far from where it should be since the last round.
const CLOCK_LEAP_MS: u64 = 5_000;
/// Time that a stop gives to what waits and to a rewrite under way: enough for several hundred thousand instances.
const LAST_ROUNDS_TIME: Duration = Duration::from_secs(5);

/// Options of the actor.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotOptions {
    /// A change is on disk after at most this long, if the disk keeps up.
    pub write_behind: Duration,
    /// How often the clocks of all leases are looked over for signs of life.
    pub sweep_interval: Duration,
    /// True: a thread of its own. False: the caller's arbiter, for tests under paused time.
    pub has_own_thread: bool,
    /// Options of the writer.
    pub writer: WriterSettings,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            write_behind: Duration::from_secs(1),
            sweep_interval: Duration::from_secs(60),
            has_own_thread: true,
            writer: WriterSettings::default(),
        }
    }
}

/// The actor.
pub struct SnapshotActor {
    snapshots: Arc<Snapshots>,
    handle: Handle,
    options: SnapshotOptions,
    writer: Writer,
    /// To begin again after a panic.
    place: Place,
    identity: StoredMeta,
    /// Taken out of the queue and not written yet.
    backlog: Backlog,
    backlog_oldest_mono_ms: u64,
    next_round: Option<(Instant, SpawnHandle)>,
    /// No round before, not even an urgent one: the last one was long.
    not_before: Instant,
    /// The records of the registry are being asked for. Nothing is written meanwhile: it would be newer than they are.
    is_fetching: bool,
    /// The wall clock minus the monotonic one in the last round.
    clock_offset_ms: i64,
}

/// The running actor, to be stopped at the end.
pub struct RunningSnapshots {
    actor: Addr<SnapshotActor>,
    arbiter: Option<Arbiter>,
}

impl RunningSnapshots {
    /// Writes what waits, closes the store and ends the thread. Everything that shall be kept must have been sent before:
    /// flush the registry first.
    pub async fn stop(self) {
        let is_stopped = self.actor.send(Stop).timeout(STOP_PATIENCE).await.is_ok();
        if !is_stopped {
            tracing::error!("the snapshot was not closed in time; the last changes may be lost");
        }
        if let Some(arbiter) = self.arbiter {
            arbiter.stop();
            // A thread that hangs in the disk would hang this one.
            if is_stopped {
                let _ = arbiter.join();
            }
        }
    }
}

impl SnapshotActor {
    /// Starts the actor. Changes are written from now on, or once the node has opened for traffic.
    #[must_use]
    pub fn start(
        snapshots: &Arc<Snapshots>,
        start: Start,
        handle: Handle,
        options: SnapshotOptions,
    ) -> RunningSnapshots {
        let arbiter = options.has_own_thread.then(Arbiter::new);
        let snapshots = Arc::clone(snapshots);
        let for_actor = Arc::clone(&snapshots);
        let make = move |_: &mut Context<Self>| Self::new(for_actor, start, handle, options);
        let actor = match &arbiter {
            Some(arbiter) => Self::start_in_arbiter(&arbiter.handle(), make),
            None => Self::create(make),
        };
        snapshots.set_actor(actor.clone());
        RunningSnapshots { actor, arbiter }
    }

    fn new(snapshots: Arc<Snapshots>, start: Start, handle: Handle, options: SnapshotOptions) -> Self {
        Self {
            place: start.place.clone(),
            identity: start.identity.clone(),
            writer: Writer::new(options.writer, start),
            clock_offset_ms: clock_offset_ms(handle.shared().clock.now()),
            snapshots,
            handle,
            options,
            backlog: Backlog::default(),
            backlog_oldest_mono_ms: 0,
            next_round: None,
            not_before: Instant::now(),
            is_fetching: false,
        }
    }

    /// Plans a round, unless one is planned before that time.
    fn plan_round(&mut self, wait: Duration, ctx: &mut Context<Self>) {
        let now = Instant::now();
        let wait = wait.max(self.not_before.saturating_duration_since(now));
        let at = now + wait;
        if let Some((planned, timer)) = self.next_round {
            if planned <= at {
                return;
            }
            ctx.cancel_future(timer);
        }
        let timer = ctx.run_later(wait, |actor, ctx| {
            actor.next_round = None;
            actor.round(ctx);
        });
        self.next_round = Some((at, timer));
    }

    /// One round, then whatever it asks for.
    fn round(&mut self, ctx: &mut Context<Self>) {
        let started = Instant::now();
        self.follow_clock();
        self.write();
        let worked = started.elapsed();
        self.not_before = Instant::now() + worked;
        if self.writer.wants_records() && !self.is_fetching {
            self.fetch_records(ctx);
        }
        if self.has_more_to_do() {
            self.plan_round((worked * PAUSE_FACTOR).max(Duration::from_millis(1)), ctx);
        }
        self.tell();
    }

    fn has_more_to_do(&self) -> bool {
        let is_behind = self.writer.is_ready() && !self.backlog.is_empty();
        !self.is_fetching && (self.writer.has_more_to_do() || is_behind)
    }

    /// Times in the store are those of the wall clock. If that was set, those of the living are written anew at once, or a
    /// start soon after would take them for long gone.
    fn follow_clock(&mut self) {
        let offset_ms = clock_offset_ms(self.handle.shared().clock.now());
        let leap_ms = offset_ms.abs_diff(std::mem::replace(&mut self.clock_offset_ms, offset_ms));
        if leap_ms > CLOCK_LEAP_MS {
            self.sweep();
            self.writer.note_clock_set();
        }
    }

    /// Lets the writer write the next of what waits. False if it could not.
    fn write(&mut self) -> bool {
        guarded("snapshots", || self.try_write()).unwrap_or_else(|_| {
            self.begin_again();
            false
        })
    }

    fn try_write(&mut self) -> bool {
        let now = self.handle.shared().clock.now();
        if self.handle.shared().is_opened() {
            self.writer.open_for_traffic();
        }
        self.writer.recover(now);
        if self.snapshots.pending().is_incomplete() {
            self.writer.note_incomplete();
        }
        if self.is_fetching || !self.writer.is_ready() {
            return false;
        }
        if self.backlog.len() < BACKLOG_MAX {
            self.take();
        }
        let slice = self.backlog.next_slice(SLICE);
        let is_written = self.writer.round(&slice, now).is_ok();
        if !is_written {
            self.backlog.give_back(slice);
        }
        is_written
    }

    /// Takes everything out of the queue.
    fn take(&mut self) {
        let (taken, oldest_mono_ms) = self.snapshots.take();
        if let Some(oldest_mono_ms) = oldest_mono_ms.filter(|_| self.backlog.is_empty()) {
            self.backlog_oldest_mono_ms = oldest_mono_ms;
        }
        self.backlog.merge(taken);
    }

    /// A writer that has panicked is not trusted; a new one finds its folder by itself and asks for all records, since
    /// what the old one had taken is lost with it.
    fn begin_again(&mut self) {
        self.snapshots.panics.inc();
        let start = Start {
            place: self.place.clone(),
            folder: None,
            knows_folder: self.writer.knows_folder(),
            current: None,
            target: None,
            identity: self.identity.clone(),
            leftovers: Leftovers::default(),
            recovered: self.snapshots.recovered(),
            problem: Some("the writer failed; it begins again".into()),
        };
        self.writer = Writer::new(self.options.writer, start);
    }

    /// Asks every application for its records. Changes that come in after it was asked wait in the queue and go on top.
    fn fetch_records(&mut self, ctx: &mut Context<Self>) {
        self.is_fetching = true;
        self.snapshots.pending().start_anew();
        self.backlog.expect_records();
        let fetched = all_known(self.handle.clone()).into_actor(self).map(|known, actor, ctx| {
            actor.is_fetching = false;
            match known {
                Ok((records, cancels)) => {
                    let now = actor.handle.shared().clock.now();
                    actor.backlog.settle_with(&records);
                    actor.writer.take_records(records, cancels, now);
                    actor.plan_round(Duration::ZERO, ctx);
                }
                // The next round asks again.
                Err(refused) => tracing::debug!(%refused, "the registry is too busy to be written anew"),
            }
        });
        ctx.spawn(fetched);
    }

    /// Looks the lease clocks over for signs of life.
    fn sweep(&mut self) {
        if !self.writer.is_ready() {
            return;
        }
        let view = self.handle.shared().view();
        let now = self.handle.shared().clock.now();
        let records = view.apps().flat_map(|app| app.entries()).map(|entry| &*entry.record);
        // A failure of the disk is told by the writer.
        let swept = guarded("snapshots", || drop(self.writer.sweep(records, now)));
        if swept.is_err() {
            self.begin_again();
        }
    }

    fn tell(&mut self) {
        for news in self.writer.take_news() {
            if news.is_warning() {
                tracing::warn!("{news}");
            } else {
                tracing::info!("{news}");
            }
        }
        self.snapshots.publish(self.writer.stats(), self.backlog.len(), self.backlog_oldest_mono_ms);
    }
}

fn clock_offset_ms(now: Now) -> i64 {
    now.wall_ms.saturating_sub(i64::try_from(now.mono_ms).unwrap_or(i64::MAX))
}

type Known = (Vec<Arc<Record>>, Vec<(Owner, Tombstone)>);

/// The records and the remembered cancels of all applications, each as it is after every change that its actor has sent
/// before.
async fn all_known(handle: Handle) -> Result<Known, Refused> {
    let names: Vec<AppName> = handle.shared().directory().entries().map(|(name, _)| name.clone()).collect();
    let (mut records, mut cancels) = Known::default();
    for name in names {
        let known = handle.perform(&name, |core| {
            let app = &core.application;
            let owner = |id: &InstanceId| (app.name().clone(), InstanceId::clone(id));
            let cancels = app.tombstones().map(|(id, tombstone)| (owner(id), *tombstone)).collect::<Vec<_>>();
            (app.records().cloned().collect::<Vec<_>>(), cancels)
        });
        if let Some((more_records, more_cancels)) = known.await? {
            records.extend(more_records);
            cancels.extend(more_cancels);
        }
    }
    Ok((records, cancels))
}

impl Actor for SnapshotActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(IDLE_INTERVAL, |actor, ctx| actor.plan_round(Duration::ZERO, ctx));
        ctx.run_interval(self.options.sweep_interval, |actor, _| actor.sweep());
        self.tell();
    }
}

/// Changes wait.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Wake {
    /// Some of them are instances that are gone.
    pub is_urgent: bool,
}

impl Handler<Wake> for SnapshotActor {
    type Result = ();

    fn handle(&mut self, wake: Wake, ctx: &mut Self::Context) {
        // Half of the promised time is for waiting, half for writing.
        let wait = if wake.is_urgent { URGENT_WAIT } else { self.options.write_behind / 2 };
        self.plan_round(wait.min(self.options.write_behind / 2), ctx);
    }
}

/// Writes the rest and closes.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Stop;

impl Handler<Stop> for SnapshotActor {
    type Result = ();

    fn handle(&mut self, _: Stop, ctx: &mut Self::Context) {
        let started = Instant::now();
        self.writer.give_up_needless_rewrite();
        self.writer.retry_now();
        let mut is_written = self.write();
        while is_written && self.has_more_to_do() && started.elapsed() < LAST_ROUNDS_TIME {
            is_written = self.write();
        }
        is_written &= !self.has_more_to_do();
        self.sweep();
        let now = self.handle.shared().clock.now();
        match (is_written, self.writer.close(is_written, now)) {
            (_, Ok(true)) => tracing::info!("the snapshot is complete"),
            (_, Err(error)) => tracing::warn!(%error, "the last changes are not in the snapshot"),
            (true, Ok(false)) => {
                tracing::warn!("the snapshot is not complete: the next start gives its last whole state")
            }
            (false, Ok(false)) if !self.handle.shared().is_opened() => {
                tracing::info!("the snapshot is as it was: this node has not opened for traffic");
            }
            (false, Ok(false)) => {
                let why = self.writer.stats().problem.unwrap_or_else(|| "no time is left".to_owned());
                let waiting = self.backlog.len() + self.snapshots.pending().len();
                tracing::warn!(waiting, "the last changes are not in the snapshot: {why}");
            }
        }
        self.tell();
        ctx.stop();
    }
}

#[cfg(test)]
mod tests {
    use heureka_protocol::Instance;
    use heureka_registry::{Origin, StartedFrom};
    use heureka_snapshots::failure_points::NoFailures;
    use heureka_snapshots::lock_file::Holder;
    use heureka_snapshots::memory_store::MemoryDisk;
    use heureka_snapshots::opening::{Opening, open};
    use heureka_snapshots::restore::RestoreRules;

    use super::*;
    use crate::{Clock, Options, Placement, Running, start};

    fn actor(place: Place) -> SnapshotActor {
        let clock = Clock::starting_at(1_700_000_000_000);
        let opening = Opening {
            place,
            rules: RestoreRules { max_age_ms: 3_600_000, orphan_ttl_ms: 3_600_000 },
            time_limit: Duration::from_secs(60),
            new_node_id: "node".into(),
            software: "test".into(),
        };
        let opened = open(opening, clock.now()).expect("nobody else");
        let snapshots = Snapshots::new(opened.report, opened.recovered, 1_000);
        let options = Options { placement: Placement::OneArbiter, ..Options::default() };
        let Running { handle, .. } = start(clock, options, vec![snapshots.clone()], 7);
        handle.open_for_traffic(StartedFrom::Nothing);
        SnapshotActor::new(snapshots, opened.start, handle, SnapshotOptions::default())
    }

    #[actix::test]
    async fn nothing_is_written_while_the_registry_is_asked_for_all_records() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut actor = actor(Place {
            path: dir.path().join("data"),
            holder: Holder { pid: 1, host: "test".into(), started_wall_ms: 0 },
            opener: Arc::new(MemoryDisk::new()),
            failure_points: Arc::new(NoFailures),
        });
        assert!(actor.write());
        // Records that are fetched now are older than this one, and must not be written over it.
        actor.is_fetching = true;
        let instance = Instance::with_defaults(AppName::new("SHOP"), "a".into(), "host.example", "192.0.2.1");
        actor.handle.register(instance, Origin::Client).await.expect("registered");
        assert!(!actor.write() && !actor.has_more_to_do());
        let waiting = |actor: &SnapshotActor| actor.snapshots.status(0).waiting + actor.backlog.len();
        assert_eq!((actor.writer.stats().counts.instances, waiting(&actor)), (0, 1));
        actor.is_fetching = false;
        assert!(actor.write());
        assert_eq!((actor.writer.stats().counts.instances, waiting(&actor)), (1, 0));
    }
}
