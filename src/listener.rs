//! The listener of the registry: plain or TLS, with its limits.

use std::net::SocketAddr;
use std::time::Duration;

use actix_http::{HttpService, Protocol};
use actix_service::{ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::{App, HttpServer, web};
use anyhow::Context;
use heureka_config::settings::ServerTls;
use socket2::{Domain, Socket, Type};
use tokio::sync::watch;

use crate::http::connections;
use crate::http::dispatch;
use crate::http::upgrade_offers::WithoutOffers;
use crate::node::Node;
use crate::tls;

/// Idle connections live longer than the 30 s between two heartbeats, so that heartbeats need not reconnect.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Connections that the system holds ready until they are accepted.
const BACKLOG: i32 = 4096;
/// How long a refused sender may go on sending before its connection is cut: cut at once, it would not get its answer.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A listener that is bound.
pub struct Listener {
    /// Runs until it is stopped.
    pub server: Server,
    /// Where it listens.
    pub addresses: Vec<SocketAddr>,
    /// Tells idle connections of the plain listener to close; the TLS listener tells its own.
    pub closing: watch::Sender<bool>,
}

/// Binds the listener of a node.
///
/// # Errors
/// If the address cannot be bound or the TLS settings cannot be used.
pub fn bind(node: &web::Data<Node>) -> anyhow::Result<Listener> {
    let (closing, is_closing) = watch::channel(false);
    let (server, addresses) = match &node.settings.server.tls {
        Some(tls) => bind_tls(node, tls)?,
        None => bind_plain(node, &is_closing)?,
    };
    Ok(Listener { server, addresses, closing })
}

/// Seconds that running requests may take at a stop: what is left of the whole goes to peers, snapshot and actors.
fn drain_secs(shutdown_timeout_ms: u64) -> u64 {
    (shutdown_timeout_ms / 1000).saturating_sub(1)
}

fn cannot_listen(address: SocketAddr) -> String {
    format!("cannot listen on {address} (server.port, server.address)")
}

/// Put together from the parts of actix-web's own server, because only so a stream can be placed in front of the parser.
fn bind_plain(
    node: &web::Data<Node>,
    is_closing: &watch::Receiver<bool>,
) -> anyhow::Result<(Server, Vec<SocketAddr>)> {
    let settings = &node.settings;
    let address = settings.server.socket_address();
    let socket = bind_socket(address).with_context(|| cannot_listen(address))?;
    let local = socket.local_addr()?;
    let workers = settings.placement.http_workers;
    let header_timeout = Duration::from_millis(settings.limits.header_timeout_ms);
    let (data, is_closing) = (node.clone(), is_closing.clone());
    let service = move || {
        let (data, is_closing) = (data.clone(), is_closing.clone());
        let (connections, limit) =
            (data.connections.clone(), data.settings.limits.max_connections_per_address);
        let app = App::new().app_data(data.clone()).default_service(web::to(dispatch::handle));
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(header_timeout)
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .local_addr(local)
            .graceful_shutdown_signal(move || {
                let mut is_closing = is_closing.clone();
                // An error means that the node is gone, which is a reason to close too.
                async move { drop(is_closing.wait_for(|closing| *closing).await) }
            })
            .on_connect_ext(move |stream: &WithoutOffers<TcpStream>, data| {
                connections::on_connect(&connections, limit, stream.get_ref(), data);
            })
            // What the default says of host and address serves links to the server itself; none are made.
            .finish(map_config(app, |()| AppConfig::default()));
        fn_service(move |stream: TcpStream| async move {
            // Off by default; without it answers in several pieces stall for 40 ms.
            let _ = stream.set_nodelay(true);
            let peer = stream.peer_addr().ok();
            Ok((WithoutOffers::new(stream, header_timeout), Protocol::Http1, peer))
        })
        .and_then(http)
    };
    let server = Server::build()
        .workers(workers)
        .max_concurrent_connections(settings.limits.max_connections.div_ceil(workers))
        .shutdown_timeout(drain_secs(settings.server.shutdown_timeout_ms))
        .disable_signals()
        .listen("heureka", socket, service)
        .with_context(|| cannot_listen(address))?;
    Ok((server.run(), vec![local]))
}

/// As actix-web does it. The standard library's own `bind` holds 128 connections ready, too few for a fleet that comes
/// back at once after a restart.
fn bind_socket(address: SocketAddr) -> std::io::Result<std::net::TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

fn bind_tls(node: &web::Data<Node>, tls: &ServerTls) -> anyhow::Result<(Server, Vec<SocketAddr>)> {
    let (data, limits) = (node.clone(), &node.settings.limits);
    let workers = node.settings.placement.http_workers;
    let (connections, per_address) = (node.connections.clone(), limits.max_connections_per_address);
    let server =
        HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(dispatch::handle)))
            .workers(workers)
            .max_connections(limits.max_connections.div_ceil(workers))
            .backlog(BACKLOG.unsigned_abs())
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(Duration::from_millis(limits.header_timeout_ms))
            .tcp_nodelay(true)
            .on_connect(move |stream, data| connections::on_connect(&connections, per_address, stream, data))
            .shutdown_timeout(drain_secs(node.settings.server.shutdown_timeout_ms))
            .disable_signals();
    let address = node.settings.server.socket_address();
    let server =
        server.bind_rustls_0_23(address, tls::server_config(tls)?).with_context(|| cannot_listen(address))?;
    let addresses = server.addrs();
    Ok((server.run(), addresses))
}
