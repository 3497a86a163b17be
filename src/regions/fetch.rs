//! Asks one region again and again (spec `replication.md` 7.1): first for everything, then for what has changed.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use anyhow::Context;
use heureka_actors::cache::MirrorWriter;
use heureka_protocol::applications::Applications;
use heureka_protocol::{Limits, json};

use super::http::RegionHttp;
use super::region::Region;
use crate::node::Node;
use crate::peers::http::FETCH_BYTES_MAX;

/// A region that does not answer in time is asked up to so many times less often.
const BACK_OFF_MAX: u32 = 5;

/// The task of one region.
pub struct Fetcher {
    node: Data<Node>,
    region: Arc<Region>,
    http: RegionHttp,
    mirror: MirrorWriter,
    limits: Limits,
    interval: Duration,
}

impl Fetcher {
    /// Prepares the requests.
    ///
    /// # Errors
    /// If the TLS settings cannot be used.
    pub fn new(node: Data<Node>, region: Arc<Region>) -> anyhow::Result<Self> {
        let settings = &node.settings.registry;
        let http = RegionHttp::new(&node.settings, &region.url)
            .with_context(|| format!("region {}: eureka.server.remote-region-trust-store", region.name))?;
        Ok(Self {
            http,
            mirror: MirrorWriter::new(settings.delta.retention_ms),
            limits: Limits::SERVER_DOCUMENT,
            interval: Duration::from_secs(settings.regions.fetch_interval_secs),
            region,
            node,
        })
    }

    /// Asks at once, then in the interval. Only an answer that did not come in time makes the pauses longer.
    pub async fn fetch_for_ever(mut self) {
        let mut factor = 1;
        loop {
            let interval = self.interval;
            let outcome = tokio::time::timeout(interval, self.fetch()).await;
            factor = match &outcome {
                Err(_) => (factor * 2).min(BACK_OFF_MAX),
                Ok(_) => 1,
            };
            match outcome {
                Ok(Ok(())) => self.answered(),
                Ok(Err(error)) => self.failed(format!("{error:#}")),
                Err(_) => self.failed(format!("no answer within {} s", interval.as_secs())),
            }
            tokio::time::sleep(self.interval * factor).await;
        }
    }

    fn answered(&mut self) {
        let shared = self.node.registry.shared();
        let now = shared.clock.now();
        let dropped = self.mirror.bound_removals(shared.options.limits.delta_removal_bytes);
        shared.metrics.dropped_delta_removals.inc_by(dropped as u64);
        if let Some(view) = self.mirror.publish(now) {
            self.region.publish(view);
        }
        if self.region.note_answer(now.mono_ms) {
            let instances = self.region.mirror().view.counts().total();
            tracing::info!(region = %self.region.name, instances, "another region was copied for the first time");
            shared.set_remote_regions_ready(self.node.regions.are_ready());
        }
    }

    /// The last copy stays. Each reason is said once.
    fn failed(&self, problem: String) {
        let name = &self.region.name;
        if self.region.note_failure(problem.clone()) {
            tracing::warn!(region = %name, url = %self.region.url, "another region was not copied: {problem}");
        }
    }

    async fn fetch(&mut self) -> anyhow::Result<()> {
        let deltas_disabled = self.node.settings.registry.regions.deltas_disabled;
        if deltas_disabled || self.mirror.is_empty() {
            return self.fetch_all().await;
        }
        // Whatever is wrong with a delta, the whole list may be right.
        let delta = self.read("apps/delta").await.ok().filter(|delta| delta.hash.is_some());
        let Some(delta) = delta else { return self.fetch_all().await };
        let now = self.node.registry.shared().clock.now();
        if self.mirror.take_delta(delta, now) {
            self.region.delta_successes.inc();
            return Ok(());
        }
        self.region.delta_mismatches.inc();
        self.fetch_all().await
    }

    async fn fetch_all(&mut self) -> anyhow::Result<()> {
        let whole = self.read("apps/").await?.into_whole();
        if whole.is_err() {
            self.region.refused_lists.inc();
        }
        // The next delta brings what has changed while it was written.
        let whole = whole.context("the answer to apps/")?;
        self.mirror.take_list(whole.list, self.node.registry.shared().clock.now());
        Ok(())
    }

    async fn read(&self, path: &str) -> anyhow::Result<Applications> {
        let reply = self.http.get(path, FETCH_BYTES_MAX).await?;
        anyhow::ensure!(reply.status == 200, "{path} is answered with {}", reply.status);
        let limits = self.limits;
        // A large registry takes a second to read: not on a thread that serves.
        let read = tokio::task::spawn_blocking(move || json::read_applications(&reply.body, &limits)).await;
        read.context("the answer was not read")?.with_context(|| format!("the answer to {path}"))
    }
}
