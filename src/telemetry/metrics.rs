//! Counters and histograms of the HTTP edge. Handles are held in structs; no label names an instance.

use std::time::Instant;

use actix_web::http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::http::path::Resource;

/// Upper bounds of the latency buckets, in seconds: fine where a heartbeat lies, coarse up to the peers' patience.
const LATENCY_BUCKETS: [f64; 12] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.2, 1.0, 5.0];

/// Which call a latency belongs to.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CallLabels {
    call: &'static str,
    status: &'static str,
}

/// Fetches by kind, as Java's `getAll...` counters.
#[derive(Debug, Default)]
pub struct FetchCounters {
    /// `getAllCounter`
    pub full: Counter,
    /// `getAllDeltaCounter`
    pub delta: Counter,
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
#[derive(Debug)]
pub struct HttpMetrics {
    /// Fetches.
    pub fetches: FetchCounters,
    /// Rate limiter.
    pub rate_limit: RateLimitCounters,
    /// Requests refused because their address or the node has too many connections.
    pub refused_connections: Counter,
    latency: Family<CallLabels, Histogram>,
}

impl Default for HttpMetrics {
    fn default() -> Self {
        Self {
            fetches: FetchCounters::default(),
            rate_limit: RateLimitCounters::default(),
            refused_connections: Counter::default(),
            latency: Family::new_with_constructor(|| Histogram::new(LATENCY_BUCKETS)),
        }
    }
}

/// A call that is being answered.
pub struct Timer {
    call: &'static str,
    started: Instant,
}

impl HttpMetrics {
    /// Puts all metrics into a metric registry.
    pub fn register(&self, registry: &mut Registry) {
        let mut counter = |name: &str, help: &str, counter: &Counter| registry.register(name, help, counter.clone());
        counter("fetches_full", "Full fetches", &self.fetches.full);
        counter("fetches_delta", "Delta fetches", &self.fetches.delta);
        counter("fetches_application", "Queries for one application", &self.fetches.application);
        counter("fetches_vip", "Queries for one VIP address", &self.fetches.vip);
        counter("rate_limited_requests", "Requests refused by the rate limiter", &self.rate_limit.refused);
        counter("rate_limited_full_fetches", "Full fetches refused by the rate limiter", &self.rate_limit.refused_full);
        let help = "Requests that the rate limiter would have refused, were it on";
        counter("rate_limit_candidates", help, &self.rate_limit.candidates);
        let help = "Full fetches that the rate limiter would have refused, were it on";
        counter("rate_limit_candidates_full_fetches", help, &self.rate_limit.candidates_full);
        let help = "Requests refused because there were too many connections";
        counter("refused_connections", help, &self.refused_connections);
        let help = "Time from the head of a request to its answer";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, self.latency.clone());
    }

    /// Starts the clock of a call.
    pub fn start(&self, resource: &Resource<'_>, method: &Method) -> Timer {
        Timer { call: name(resource, method), started: Instant::now() }
    }

    /// Stops the clock of a call.
    pub fn finish(&self, timer: Timer, status: StatusCode) {
        let labels = CallLabels { call: timer.call, status: class(status) };
        self.latency.get_or_create(&labels).observe(timer.started.elapsed().as_secs_f64());
    }
}

/// The name of a call, from a fixed set.
fn name(resource: &Resource<'_>, method: &Method) -> &'static str {
    match resource {
        Resource::Applications => "full_fetch",
        Resource::Delta => "delta_fetch",
        Resource::Application { .. } if method == Method::POST => "register",
        Resource::Application { .. } => "application",
        Resource::Instance { .. } if method == Method::PUT => "heartbeat",
        Resource::Instance { .. } if method == Method::DELETE => "cancel",
        Resource::Instance { .. } | Resource::InstanceById { .. } => "instance",
        Resource::InstanceStatus { .. } if method == Method::PUT => "status_update",
        Resource::InstanceStatus { .. } => "status_override_removal",
        Resource::InstanceMetadata { .. } => "metadata",
        Resource::Vip { .. } => "vip",
        Resource::AsgStatus => "asg_status",
        Resource::Batch => "replication_batch",
        Resource::ServerStatus => "server_status",
        Resource::StatusOverrides => "status_overrides",
    }
}

fn class(status: StatusCode) -> &'static str {
    match status.as_u16() {
        200..=299 => "2xx",
        404 => "404",
        409 => "409",
        400..=499 => "4xx",
        503 => "503",
        _ => "5xx",
    }
}
