//! One eviction run over all applications: ask, plan, evict (spec `registry.md` 3.6).

use std::sync::Arc;

use futures_util::future::join_all;
use heureka_registry::eviction_plan::EvictionPlan;
use heureka_registry::random::SplitMix64;

use crate::directory::Directory;
use crate::registry_actor::perform;
use crate::shared::Shared;

/// What a run needs.
pub struct EvictionRun {
    /// Options and totals.
    pub shared: Arc<Shared>,
    /// The applications at the start of the run. Those that retire meanwhile have nothing to evict.
    pub directory: Directory,
    /// Every lease gets so many milliseconds more.
    pub extra_ms: u64,
    /// Draws the victims.
    pub random: SplitMix64,
}

/// Carries a run out. An application checks again that a victim is still expired before it evicts (defect D5).
pub async fn run_eviction(mut run: EvictionRun) {
    let extra_ms = run.extra_ms;
    let asked = run.directory.entries().map(|(name, address)| async move {
        let expired = perform(address, move |core| core.expired(extra_ms)).await.unwrap_or_default();
        (name.clone(), expired)
    });
    let expired: Vec<_> = join_all(asked).await.into_iter().filter(|(_, ids)| !ids.is_empty()).collect();
    if expired.is_empty() {
        return;
    }
    let size = run.shared.totals().leases;
    let fraction = run.shared.options.protection.renewal_percent_threshold;
    let plan = EvictionPlan::draw(expired, size, fraction, &mut run.random);
    let evictions = plan.victims.into_iter().filter_map(|(name, ids)| {
        let address = run.directory.get(&*name)?.clone();
        Some(async move { perform(&address, move |core| core.evict(&ids, extra_ms)).await })
    });
    let evicted: usize = join_all(evictions).await.into_iter().flatten().sum();
    tracing::info!(
        evicted,
        postponed = plan.postponed,
        limit = plan.limit,
        "evicted instances whose lease had expired"
    );
}
