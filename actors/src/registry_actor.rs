//! Which applications exist and where their actors are; eviction, the renew rate, the histories.
//!
//! It is asked when an application is new, and by its own timers. Calls for known applications go past it, through the
//! published directory.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use heureka_protocol::AppName;
use heureka_registry::Application;
use heureka_registry::eviction_plan::Compensation;
use heureka_registry::histories::Histories;
use heureka_registry::random::{Random, SplitMix64};
use heureka_registry::self_preservation::SelfPreservation;
use tokio::time::Instant;

use crate::app_actor::{AppActor, Perform, RetireIfEmpty, Retirement};
use crate::app_core::AppCore;
use crate::arbiters::Arbiters;
use crate::cache_actor::CacheActor;
use crate::directory::{AppAddress, Directory};
use crate::error::Refused;
use crate::eviction::{EvictionRun, run_eviction};
use crate::guard::guarded;
use crate::history::Note;
use crate::shared::Shared;

/// Period of the renew rate.
const MINUTE: Duration = Duration::from_secs(60);
/// Shortest time between two rounds of making room in a full registry.
const ROOM_INTERVAL: Duration = Duration::from_secs(1);
/// Period in which applications without instances are looked for.
const RETIREMENT_INTERVAL: Duration = Duration::from_secs(30);

/// The actor.
pub struct RegistryActor {
    shared: Arc<Shared>,
    cache: Addr<CacheActor>,
    arbiters: Arbiters,
    directory: Directory,
    application_count: usize,
    histories: Histories,
    compensation: Compensation,
    last_room_made: Option<Instant>,
    random: SplitMix64,
}

impl RegistryActor {
    /// An actor without applications.
    pub fn new(shared: Arc<Shared>, cache: Addr<CacheActor>, arbiters: Arbiters, seed: u64) -> Self {
        Self {
            shared,
            cache,
            arbiters,
            directory: Directory::default(),
            application_count: 0,
            histories: Histories::default(),
            compensation: Compensation::new(),
            last_room_made: None,
            random: SplitMix64::new(seed),
        }
    }

    fn open(&mut self, name: &AppName, ctx: &mut Context<Self>) -> Result<AppAddress, Refused> {
        if let Some(address) = self.directory.get(&**name) {
            return Ok(AppAddress::clone(address));
        }
        let limit = self.shared.options.limits.applications;
        if self.application_count >= limit {
            self.shared.metrics.refused_registrations.inc();
            self.make_room(ctx);
            return Err(Refused::RegistryFull { limit });
        }
        let address = self.start_application(Application::new(name.clone()), ctx.address());
        self.directory.insert(name.clone(), Arc::new(address.clone()));
        self.application_count += 1;
        self.shared.publish_directory(self.directory.clone());
        Ok(address)
    }

    fn start_application(&self, application: Application, registry: Addr<Self>) -> AppAddress {
        let name = application.name().clone();
        let (shared, cache) = (self.shared.clone(), self.cache.clone());
        AppAddress(
            self.arbiters
                .start_application(&name, move || AppActor::new(shared, application, cache, registry)),
        )
    }

    /// Asks every application for its expired leases, plans, and has the planned ones evicted.
    fn run_eviction(&mut self, ctx: &mut Context<Self>) {
        let interval_ms =
            u64::try_from(self.shared.options.eviction_interval.as_millis()).unwrap_or(u64::MAX);
        // Time by which this run is later than planned: leases get it on top.
        let extra_ms = self.compensation.start_sweep(self.shared.clock.now().mono_ms, interval_ms);
        if !self.shared.is_lease_expiration_enabled() {
            return;
        }
        let run = EvictionRun {
            shared: self.shared.clone(),
            directory: self.directory.clone(),
            extra_ms,
            random: SplitMix64::new(self.random.next_u64()),
        };
        ctx.spawn(run_eviction(run).into_actor(self));
    }

    /// Takes applications out of the directory that have neither instances nor anything to remember (defect D25).
    fn retire_empty(&mut self, ctx: &mut Context<Self>) {
        self.retire(ctx, Retirement::IfForgettable);
    }

