//! The listener of the registry: plain or TLS, with its limits.

use std::net::SocketAddr;

use actix_web::dev::Server;
use actix_web::web;
use anyhow::Context;
use socket2::{Domain, Socket, Type};
use tokio::sync::watch;

use crate::http::dispatch;
use crate::http::serving::Serving;
use crate::node::Node;
use crate::tls;

/// Connections that the system holds ready until they are accepted.
const BACKLOG: i32 = 4096;

/// A listener that is bound.
pub struct Listener {
    /// Runs until it is stopped.
    pub server: Server,
    /// Where it listens.
    pub address: SocketAddr,
    /// Tells idle connections to close.
    pub closing: watch::Sender<bool>,
}

/// Binds the listener of a node.
///
/// # Errors
/// If the address cannot be bound or the TLS settings cannot be used.
pub fn bind(node: &web::Data<Node>) -> anyhow::Result<Listener> {
    let settings = &node.settings.server;
    let tls = settings.tls.as_ref().map(tls::server_config).transpose()?;
    let (closing, is_closing) = watch::channel(false);
    let serving = Serving {
        node: node.clone(),
        route: || web::to(dispatch::handle),
        is_closing,
        workers: node.settings.placement.http_workers,
        max_connections: node.settings.limits.max_connections,
        drain_secs: drain_secs(settings.shutdown_timeout_ms),
    };
    let wanted = settings.socket_address();
    let context = || format!("cannot listen on {wanted} (server.port, server.address)");
    let socket = bind_socket(wanted).with_context(context)?;
    let address = socket.local_addr()?;
    let server = serving.listen(socket, tls).with_context(context)?;
    Ok(Listener { server, address, closing })
}

/// Seconds that running requests may take at a stop: what is left of the whole goes to peers, snapshot and actors.
fn drain_secs(shutdown_timeout_ms: u64) -> u64 {
    (shutdown_timeout_ms / 1000).saturating_sub(1)
}

/// As actix-web does it. The standard library's own `bind` holds 128 connections ready, too few for a fleet that comes
/// back at once after a restart.
///
/// # Errors
/// If the address cannot be bound.
pub fn bind_socket(address: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
