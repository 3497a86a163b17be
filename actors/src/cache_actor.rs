//! The owner of the materialised view: takes changes in, publishes versions, serves the read-write tier.
//!
//! It lives on a thread of its own, because building documents may take milliseconds and a busy actor starves its
//! arbiter. It never answers a client and never decides a rule.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use heureka_protocol::AppName;
use heureka_registry::{Change, Record};
use tokio::time::Instant;

use crate::cache::{Document, Variant, View};
use crate::guard::guarded;
use crate::options::CacheOptions;
use crate::shared::Shared;

/// A document that nobody has asked for in this time is not built ahead any more.
const BUILD_AHEAD_FOR: Duration = Duration::from_secs(120);

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
            view.document(variant);
        }
        self.shared.publish_view(view);
        self.last_publication = Instant::now();
        self.publication_took = self.last_publication - started;
    }

    fn sweep_delta(&mut self, ctx: &mut Context<Self>) {
        let retention_ms = u64::try_from(self.options.delta_retention.as_millis()).unwrap_or(u64::MAX);
        let before = self.shared.clock.now().mono_ms.saturating_sub(retention_ms);
        if self.view.expire_recent(before) {
            self.schedule_publication(ctx);
        }
    }

    /// Published lease times must not freeze: every application is encoded anew once per refresh period, one shard at
    /// a time so that no single step is long.
    fn refresh_next_shard(&mut self, ctx: &mut Context<Self>) {
        let shard = self.next_refresh_shard;
        self.next_refresh_shard = (shard + 1) % self.view.shard_count();
        if self.view.refresh_lease_times(shard, self.shared.clock.now()) {
            self.schedule_publication(ctx);
        }
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
        // A panic can leave half of one change behind, never a half-written published view.
        if guarded("cache", || self.view.apply(&change, now)).is_err() {
            self.shared.metrics.actor_panics.inc();
        }
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
#[rtype(result = "Arc<Document>")]
pub struct MakeDocument(pub Arc<View>, pub Variant);

impl Handler<MakeDocument> for CacheActor {
    type Result = MessageResult<MakeDocument>;

    fn handle(&mut self, MakeDocument(view, variant): MakeDocument, _: &mut Self::Context) -> Self::Result {
        MessageResult(view.document(variant).clone())
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
