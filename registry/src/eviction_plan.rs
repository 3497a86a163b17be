//! Which expired leases one sweep removes, and how late the sweep is (`registry.md` 3.6).
//!
//! The plan only names victims. Whether leases may expire at all is asked before (`self_preservation.rs`), and whether a
//! victim is still expired is asked by its application when it is removed (defect D5).

use heureka_protocol::{AppName, InstanceId};

use crate::random::Random;

/// The victims of one sweep, application by application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvictionPlan {
    /// Ids to evict per application, in the order in which the applications were given; none is empty.
    pub victims: Vec<(AppName, Vec<InstanceId>)>,
    /// Number of victims.
    pub count: usize,
    /// Most leases that a sweep over this registry may remove.
    pub limit: u64,
    /// Number of expired leases that stay for a later sweep.
    pub postponed: usize,
}

impl EvictionPlan {
    /// Draws the victims: as many of the expired leases as the limit allows, each equally likely, so that the loss is
    /// spread over all applications (invariants C-6, C-8). `registry_size` counts all leases, the expired ones included.
    pub fn draw(
        expired: Vec<(AppName, Vec<InstanceId>)>,
        registry_size: u64,
        fraction: f64,
        random: &mut impl Random,
    ) -> Self {
        let limit = sweep_limit(registry_size, fraction);
        let names: Vec<AppName> = expired.iter().map(|(app, _)| app.clone()).collect();
        let ids = expired.into_iter().enumerate();
        let mut candidates: Vec<_> =
            ids.flat_map(|(app, (_, ids))| ids.into_iter().map(move |id| (app, id))).collect();
        let count = usize::try_from(limit).map_or(candidates.len(), |limit| limit.min(candidates.len()));
        shuffle_front(&mut candidates, count, random);
        let postponed = candidates.len() - count;
        candidates.truncate(count);
        Self { victims: by_application(&names, candidates), count, limit, postponed }
    }
}

/// Most leases that one sweep may remove: `size - floor(size * fraction)`, never negative. Java's rounding.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as Java: a product in double precision, truncated; the cast saturates"
)]
pub fn sweep_limit(registry_size: u64, fraction: f64) -> u64 {
    let kept = (registry_size as f64 * fraction) as u64;
    registry_size.saturating_sub(kept)
}

/// Fills the first `count` places with a uniform choice from the whole (partial Fisher-Yates).
fn shuffle_front<T>(items: &mut [T], count: usize, random: &mut impl Random) {
    for place in 0..count {
        let rest = u64::try_from(items.len() - place).unwrap_or(u64::MAX);
        let offset = usize::try_from(random.below(rest)).unwrap_or(0);
        items.swap(place, place + offset);
    }
}

fn by_application(names: &[AppName], victims: Vec<(usize, InstanceId)>) -> Vec<(AppName, Vec<InstanceId>)> {
    let mut grouped: Vec<(AppName, Vec<InstanceId>)> =
        names.iter().map(|name| (name.clone(), Vec::new())).collect();
    for (app, id) in victims {
        if let Some((_, ids)) = grouped.get_mut(app) {
            ids.push(id);
        }
    }
    grouped.retain(|(_, ids)| !ids.is_empty());
    grouped
}

/// How much longer leases live in this sweep because it starts late: clients could not renew while the node stood still.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compensation {
    previous_mono_ms: Option<u64>,
}

impl Compensation {
    /// No sweep yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { previous_mono_ms: None }
    }

    /// Notes that a sweep starts now and returns its extra time: what has passed since the start of the one before, less
    /// the interval. The first sweep gets 0.
    pub fn start_sweep(&mut self, mono_ms: u64, interval_ms: u64) -> u64 {
        let previous = self.previous_mono_ms.replace(mono_ms);
        previous.map_or(0, |previous| mono_ms.saturating_sub(previous).saturating_sub(interval_ms))
    }
}
