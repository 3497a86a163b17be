//! One running node: builds every part in order, and stops them in order.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix_web::dev::{Server, ServerHandle};
use actix_web::web;
use heureka_actors::replicator::{PeerState, PeerStatus, Replication};
use heureka_actors::snapshots::{RunningSnapshots, Snapshots};
use heureka_actors::{ChangeSink, Clock, Handle, Options, Running};
use heureka_config::{Loaded, Settings};
use heureka_protocol::{AppName, DataCenter, Instance, LeaseInfo, Metadata, Port, Status};
use heureka_registry::StartedFrom;
use prometheus_client::registry::Registry;
use tokio::sync::watch;

use crate::actuator;
use crate::aws::{self, Groups, Loading};
use crate::http::connections::Connections;
use crate::http::rate_limiter::RateLimiter;
use crate::http::security::Credentials;
use crate::limits::NodeLimits;
use crate::listener::{self, Listener};
use crate::options::actor_options;
use crate::peers::copy_metrics::CopyMetrics;
use crate::peers::current::CurrentSource;
use crate::peers::directory::PeerUrls;
use crate::peers::group_words::GroupWords;
use crate::peers::list_metrics::PeerListMetrics;
use crate::peers::source::{PeerSource, source_of};
use crate::peers::start_copy::StartCopy;
use crate::peers::{Membership, identity};
use crate::refresh::{Places, Refresher};
use crate::regions::{Fetching, Regions};
use crate::snapshots;
use crate::telemetry::metrics::{self, HttpMetrics};

/// What handlers see of a node.
pub struct Node {
    /// What the node was told.
    pub settings: Settings,
    /// The registry.
    pub registry: Handle,
    /// What is told to the peers.
    pub replication: Arc<Replication>,
    /// What survives a restart; `None` if that is switched off.
    pub snapshots: Option<Arc<Snapshots>>,
    /// Auto-scaling groups; `None` if they do not exist here.
    pub groups: Option<Arc<Groups>>,
    /// What the peers are told of them.
    pub group_words: Arc<GroupWords>,
    /// Other regions.
    pub regions: Arc<Regions>,
    /// Metrics of the HTTP edge.
    pub metrics: HttpMetrics,
    /// Bounds on what comes in.
    pub limits: NodeLimits,
    /// Java's rate limiter.
    pub rate_limiter: RateLimiter,
    /// Checks passwords.
    pub credentials: Arc<Credentials>,
    /// What is counted of the list of peers.
    pub peer_lists: Arc<PeerListMetrics>,
    /// What is counted of copies of the peers' registry.
    pub peer_copies: CopyMetrics,
    /// Reads the settings again; `None` in a node that was given them.
    pub refresher: Option<Refresher>,
    /// Open connections.
    pub connections: Arc<Connections>,
    /// Everything that `/actuator/prometheus` shows.
    pub metric_registry: Arc<Registry>,
    /// Whether the peers' registry is still on its way to a node that starts.
    pub start_copy: StartCopy,
    /// The peers with their credentials, once they are known.
    peer_list: OnceLock<PeerUrls>,
    is_stopping: AtomicBool,
    comparison: tokio::sync::Notify,
}

impl Node {
    fn new(
        settings: Settings,
        registry: Handle,
        replication: Arc<Replication>,
        snapshots: Option<Arc<Snapshots>>,
        groups: Option<Arc<Groups>>,
    ) -> Self {
        let metrics = HttpMetrics::default();
        let limits = &settings.limits;
        let connections = Arc::new(Connections::new(limits.max_body_bytes_in_flight));
        let credentials = Arc::new(Credentials::new(limits.max_waiting_password_checks));
        let shows_instances = settings.registry.metrics_enabled;
        let mut metric_registry =
            metrics::collect(registry.shared(), &metrics, &connections, &credentials, shows_instances);
        let eureka = metric_registry.sub_registry_with_prefix("eureka");
        replication.register_metrics(eureka);
        let peer_lists = Arc::new(PeerListMetrics::default());
        peer_lists.register(eureka);
        let peer_copies = CopyMetrics::default();
        peer_copies.register(eureka);
        if let Some(snapshots) = &snapshots {
            snapshots.register_metrics(&registry.shared().clock, eureka);
        }
        let regions = Arc::new(Regions::new(&settings.registry.regions));
        let group_words = Arc::<GroupWords>::default();
        if let Some(groups) = &groups {
            groups.register_metrics(eureka);
            group_words.register_metrics(eureka);
        }
        regions.register_metrics(&registry.shared().clock, eureka);
        let mono_ms = registry.shared().clock.now().mono_ms;
        Self {
            limits: NodeLimits::of(&settings.limits),
            rate_limiter: RateLimiter::new(&settings.registry.rate_limiter, mono_ms),
            credentials,
            peer_lists,
            peer_copies,
            refresher: None,
            connections,
            start_copy: StartCopy::default(),
            peer_list: OnceLock::new(),
            is_stopping: AtomicBool::new(false),
            comparison: tokio::sync::Notify::new(),
            metrics,
            metric_registry: Arc::new(metric_registry),
            settings,
            registry,
            replication,
            snapshots,
            groups,
            group_words,
            regions,
        }
    }

