//! Compares this node with each peer now and then, and mends what is its own to mend (spec `replication.md` 9.3.4): with one of
//! its kind by digests, with a Java server by its lists. What is to be mended, and whose it is, are rules in
//! `heureka-registry`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use heureka_actors::replicator::{Comparison, PeerLink, PeerState};
use heureka_config::settings::ServiceUrl;
use heureka_protocol::AppName;
use heureka_registry::replication::{QueueSettings, Remedy, Repair, Round, Rounds, repairs_of};
use heureka_registry::{Random, SplitMix64};

use super::digest::{DigestRequest, UnreadableDigest, own_hashes, read_application, read_hashes};
use super::directory::{PeerUrls, queue_settings};
use super::http::PeerHttp;
use super::listing::{Listing, Lives, Pauses};
use crate::node::Node;

/// Pause between two rounds.
const INTERVAL_MS: u64 = 60_000;
/// Applications whose rows are compared in one round; the others come in the next ones.
const APPLICATIONS_MAX: usize = 500;
/// A whole registry, in rows.
const DIGEST_BYTES_MAX: usize = 256 << 20;

/// The comparisons with all peers.
pub struct AntiEntropy {
    node: Data<Node>,
    http: PeerHttp,
    urls: PeerUrls,
    random: SplitMix64,
    rounds: BTreeMap<String, Rounds>,
    /// Of peers that know no digests.
    listed: BTreeMap<String, (Pauses, Lives)>,
    /// Peers whose digests could not be read the last time.
    unreadable: BTreeSet<String>,
    /// They say how long a word may be on its way.
    queue: QueueSettings,
}

/// What a comparison with a peer shows. A difference need not be ours to mend: it may be on its way, or it stays because
/// two other nodes do not tell each other.
#[derive(Default)]
struct Found {
    is_equal: bool,
    repairs: Vec<Repair>,
}

impl AntiEntropy {
    /// Nothing compared yet.
    #[must_use]
    pub fn new(node: Data<Node>, http: PeerHttp, urls: PeerUrls, seed: u64) -> Self {
        let queue = queue_settings(&node.settings);
        Self {
            node,
            http,
            urls,
            random: SplitMix64::new(seed),
            rounds: BTreeMap::new(),
            listed: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            queue,
        }
    }

    /// Compares for ever, one peer after the other, with chance in the pauses so that nodes do not do it in step. Somebody
    /// who wants it now calls [`Node::compare_now`].
    pub async fn compare_for_ever(mut self) {
        loop {
            let pause_ms = INTERVAL_MS * 4 / 5 + self.random.below(INTERVAL_MS * 2 / 5);
            let wished = self.node.comparison_wished();
            let _ = tokio::time::timeout(Duration::from_millis(pause_ms), wished).await;
            self.compare_all().await;
        }
    }

    async fn compare_all(&mut self) {
        let links = self.node.replication.links();
        let urls: BTreeSet<&str> = links.iter().map(|link| link.url()).collect();
        self.rounds.retain(|url, _| urls.contains(url.as_str()));
        self.listed.retain(|url, _| urls.contains(url.as_str()));
        self.unreadable.retain(|url| urls.contains(url.as_str()));
        let now = self.node.registry.shared().clock.now();
        for link in links.iter().filter(|link| !link.is_closed()) {
            let compared = match link.identity() {
                Some(_) => self.compare(link).await.map(Some),
                None if link.status(now).state == PeerState::Available => self.compare_lists(link).await,
                None => continue,
            };
            let found = match compared {
                Ok(found) => {
                    self.unreadable.remove(link.url());
                    found
                }
                Err(error) => {
                    self.say_failed(link, &error);
                    continue;
                }
            };
            if let Some(found) = found {
                self.mend(link, found).await;
            }
        }
    }

    /// A peer that does not answer is named by those who send to it; one that answers nonsense only here, and once.
    fn say_failed(&mut self, link: &PeerLink, error: &anyhow::Error) {
        if !error.is::<UnreadableDigest>() {
            tracing::debug!(peer = link.url(), "no comparison with this peer: {error:#}");
            return self.count(link, Comparison::Failed);
        }
        self.count(link, Comparison::Unreadable);
        link.note_error(format!("cannot be compared with: {error}"), self.node.registry.shared().clock.now());
        if self.unreadable.insert(link.url().to_owned()) {
            tracing::warn!(peer = link.url(), "no comparison with this peer: {error}");
        }
    }

    fn count(&self, link: &PeerLink, result: Comparison) {
        self.node.replication.metrics().count_comparison(link, result);
    }

