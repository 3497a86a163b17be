//! Counters of the registry, under names of Prometheus' conventions (spec `registry.md` 8.1).
//!
//! Handles are held in a struct and cost one atomic addition; nothing here has a label per instance.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use heureka_registry::Origin;

/// A counter with Java's two values: everything, and what did not come from a peer.
#[derive(Clone, Debug, Default)]
pub struct EventCounter {
    /// Everything.
    pub all: Counter,
    /// Without what peers sent.
    pub direct: Counter,
}

impl EventCounter {
    /// Counts one event.
    pub fn count(&self, origin: Origin) {
        self.all.inc();
        if !origin.is_replicated() {
            self.direct.inc();
        }
    }
}

/// All counters that actors keep.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    /// `registerCounter`
    pub register: EventCounter,
    /// Registrations that are older than what is there.
    pub stale_registrations: EventCounter,
    /// Registrations whose dirty timestamp is in the future.
    pub future_registrations: EventCounter,
    /// `renewCounter`
    pub renew: EventCounter,
    /// `renewNotFoundexpiredCounter`
    pub renew_not_found: EventCounter,
    /// `cancelCounter`
    pub cancel: EventCounter,
    /// `cancelNotFoundCounter`
    pub cancel_not_found: EventCounter,
    /// `expiredCounter`
    pub expired: EventCounter,
    /// `statusUpdateCounter`
    pub status_update: EventCounter,
    /// `statusOverrideDeleteCounter`
    pub status_override_delete: EventCounter,
    /// Versions of the read-only tier.
    pub publications: Counter,
    /// Actor steps that panicked.
    pub actor_panics: Counter,
    /// Writes refused because a queue was full.
    pub refused_writes: Counter,
    /// Registrations refused because the registry or the application is full.
    pub refused_registrations: Counter,
    /// Heartbeats that were answered without asking an actor.
    pub quick_renewals: Counter,
    /// Removals that deltas lost before their time because they took too much memory.
    pub dropped_delta_removals: Counter,
}

impl Metrics {
    /// Puts all counters into a metric registry.
    pub fn register(&self, registry: &mut Registry) {
        let mut event = |name: &str, help: &str, counter: &EventCounter| {
            registry.register(name, help, counter.all.clone());
            let help = format!("{help}, without what peers sent");
            registry.register(format!("{name}_direct"), help, counter.direct.clone());
        };
        event("registrations", "Registrations, repeated ones included", &self.register);
        event("stale_registrations", "Registrations older than what is there", &self.stale_registrations);
        event(
            "future_registrations",
            "Registrations with a dirty timestamp more than a minute ahead",
            &self.future_registrations,
        );
        event("renewals", "Heartbeats, found or not", &self.renew);
        event("renewals_not_found", "Heartbeats answered not found", &self.renew_not_found);
        event("cancels", "Cancellations, evictions included", &self.cancel);
        event("cancels_not_found", "Cancellations of unknown instances", &self.cancel_not_found);
        event("evictions", "Instances evicted because their lease had expired", &self.expired);
        event("status_updates", "Status overrides set", &self.status_update);
        event("status_override_removals", "Status overrides removed", &self.status_override_delete);
        let mut plain =
            |name: &str, help: &str, counter: &Counter| registry.register(name, help, counter.clone());
        plain("cache_publications", "Versions of the read-only tier", &self.publications);
        plain("actor_panics", "Actor steps that panicked", &self.actor_panics);
        plain("refused_writes", "Writes refused because a queue was full", &self.refused_writes);
        plain(
            "refused_registrations",
            "Registrations refused because the registry or the application is full",
            &self.refused_registrations,
        );
        plain(
            "dropped_delta_removals",
            "Removals that deltas lost early because they took too much memory",
            &self.dropped_delta_removals,
        );
        plain("quick_renewals", "Heartbeats answered without asking an actor", &self.quick_renewals);
    }
}
