//! Node processes with a link in every direction between them.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use super::clients::Truth;
use crate::cluster::network::{Link, Mode};
use crate::restart::node::{Fetched, Home, Node, Seen};
use crate::waiting::until;

pub(super) const NODES: usize = 3;

/// The cluster. Node `i` sends to node `j` over the link `(i, j)`.
pub(super) struct Processes {
    homes: Vec<Home>,
    nodes: Vec<Option<Node>>,
    links: BTreeMap<(usize, usize), Link>,
    ports: Ports,
}

/// Where the nodes listen; 0 for one that does not run.
pub(super) type Ports = Arc<[AtomicU16; NODES]>;

impl Processes {
    /// Three nodes that have met.
    pub(super) fn start() -> Self {
        let pairs = (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to)));
        let links = pairs.filter(|(from, to)| from != to).map(|pair| (pair, Link::new())).collect();
        let homes = (0..NODES).map(|_| Home::new()).collect();
        let nodes = (0..NODES).map(|_| None).collect();
        let mut processes = Self { homes, nodes, links, ports: Arc::default() };
        (0..NODES).for_each(|node| processes.start_node(node));
        processes
    }

    /// Starts a node, again with what it has kept, and waits until it answers lists.
    pub(super) fn start_node(&mut self, node: usize) {
        let ways = self.links.iter().filter(|((from, _), _)| *from == node);
        let urls: Vec<String> =
            ways.map(|(_, link)| format!("http://127.0.0.1:{}/eureka/", link.port())).collect();
        let settings = [
            format!("--eureka.client.service-url.defaultZone={}", urls.join(",")),
            format!("--eureka.instance.hostname=node-{node}.test"),
            "--eureka.client.register-with-eureka=false".to_owned(),
            "--eureka.server.use-read-only-response-cache=false".to_owned(),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let running = self.homes[node].start(&settings);
        for ((_, to), link) in &self.links {
            if *to == node {
                link.lead_to(running.port);
            }
        }
        until(&format!("node {node} opens"), || {
            running.client().send("GET", "/eureka/apps", "").is_ok_and(|answer| answer.status == 200)
        });
        self.ports[node].store(running.port, Ordering::SeqCst);
        self.nodes[node] = Some(running);
    }

    /// `kill -9`.
    pub(super) fn kill_node(&mut self, node: usize) {
        self.ports[node].store(0, Ordering::SeqCst);
        self.nodes[node].take().expect("the node runs").kill();
    }

    /// Stops all its threads where they are, or lets them go on.
    pub(super) fn signal(&self, node: usize, signal: &str) {
        let pid = self.nodes[node].as_ref().expect("the node runs").pid().to_string();
        let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status().expect("kill runs");
        assert!(sent.success());
    }

    /// Sets the links between one node and all others, in both directions.
    pub(super) fn set_around(&self, node: usize, mode: Mode) {
        let around = self.links.iter().filter(|((from, to), _)| *from == node || *to == node);
        around.for_each(|(_, link)| link.set(mode));
    }

    pub(super) fn ports(&self) -> Ports {
        Arc::clone(&self.ports)
    }

    /// Waits until every node shows exactly what the clients were told, under the same hash.
    pub(super) fn until_all_show(&self, truth: &Truth) {
        let wanted = truth.shown();
        until("all nodes show what clients were told", || self.shown().all(|shown| shown == wanted));
    }

    /// Waits until every node shows the same.
    pub(super) fn until_equal(&self) {
        until("all nodes show the same", || {
            let first = self.shown().next();
            self.shown().all(|shown| Some(shown) == first)
        });
    }

    fn shown(&self) -> impl Iterator<Item = BTreeMap<String, String>> {
        self.nodes.iter().map(|node| statuses(&node.as_ref().expect("the node runs").fetch()))
    }
}

/// Id and status of every instance.
fn statuses(fetched: &Fetched) -> BTreeMap<String, String> {
    let named = |((_, id), seen): (&(String, String), &Seen)| (id.clone(), seen.status.clone());
    fetched.0.iter().map(named).collect()
}
