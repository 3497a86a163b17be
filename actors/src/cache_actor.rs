//! The owner of the materialised view: takes changes in, publishes versions, serves the read-write tier.
//!
//! It lives on a thread of its own, because building documents may take milliseconds and a busy actor starves its
//! arbiter. It never answers a client and never decides a rule.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use heureka_protocol::AppName;
use heureka_registry::{Change, Now, Record};
use tokio::time::Instant;

use crate::cache::{Document, Variant, View};
use crate::error::Refused;
use crate::guard::{Panicked, guarded};
use crate::options::CacheOptions;
use crate::shared::Shared;

/// A document that nobody has asked for in this time is not built ahead any more: who asks seldom waits for it, some tens of
/// milliseconds if the registry is large, and registrations do not pay for documents that nobody reads.
const BUILD_AHEAD_FOR: Duration = Duration::from_secs(3);

/// The actor.
pub struct CacheActor {
    shared: Arc<Shared>,
    options: CacheOptions,
    view: View,
    /// True if `view` shows something that has not been published.
    is_dirty: bool,
    last_publication: Instant,
    publication_took: Duration,
    is_publication_due: bool,
    next_refresh_shard: usize,
    /// Taken in since the last publication: with the published view they give the working view again.
    pending: Vec<Change>,
}

impl CacheActor {
    /// An actor with a view that has been published, usually an empty one.
    pub fn new(shared: Arc<Shared>, options: CacheOptions, view: View) -> Self {
        let last_publication = Instant::now().checked_sub(options.merge_window).unwrap_or_else(Instant::now);
        Self {
            shared,
            options,
            view,
            is_dirty: false,
            last_publication,
            publication_took: Duration::ZERO,
            is_publication_due: false,
            next_refresh_shard: 0,
            pending: Vec::new(),
        }
    }

    /// Publishes at once if the merge window since the last publication has passed, else at its end.
    fn schedule_publication(&mut self, ctx: &mut Context<Self>) {
        self.is_dirty = true;
        if self.is_publication_due {
            return;
        }
        self.is_publication_due = true;
        // A publication that took long makes the next one wait: the cache never takes more than a third of a core.
        let window = self.options.merge_window.max(self.publication_took * 2);
        let wait = window.saturating_sub(self.last_publication.elapsed());
        // Even a wait of zero goes through the mailbox: changes that are queued already then share one publication.
        ctx.run_later(wait, |actor, _| {
            actor.is_publication_due = false;
            actor.publish();
        });
    }

    /// Makes the current state the next version and hands it to the readers.
    fn publish(&mut self) {
        if !self.is_dirty {
            return;
        }
        self.view.bump_version();
        self.is_dirty = false;
        let started = Instant::now();
        let view = self.view.clone();
        for variant in self.shared.demand.wanted(self.shared.clock.now().mono_ms, BUILD_AHEAD_FOR) {
            // A document that cannot be made is made anew, or fails, when somebody asks for it.
            self.count_panic(guarded("cache", || drop(view.document(variant).clone())));
        }
        self.shared.publish_view(view);
        self.pending.clear();
        self.last_publication = Instant::now();
        self.publication_took = self.last_publication - started;
    }

    /// Takes a change in. A panic can leave half of it in the working view, never in a published one: the working view is
    /// then made again from the published one and what has come since, and the change gets a second chance.
    fn take_in(&mut self, change: Change, apply: impl Fn(&mut View, &Change)) {
        if self.try_step(|view| apply(view, &change)).is_none() {
            self.rebuild(&apply);
            if self.try_step(|view| apply(view, &change)).is_none() {
                tracing::error!(app = %change.app, id = %change.id, "a change cannot be shown; it is left out");
                self.rebuild(&apply);
                return;
            }
        }
        self.pending.push(change);
    }

    fn rebuild(&mut self, apply: &impl Fn(&mut View, &Change)) {
        self.view = View::clone(&self.shared.view());
        for change in std::mem::take(&mut self.pending) {
            if self.try_step(|view| apply(view, &change)).is_some() {
                self.pending.push(change);
            }
        }
    }

    /// A step on the working view; `None` if it panicked.
    fn try_step<R>(&mut self, step: impl FnOnce(&mut View) -> R) -> Option<R> {
        let result = guarded("cache", || step(&mut self.view));
        self.count_panic(result)
    }

    fn count_panic<R>(&self, result: Result<R, Panicked>) -> Option<R> {
        if result.is_err() {
            self.shared.metrics.actor_panics.inc();
        }
        result.ok()
    }

    /// A step of the actor's own timers; true if it has changed the view.
    fn tend(&mut self, ctx: &mut Context<Self>, step: impl FnOnce(&mut View, Now) -> bool) {
        let now = self.shared.clock.now();
        match self.try_step(|view| step(view, now)) {
            Some(false) => {}
            Some(true) => self.schedule_publication(ctx),
            None => {
                self.rebuild(&|view: &mut View, change: &Change| view.apply(change, now));
                self.schedule_publication(ctx);
            }
        }
    }

    /// Ever new instances that are registered and cancelled must not fill the memory: see [`View::bound_removals`].
    fn bound_removals(&mut self, now: Now) {
        let max_bytes = self.shared.options.limits.delta_removal_bytes;
        if self.view.removal_bytes() <= max_bytes {
            return;
        }
        match self.try_step(|view| view.bound_removals(max_bytes)) {
            Some(count) => {
                self.shared.metrics.dropped_delta_removals.inc_by(count as u64);
            }
            None => self.rebuild(&|view: &mut View, change: &Change| view.apply(change, now)),
        }
    }

