//! What callers hold: every operation on the registry, without a word about actors.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use heureka_protocol::{AppName, Instance, InstanceId, Status};
use heureka_registry::histories::Histories;
use heureka_registry::{
    Application, ClockReading, Heartbeat, MetadataLimits, Origin, QuickRenewal, Record, RegistryError,
    RenewalAnswer, StartedFrom,
};

use crate::app_actor::{NotPerformed, Perform};
use crate::app_core::{AppCore, StatusAnswer};
use crate::arbiters::OwnedArbiters;
use crate::cache::{Document, Variant, View};
use crate::cache_actor::{CacheActor, CurrentView, MakeDocument};
use crate::clock::Clock;
use crate::directory::AppAddress;
use crate::error::Refused;
use crate::history::Note;
use crate::options::Options;
use crate::registry_actor::{EvictNow, GetHistories, Open, RegistryActor, TakeNotes};
use crate::restore;
use crate::shared::{ChangeSink, Shared};

/// Longest wait for an actor. A registry that is slower than this is not working.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often a step is sent again because its application has just retired.
const RETIREMENT_RETRIES: usize = 3;

/// Handle to the running registry; cheap to clone.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
    registry: Addr<RegistryActor>,
    cache: Addr<CacheActor>,
}

/// The running registry: the handle and the threads to stop at the end.
pub struct Running {
    /// For callers.
    pub handle: Handle,
    arbiters: OwnedArbiters,
}

/// Starts the actors without any application. Needs a running actix system.
pub fn start(clock: Clock, options: Options, sinks: Vec<Arc<dyn ChangeSink>>, seed: u64) -> Running {
    start_with(clock, options, sinks, seed, Vec::new())
}

/// Starts the actors with applications that a snapshot has given back. They are served from the first moment: view,
/// directory and totals are complete when this returns. No sink hears of them.
pub fn start_with(
    clock: Clock,
    options: Options,
    sinks: Vec<Arc<dyn ChangeSink>>,
    seed: u64,
    applications: Vec<Application>,
) -> Running {
    let arbiters = OwnedArbiters::start(options.placement);
    let cache_options = options.cache.clone();
    let shared = Arc::new(Shared::new(clock, options, sinks));
    let view = restore::publish_view(&shared, &applications);
    let cache = arbiters.start_cache({
        let shared = shared.clone();
        move || CacheActor::new(shared, cache_options, view)
    });
    let registry = arbiters.start_registry({
        let (shared, cache, leases) = (shared.clone(), cache.clone(), arbiters.for_leases());
        move || RegistryActor::new(shared, cache, leases, seed)
    });
    restore::start_applications(&shared, &arbiters.for_leases(), &cache, &registry, applications);
    Running { handle: Handle { shared, registry, cache }, arbiters }
}

impl Running {
    /// Stops the actors after everything sent before has been handled.
    pub async fn stop(self) {
        self.handle.flush().await;
        self.arbiters.stop();
    }
}

impl Handle {
    /// Clocks, options, counters and published pointers.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Opens for traffic: list queries are answered from now on.
    pub fn open_for_traffic(&self, from: StartedFrom) {
        self.shared.open_for_traffic(from);
    }

    /// A peer of our kind has told what its clock shows. If that is the first one, all that was done to overrides before gets
    /// its stamp. Needs a running arbiter.
    pub fn hear_clock(&self, theirs: ClockReading) {
        if !self.shared.options.rules.stamps.hear(theirs, self.shared.clock.now()) {
            return;
        }
        let handle = self.clone();
        actix::spawn(async move {
            let names: Vec<AppName> =
                handle.shared.directory().entries().map(|(name, _)| name.clone()).collect();
            for name in names {
                // One that is too busy does it with the next thing that happens in it.
                let _ = handle.perform(&name, |core| core.settle_stamps()).await;
            }
        });
    }

    /// Registers an instance under its application.
    ///
    /// # Errors
    /// [`Refused`] if the registry is full, overloaded or broken; nothing has changed then.
    pub async fn register(&self, instance: Instance, origin: Origin) -> Result<(), Refused> {
        let app = instance.app.clone();
        let address = self.open(&app).await?;
        self.perform_at(address, &app, move |core| core.register(instance, origin)).await?
    }

