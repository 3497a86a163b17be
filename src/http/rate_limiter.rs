//! The rate limiter of the Netflix server (spec `wire.md` 8.2, `registry.md` 8.8). Off by default: then it only counts
//! whom it would have refused.

use std::sync::{Mutex, PoisonError};

use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::RateLimiterSettings;

use super::path::Resource;
use super::reply;
use crate::node::Node;

/// Names that Java's own clients and peers send, never limited unless `throttle-standard-clients` is on.
const STANDARD_CLIENTS: [&str; 2] = ["DefaultClient", "DefaultServer"];
const IDENTITY_NAME: &str = "discoveryidentity-name";

/// Two token buckets for the whole node.
#[derive(Debug)]
pub struct RateLimiter {
    buckets: Mutex<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    all_fetches: Bucket,
    full_fetches: Bucket,
}

/// Whole tokens, refilled by the time that has passed.
#[derive(Debug)]
struct Bucket {
    capacity: u64,
    tokens_per_sec: u64,
    tokens: u64,
    refilled_mono_ms: u64,
}

impl RateLimiter {
    /// Full buckets.
    pub fn new(settings: &RateLimiterSettings, mono_ms: u64) -> Self {
        let bucket = |rate: u32| Bucket {
            capacity: settings.burst_size.into(),
            tokens_per_sec: rate.into(),
            tokens: settings.burst_size.into(),
            refilled_mono_ms: mono_ms,
        };
        let all_fetches = bucket(settings.registry_fetch_average_rate);
        Self {
            buckets: Mutex::new(Buckets {
                all_fetches,
                full_fetches: bucket(settings.full_fetch_average_rate),
            }),
        }
    }

    /// Takes the tokens of one fetch; false if there are too few. A full fetch takes one from both buckets even if one
    /// of them refuses.
    fn allows(&self, is_full: bool, mono_ms: u64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let all = buckets.all_fetches.take(mono_ms);
        let full = !is_full || buckets.full_fetches.take(mono_ms);
        all && full
    }
}

impl Bucket {
    fn take(&mut self, mono_ms: u64) -> bool {
        if self.capacity == 0 || self.tokens_per_sec == 0 {
            return true;
        }
        let elapsed_ms = mono_ms.saturating_sub(self.refilled_mono_ms);
        let earned = elapsed_ms.saturating_mul(self.tokens_per_sec) / 1000;
        if earned > 0 {
            self.tokens = self.tokens.saturating_add(earned).min(self.capacity);
            // Only the time that whole tokens stand for is used up.
            self.refilled_mono_ms += earned * 1000 / self.tokens_per_sec;
        }
        let has_token = self.tokens > 0;
        self.tokens -= u64::from(has_token);
        has_token
    }
}

/// Refuses a fetch above the rates with an empty 503.
pub fn refuse(request: &HttpRequest, node: &Node, resource: &Resource<'_>) -> Option<HttpResponse> {
    let is_full = *resource == Resource::Applications;
    let is_limited = is_full || matches!(resource, Resource::Delta | Resource::Application { .. });
    let settings = &node.settings.registry.rate_limiter;
    if !is_limited || request.method() != Method::GET || is_privileged(request, settings) {
        return None;
    }
    if node.rate_limiter.allows(is_full, node.registry.shared().clock.now().mono_ms) {
        return None;
    }
    let counts = &node.metrics.rate_limit;
    let (all, full) = match settings.enabled {
        true => (&counts.refused, &counts.refused_full),
        false => (&counts.candidates, &counts.candidates_full),
    };
    all.inc();
    if is_full {
        full.inc();
    }
    settings.enabled.then(|| {
        let mut response = reply::empty(StatusCode::SERVICE_UNAVAILABLE);
        reply::retry_soon(&mut response);
        response
    })
}

fn is_privileged(request: &HttpRequest, settings: &RateLimiterSettings) -> bool {
    let name = request.headers().get(IDENTITY_NAME).and_then(|value| value.to_str().ok()).unwrap_or("");
    let is_known = STANDARD_CLIENTS.contains(&name) || settings.privileged_clients.contains(name);
    is_known && !settings.throttle_standard_clients
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter() -> RateLimiter {
        let settings = RateLimiterSettings {
            enabled: true,
            burst_size: 3,
            registry_fetch_average_rate: 1,
            full_fetch_average_rate: 1,
            ..RateLimiterSettings::default()
        };
        RateLimiter::new(&settings, 1000)
    }

    #[test]
    fn a_burst_passes_then_one_token_a_second() {
        let limiter = limiter();
        let answers: Vec<bool> = (0..5).map(|_| limiter.allows(true, 1000)).collect();
        assert_eq!(answers, [true, true, true, false, false]);
        assert!(!limiter.allows(false, 1999));
        assert!(limiter.allows(false, 2000));
        assert!(!limiter.allows(false, 2500));
        assert!(limiter.allows(false, 3000));
    }

    #[test]
    fn a_rate_of_zero_means_no_limit() {
        let settings =
            RateLimiterSettings { registry_fetch_average_rate: 0, ..RateLimiterSettings::default() };
        let limiter = RateLimiter::new(&settings, 0);
        assert!((0..1000).all(|_| limiter.allows(false, 0)));
    }
}
