//! The list of peers over time: resolved at the start and again and again, a sender for each peer.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr};
use heureka_actors::Handle;
use heureka_actors::replicator::{
    PeerLink, PeerReplicatorActor, PeerTransport, Probe, Replication, SetTransport,
};
use heureka_config::Settings;
use heureka_config::settings::ServiceUrl;
use heureka_protocol::Limits;
use heureka_registry::replication::QueueSettings;
use tokio::sync::watch;

use super::complaint::Complaint;
use super::http::PeerHttp;
use super::list_metrics::{ListResult, PeerListMetrics};
use super::own::Own;
use super::source::{PeerSource, SourceError};

/// Java's bound counts tasks of one action; ours counts instances. It can only be raised: a queue entry is small.
const SLOTS_MIN: usize = 100_000;

/// Makes what carries batches to a peer. The real one speaks HTTP; tests bring their own.
pub type TransportFactory = dyn Fn(&ServiceUrl) -> anyhow::Result<Arc<dyn PeerTransport>>;

/// The URLs of the peers with their credentials, for whoever asks peers something else than batches.
#[derive(Clone, Debug)]
pub struct PeerUrls(watch::Receiver<Vec<ServiceUrl>>);

/// Where these URLs are set.
#[derive(Debug, Default)]
pub struct UrlList(watch::Sender<Vec<ServiceUrl>>);

impl PeerUrls {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<ServiceUrl> {
        self.0.borrow().clone()
    }

    /// The one that looks like this without its credentials.
    #[must_use]
    pub fn find(&self, without_credentials: &str) -> Option<ServiceUrl> {
        self.all().into_iter().find(|url| url.without_credentials() == without_credentials)
    }

    /// Waits until somebody is among them who is not among these. False if they are set no more.
    pub async fn has_others_than(&mut self, known: &[ServiceUrl]) -> bool {
        self.0.wait_for(|urls| urls.iter().any(|url| !known.contains(url))).await.is_ok()
    }
}

impl UrlList {
    /// What others see of it.
    #[must_use]
    pub fn urls(&self) -> PeerUrls {
        PeerUrls(self.0.subscribe())
    }

    /// From now on these.
    pub fn set(&self, urls: Vec<ServiceUrl>) {
        self.0.send_replace(urls);
    }
}

/// Keeps the senders in step with the list.
pub struct PeerDirectory {
    urls: UrlList,
    replication: Arc<Replication>,
    handle: Handle,
    source: Box<dyn PeerSource>,
    own: Own,
    make_transport: Box<TransportFactory>,
    queue: QueueSettings,
    limits: Limits,
    peers: Vec<Peer>,
    metrics: Arc<PeerListMetrics>,
    complaint: Complaint,
    has_list: watch::Sender<bool>,
    was_told: watch::Sender<bool>,
}

struct Peer {
    url: ServiceUrl,
    link: Arc<PeerLink>,
    sender: Addr<PeerReplicatorActor>,
}

impl PeerDirectory {
    /// Without peers; [`PeerDirectory::refresh`] finds them.
    #[must_use]
    pub fn new(
        replication: Arc<Replication>,
        handle: Handle,
        settings: &Settings,
        source: Box<dyn PeerSource>,
        own: Own,
        http: PeerHttp,
        metrics: Arc<PeerListMetrics>,
    ) -> Self {
        let make_transport = Box::new(move |url: &ServiceUrl| -> anyhow::Result<Arc<dyn PeerTransport>> {
            Ok(Arc::new(http.transport(url)?))
        });
        let limits = crate::limits::NodeLimits::of(&settings.limits).reader;
        let queue = queue_settings(settings);
        Self {
            urls: UrlList::default(),
            replication,
            handle,
            source,
            own,
            make_transport,
            queue,
            limits,
            peers: Vec::new(),
            metrics,
            complaint: Complaint::default(),
            has_list: watch::Sender::new(false),
            was_told: watch::Sender::new(false),
        }
    }

    /// True from when somebody has been listed, be it only this node itself.
    #[must_use]
    pub fn has_list(&self) -> watch::Receiver<bool> {
        self.has_list.subscribe()
    }

    /// The peers as they are listed, without this node itself.
    #[must_use]
    pub fn urls(&self) -> PeerUrls {
        self.urls.urls()
    }

    /// True from when the source has told for the first time who all the peers are, and senders to them have started. A list
    /// that lacks a part of several does not count: who is missing may be the one who has the registry.
    #[must_use]
    pub fn was_told(&self) -> watch::Receiver<bool> {
        self.was_told.subscribe()
    }

    /// Starts senders to the peers that are known without asking anybody; names that must be resolved first count as
    /// others'. Where somebody must be asked, there will be a list.
    pub fn start_named(&mut self, known: Option<Vec<ServiceUrl>>) {
        self.has_list.send_replace(known.as_ref().is_none_or(|listed| !listed.is_empty()));
        let listed = known.unwrap_or_default();
        let wanted = listed.into_iter().filter(|url| !self.own.is_named(url)).collect();
        self.follow(wanted);
    }