    fn sweep_delta(&mut self, ctx: &mut Context<Self>) {
        let retention_ms = u64::try_from(self.options.delta_retention.as_millis()).unwrap_or(u64::MAX);
        self.tend(ctx, |view, now| view.expire_recent(now.mono_ms.saturating_sub(retention_ms)));
    }

    /// Published lease times must not freeze: every application is encoded anew once per refresh period, one shard at
    /// a time so that no single step is long.
    fn refresh_next_shard(&mut self, ctx: &mut Context<Self>) {
        let shard = self.next_refresh_shard;
        self.next_refresh_shard = (shard + 1) % self.view.shard_count();
        self.tend(ctx, |view, now| view.refresh_lease_times(shard, now));
    }
}

impl Actor for CacheActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        ctx.run_interval(self.options.delta_sweep_interval, Self::sweep_delta);
        let shards = u32::try_from(self.view.shard_count()).unwrap_or(1);
        ctx.run_interval(self.options.lease_time_refresh / shards, Self::refresh_next_shard);
    }
}

/// A change to take in.
#[derive(Message)]
#[rtype(result = "()")]
pub struct Apply(pub Change);

impl Handler<Apply> for CacheActor {
    type Result = ();

    fn handle(&mut self, Apply(change): Apply, ctx: &mut Self::Context) {
        self.shared.cache_backlog.leave();
        let now = self.shared.clock.now();
        self.take_in(change, |view, change| view.apply(change, now));
        self.bound_removals(now);
        self.schedule_publication(ctx);
    }
}

/// Asks for a view that shows every change sent before: the read-write tier.
#[derive(Message)]
#[rtype(result = "Arc<View>")]
pub struct CurrentView;

impl Handler<CurrentView> for CacheActor {
    type Result = MessageResult<CurrentView>;

    fn handle(&mut self, _: CurrentView, _: &mut Self::Context) -> Self::Result {
        self.publish();
        MessageResult(self.shared.view())
    }
}

/// Asks for a document of a view, so that the asking thread need not make it.
#[derive(Message)]
#[rtype(result = "Result<Arc<Document>, Refused>")]
pub struct MakeDocument(pub Arc<View>, pub Variant);

impl Handler<MakeDocument> for CacheActor {
    type Result = Result<Arc<Document>, Refused>;

    fn handle(&mut self, MakeDocument(view, variant): MakeDocument, _: &mut Self::Context) -> Self::Result {
        let made = guarded("cache", || view.document_at_once(variant).clone());
        self.count_panic(made).ok_or(Refused::Internal)
    }
}

/// Asks for the records of one application, for an actor that starts again after a panic.
#[derive(Message)]
#[rtype(result = "Vec<Arc<Record>>")]
pub struct RecordsOf(pub AppName);

impl Handler<RecordsOf> for CacheActor {
    type Result = Vec<Arc<Record>>;

    fn handle(&mut self, RecordsOf(app): RecordsOf, _: &mut Self::Context) -> Self::Result {
        let app = self.view.app(&app);
        app.map_or_else(Vec::new, |app| app.entries().iter().map(|entry| entry.record.clone()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use heureka_protocol::Instance;
    use heureka_registry::{Application, Origin, Rules};

    use super::*;
    use crate::clock::Clock;
    use crate::options::Options;

    fn actor() -> CacheActor {
        let shared = Arc::new(Shared::new(Clock::starting_at(1_000), Options::default(), Vec::new()));
        CacheActor::new(shared, CacheOptions::default(), View::default())
    }

    fn changes(count: usize) -> Vec<Change> {
        let mut app = Application::new(AppName::new("SHOP"));
        let now = Now { mono_ms: 1, wall_ms: 1 };
        let register = |index: usize| {
            let id = format!("i-{index}").into();
            let instance = Instance::with_defaults(AppName::new("SHOP"), id, "h", "192.0.2.1");
            app.register(instance, Origin::Client, now, &Rules::default())
        };
        (0..count).filter_map(register).collect()
    }

    fn ids(actor: &CacheActor) -> Vec<String> {
        let app = actor.view.app("SHOP");
        app.map_or_else(Vec::new, |app| app.entries().iter().map(|entry| entry.id().to_owned()).collect())
    }

    /// Applies changes, and panics half-way through the calls with these numbers, counted from 1.
    fn failing_at(calls: &'static [usize]) -> impl Fn(&mut View, &Change) {
        let call = Cell::new(0);
        move |view: &mut View, change: &Change| {
            call.set(call.get() + 1);
            view.apply(change, Now { mono_ms: 2, wall_ms: 2 });
            assert!(!calls.contains(&call.get()), "on purpose, behind half of the work");
        }
    }

    #[actix::test]
    async fn a_panic_costs_nothing_if_the_change_can_be_applied_the_second_time() {
        let mut actor = actor();
        let apply = failing_at(&[3]);
        for change in changes(4) {
            actor.take_in(change, &apply);
        }
        assert_eq!(ids(&actor), ["i-0", "i-1", "i-2", "i-3"]);
        assert_eq!(actor.view.counts().total(), 4, "nothing is counted twice");
        assert_eq!(actor.shared.metrics.actor_panics.get(), 1);
    }

    #[actix::test]
    async fn a_change_that_always_panics_costs_itself_only() {
        let mut actor = actor();
        // The second change fails (call 2), the first is applied again (3), the second fails again (4).
        let apply = failing_at(&[2, 4]);
        for change in changes(3) {
            actor.take_in(change, &apply);
        }
        assert_eq!(ids(&actor), ["i-0", "i-2"]);
        assert_eq!(actor.view.counts().total(), 2);
    }
}
