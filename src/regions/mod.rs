//! Other regions: their registries are copied, read-only, and shown beside the own one (spec `replication.md` 7).
//!
//! Nothing of another region is ever registered here, replicated, kept on disk or counted for self-preservation. A region
//! that fails keeps its last copy; only requests that name regions wait for the first one.

mod fetch;
mod http;
mod region;
mod unions;

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::rt;
use actix_web::web::Data;
use heureka_actors::cache::{Mirror, Union, View};
use heureka_config::settings::RegionSettings;
use heureka_registry::Record;
use prometheus_client::registry::Registry;
use tokio::task::JoinHandle;

pub use region::{Region, RegionState};

use crate::node::Node;
use unions::Unions;

/// Name in `DiscoveryIdentity-Name` of servers that read a registry.
pub const SERVER_IDENTITY: &str = "DefaultServer";

/// The mirrors of a node.
#[derive(Debug)]
pub struct Regions {
    list: Vec<Arc<Region>>,
    has_fallback: bool,
    unions: Unions,
}

impl Regions {
    /// From the settings; nobody has been asked yet.
    #[must_use]
    pub fn new(settings: &RegionSettings) -> Self {
        Self {
            list: settings.regions.iter().map(|region| Arc::new(Region::new(region))).collect(),
            has_fallback: !settings.fallback_disabled,
            unions: Unions::default(),
        }
    }

    /// True if there is no other region.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The regions, by name.
    #[must_use]
    pub fn list(&self) -> &[Arc<Region>] {
        &self.list
    }

    /// True if every region has been copied once.
    #[must_use]
    pub fn are_ready(&self) -> bool {
        self.list.iter().all(|region| region.is_ready())
    }

    /// Puts the figures of every region into a metric registry.
    pub fn register_metrics(&self, clock: &heureka_actors::Clock, registry: &mut Registry) {
        region::register_metrics(&self.list, clock, registry);
    }

    /// What a list query shows besides the own registry: the regions it names; else, unless that is switched off, all of
    /// them. `None` if that is nothing. A server that asks is shown the own registry only: it would take what it gets for
    /// ours, and two regions that mirror each other would keep alive what has long been cancelled.
    #[must_use]
    pub fn beside(&self, own: &Arc<View>, request: &HttpRequest, named: Option<&str>) -> Option<Arc<Union>> {
        if self.list.is_empty() || is_from_a_server(request) {
            return None;
        }
        let mirrors: Vec<Mirror> = match named {
            Some(names) => self.named(names),
            None if self.has_fallback => self.list.iter().map(|region| region.mirror()).collect(),
            None => Vec::new(),
        };
        (!mirrors.is_empty()).then(|| self.unions.of(own, mirrors))
    }

    /// The regions of a comma list in any order, each once. Names that nobody knows are passed over, as in Java.
    fn named(&self, names: &str) -> Vec<Mirror> {
        let is_named =
            |region: &&Arc<Region>| names.split(',').any(|name| name.trim().to_lowercase() == region.name);
        self.list.iter().filter(is_named).map(|region| region.mirror()).collect()
    }

    /// Where an application that is not registered here is looked up: in all regions, whatever their white lists say, as in
    /// Java. Nowhere if the fallback is off, or if a server asks.
    pub fn with_app(&self, request: &HttpRequest, name: &str) -> Option<Arc<View>> {
        let is_asked = self.has_fallback && !self.list.is_empty() && !is_from_a_server(request);
        let mut views = self.list.iter().filter(|_| is_asked).map(|region| region.mirror().view);
        views.find(|view| view.app(name).is_some())
    }

    /// An instance of another region, by application and id or by id alone; whatever the fallback and the white lists say.
    #[must_use]
    pub fn instance(&self, app: Option<&str>, id: &str) -> Option<Arc<Record>> {
        self.list.iter().find_map(|region| {
            let view = region.mirror().view;
            let entry = match app {
                Some(app) => view.app(&heureka_protocol::AppName::new(app)).and_then(|app| app.get(id)),
                None => view.find_instances(id).next(),
            };
            entry.map(|entry| entry.record.clone())
        })
    }
}

fn is_from_a_server(request: &HttpRequest) -> bool {
    request.headers().get("discoveryidentity-name").is_some_and(|name| name == SERVER_IDENTITY)
}

/// The tasks that keep the copies up to date.
#[derive(Debug)]
pub struct Fetching(Vec<JoinHandle<()>>);

impl Fetching {
    /// Starts asking. Until every region has answered, requests that name regions are refused.
    ///
    /// # Errors
    /// If the TLS settings of a region cannot be used.
    pub fn start(node: &Data<Node>) -> anyhow::Result<Self> {
        let shared = node.registry.shared();
        shared.set_remote_regions_ready(node.regions.is_empty());
        let mut tasks = Vec::new();
        for region in node.regions.list() {
            let fetcher = fetch::Fetcher::new(node.clone(), region.clone())?;
            tasks.push(rt::spawn(fetcher.fetch_for_ever()));
        }
        Ok(Self(tasks))
    }

    /// Stops asking.
    pub fn stop(self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}
