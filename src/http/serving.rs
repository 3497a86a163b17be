//! From an accepted connection to the handler of its requests, the same for every listener.
//!
//! Put together from the parts of actix-web's own server, because only so a stream can be placed in front of the parser:
//! [`WithoutOffers`], which bounds the time of every head and cuts connections whose body has no end. What a connection speaks
//! (TLS or not) is settled before.
//!
//! Known and left: the dispatcher of actix-http 3.20 looks at the body that is arriving when it writes an answer, also if that
//! body belongs to a request behind the one that is answered. Such an answer says `Connection: close`; if it has no body of
//! its own, the connection ends and the request behind it has had no effect. A client that pipelines sends it again, as
//! RFC 9112 (9.3.1, 9.6) has it; no client of the registry pipelines.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol};
use actix_service::{ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::dev::{AppConfig, Server};
use actix_web::rt::net::TcpStream;
use actix_web::{App, Route, web};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connections::{self, Connections};
use super::upgrade_offers::WithoutOffers;
use crate::node::Node;

/// Idle connections live longer than the 30 s between two heartbeats, so that heartbeats need not reconnect.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a refused sender may go on sending before its connection is cut: cut at once, it would not get its answer.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// What happens on the connections of one listener.
#[derive(Clone)]
pub struct Serving {
    /// The node, for handlers and limits.
    pub node: web::Data<Node>,
    /// Makes what answers every request.
    pub route: fn() -> Route,
    /// Turns true when idle connections shall close. A sender that is gone counts as true.
    pub is_closing: watch::Receiver<bool>,
    /// Threads.
    pub workers: usize,
    /// Open connections, of all threads together; more are not accepted.
    pub max_connections: usize,
    /// Seconds that running requests may take at a stop.
    pub drain_secs: u64,
}

/// A connection in front of the parser.
type Incoming<Io> = (WithoutOffers<Io>, Protocol, Option<SocketAddr>);

impl Serving {
    /// Serves what a socket accepts, with TLS if there is a configuration for it.
    ///
    /// # Errors
    /// If the socket cannot be used.
    pub fn listen(&self, socket: TcpListener, tls: Option<ServerConfig>) -> io::Result<Server> {
        let (serving, local) = (self.clone(), socket.local_addr()?);
        let per_worker = self.max_connections.div_ceil(self.workers);
        let server = Server::build()
            .workers(self.workers)
            .max_concurrent_connections(per_worker)
            .shutdown_timeout(self.drain_secs)
            .disable_signals();
        let server = match tls {
            None => server.listen("heureka", socket, move || serving.plain(local)),
            Some(config) => {
                let acceptor = TlsAcceptor::from(Arc::new(config));
                server.listen("heureka", socket, move || serving.tls(local, &acceptor))
            }
        };
        Ok(server?.run())
    }

    fn plain(
        &self,
        local: SocketAddr,
    ) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<>
    {
        let timeout = self.header_timeout();
        fn_service(move |stream: TcpStream| async move {
            let peer = peer_of(&stream);
            Ok((WithoutOffers::new(stream, timeout), Protocol::Http1, peer))
        })
        .and_then(self.http(local, |stream: &TcpStream| stream))
    }

    fn tls(
        &self,
        local: SocketAddr,
        acceptor: &TlsAcceptor,
    ) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<>
    {
        let (timeout, acceptor) = (self.header_timeout(), acceptor.clone());
        let (connections, limit) = self.connections();
        fn_service(move |stream: TcpStream| {
            let (acceptor, connections) = (acceptor.clone(), Arc::clone(&connections));
            async move {
                let peer = peer_of(&stream);
                // Who never shakes hands is a connection like any other; there is no way yet to tell it that it is one too
                // many.
                let shaking = connections.shake(peer, limit).ok_or_else(too_many)?;
                let shaken = tokio::time::timeout(timeout, acceptor.accept(stream)).await;
                drop(shaking);
                let stream = shaken.map_err(io::Error::from).and_then(|shaken| shaken)?;
                Ok((WithoutOffers::new(stream, timeout), Protocol::Http1, peer))
            }
        })
        .and_then(self.http(local, |stream: &TlsStream<TcpStream>| stream.get_ref().0))
    }

    /// Parser and handler. `socket_of` finds the socket below a stream.
    fn http<Io: AsyncRead + AsyncWrite + Unpin + 'static>(
        &self,
        local: SocketAddr,
        socket_of: fn(&Io) -> &TcpStream,
    ) -> impl ServiceFactory<Incoming<Io>, Config = (), Response = (), Error = DispatchError, InitError = ()>
    + use<Io> {
        let (data, is_closing) = (self.node.clone(), self.is_closing.clone());
        let (connections, limit) = self.connections();
        let app = App::new().app_data(data).default_service((self.route)());
        HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(self.header_timeout())
            .client_disconnect_timeout(DISCONNECT_TIMEOUT)
            .local_addr(local)
            .graceful_shutdown_signal(move || {
                let mut is_closing = is_closing.clone();
                // An error means that the node is gone, which is a reason to close too.
                async move { drop(is_closing.wait_for(|closing| *closing).await) }
            })
            .on_connect_ext(move |stream: &WithoutOffers<Io>, data| {
                connections::on_connect(&connections, limit, socket_of(stream.get_ref()), data);
                data.insert(Rc::clone(stream.cutter().closing()));
                data.insert(Rc::clone(stream.pipeline()));
            })
            // What the default says of host and address serves links to the server itself; none are made.
            .finish(map_config(app, |()| AppConfig::default()))
    }

    /// The open connections, and how many of them one address may have.
    fn connections(&self) -> (Arc<Connections>, usize) {
        (Arc::clone(&self.node.connections), self.node.settings.limits.max_connections_per_address)
    }

    fn header_timeout(&self) -> Duration {
        Duration::from_millis(self.node.settings.limits.header_timeout_ms)
    }
}

fn too_many() -> DispatchError {
    io::Error::other("too many connections").into()
}

/// The other side. Sets what is off by default on the way: without it answers in several pieces stall for 40 ms.
fn peer_of(stream: &TcpStream) -> Option<SocketAddr> {
    let _ = stream.set_nodelay(true);
    stream.peer_addr().ok()
}
