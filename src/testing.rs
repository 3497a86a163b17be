//! A node for tests: a real server on a free port, in threads of its own, stopped when dropped.

use std::sync::mpsc;
use std::thread::JoinHandle;

use heureka_config::Settings;
use tokio::sync::oneshot;

use crate::node;

/// A running node. Its methods block; use it from ordinary threads.
pub struct TestServer {
    port: u16,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    /// Starts a node with these properties, on a free port unless `server.port` names one.
    ///
    /// # Panics
    /// If the properties are wrong or the node does not start: a test cannot go on then.
    #[must_use]
    #[expect(clippy::panic, reason = "for tests only")]
    pub fn start(properties: &[(String, String)]) -> Self {
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
        let (started, has_started) = mpsc::channel();
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || run(settings, &started, stopped));
        match has_started.recv() {
            Ok(port) => Self { port, stop: Some(stop), thread: Some(thread) },
            Err(_) => panic!("the node did not start"),
        }
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
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

fn run(settings: Settings, started: &mpsc::Sender<u16>, stopped: oneshot::Receiver<()>) {
    actix::System::new().block_on(async move {
        let Ok((running, server)) = node::start(settings) else { return };
        let serving = actix::spawn(server);
        let _ = started.send(running.addresses.first().map_or(0, std::net::SocketAddr::port));
        let _ = stopped.await;
        running.stop().await;
        let _ = serving.await;
    });
}