    /// Asks the source and starts and stops senders. An empty list or an error leaves everything as it is (spec
    /// `replication.md` 1.5). Where this node has met itself it looks whether it still does.
    pub async fn refresh(&mut self) {
        self.resolve().await;
        for peer in self.peers.iter().filter(|peer| peer.link.is_itself()) {
            peer.sender.do_send(Probe);
        }
    }

    async fn resolve(&mut self) {
        let listed = match self.source.list().await {
            Ok(listed) => listed,
            Err(error) => {
                self.metrics.set_failure(Some(&error));
                self.metrics.count(ListResult::Failed);
                if self.complaint.is_new(&error) {
                    tracing::warn!(%error, "the list of peers could not be made; the last one stays");
                }
                return;
            }
        };
        if listed.is_empty() {
            let empty = SourceError("the list is empty".to_owned());
            if !self.peers.is_empty() && self.complaint.is_new(&empty) {
                tracing::warn!("the list of peers is empty; the last one stays");
            }
            self.metrics.set_failure((!self.peers.is_empty()).then_some(&empty));
            self.metrics.count(ListResult::Empty);
            self.was_told.send_replace(true);
            return;
        }
        let failure = self.source.failure();
        self.metrics.set_failure(failure.as_ref());
        self.metrics.count(if failure.is_some() { ListResult::Partial } else { ListResult::Ok });
        if self.complaint.is_settled() {
            tracing::info!("there is a list of peers again");
        }
        self.has_list.send_replace(true);
        let mut wanted: Vec<ServiceUrl> = Vec::new();
        for url in listed {
            let is_known =
                wanted.iter().any(|known| known.without_credentials() == url.without_credentials());
            if !is_known && !self.own.is_own(&url).await {
                wanted.push(url);
            }
        }
        self.follow(wanted);
        if failure.is_none() {
            self.was_told.send_replace(true);
        }
    }

    /// Peers that stay keep their queues, also with new credentials.
    fn follow(&mut self, wanted: Vec<ServiceUrl>) {
        let mut old = std::mem::take(&mut self.peers);
        for url in wanted {
            let place =
                old.iter().position(|peer| peer.url.without_credentials() == url.without_credentials());
            match place.map(|place| old.swap_remove(place)) {
                Some(peer) => {
                    let peer = self.renewed(peer, url);
                    self.peers.push(peer);
                }
                None => match self.start(url) {
                    Ok(peer) => self.peers.push(peer),
                    Err(error) => tracing::error!("a peer cannot be used: {error:#}"),
                },
            }
        }
        self.urls.set(self.peers.iter().map(|peer| peer.url.clone()).collect());
        self.metrics.set_peers(self.peers.len());
        self.replication.set_links(self.peers.iter().map(|peer| Arc::clone(&peer.link)).collect());
        for gone in old {
            tracing::info!(peer = gone.link.url(), "changes go to this peer no more");
            self.replication.retire(&gone.link);
        }
    }

    fn renewed(&self, peer: Peer, url: ServiceUrl) -> Peer {
        if peer.url != url {
            match (self.make_transport)(&url) {
                Ok(transport) => peer.sender.do_send(SetTransport(transport)),
                Err(error) => {
                    tracing::error!(peer = peer.link.url(), "new credentials cannot be used: {error:#}")
                }
            }
        }
        Peer { url, ..peer }
    }

    fn start(&self, url: ServiceUrl) -> anyhow::Result<Peer> {
        let transport = (self.make_transport)(&url)?;
        let link = Arc::new(PeerLink::new(
            url.without_credentials(),
            self.queue,
            self.replication.clock().uptime_ms(),
        ));
        let seed = RandomState::new().hash_one("pauses");
        let (replication, handle) = (Arc::clone(&self.replication), self.handle.clone());
        let sender =
            PeerReplicatorActor::new(replication, Arc::clone(&link), transport, handle, self.limits, seed)
                .start();
        tracing::info!(peer = link.url(), "changes go to a peer");
        Ok(Peer { url, link, sender })
    }

    /// Follows the list for ever, with a fixed pause between two looks, and at once when the source notices a change.
    pub async fn follow_for_ever(mut self, interval: Duration) {
        loop {
            let changed = self.source.changed();
            let _ = tokio::time::timeout(interval, changed).await;
            self.refresh().await;
        }
    }
}

/// How long queues wait, and for how many instances they have room.
#[must_use]
pub fn queue_settings(settings: &Settings) -> QueueSettings {
    let peers = &settings.registry.peers;
    let slots_max = peers.max_queue_items.max(SLOTS_MIN);
    QueueSettings {
        slots_max,
        slots_limit: slots_max.saturating_mul(10),
        eviction_interval_ms: settings.registry.eviction_interval_ms,
        sync_when_timestamp_differs: settings.registry.sync_when_timestamp_differs,
        ..QueueSettings::default()
    }
}
