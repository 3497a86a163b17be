//! How long calls take, under the name and labels that boards for Spring servers look for.
//!
//! `http_server_requests_seconds` of a Java server has `uri="UNKNOWN"` on every call of the registry, so nobody can tell
//! heartbeats from fetches there; here `uri` is the pattern of the resource. Every series is made once and found by two
//! indexes: a heartbeat pays for one lock that is hardly ever taken, and for no hashing.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use actix_web::http::{Method, StatusCode};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Unit;

use super::gauges::sentence;
use crate::http::path::Resource;

/// Upper bounds of the buckets, in seconds: fine where a heartbeat lies, coarse up to the peers' patience.
const BUCKETS: [f64; 12] =
    [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.2, 1.0, 5.0];

/// Method and pattern of every call; [`Call::of`] knows the positions.
const CALLS: [(&str, &str); 19] = [
    ("GET", "/eureka/apps"),
    ("GET", "/eureka/apps/delta"),
    ("POST", "/eureka/apps/{app}"),
    ("GET", "/eureka/apps/{app}"),
    ("PUT", "/eureka/apps/{app}/{id}"),
    ("DELETE", "/eureka/apps/{app}/{id}"),
    ("GET", "/eureka/apps/{app}/{id}"),
    ("PUT", "/eureka/apps/{app}/{id}/status"),
    ("DELETE", "/eureka/apps/{app}/{id}/status"),
    ("PUT", "/eureka/apps/{app}/{id}/metadata"),
    ("GET", "/eureka/instances/{id}"),
    ("GET", "/eureka/vips/{vip}"),
    ("GET", "/eureka/svips/{vip}"),
    ("PUT", "/eureka/asg/{asg}/status"),
    ("POST", "/eureka/peerreplication/batch"),
    ("GET", "/eureka/status"),
    ("GET", "/eureka/serverinfo/statusoverrides"),
    ("GET", "/"),
    ("GET", "/lastn"),
];

/// Statuses that answers have; the last place stands for any other.
const STATUSES: [(u16, &str); 18] = [
    (200, "200"),
    (204, "204"),
    (302, "302"),
    (400, "400"),
    (401, "401"),
    (403, "403"),
    (404, "404"),
    (405, "405"),
    (406, "406"),
    (408, "408"),
    (409, "409"),
    (413, "413"),
    (414, "414"),
    (415, "415"),
    (431, "431"),
    (500, "500"),
    (503, "503"),
    (0, "other"),
];

/// Which call it is: a position in the table of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call(usize);

impl Call {
    /// The start page.
    pub const STATUS_PAGE: Self = Self(17);
    /// The page of the last events.
    pub const LAST_N_PAGE: Self = Self(18);

    /// The call of a method on a resource of the API.
    #[must_use]
    pub fn of(resource: &Resource<'_>, method: &Method) -> Self {
        Self(match resource {
            Resource::Applications => 0,
            Resource::Delta => 1,
            Resource::Application { .. } if method == Method::POST => 2,
            Resource::Application { .. } => 3,
            Resource::Instance { .. } if method == Method::PUT => 4,
            Resource::Instance { .. } if method == Method::DELETE => 5,
            Resource::Instance { .. } => 6,
            Resource::InstanceStatus { .. } if method == Method::PUT => 7,
            Resource::InstanceStatus { .. } => 8,
            Resource::InstanceMetadata { .. } => 9,
            Resource::InstanceById { .. } => 10,
            Resource::Vip { is_secure: false, .. } => 11,
            Resource::Vip { is_secure: true, .. } => 12,
            Resource::AsgStatus { .. } => 13,
            Resource::Batch => 14,
            Resource::ServerStatus => 15,
            Resource::StatusOverrides => 16,
        })
    }
}

/// A call that is being answered.
#[derive(Debug)]
pub struct Timer {
    call: Call,
    started: Instant,
}

impl Timer {
    /// Starts now.
    #[must_use]
    pub fn start(call: Call) -> Self {
        Self { call, started: Instant::now() }
    }
}

type Table = [[OnceLock<Histogram>; STATUSES.len()]; CALLS.len()];

/// All histograms; a clone is another handle to the same ones.
#[derive(Clone)]
pub struct Latencies(Arc<Table>);

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Latencies")
    }
}

