//! How a node takes its place among its peers, and leaves it: in order (spec `replication.md` 1.5, 6).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use heureka_config::settings::ServiceUrl;
use heureka_protocol::Instance;
use heureka_registry::StartedFrom;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::anti_entropy::AntiEntropy;
use super::directory::PeerDirectory;
use super::first_copy::FirstCopy;
use super::http::PeerHttp;
use super::own::Own;
use super::own_lease::OwnLease;
use super::source::PeerSource;
use super::start_copy::OnItsWay;
use super::sync::{Copied, SyncPlan, copy_once};
use crate::node::Node;

/// How long a stop waits for the queues to empty (spec `replication.md` 9.3.2).
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);

/// The part of a running node that belongs to the cluster.
pub struct Membership {
    node: Data<Node>,
    own_lease: Option<OwnLease>,
    has_list: watch::Receiver<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// This node as one of its instances, once there is a list of peers: a lone node is nobody's peer.
struct OwnPart {
    lease: Option<OwnLease>,
    has_list: watch::Receiver<bool>,
}

impl Membership {
    /// Starts the senders, copies what the peers hold, opens for traffic and registers this node, if it shall. Returns at
    /// once; a node without peers has opened by then. `copying` is given up when the first copy has ended.
    #[must_use]
    pub fn join(
        node: &Data<Node>,
        listening: &[u16],
        source: Box<dyn PeerSource>,
        copying: Option<OnItsWay>,
    ) -> Self {
        let settings = &node.settings;
        let known = source.known();
        let http = PeerHttp::new(settings, node.replication.own().clone());
        let mut directory = directory(node, source, Own::new(settings, listening), http.clone());
        let is_known = known.is_some();
        directory.start_named(known);
        let own_lease = settings.client.register_with_eureka.then(|| {
            let instance = Instance { status: node.own_status(), ..node.own_instance() };
            OwnLease::new(node.registry.clone(), instance)
        });
        node.set_peer_list(directory.urls());
        let has_list = directory.has_list();
        let mut membership = Self { node: node.clone(), own_lease, has_list, tasks: Vec::new() };
        membership.spawn(Arc::clone(&node.replication).carry_renewals());
        let seed = RandomState::new().hash_one("comparisons");
        let comparisons = AntiEntropy::new(node.clone(), http.clone(), directory.urls(), seed);
        membership.spawn(comparisons.compare_for_ever());
        let own = OwnPart { lease: membership.own_lease.clone(), has_list: directory.has_list() };
        if is_known && directory.urls().all().is_empty() {
            open(node, None);
            drop(copying);
            membership.spawn(start_alone(node.clone(), directory, http, own));
        } else {
            membership.spawn(start_up(node.clone(), directory, http, own, copying));
        }
        membership
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(actix_web::rt::spawn(task));
    }

    /// Gives up this node's own lease: the first thing to do when it stops, so that clients go elsewhere.
    pub async fn withdraw(&self) {
        let wants_to = self.node.settings.client.unregister_on_shutdown;
        let is_held = *self.has_list.borrow();
        if let Some(lease) = self.own_lease.as_ref().filter(|_| wants_to && is_held) {
            // The task that renews would register again.
            self.tasks.iter().for_each(JoinHandle::abort);
            lease.cancel().await;
        }
    }

    /// Sends what waits for the peers, within a time limit, and ends.
    pub async fn leave(self) {
        let left = self.node.replication.drain(DRAIN_PATIENCE).await;
        if left > 0 {
            tracing::warn!(left, "changes of some instances did not reach every peer before the stop");
        }
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn start_up(
    node: Data<Node>,
    mut directory: PeerDirectory,
    http: PeerHttp,
    own: OwnPart,
    copying: Option<OnItsWay>,
) {
    directory.refresh().await;
    let mut copy = first_copy(&node, &directory, http);
    copy.ask().await;
    // A Spring server, which never blocks reads, is open while it goes on asking.
    let has_stand_in = node.settings.registry.sync.default_open_for_traffic_count > 0;
    let is_open = copy.may_open() || has_stand_in;
    if is_open {
        open(&node, Some(copy.count()));
    }
    drop(copying);
    let opens = |count| open(&node, Some(count));
    let later = copy.go_on((!is_open).then_some(opens));
    futures_util::future::join(later, live(node.clone(), directory, own)).await;
}

/// A node that has opened because it is alone. Who is listed later is asked then.
async fn start_alone(node: Data<Node>, directory: PeerDirectory, http: PeerHttp, own: OwnPart) {
    let later = first_copy(&node, &directory, http).go_on(None::<fn(u64)>);
    futures_util::future::join(later, live(node.clone(), directory, own)).await;
}

fn first_copy(
    node: &Data<Node>,
    directory: &PeerDirectory,
    http: PeerHttp,
) -> FirstCopy<impl AsyncFn(Vec<ServiceUrl>) -> Copied + use<>> {
    let (urls, was_told) = (directory.urls(), directory.was_told());
    let asking = node.clone();
    let ask = async move |urls| {
        let settings = &asking.settings;
        let own_id = settings.client.register_with_eureka.then(|| settings.instance.instance_id.clone());
        let plan = SyncPlan { urls, own_id, limits: asking.limits.reader };
        copy_once(&plan, &http, &asking.registry, &asking.peer_copies).await
    };
    FirstCopy::new(urls, was_told, &node.settings.registry.sync, ask)
}

/// Follows the list of peers and holds the own lease, for ever.
async fn live(node: Data<Node>, directory: PeerDirectory, own: OwnPart) {
    let interval = Duration::from_millis(node.settings.registry.peers.update_interval_ms.max(1));
    futures_util::future::join(own.hold(), directory.follow_for_ever(interval)).await;
}

fn directory(node: &Node, source: Box<dyn PeerSource>, own: Own, http: PeerHttp) -> PeerDirectory {
    let (replication, handle) = (Arc::clone(&node.replication), node.registry.clone());
    let metrics = Arc::clone(&node.peer_lists);
    PeerDirectory::new(replication, handle, &node.settings, source, own, http, metrics)
}

/// Opens for traffic. `default-open-for-traffic-count` stands in for a copy of nothing; a count of 0, which somebody must
/// have set, brings back the wait of Netflix' server (spec `spring.md` 4.3).
fn open(node: &Node, copied: Option<u64>) {
    let stand_in = u64::from(node.settings.registry.sync.default_open_for_traffic_count);
    let from = match copied {
        None if stand_in > 0 => StartedFrom::Nothing,
        None | Some(0) => StartedFrom::Peers(stand_in),
        Some(count) => StartedFrom::Peers(count),
    };
    let was_open = node.registry.shared().is_opened();
    node.registry.open_for_traffic(from);
    let why = match copied {
        None if was_open => return,
        None => "there are no peers to copy from".to_owned(),
        Some(0) => "no peer has given an instance".to_owned(),
        Some(count) => format!("the peers have given {count} instances"),
    };
    if was_open {
        tracing::info!("{why}");
    } else {
        tracing::info!("open for traffic: {why}");
    }
}

impl OwnPart {
    async fn hold(mut self) {
        let Some(lease) = self.lease else { return };
        // An error means that the node is gone.
        if self.has_list.wait_for(|has_list| *has_list).await.is_ok() {
            lease.hold().await;
        }
    }
}