    /// The registry is full: what applications without instances remember must go, or whoever registers and cancels under
    /// many names locks everybody else out. At most once a second, because it asks all of them.
    fn make_room(&mut self, ctx: &mut Context<Self>) {
        let is_due = self.last_room_made.is_none_or(|last| last.elapsed() >= ROOM_INTERVAL);
        if is_due {
            self.last_room_made = Some(Instant::now());
            self.retire(ctx, Retirement::IfWithoutInstances);
        }
    }

    fn retire(&mut self, ctx: &mut Context<Self>, retirement: Retirement) {
        let view = self.shared.view();
        let candidates = self.directory.entries().filter(|(name, _)| view.app(name).is_none());
        for (name, address) in candidates {
            let (name, address) = (name.clone(), AppAddress::clone(address));
            let asked = address.0.send(RetireIfEmpty(retirement)).into_actor(self);
            ctx.spawn(asked.map(move |reply, actor, _| {
                if matches!(reply, Ok(true)) {
                    actor.forget(&name, &address);
                }
            }));
        }
    }

    /// Takes an application that has retired out of the directory, unless another actor of that name is there already.
    fn forget(&mut self, name: &AppName, retired: &AppAddress) {
        if self.directory.get(&**name).is_none_or(|current| current.0 != retired.0) {
            return;
        }
        self.directory.remove(&**name);
        self.application_count = self.directory.len();
        self.shared.publish_directory(self.directory.clone());
    }
}

impl Actor for RegistryActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(MINUTE, |actor, _| {
            actor.shared.renewals().tick();
        });
        ctx.run_interval(self.shared.options.eviction_interval, Self::run_eviction);
        ctx.run_interval(self.shared.options.threshold_update_interval, |actor, _| {
            actor.shared.with_protection(SelfPreservation::update_threshold);
        });
        ctx.run_interval(RETIREMENT_INTERVAL, Self::retire_empty);
    }
}

/// Asks for the actor of an application, which is made if it is new.
#[derive(Message)]
#[rtype(result = "Result<AppAddress, Refused>")]
pub struct Open(pub AppName);

impl Handler<Open> for RegistryActor {
    type Result = Result<AppAddress, Refused>;

    fn handle(&mut self, Open(name): Open, ctx: &mut Self::Context) -> Self::Result {
        guarded("registry", || self.open(&name, ctx)).unwrap_or(Err(Refused::Internal))
    }
}

/// The applications that the registry starts with; sent before anybody else can send anything.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TakeDirectory(pub Directory);

impl Handler<TakeDirectory> for RegistryActor {
    type Result = ();

    fn handle(&mut self, TakeDirectory(directory): TakeDirectory, _: &mut Self::Context) {
        self.application_count = directory.len();
        self.directory = directory;
    }
}

/// Notes for the histories.
#[derive(Message)]
#[rtype(result = "()")]
pub struct TakeNotes(pub Vec<Note>);

impl Handler<TakeNotes> for RegistryActor {
    type Result = ();

    fn handle(&mut self, TakeNotes(notes): TakeNotes, _: &mut Self::Context) {
        for note in notes {
            note.add_to(&mut self.histories);
        }
    }
}

/// Asks for the histories.
#[derive(Message)]
#[rtype(result = "Histories")]
pub struct GetHistories;

impl Handler<GetHistories> for RegistryActor {
    type Result = MessageResult<GetHistories>;

    fn handle(&mut self, _: GetHistories, _: &mut Self::Context) -> Self::Result {
        MessageResult(self.histories.clone())
    }
}

/// Runs an eviction now, whatever the timer says; for operators and tests.
#[derive(Message)]
#[rtype(result = "()")]
pub struct EvictNow;

impl Handler<EvictNow> for RegistryActor {
    type Result = ();

    fn handle(&mut self, _: EvictNow, ctx: &mut Self::Context) {
        self.run_eviction(ctx);
    }
}

/// Sends a step to an application; `None` if it has retired or panicked.
pub(crate) async fn perform<F, R>(address: &AppAddress, step: F) -> Option<R>
where
    F: FnOnce(&mut AppCore) -> R + Send + 'static,
    R: Send + 'static,
{
    address.0.send(Perform::new(step, None)).await.ok()?.ok()
}