    /// True if the node takes traffic: opened, and not stopping.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.is_stopping.load(Ordering::SeqCst) && self.registry.shared().is_opened()
    }

    /// True if an id is that of this node's own instance.
    #[must_use]
    pub fn is_own_id(&self, id: &str) -> bool {
        id == self.settings.instance.instance_id
    }

    /// True if `server.compression` wants a body of this type and length compressed.
    #[must_use]
    pub fn compresses(&self, content_type: &str, length: usize) -> bool {
        let compression = &self.settings.server.compression;
        compression.enabled
            && length as u64 >= compression.min_response_bytes
            && compression.mime_types.iter().any(|known| content_type.starts_with(known.as_str()))
    }

    /// Says where the list of peers is kept.
    pub fn set_peer_list(&self, list: PeerUrls) {
        // There is one membership in the life of a node.
        let _ = self.peer_list.set(list);
    }

    /// URLs of the peers, with credentials, once there is a list.
    #[must_use]
    pub fn peer_list(&self) -> Option<PeerUrls> {
        self.peer_list.get().cloned()
    }

    /// URLs of the peers, without credentials.
    #[must_use]
    pub fn peer_urls(&self) -> Vec<String> {
        self.peer_statuses().into_iter().map(|peer| peer.url).collect()
    }

    /// The peers as they stand now, in the order of their list; this node itself is not among them.
    #[must_use]
    pub fn peer_statuses(&self) -> Vec<PeerStatus> {
        let mut peers = self.replication.statuses();
        peers.retain(|peer| peer.state != PeerState::Itself);
        peers
    }

    /// Asks for a comparison with the peers now, instead of when its time comes.
    pub fn compare_now(&self) {
        self.comparison.notify_one();
    }

    /// Completes when somebody has asked for a comparison.
    pub async fn comparison_wished(&self) {
        self.comparison.notified().await;
    }

    /// The status of this node's record while it takes traffic: `eureka.instance.initial-status`.
    #[must_use]
    pub fn own_status(&self) -> Status {
        Status::from_exact(self.settings.instance.initial_status.as_str()).unwrap_or(Status::Up)
    }

    /// The record of this node itself.
    #[must_use]
    pub fn own_instance(&self) -> Instance {
        let own = &self.settings.instance;
        let secs = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let text = |value: &str| Some(Box::<str>::from(value));
        let started = self.registry.shared().clock.now().wall_ms;
        Instance {
            instance_id: own.instance_id.as_str().into(),
            host_name: own.hostname.as_str().into(),
            app: AppName::new(&own.app_name),
            ip_addr: own.ip_address.as_str().into(),
            sid: None,
            status: if self.is_ready() { self.own_status() } else { Status::Starting },
            overridden_status: Status::Unknown,
            port: Port { number: own.port.into(), enabled: own.port_enabled },
            secure_port: Port { number: own.secure_port.into(), enabled: own.secure_port_enabled },
            country_id: 1,
            data_center: DataCenter::MyOwn,
            lease: LeaseInfo {
                renewal_interval_secs: secs(own.lease_renewal_interval_secs),
                duration_secs: secs(own.lease_expiration_duration_secs),
                ..LeaseInfo::default()
            },
            metadata: own.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect::<Metadata>(),
            app_group_name: own.app_group_name.as_deref().map(Into::into),
            home_page_url: text(&own.home_page_url),
            status_page_url: text(&own.status_page_url),
            health_check_url: text(&own.health_check_url),
            secure_health_check_url: own.secure_health_check_url.as_deref().map(Into::into),
            vip_address: text(&own.vip_address),
            secure_vip_address: text(&own.secure_vip_address),
            is_coordinating_discovery_server: true,
            last_updated_timestamp: started,
            last_dirty_timestamp: started,
            action_type: None,
            asg_name: None,
        }
    }
}

/// A node that runs, with what is needed to stop it.
pub struct RunningNode {
    /// What handlers see.
    pub node: web::Data<Node>,
    /// Where it listens.
    pub address: SocketAddr,
    server: ServerHandle,
    closing: watch::Sender<bool>,
    management: Option<Management>,
    fetching: Fetching,
    loading: Loading,
    membership: Membership,
    snapshots: Option<RunningSnapshots>,
    actors: Running,
}

