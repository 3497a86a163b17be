//! What all actors and handlers of one node share: clocks, options, counters, and the two published pointers.

use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actix::Addr;
use arc_swap::{ArcSwap, Guard};
use heureka_registry::access_gate::{Access, AccessGate, StartedFrom};
use heureka_registry::minute_counter::MinuteCounter;
use heureka_registry::self_preservation::SelfPreservation;
use heureka_registry::{Change, LeaseTotals, Now, Record};

use crate::backlog::Backlog;
use crate::cache::View;
use crate::cache_actor::{Apply, CacheActor};
use crate::clock::Clock;
use crate::demand::Demand;
use crate::directory::Directory;
use crate::metrics::Metrics;
use crate::options::Options;

/// Somebody besides the cache who hears of every change: replicators, snapshots, watchers.
pub trait ChangeSink: Send + Sync {
    /// Takes a change, in the order of its application. Must not block and must bound what it keeps.
    fn accept(&self, change: &Change);

    /// Takes a client's heartbeat that changed nothing visible. Called for every one of them, mostly outside any actor: it
    /// must cost next to nothing.
    fn accept_renewal(&self, _record: &Arc<Record>) {}

    /// Takes a client's operation on an override that changed nothing here, which peers are told of all the same (spec
    /// `replication.md` 2.1). The record is the one that was there before; only when its override was set or removed is later.
    fn accept_repeated_override(&self, _record: &Arc<Record>, _is_removal: bool, _now: Now) {}
}

