//! `heureka run`: a node from start to stop.

use std::future::Future;

use actix_web::web::{self, Data};
use anyhow::Context;
use heureka_config::settings::Settings;
use heureka_config::{Invocation, Loaded, Severity};
use tokio::signal::unix::{SignalKind, signal};

use crate::actuator;
use crate::node::{self, Node, RunningNode};
use crate::process;
use crate::refresh::places_of;
use crate::telemetry::logging;

/// Files that a node has open beside its connections: the store, calls to peers, DNS.
const OTHER_FILES: u64 = 512;

/// Runs a node until it is told to stop.
pub(super) fn run(loaded: Loaded, invocation: Invocation) -> anyhow::Result<()> {
    logging::start(&loaded.settings.logging);
    announce_configuration(&loaded);
    allow_files(files_wanted(&loaded.settings));
    actix::System::new().block_on(async move {
        let stop = stop_signal()?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let (running, server) = node::start_refreshable(loaded, places_of(invocation))?;
        let serving = actix::spawn(server);
        announce_node(&running);
        let node = running.node.clone();
        actix::spawn(async move {
            while hang_up.recv().await.is_some() {
                refresh(&node).await;
            }
        });
        stop.await;
        tracing::info!("stopping: finishing requests");
        running.stop().await;
        serving.await.context("the listener ended abnormally")??;
        tracing::info!("stopped");
        Ok(())
    })
}

/// Every connection is an open file, also one of the actuator's own listener.
fn files_wanted(settings: &Settings) -> u64 {
    let beside = actuator::max_connections(&settings.management.listener);
    OTHER_FILES + settings.limits.max_connections as u64 + beside as u64
}

/// Who runs out of open files can neither be reached by peers nor write a snapshot.
fn allow_files(wanted: u64) {
    if let Some(allowed) = process::raise_file_limit(wanted).filter(|allowed| *allowed < wanted) {
        tracing::warn!(
            "the system lets this process open {allowed} files, and heureka.limits.max-connections needs {wanted}: raise the \
             limit (LimitNOFILE of systemd, ulimit -Hn), or lower that key"
        );
    }
}

/// Completes when the process is asked to stop.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// SIGHUP: the settings are read again.
async fn refresh(node: &Data<Node>) {
    let node = node.clone();
    let refreshed = web::block(move || node.refresher.as_ref().map(|refresher| refresher.refresh()));
    if let Ok(Some(Err(error))) = refreshed.await {
        tracing::error!("{error:#}");
    }
}

fn announce_configuration(loaded: &Loaded) {
    let report = &loaded.report;
    tracing::info!("Heureka {} starts; {}", env!("CARGO_PKG_VERSION"), report.places());
    for notice in &report.notices {
        match notice.severity {
            Severity::Warning => tracing::warn!("{notice}"),
            Severity::Info => tracing::info!("{notice}"),
        }
    }
}

fn announce_node(running: &RunningNode) {
    let settings = &running.node.settings;
    let scheme = if settings.server.tls.is_some() { "https" } else { "http" };
    let context = &settings.server.context_path;
    let (address, port) = (running.address, running.address.port());
    tracing::info!(
        "listening on {address}; clients use {scheme}://{}:{port}{context}/eureka/",
        settings.instance.hostname
    );
    if settings.dashboard.enabled {
        tracing::info!("start page: {scheme}://localhost:{port}{context}{}", settings.dashboard.path);
    }
    if let Some(address) = running.management_address() {
        tracing::info!("actuator: {address}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connections_of_every_listener_are_open_files() {
        let wanted = |properties: &[(&str, &str)]| {
            files_wanted(&Settings::from_properties(properties).expect("settings"))
        };
        let few = ("heureka.limits.max-connections", "1000");
        assert_eq!(wanted(&[few]), 1512);
        assert_eq!(wanted(&[few, ("management.server.port", "0")]), 1512 + 256);
    }
}