/// The listener of the actuator, if it has one of its own.
struct Management {
    address: SocketAddr,
    server: ServerHandle,
    /// Held, because connections close when it is gone.
    _closing: watch::Sender<bool>,
}

/// Starts a node: actors, listener, then the peers and with them the gate. Needs a running actix system.
///
/// # Errors
/// If the address cannot be bound.
pub fn start(settings: Settings) -> anyhow::Result<(RunningNode, Server)> {
    let source = source_of(&settings)?;
    start_with_peers(settings, Box::new(source))
}

/// The same, and what the settings were read from may be read again while the node runs.
///
/// # Errors
/// As [`start`].
pub fn start_refreshable(loaded: Loaded, places: Places) -> anyhow::Result<(RunningNode, Server)> {
    let current = CurrentSource::new(source_of(&loaded.settings)?);
    let refresher = Refresher::new(&loaded, places, current.clone());
    start_all(loaded.settings, Box::new(current), Some(refresher))
}

/// The same with peers from a source of the caller's own.
///
/// # Errors
/// As [`start`].
pub fn start_with_peers(
    settings: Settings,
    source: Box<dyn PeerSource>,
) -> anyhow::Result<(RunningNode, Server)> {
    start_all(settings, source, None)
}

fn start_all(
    settings: Settings,
    source: Box<dyn PeerSource>,
    refresher: Option<Refresher>,
) -> anyhow::Result<(RunningNode, Server)> {
    let clock = Clock::system();
    let groups = Groups::new(&settings.registry.asg, &clock);
    let group_source = aws::source(&settings)?;
    let options: Options = actor_options(&settings, groups.clone().map(|groups| groups as _));
    let replication = Arc::new(Replication::new(clock.clone(), identity::draw(&clock)));
    // Before anything else: the registry starts with what it gives back, and another node on the folder ends this one.
    let mut loaded = snapshots::load(&settings, &options, &clock)?;
    let mut sinks: Vec<Arc<dyn ChangeSink>> = vec![Arc::clone(&replication) as _];
    sinks.extend(loaded.snapshots.clone().map(|snapshots| snapshots as Arc<dyn ChangeSink>));
    let (is_warm, applications) = (loaded.is_warm(), std::mem::take(&mut loaded.applications));
    let actors = heureka_actors::start_with(clock, options, sinks, seed(), applications);
    let node = Node::new(settings, actors.handle.clone(), replication, loaded.snapshots.clone(), groups);
    let node = web::Data::new(Node { refresher, ..node });
    if is_warm {
        node.registry.open_for_traffic(StartedFrom::Snapshot);
        tracing::info!("open for traffic: with what the snapshot has kept");
    }
    // Before the first request can come in.
    let has_peers = source.known().is_none_or(|listed| !listed.is_empty());
    let copying = has_peers.then(|| node.start_copy.begin(node.registry.shared()));
    let Listener { server, address, closing } = listener::bind(&node)?;
    let fetching = Fetching::start(&node)?;
    let interval = Duration::from_millis(node.settings.registry.asg.update_interval_ms);
    let loading = Loading::start(node.groups.as_ref(), group_source, interval);
    let membership = Membership::join(&node, &[address.port()], source, copying);
    let management = actuator::listen(&node)?.map(|listener| {
        let handle = listener.server.handle();
        actix::spawn(listener.server);
        Management { address: listener.address, server: handle, _closing: listener.closing }
    });
    let handle = server.handle();
    let snapshots = snapshots::run(loaded, &node.registry);
    let running = RunningNode {
        node,
        address,
        server: handle,
        closing,
        management,
        fetching,
        loading,
        membership,
        snapshots,
        actors,
    };
    Ok((running, server))
}

/// Seed of what a node draws by chance: who is evicted first. Nobody must be able to foresee it from outside.
fn seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one("eviction")
}

impl RunningNode {
    /// Where the actuator listens, if not beside everything else.
    #[must_use]
    pub fn management_address(&self) -> Option<SocketAddr> {
        self.management.as_ref().map(|management| management.address)
    }

    /// Stops in order: not ready, no lease of its own, no new requests, finish those that run, tell the peers the rest,
    /// keep everything for the next start, then the actors.
    pub async fn stop(self) {
        self.node.is_stopping.store(true, Ordering::SeqCst);
        self.fetching.stop();
        self.loading.stop();
        self.membership.withdraw().await;
        self.closing.send_replace(true);
        self.server.stop(true).await;
        self.membership.leave().await;
        // Last, so that monitors see a node that is not ready rather than none.
        if let Some(management) = self.management {
            management.server.stop(false).await;
        }
        if let Some(snapshots) = self.snapshots {
            self.actors.handle.flush().await;
            snapshots.stop().await;
        }
        self.actors.stop().await;
    }
}
