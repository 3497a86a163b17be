//! A listener of its own for the actuator (`management.server.port`), so that a network can keep it from clients.

use std::net::SocketAddr;

use actix_web::web::{self, Data};
use anyhow::Context;
use heureka_config::settings::ManagementListener;
use tokio::sync::watch;

use super::serve_alone;
use crate::http::serving::Serving;
use crate::listener::{Listener, bind_socket};
use crate::node::Node;

/// Monitors and people, never a fleet of clients.
const WORKERS: usize = 1;
/// Open connections.
const MAX_CONNECTIONS: usize = 256;

/// Open connections that the settings allow beside those of clients.
#[must_use]
pub const fn max_connections(settings: &ManagementListener) -> usize {
    if matches!(settings, ManagementListener::Separate { .. }) { MAX_CONNECTIONS } else { 0 }
}

/// Binds the listener if the settings ask for one. Plain HTTP, as the settings have no certificate for it.
///
/// # Errors
/// If the address cannot be bound.
pub fn listen(node: &Data<Node>) -> anyhow::Result<Option<Listener>> {
    let ManagementListener::Separate { port, address, .. } = node.settings.management.listener else {
        return Ok(None);
    };
    let (closing, is_closing) = watch::channel(false);
    let serving = Serving {
        node: node.clone(),
        route: || web::to(serve_alone),
        is_closing,
        workers: WORKERS,
        max_connections: MAX_CONNECTIONS,
        drain_secs: 0,
    };
    let wanted = SocketAddr::new(address, port);
    let context = || format!("cannot listen on {wanted} (management.server.port, management.server.address)");
    let socket = bind_socket(wanted).with_context(context)?;
    let address = socket.local_addr()?;
    let server = serving.listen(socket, None).with_context(context)?;
    Ok(Some(Listener { server, address, closing }))
}
