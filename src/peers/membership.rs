//! How a node takes its place among its peers, and leaves it: in order (spec `replication.md` 1.5, 6).

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use heureka_protocol::Instance;
use heureka_registry::StartedFrom;
use tokio::task::JoinHandle;

use super::anti_entropy::AntiEntropy;
use super::directory::PeerDirectory;
use super::http::PeerHttp;
use super::own::Own;
use super::own_lease::OwnLease;
use super::source::PeerSource;
use super::start_copy::OnItsWay;
use super::sync::{SyncPlan, copy_once};
use crate::node::Node;

/// How long a stop waits for the queues to empty (spec `replication.md` 9.3.2).
const DRAIN_PATIENCE: Duration = Duration::from_secs(2);

/// The part of a running node that belongs to the cluster.
pub struct Membership {
    node: Data<Node>,
    own_lease: Option<OwnLease>,
    tasks: Vec<JoinHandle<()>>,
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
        let has_list = known.as_ref().is_none_or(|listed| !listed.is_empty());
        let registers = settings.client.register_with_eureka && has_list;
        let own_lease = registers.then(|| {
            let instance = Instance { status: node.own_status(), ..node.own_instance() };
            OwnLease::new(node.registry.clone(), instance)
        });
        let mut membership = Self { node: node.clone(), own_lease, tasks: Vec::new() };
        let http = PeerHttp::new(settings, node.replication.own().clone());
        let own = Own::new(settings, listening);
        let (replication, handle) = (Arc::clone(&node.replication), node.registry.clone());
        let mut directory = PeerDirectory::new(replication, handle, settings, source, own, http.clone());
        node.set_peer_list(directory.urls());
        let is_known = known.is_some();
        directory.start_named(known.unwrap_or_default());
        if is_known && directory.urls().all().is_empty() {
            open(node, None);
            membership.spawn(hold(membership.own_lease.clone()));
            return membership;
        }
        membership.spawn(Arc::clone(&node.replication).carry_renewals());
        let seed = RandomState::new().hash_one("comparisons");
        let comparisons = AntiEntropy::new(node.clone(), http.clone(), directory.urls(), seed);
        membership.spawn(comparisons.compare_for_ever());
        membership.spawn(start_up(node.clone(), directory, http, membership.own_lease.clone(), copying));
        membership
    }

    fn spawn(&mut self, task: impl Future<Output = ()> + 'static) {
        self.tasks.push(actix_web::rt::spawn(task));
    }

    /// Gives up this node's own lease: the first thing to do when it stops, so that clients go elsewhere.
    pub async fn withdraw(&self) {
        let wants_to = self.node.settings.client.unregister_on_shutdown;
        if let Some(lease) = self.own_lease.as_ref().filter(|_| wants_to) {
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
    own_lease: Option<OwnLease>,
    copying: Option<OnItsWay>,
) {
    directory.refresh().await;
    let plan = SyncPlan {
        urls: directory.urls().all(),
        own_id: own_lease.as_ref().map(|_| node.settings.instance.instance_id.clone()),
        limits: node.limits.reader,
    };
    let copied = copy_once(&plan, &http, &node.registry).await;
    let has_stand_in = node.settings.registry.sync.default_open_for_traffic_count > 0;
    if copied.is_enough() || has_stand_in {
        open(&node, Some(copied.count));
    }
    drop(copying);
    let copying_later = async {
        if !copied.is_enough() {
            copy_later(&node, &plan, &http, has_stand_in).await;
        }
    };
    let interval = Duration::from_millis(node.settings.registry.peers.update_interval_ms.max(1));
    futures_util::future::join3(copying_later, hold(own_lease), directory.follow_for_ever(interval)).await;
}

/// Goes on asking, as often as configured. A Spring server, which never blocks reads, is open meanwhile; one that must not
/// open empty opens afterwards.
async fn copy_later(node: &Data<Node>, plan: &SyncPlan, http: &PeerHttp, is_open: bool) {
    let sync = &node.settings.registry.sync;
    let mut count = 0;
    for attempt in 2..=sync.retries {
        tokio::time::sleep(Duration::from_millis(sync.retry_wait_ms)).await;
        tracing::info!(attempt, "no peer has given an instance yet; asking again");
        let copied = copy_once(plan, http, &node.registry).await;
        count = copied.count;
        if copied.is_enough() {
            break;
        }
    }
    if !is_open {
        open(node, Some(count));
    }
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

async fn hold(own_lease: Option<OwnLease>) {
    if let Some(lease) = own_lease {
        lease.hold().await;
    }
}
