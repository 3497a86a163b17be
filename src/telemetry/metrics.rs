//! Counters of the HTTP edge, and the one place where all metrics of a node come together. No label names an instance.

use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use heureka_actors::Shared;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use super::edge_gauges::EdgeGauges;
use super::gauges::RegistryGauges;
use super::latency::{Call, Latencies, Timer};
use super::process_gauges::ProcessGauges;
use crate::http::connections::Connections;
use crate::http::identity::Identities;
use crate::http::path::Resource;
use crate::http::security::Credentials;

/// Fetches by kind, as Java's `getAll...` counters (spec `registry.md` 8.1).
#[derive(Debug, Default)]
pub struct FetchCounters {
    /// `getAllCounter`
    pub full: Counter,
    /// `getAllWithRemoteRegionCounter`
    pub full_with_regions: Counter,
    /// `getAllDeltaCounter`
    pub delta: Counter,
    /// `getAllDeltaWithRemoteRegionCounter`
    pub delta_with_regions: Counter,
    /// `getApplicationCounter`
    pub application: Counter,
    /// VIP and secure VIP queries.
    pub vip: Counter,
}

/// Refusals of the rate limiter, as Java's `numOfRateLimited...` counters.
#[derive(Debug, Default)]
pub struct RateLimitCounters {
    /// Refused requests.
    pub refused: Counter,
    /// Of these, full fetches.
    pub refused_full: Counter,
    /// Requests that would have been refused while the limiter is off.
    pub candidates: Counter,
    /// Of these, full fetches.
    pub candidates_full: Counter,
}

/// All metrics of the edge.
#[derive(Debug, Default)]
pub struct HttpMetrics {
    /// Fetches.
    pub fetches: FetchCounters,
    /// Rate limiter.
    pub rate_limit: RateLimitCounters,
    /// Requests refused because their address or the node has too many connections.
    pub refused_connections: Counter,
    /// Requests by the identity that their sender claims.
    pub identities: Identities,
    latencies: Latencies,
}

impl HttpMetrics {
    fn register(&self, registry: &mut Registry) {
        registry.register_collector(Box::new(self.latencies.clone()));
        let eureka = registry.sub_registry_with_prefix("eureka");
        self.identities.register(eureka);
        let mut counter =
            |name: &str, help: &str, counter: &Counter| eureka.register(name, help, counter.clone());
        let (fetches, limited) = (&self.fetches, &self.rate_limit);
        counter("fetches_full", "Full fetches", &fetches.full);
        counter("fetches_full_with_regions", "Full fetches that name regions", &fetches.full_with_regions);
        counter("fetches_delta", "Delta fetches", &fetches.delta);
        counter("fetches_delta_with_regions", "Delta fetches that name regions", &fetches.delta_with_regions);
        counter("fetches_application", "Queries for one application", &fetches.application);
        counter("fetches_vip", "Queries for one VIP address", &fetches.vip);
        counter("rate_limited_requests", "Requests refused by the rate limiter", &limited.refused);
        counter(
            "rate_limited_full_fetches",
            "Full fetches refused by the rate limiter",
            &limited.refused_full,
        );
        let help = "Requests that the rate limiter would have refused, were it on";
        counter("rate_limit_candidates", help, &limited.candidates);
        let help = "Full fetches that the rate limiter would have refused, were it on";
        counter("rate_limit_candidates_full_fetches", help, &limited.candidates_full);
        let help = "Requests refused because there were too many connections";
        counter("refused_connections", help, &self.refused_connections);
    }

    /// Starts the clock of a call of the API.
    #[must_use]
    pub fn start(&self, resource: &Resource<'_>, method: &Method) -> Timer {
        Timer::start(Call::of(resource, method))
    }

    /// Stops the clock of a call.
    pub fn finish(&self, timer: &Timer, status: StatusCode) {
        self.latencies.finish(timer, status);
    }
}

/// Everything that a node counts: the registry's counters, the edge's, and gauges that are read when somebody asks.
/// `shows_instances` adds the one gauge with a series per application (`eureka.server.metrics.enabled`).
#[must_use]
pub fn collect(
    shared: &Arc<Shared>,
    http: &HttpMetrics,
    connections: &Arc<Connections>,
    credentials: &Arc<Credentials>,
    shows_instances: bool,
) -> Registry {
    let mut registry = Registry::default();
    shared.metrics.register(registry.sub_registry_with_prefix("eureka"));
    http.register(&mut registry);
    let gauges = RegistryGauges::new(shared.clone(), shows_instances);
    registry.register_collector(Box::new(gauges));
    registry.register_collector(Box::new(EdgeGauges::new(connections.clone(), credentials.clone())));
    registry.register_collector(Box::new(ProcessGauges::new(shared.clone())));
    registry
}