/// Shared by everything that runs in a node. Every field has one writer or is an atomic number.
pub struct Shared {
    /// Clocks.
    pub clock: Clock,
    /// Options.
    pub options: Options,
    /// Counters.
    pub metrics: Metrics,
    /// Which documents are asked for.
    pub demand: Demand,
    /// Changes on their way to the cache.
    pub cache_backlog: Backlog,
    /// Writes on their way to an application.
    pub writes: Arc<Backlog>,
    view: ArcSwap<View>,
    directory: ArcSwap<Directory>,
    leases: AtomicU64,
    renewals_per_minute_micros: AtomicU64,
    renewals: MinuteCounter,
    /// Behind a lock because single look-ups need an exact answer from any thread; held for a few instructions.
    protection: Mutex<SelfPreservation>,
    gate: ArcSwap<AccessGate>,
    tombstones: AtomicUsize,
    copies: AtomicU64,
    sinks: Vec<Arc<dyn ChangeSink>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Shared {
    /// Nothing registered yet.
    #[must_use]
    pub fn new(clock: Clock, options: Options, sinks: Vec<Arc<dyn ChangeSink>>) -> Self {
        Self {
            clock,
            metrics: Metrics::default(),
            demand: Demand::default(),
            cache_backlog: Backlog::with_limit(options.limits.cache_backlog),
            writes: Arc::new(Backlog::with_limit(options.limits.writes_in_flight)),
            protection: Mutex::new(SelfPreservation::new(options.protection)),
            gate: ArcSwap::from_pointee(AccessGate::new(options.protection.wait_ms)),
            options,
            view: ArcSwap::default(),
            directory: ArcSwap::default(),
            leases: AtomicU64::new(0),
            renewals_per_minute_micros: AtomicU64::new(0),
            renewals: MinuteCounter::new(),
            tombstones: AtomicUsize::new(0),
            copies: AtomicU64::new(0),
            sinks,
        }
    }

    /// The published view: the read-only tier.
    #[must_use]
    pub fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    /// The published view without a reference count, for use that does not outlive the call and crosses no await.
    #[must_use]
    pub fn view_guard(&self) -> Guard<Arc<View>> {
        self.view.load()
    }

    pub(crate) fn publish_view(&self, view: View) {
        self.metrics.publications.inc();
        self.view.store(Arc::new(view));
    }

    /// The published directory.
    #[must_use]
    pub fn directory(&self) -> Guard<Arc<Directory>> {
        self.directory.load()
    }

    pub(crate) fn publish_directory(&self, directory: Directory) {
        self.directory.store(Arc::new(directory));
    }

    pub(crate) fn send_to_cache(&self, cache: &Addr<CacheActor>, change: Change) {
        self.cache_backlog.enter();
        cache.do_send(Apply(change));
    }

    pub(crate) fn send_to_sinks(&self, change: &Change) {
        for sink in &self.sinks {
            sink.accept(change);
        }
    }

    pub(crate) fn send_renewal_to_sinks(&self, record: &Arc<Record>) {
        for sink in &self.sinks {
            sink.accept_renewal(record);
        }
    }

    pub(crate) fn send_repeated_override_to_sinks(&self, record: &Arc<Record>, is_removal: bool) {
        let now = self.clock.now();
        for sink in &self.sinks {
            sink.accept_repeated_override(record, is_removal, now);
        }
    }

    /// Counts a heartbeat that renewed a lease, towards the renew rate.
    pub fn count_renewal(&self) {
        self.renewals.add(1);
    }

    /// The renew rate: call `tick` once a minute, read `last_minute`.
    #[must_use]
    pub fn renewals(&self) -> &MinuteCounter {
        &self.renewals
    }

    /// Asks or changes self-preservation, brought up to date with the leases first.
    pub fn with_protection<R>(&self, ask: impl FnOnce(&mut SelfPreservation) -> R) -> R {
        let mut protection = self.protection.lock().unwrap_or_else(PoisonError::into_inner);
        protection.observe(self.totals());
        ask(&mut protection)
    }

    /// True if expired leases may be evicted, and are hidden from look-ups (spec `registry.md` 4.1).
    #[must_use]
    pub fn is_lease_expiration_enabled(&self) -> bool {
        let renewals = self.renewals.last_minute();
        self.with_protection(|protection| protection.lease_expiration_enabled(renewals))
    }

    /// Whether list queries are answered yet (spec `registry.md` 4.6).
    #[must_use]
    pub fn access(&self, needs_remote_regions: bool) -> Access {
        self.gate.load().check(needs_remote_regions, self.clock.now())
    }

    /// True once the node has opened for traffic.
    #[must_use]
    pub fn is_opened(&self) -> bool {
        self.gate.load().is_opened()
    }

    /// Opens for traffic (spec `registry.md` 4.7). Called once, by the node's start.
    pub fn open_for_traffic(&self, from: StartedFrom) {
        let now = self.clock.now();
        self.with_protection(|protection| protection.open(now));
        self.change_gate(|gate| gate.open(from, now));
    }

    /// Says whether every other region that is configured has been copied once (spec `replication.md` 7.3).
    pub fn set_remote_regions_ready(&self, is_ready: bool) {
        self.change_gate(|gate| gate.set_remote_regions_ready(is_ready));
    }

    fn change_gate(&self, change: impl Fn(&mut AccessGate)) {
        self.gate.rcu(|gate| {
            let mut gate = **gate;
            change(&mut gate);
            gate
        });
    }

    /// Says that the lists of the peers are on their way here, until what this returns is dropped. Cancels of instances
    /// that are not known yet are remembered meanwhile.
    pub fn start_copying(self: &Arc<Self>) -> Copying {
        self.copies.fetch_add(1, Ordering::SeqCst);
        Copying(Arc::clone(self))
    }

    /// True while lists of peers are on their way here.
    #[must_use]
    pub fn is_copying(&self) -> bool {
        self.copies.load(Ordering::SeqCst) > 0
    }

    /// Leases of all applications, and the renewals a minute that they promise.
    #[must_use]
    pub fn totals(&self) -> LeaseTotals {
        LeaseTotals {
            leases: self.leases.load(Ordering::Relaxed),
            renewals_per_minute_micros: self.renewals_per_minute_micros.load(Ordering::Relaxed),
        }
    }

    /// Cancels that are remembered, of all applications.
    #[must_use]
    pub fn tombstones(&self) -> usize {
        self.tombstones.load(Ordering::Relaxed)
    }

    /// Replaces what one application contributes to them.
    pub(crate) fn replace_tombstones(&self, old: usize, new: usize) {
        if old != new {
            self.tombstones.fetch_add(new.wrapping_sub(old), Ordering::Relaxed);
        }
    }

    /// Replaces what one application contributes to the totals. Wrapping arithmetic: sums of differences are exact.
    pub(crate) fn replace_totals(&self, old: LeaseTotals, new: LeaseTotals) {
        if old != new {
            self.leases.fetch_add(new.leases.wrapping_sub(old.leases), Ordering::Relaxed);
            let micros = new.renewals_per_minute_micros.wrapping_sub(old.renewals_per_minute_micros);
            self.renewals_per_minute_micros.fetch_add(micros, Ordering::Relaxed);
        }
    }
}

/// The lists of the peers are on their way.
pub struct Copying(Arc<Shared>);

impl Drop for Copying {
    fn drop(&mut self) {
        self.0.copies.fetch_sub(1, Ordering::SeqCst);
    }
}
