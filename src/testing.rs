//! A node for tests: a real server on a free port, in threads of its own, stopped when dropped.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::Data;
use heureka_config::{Invocation, Settings};
use heureka_protocol::AppName;
use tokio::sync::oneshot;

use crate::node::{self, Node, RunningNode};
use crate::refresh::places_of;

/// Longest wait for a node to open: it may have to ask peers that do not answer.
const OPENING_PATIENCE: Duration = Duration::from_secs(5);
const OPENING_LOOK: Duration = Duration::from_millis(1);

/// A running node. Its methods block; use it from ordinary threads.
pub struct TestServer {
    port: u16,
    management_port: Option<u16>,
    node: Data<Node>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a node with these properties, on a free port unless `server.port` names one. Waits until the node has opened
    /// for traffic, for a short time.
    ///
    /// # Panics
    /// If the properties are wrong or the node does not start: a test cannot go on then.
    #[must_use]
    pub fn start(properties: &[(String, String)]) -> Self {
        Self::start_with(properties, OPENING_PATIENCE)
    }

    /// The same without waiting.
    ///
    /// # Panics
    /// As [`TestServer::start`].
    #[must_use]
    pub fn start_unopened(properties: &[(String, String)]) -> Self {
        Self::start_with(properties, Duration::ZERO)
    }

    /// Starts a node with the configuration files of a folder and arguments such as `--server.port=0`. Its settings can be
    /// read again. It listens on a free port of this machine only and keeps no snapshot.
    ///
    /// # Panics
    /// As [`TestServer::start`].
    #[must_use]
    #[expect(clippy::panic, reason = "for tests only")]
    pub fn start_in(folder: &Path, args: &[&str]) -> Self {
        let own = ["--server.address=127.0.0.1", "--server.port=0", "--heureka.snapshots.enabled=false"];
        let args = own.iter().chain(args).map(|arg| (*arg).to_owned()).collect();
        let invocation = Invocation { args, env: Vec::new(), working_dir: folder.to_owned() };
        let places = places_of(invocation);
        match places() {
            Ok(loaded) => Self::start_node(OPENING_PATIENCE, move || node::start_refreshable(loaded, places)),
            Err(error) => panic!("the test's files are wrong: {error}"),
        }
    }

    #[expect(clippy::panic, reason = "for tests only")]
    fn start_with(properties: &[(String, String)], patience: Duration) -> Self {
        let mut pairs: Vec<(&str, &str)> = properties.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        if pairs.iter().all(|(key, _)| *key != "server.port") {
            pairs.push(("server.port", "0"));
        }
        let mut settings = match Settings::from_properties(&pairs) {
            Ok(settings) => settings,
            Err(error) => panic!("the test's properties are wrong: {error}"),
        };
        settings.server.address = std::net::Ipv4Addr::LOCALHOST.into();
        settings.snapshots.enabled = false;
        Self::start_node(patience, move || node::start(settings))
    }

    #[expect(clippy::panic, reason = "for tests only")]
    fn start_node(
        patience: Duration,
        start: impl FnOnce() -> anyhow::Result<(RunningNode, Server)> + Send + 'static,
    ) -> Self {
        let (started, has_started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || run(start, patience, &started, stopped));
        match has_started.recv() {
            Ok(Started { port, management_port, node }) => {
                Self { port, management_port, node, stop: Some(stop), thread: Some(thread) }
            }
            Err(_) => panic!("the node did not start"),
        }
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The port that the actuator listens on, if it has one of its own.
    #[must_use]
    pub fn management_port(&self) -> Option<u16> {
        self.management_port
    }

    /// The node itself, for what no request can ask.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Stops the node and waits for its end.
    pub fn stop(mut self) {
        self.stop_now();
    }

    fn stop_now(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop_now();
    }
}

/// What is known of a node that runs.
struct Started {
    port: u16,
    management_port: Option<u16>,
    node: Data<Node>,
}

/// True if the node is in its own registry, or shall not be: it registers right after it has opened.
fn is_registered(node: &Node) -> bool {
    let (client, own) = (&node.settings.client, &node.settings.instance);
    let registers = client.register_with_eureka && !client.peer_urls().is_empty();
    let view = node.registry.shared().view();
    let app = view.app(&AppName::new(&own.app_name));
    !registers || app.is_some_and(|app| app.get(&own.instance_id).is_some())
}

fn run(
    start: impl FnOnce() -> anyhow::Result<(RunningNode, Server)>,
    patience: Duration,
    started: &mpsc::Sender<Started>,
    stopped: oneshot::Receiver<()>,
) {
    actix::System::new().block_on(async move {
        let Ok((running, server)) = start() else { return };
        let serving = actix::spawn(server);
        let opened = async {
            while !running.node.registry.shared().is_opened() || !is_registered(&running.node) {
                tokio::time::sleep(OPENING_LOOK).await;
            }
        };
        let _ = tokio::time::timeout(patience, opened).await;
        let _ = started.send(Started {
            port: running.address.port(),
            management_port: running.management_address().map(|address| address.port()),
            node: running.node.clone(),
        });
        let _ = stopped.await;
        running.stop().await;
        let _ = serving.await;
    });
}