    async fn compare(&self, link: &PeerLink) -> anyhow::Result<Found> {
        let Some(url) = self.urls.find(link.url()) else { return Ok(Found::default()) };
        let theirs = self.ask(&url, DigestRequest::All, read_hashes).await?;
        let ours = own_hashes(&self.node.registry).await?;
        let differing = ours.iter().filter(|(app, hash)| theirs.get(*app) != Some(*hash)).map(|(app, _)| app);
        let only_theirs = theirs.keys().filter(|app| !ours.contains_key(*app));
        let apps: Vec<AppName> = differing.chain(only_theirs).take(APPLICATIONS_MAX).cloned().collect();
        let clock = &self.node.registry.shared().clock;
        let mut found = Found { is_equal: apps.is_empty(), repairs: Vec::new() };
        for app in apps {
            let asked_mono_ms = clock.now().mono_ms;
            let theirs = self.ask(&url, DigestRequest::One(app.clone()), read_application).await?;
            if let Some(own) = self.node.registry.perform(&app, |core| core.for_comparison()).await? {
                let now = clock.now();
                let theirs = theirs.aged_by(now.mono_ms.saturating_sub(asked_mono_ms));
                found.repairs.extend(repairs_of(&own, &theirs, now, &self.queue));
            }
        }
        Ok(found)
    }

    /// The same with a peer that knows no digests. `None` if its list was not asked for.
    async fn compare_lists(&mut self, link: &PeerLink) -> anyhow::Result<Option<Found>> {
        let Some(url) = self.urls.find(link.url()) else { return Ok(None) };
        let (mut pauses, mut lives) = self.listed.remove(link.url()).unwrap_or_default();
        let listing = Listing { node: &self.node, http: &self.http, url: &url, queue: &self.queue };
        let has_our_hash = listing.has_our_hash().await;
        let mut repairs = None;
        if has_our_hash.as_ref().is_ok_and(|has_our_hash| pauses.is_time(*has_our_hash)) {
            let found = listing.repairs(&mut lives).await;
            pauses.note(found.as_ref().is_ok_and(|found| !found.is_empty()) || lives.are_watched());
            repairs = Some(found);
        }
        self.listed.insert(link.url().to_owned(), (pauses, lives));
        let is_equal = has_our_hash?;
        let Some(repairs) = repairs.transpose()? else {
            self.count(link, if is_equal { Comparison::Equal } else { Comparison::Different });
            return Ok(None);
        };
        Ok(Some(Found { is_equal: is_equal && repairs.is_empty(), repairs }))
    }

    async fn ask<T>(
        &self,
        url: &ServiceUrl,
        request: DigestRequest,
        read: fn(&[u8]) -> Option<T>,
    ) -> anyhow::Result<T> {
        let shared = self.node.registry.shared();
        let stamps = &shared.options.rules.stamps;
        let reading = stamps.read(shared.clock.now());
        let reply = self.http.digest(url, &request, reading, DIGEST_BYTES_MAX).await?;
        if let Some(clock) = reply.clock {
            self.node.registry.hear_clock(clock);
        }
        read(&reply.body).ok_or_else(|| UnreadableDigest.into())
    }

    async fn mend(&mut self, link: &Arc<PeerLink>, found: Found) {
        self.node.replication.metrics().show_differences(link, &found.repairs);
        let size = usize::try_from(self.node.registry.shared().totals().leases).unwrap_or(usize::MAX);
        let now_ms = self.node.registry.shared().clock.now().mono_ms;
        let rounds = self.rounds.entry(link.url().to_owned()).or_default();
        let mut round = None;
        link.repair(|queue| {
            let confirmed = rounds.confirm(found.repairs, queue, size);
            if let Round::Repairs(repairs) = &confirmed {
                repairs.iter().for_each(|repair| queue.offer_repair(repair, now_ms));
            }
            round = Some(confirmed);
        });
        match round {
            // The link has been closed meanwhile.
            None => {}
            Some(Round::TooMany(count)) => {
                tracing::error!(
                    peer = link.url(),
                    count,
                    "the peer differs in so much that nothing is mended"
                );
                self.count(link, Comparison::TooMany);
            }
            Some(Round::Repairs(repairs)) => {
                self.count(link, if found.is_equal { Comparison::Equal } else { Comparison::Different });
                for repair in &repairs {
                    tracing::info!(peer = link.url(), app = %repair.key.app(), id = %repair.key.id(),
                        remedy = repair.remedy.as_str(), "mending a difference");
                    self.node.replication.metrics().count_repair(link, repair.remedy);
                }
                self.forget_cancels(&repairs).await;
            }
        }
    }

    /// The repairs that are to be done here.
    async fn forget_cancels(&self, repairs: &[Repair]) {
        for repair in repairs.iter().filter(|repair| repair.remedy == Remedy::ForgetCancel) {
            let id = repair.key.id().clone();
            let forgotten = self.node.registry.perform(repair.key.app(), move |core| core.forget_cancel(&id));
            if let Err(refused) = forgotten.await {
                tracing::debug!(app = %repair.key.app(), %refused, "a cancel was not forgotten");
            }
        }
    }
}
