//! Connections: counted per address, refused above the limit.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use actix_web::{HttpRequest, HttpResponse};

use socket2::SockRef;

use super::body::BodyBudget;
use super::closing;
use super::reply::{self, PIECE_BYTES};

/// How long sent bytes may stay unread by the other side before the connection is given up.
const UNREAD_ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Up to so many open connections, documents are sent in large pieces.
const FEW_CONNECTIONS: usize = 256;
/// A large piece.
const LARGE_PIECE_BYTES: usize = 1 << 20;

/// What callers hold of the node.
#[derive(Debug)]
pub struct Connections {
    /// Open connections per address. Locked once when a connection opens and once when it closes.
    open: Mutex<HashMap<IpAddr, usize>>,
    total: AtomicUsize,
    /// Bodies on their way in.
    pub bodies: BodyBudget,
}

/// One open connection; counts itself off when it closes.
struct Connection {
    address: IpAddr,
    is_over_limit: bool,
    connections: Arc<Connections>,
}

impl Connections {
    /// None open yet; bodies on their way in may hold so many bytes together.
    #[must_use]
    pub fn new(body_bytes_max: usize) -> Self {
        Self { open: Mutex::default(), total: AtomicUsize::new(0), bodies: BodyBudget::new(body_bytes_max) }
    }

    fn enter(self: &Arc<Self>, address: IpAddr, limit: usize) -> Connection {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(address).or_insert(0);
        *count += 1;
        self.total.fetch_add(1, Ordering::Relaxed);
        Connection { address, is_over_limit: *count > limit, connections: self.clone() }
    }

    /// Counts a connection while its TLS handshake is under way; `None` if it is one too many.
    pub fn shake(self: &Arc<Self>, peer: Option<SocketAddr>, limit: usize) -> Option<impl Drop + use<>> {
        let connection = self.enter(peer?.ip(), limit);
        (!connection.is_over_limit).then_some(connection)
    }

    /// True if no connection is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Open connections of all addresses.
    pub fn len(&self) -> usize {
        self.total.load(Ordering::Relaxed)
    }

    /// How much of a document one connection may have in its buffer. Large pieces cost fewer calls and wake the reader
    /// less often; with many connections open small ones bound what readers cost that never read.
    pub fn piece_bytes(&self) -> usize {
        if self.len() <= FEW_CONNECTIONS { LARGE_PIECE_BYTES } else { PIECE_BYTES }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.total.fetch_sub(1, Ordering::Relaxed);
        let mut open = self.connections.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// For a connection that opens: counts it for as long as it is open.
pub fn on_connect(connections: &Arc<Connections>, limit: usize, stream: &TcpStream, data: &mut Extensions) {
    // Without this a client that never reads its answer keeps the connection and its buffer for ever.
    if let Err(error) = SockRef::from(stream).set_tcp_user_timeout(Some(UNREAD_ANSWER_TIMEOUT)) {
        tracing::debug!(%error, "cannot bound the time of unread answers");
    }
    if let Ok(peer) = stream.peer_addr() {
        data.insert(connections.enter(peer.ip(), limit));
    }
}

/// The answer on a connection that is one too many; it closes the connection.
pub fn refuse(request: &HttpRequest) -> Option<HttpResponse> {
    let connection = request.conn_data::<Connection>()?;
    if !connection.is_over_limit {
        return None;
    }
    let mut response = reply::unavailable(format!("too many connections from {}", connection.address));
    closing::close_behind(request, &mut response);
    Some(response)
}