impl Default for Latencies {
    fn default() -> Self {
        Self(Arc::new(std::array::from_fn(|_| std::array::from_fn(|_| OnceLock::new()))))
    }
}

impl Latencies {
    /// Notes that a call has been answered.
    pub fn finish(&self, timer: &Timer, status: StatusCode) {
        let code = status.as_u16();
        let column = STATUSES.iter().position(|(known, _)| *known == code).unwrap_or(STATUSES.len() - 1);
        let histogram = self.0[timer.call.0][column].get_or_init(|| Histogram::new(BUCKETS));
        histogram.observe(timer.started.elapsed().as_secs_f64());
    }
}

/// Boot's name for a class of statuses.
fn outcome(status: &str) -> &'static str {
    match status.as_bytes().first() {
        Some(b'2') => "SUCCESS",
        Some(b'3') => "REDIRECTION",
        Some(b'4') => "CLIENT_ERROR",
        Some(b'5') => "SERVER_ERROR",
        _ => "UNKNOWN",
    }
}

impl Collector for Latencies {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = sentence("Time from the head of a request to its answer");
        let mut metric = encoder.encode_descriptor(
            "http_server_requests",
            &help,
            Some(&Unit::Seconds),
            MetricType::Histogram,
        )?;
        for ((method, uri), row) in CALLS.iter().zip(self.0.iter()) {
            for ((_, status), cell) in STATUSES.iter().zip(row) {
                let Some(histogram) = cell.get() else { continue };
                let labels =
                    [("method", *method), ("outcome", outcome(status)), ("status", *status), ("uri", *uri)];
                histogram.encode(metric.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn positions_name_the_right_patterns() {
        let (app, id) = (Cow::from("A"), Cow::from("i"));
        let instance = Resource::Instance { app: app.clone(), id: id.clone() };
        let status = Resource::InstanceStatus { app: app.clone(), id: id.clone() };
        let cases = [
            (Resource::Delta, Method::GET, ("GET", "/eureka/apps/delta")),
            (Resource::Application { app }, Method::POST, ("POST", "/eureka/apps/{app}")),
            (instance.clone(), Method::PUT, ("PUT", "/eureka/apps/{app}/{id}")),
            (instance.clone(), Method::DELETE, ("DELETE", "/eureka/apps/{app}/{id}")),
            (instance, Method::HEAD, ("GET", "/eureka/apps/{app}/{id}")),
            (status, Method::DELETE, ("DELETE", "/eureka/apps/{app}/{id}/status")),
            (Resource::InstanceById { id: id.clone() }, Method::GET, ("GET", "/eureka/instances/{id}")),
            (Resource::Vip { vip: id, is_secure: true }, Method::GET, ("GET", "/eureka/svips/{vip}")),
            (Resource::Batch, Method::POST, ("POST", "/eureka/peerreplication/batch")),
            (Resource::StatusOverrides, Method::GET, ("GET", "/eureka/serverinfo/statusoverrides")),
        ];
        for (resource, method, expected) in cases {
            assert_eq!(CALLS[Call::of(&resource, &method).0], expected);
        }
        assert_eq!((CALLS[Call::STATUS_PAGE.0].1, CALLS[Call::LAST_N_PAGE.0].1), ("/", "/lastn"));
    }

    #[test]
    fn only_calls_that_happened_are_written() {
        let latencies = Latencies::default();
        latencies.finish(&Timer::start(Call::of(&Resource::Batch, &Method::POST)), StatusCode::OK);
        latencies.finish(&Timer::start(Call::STATUS_PAGE), StatusCode::IM_A_TEAPOT);
        let mut registry = Registry::default();
        registry.register_collector(Box::new(latencies));
        let mut text = String::new();
        encode(&mut text, &registry).expect("text");
        let batch = "http_server_requests_seconds_count{method=\"POST\",outcome=\"SUCCESS\",status=\"200\",\
                     uri=\"/eureka/peerreplication/batch\"} 1";
        assert!(text.contains(batch), "{text}");
        assert!(text.contains("status=\"other\",uri=\"/\"} 1"), "{text}");
        assert_eq!(text.matches("_seconds_count{").count(), 2);
    }
}