    /// A heartbeat. Most are answered from the published view, by moving the lease's clock, without any actor.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn renew(
        &self,
        app: &str,
        id: &str,
        beat: Heartbeat,
        origin: Origin,
    ) -> Result<RenewalAnswer, Refused> {
        if origin == Origin::Client && self.renew_quickly(app, id, beat.last_dirty) {
            return Ok(RenewalAnswer::Renewed);
        }
        let id = InstanceId::from(id);
        let step = move |core: &mut AppCore| core.renew(&id, &beat, origin);
        match self.perform(&AppName::new(app), step).await? {
            Some(answer) => Ok(answer),
            None => {
                self.shared.metrics.renew.count(origin);
                self.shared.metrics.renew_not_found.count(origin);
                Ok(RenewalAnswer::NotFound)
            }
        }
    }

    fn renew_quickly(&self, app: &str, id: &str, dirty: Option<i64>) -> bool {
        let view = self.shared.view_guard();
        let Some(entry) = view.app(app).and_then(|app| app.get(id)) else { return false };
        let rules = &self.shared.options.rules;
        if rules.groups.is_some() && entry.record.instance.asg_name.is_some() {
            // The status depends on the group, which the owner asks for.
            return false;
        }
        let expiry = rules.lease_expiry;
        let answer = entry.record.try_quick_renewal(dirty, self.shared.clock.now(), expiry);
        let is_renewed = answer == QuickRenewal::Renewed;
        if is_renewed {
            self.shared.metrics.renew.count(Origin::Client);
            self.shared.metrics.quick_renewals.inc();
            self.shared.count_renewal();
            self.shared.send_renewal_to_sinks(&entry.record);
        }
        is_renewed
    }

    /// Cancels an instance; false if there was none.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn cancel(&self, app: &str, id: &str, origin: Origin) -> Result<bool, Refused> {
        let name = AppName::new(app);
        let id = InstanceId::from(id);
        let step = {
            let id = InstanceId::clone(&id);
            move |core: &mut AppCore| core.cancel(&id, origin)
        };
        let found = self.perform(&name, step).await?;
        if found.is_none() {
            self.shared.metrics.cancel.count(origin);
            self.shared.metrics.cancel_not_found.count(origin);
            let note = Note::cancelled(self.shared.clock.now(), &name, id);
            self.registry.do_send(TakeNotes(vec![note]));
        }
        Ok(found.unwrap_or(false))
    }

    /// Remembers that an instance was cancelled that is not known here, if lists of peers are on their way that may still
    /// hold it.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn remember_cancel(&self, app: &str, id: &str, origin: Origin) -> Result<(), Refused> {
        if !self.shared.is_copying() {
            return Ok(());
        }
        let id = InstanceId::from(id);
        self.perform_or_open(&AppName::new(app), move |core| core.remember_cancel(&id, origin)).await
    }

    /// Sets an override.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn set_status(
        &self,
        app: &str,
        id: &str,
        status: Status,
        dirty: Option<i64>,
        origin: Origin,
    ) -> Result<StatusAnswer, Refused> {
        let id = InstanceId::from(id);
        let step = move |core: &mut AppCore| core.set_status(&id, status, dirty, origin);
        Ok(self.perform(&AppName::new(app), step).await?.unwrap_or(StatusAnswer::NotFound))
    }

    /// Removes an override.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn remove_override(
        &self,
        app: &str,
        id: &str,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
    ) -> Result<StatusAnswer, Refused> {
        let id = InstanceId::from(id);
        let step = move |core: &mut AppCore| core.remove_override(&id, status, dirty, origin);
        Ok(self.perform(&AppName::new(app), step).await?.unwrap_or(StatusAnswer::NotFound))
    }

    /// Adds metadata entries to an instance.
    ///
    /// # Errors
    /// Outer: [`Refused`] as for [`Handle::register`]. Inner: no such instance, or too much metadata.
    pub async fn merge_metadata(
        &self,
        app: &str,
        id: &str,
        entries: Vec<(String, String)>,
        limits: MetadataLimits,
        origin: Origin,
    ) -> Result<Result<(), RegistryError>, Refused> {
        let id = InstanceId::from(id);
        let step = move |core: &mut AppCore| core.merge_metadata(&id, entries, limits, origin);
        Ok(self.perform(&AppName::new(app), step).await?.unwrap_or(Err(RegistryError::InstanceNotFound)))
    }

    /// The current record of an instance; `None` if there is none or its expired lease is hidden.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn instance(&self, app: &str, id: &str) -> Result<Option<Arc<Record>>, Refused> {
        let id = InstanceId::from(id);
        Ok(self.perform(&AppName::new(app), move |core| core.look_up(&id)).await?.flatten())
    }

    /// The current record of the first instance with an id, in any application.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn instance_by_id(&self, id: &str) -> Result<Option<Arc<Record>>, Refused> {
        let view = self.current_view().await?;
        for entry in view.find_instances(id) {
            // One that is hidden, because its lease has expired, must not hide another of the same id.
            if let Some(record) = self.instance(entry.app(), id).await? {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    /// Overrides in force, of all applications.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn overrides(&self) -> Result<Vec<(InstanceId, Status)>, Refused> {
        let names: Vec<AppName> = self.shared.directory().entries().map(|(name, _)| name.clone()).collect();
        let mut all = Vec::new();
        for name in names {
            all.extend(self.perform(&name, |core| core.overrides()).await?.unwrap_or_default());
        }
        Ok(all)
    }

    /// Performs several steps on one application without anything in between; `None` if there is no such application.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn perform<R: Send + 'static>(
        &self,
        app: &AppName,
        step: impl FnOnce(&mut AppCore) -> R + Send + 'static,
    ) -> Result<Option<R>, Refused> {
        let Some(address) = self.shared.directory().get(&**app).map(|address| AppAddress::clone(address))
        else {
            return Ok(None);
        };
        self.perform_at(address, app, step).await.map(Some)
    }

    /// Performs several steps on one application, which is made if there is none.
    ///
    /// # Errors
    /// [`Refused`] as for [`Handle::register`].
    pub async fn perform_or_open<R: Send + 'static>(
        &self,
        app: &AppName,
        step: impl FnOnce(&mut AppCore) -> R + Send + 'static,
    ) -> Result<R, Refused> {
        let address = self.open(app).await?;
        self.perform_at(address, app, step).await
    }

    async fn open(&self, app: &AppName) -> Result<AppAddress, Refused> {
        if let Some(address) = self.shared.directory().get(&**app) {
            return Ok(AppAddress::clone(address));
        }
        let opened = self.registry.send(Open(app.clone())).timeout(PATIENCE).await;
        opened.map_err(Refused::from)?
    }

    /// Sends a step and waits for its answer. The step happens even if the caller goes away: a write must not depend on
    /// a client's patience.
    async fn perform_at<R: Send + 'static>(
        &self,
        mut address: AppAddress,
        app: &AppName,
        step: impl FnOnce(&mut AppCore) -> R + Send + 'static,
    ) -> Result<R, Refused> {
        let overloaded = |waiting| {
            self.shared.metrics.refused_writes.inc();
            Refused::Overloaded { waiting }
        };
        if self.shared.cache_backlog.is_full() {
            return Err(overloaded(self.shared.cache_backlog.len()));
        }
        let permit = self.shared.writes.try_enter().ok_or_else(|| overloaded(self.shared.writes.len()))?;
        let mut message = Perform::new(step, Some(permit));
        for _ in 0..RETIREMENT_RETRIES {
            let sent = actix::spawn(address.0.send(message).timeout(PATIENCE));
            match sent.await.map_err(|_| Refused::Internal)?? {
                Ok(result) => return Ok(result),
                Err(NotPerformed::Panicked) => return Err(Refused::Internal),
                Err(NotPerformed::Retired(returned)) => message = returned,
            }
            // The directory is about to forget the retired actor; the registry actor makes a new one then.
            tokio::task::yield_now().await;
            address = self.open(app).await?;
        }
        Err(Refused::Overloaded { waiting: self.shared.writes.len() })
    }

    /// A view that shows every change whose reply has been sent: the read-write tier.
    ///
    /// # Errors
    /// [`Refused`] if the cache does not answer.
    pub async fn current_view(&self) -> Result<Arc<View>, Refused> {
        self.cache.send(CurrentView).timeout(PATIENCE).await.map_err(Refused::from)
    }

    /// The view that list queries show: of the read-only tier, or of the read-write tier if the former is off.
    ///
    /// # Errors
    /// [`Refused`] if the read-write tier is asked and does not answer.
    pub async fn list_view(&self) -> Result<Arc<View>, Refused> {
        if self.shared.options.cache.use_read_only_tier {
            Ok(self.shared.view())
        } else {
            self.current_view().await
        }
    }

    /// A whole-registry document of the tier that list queries show. It is made on the cache's thread if nobody has made
    /// it yet.
    ///
    /// # Errors
    /// [`Refused`] if the cache is asked and does not answer.
    pub async fn document(&self, variant: Variant) -> Result<Arc<Document>, Refused> {
        self.shared.demand.note(variant, self.shared.clock.now().mono_ms);
        let view = self.list_view().await?;
        if let Some(document) = view.ready_document(variant) {
            return Ok(document.clone());
        }
        let made = self.cache.send(MakeDocument(view, variant)).timeout(PATIENCE);
        made.await.map_err(Refused::from)?
    }

    /// Last registrations and cancellations.
    ///
    /// # Errors
    /// [`Refused`] if the registry actor does not answer.
    pub async fn histories(&self) -> Result<Histories, Refused> {
        self.registry.send(GetHistories).timeout(PATIENCE).await.map_err(Refused::from)
    }

    /// Starts an eviction run now.
    pub fn evict_now(&self) {
        self.registry.do_send(EvictNow);
    }

    /// Waits until every change sent before is in the published view.
    pub async fn flush(&self) {
        let names: Vec<AppName> = self.shared.directory().entries().map(|(name, _)| name.clone()).collect();
        for name in names {
            let _ = self.perform(&name, |_| ()).await;
        }
        let _ = self.current_view().await;
    }
}

impl From<MailboxError> for Refused {
    fn from(error: MailboxError) -> Self {
        match error {
            MailboxError::Closed => Self::Stopping,
            MailboxError::Timeout => Self::TimedOut,
        }
    }
}
