//! The single writer of one application.
//!
//! It receives steps, performs them on its core one after the other, and sends the changes they made to the cache and the
//! other sinks before it replies. It decides nothing itself.

use std::marker::PhantomData;
use std::sync::Arc;

use actix::prelude::*;
use heureka_registry::{Application, LeaseTotals};

use crate::app_core::AppCore;
use crate::backlog::Permit;
use crate::cache_actor::{CacheActor, RecordsOf};
use crate::guard::guarded;
use crate::registry_actor::{RegistryActor, TakeNotes};
use crate::shared::Shared;

/// The actor.
pub struct AppActor {
    core: AppCore,
    cache: Addr<CacheActor>,
    registry: Addr<RegistryActor>,
    published_totals: LeaseTotals,
    published_tombstones: usize,
    /// Set when the registry has taken this application out of the directory; late callers must ask for the new one.
    is_retired: bool,
}

impl AppActor {
    /// An actor for an application, usually an empty one. What it has counts in the totals of the registry already.
    pub fn new(
        shared: Arc<Shared>,
        application: Application,
        cache: Addr<CacheActor>,
        registry: Addr<RegistryActor>,
    ) -> Self {
        let published_totals = application.totals();
        let published_tombstones = application.tombstone_count();
        shared.replace_tombstones(0, published_tombstones);
        let core = AppCore { shared, application, outbox: Vec::new(), notes: Vec::new() };
        Self { core, cache, registry, published_totals, published_tombstones, is_retired: false }
    }

    /// Sends what a step has produced. Order matters: the reply leaves after the changes are in the cache's mailbox, so
    /// a read of the read-write tier that starts after the reply shows them.
    fn publish(&mut self) {
        for change in self.core.outbox.drain(..) {
            self.core.shared.send_to_sinks(&change);
            self.core.shared.send_to_cache(&self.cache, change);
        }
        if !self.core.notes.is_empty() {
            self.registry.do_send(TakeNotes(std::mem::take(&mut self.core.notes)));
        }
        let totals = self.core.application.totals();
        self.core.shared.replace_totals(self.published_totals, totals);
        self.published_totals = totals;
        let tombstones = self.core.application.tombstone_count();
        self.core.shared.replace_tombstones(self.published_tombstones, tombstones);
        self.published_tombstones = tombstones;
    }

    /// Starts again from what the cache shows, which is every change that was sent: a panic loses its own step only.
    /// The mailbox waits meanwhile.
    fn recover(&mut self, ctx: &mut Context<Self>) {
        self.core.shared.metrics.actor_panics.inc();
        let records = self.cache.send(RecordsOf(self.core.application.name().clone()));
        let rebuilt = records.into_actor(self).map(move |records, actor, _| {
            let Ok(records) = records else { return };
            let shared = &actor.core.shared;
            let rules = &shared.options.rules;
            actor.core.application = actor.core.application.rebuilt(records, shared.clock.now(), rules);
            actor.publish();
        });
        ctx.wait(rebuilt);
    }
}

impl Actor for AppActor {
    type Context = Context<Self>;
}

/// A step to perform on the application, with its place in the queue of writes.
pub struct Perform<F, R> {
    step: F,
    _permit: Option<Permit>,
    _result: PhantomData<fn() -> R>,
}

impl<F, R> Perform<F, R> {
    /// A step. The permit is given back when the step is done.
    pub fn new(step: F, permit: Option<Permit>) -> Self {
        Self { step, _permit: permit, _result: PhantomData }
    }
}

/// Why a step was not performed.
pub enum NotPerformed<F, R> {
    /// The application has left the directory: ask for it again. The step comes back.
    Retired(Perform<F, R>),
    /// The step panicked.
    Panicked,
}

impl<F: 'static, R: 'static> Message for Perform<F, R> {
    type Result = Result<R, NotPerformed<F, R>>;
}

impl<F, R> Handler<Perform<F, R>> for AppActor
where
    F: FnOnce(&mut AppCore) -> R + Send + 'static,
    R: Send + 'static,
{
    type Result = Result<R, NotPerformed<F, R>>;

    fn handle(&mut self, message: Perform<F, R>, ctx: &mut Self::Context) -> Self::Result {
        if self.is_retired {
            return Err(NotPerformed::Retired(message));
        }
        let result = guarded("application", || (message.step)(&mut self.core));
        self.publish();
        result.map_err(|_| {
            self.recover(ctx);
            NotPerformed::Panicked
        })
    }
}

impl Drop for AppActor {
    /// What an application that has retired remembered is forgotten.
    fn drop(&mut self) {
        self.core.shared.replace_tombstones(self.published_tombstones, 0);
    }
}

/// When an application may retire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retirement {
    /// If it has no instances and nothing to remember.
    IfForgettable,
    /// If it has no instances; tombstones and overrides without a lease are given up.
    IfWithoutInstances,
}

/// Asks the actor to forget what is over and to retire if nothing is left. True if it has retired: from then on it
/// performs nothing more, and whoever still holds its address is told to ask the directory again.
#[derive(Message)]
#[rtype(result = "bool")]
pub struct RetireIfEmpty(pub Retirement);

impl Handler<RetireIfEmpty> for AppActor {
    type Result = bool;

    fn handle(&mut self, RetireIfEmpty(retirement): RetireIfEmpty, _: &mut Self::Context) -> Self::Result {
        let is_forgettable = self.core.sweep();
        self.publish();
        let is_given_up = retirement == Retirement::IfWithoutInstances && self.core.application.is_empty();
        self.is_retired = self.is_retired || is_forgettable || is_given_up;
        self.is_retired
    }
}
