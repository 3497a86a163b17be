//! The connections to one server.

use std::io;
use std::net::SocketAddr;

use crate::http::Connection;

/// Connections that are lent to a stretch of load and come back from it, still open.
#[derive(Debug)]
pub struct Pool {
    pub(super) connections: Vec<Connection>,
    /// Number of the next request, so that stretches go on where the last one ended.
    pub(super) next_request: u64,
    wanted: usize,
    address: SocketAddr,
    buffer_bytes: usize,
}

impl Pool {
    /// Opens so many connections.
    ///
    /// # Errors
    /// If one of them cannot be opened.
    pub async fn open(address: SocketAddr, count: usize, buffer_bytes: usize) -> io::Result<Self> {
        let mut pool =
            Self { connections: Vec::new(), next_request: 0, wanted: count, address, buffer_bytes };
        pool.refill().await?;
        Ok(pool)
    }

    /// The server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of connections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.wanted
    }

    /// True if it has no connections.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted == 0
    }

    /// Replaces connections that were lost.
    ///
    /// # Errors
    /// If one cannot be opened.
    pub(super) async fn refill(&mut self) -> io::Result<()> {
        while self.connections.len() < self.wanted {
            self.connections.push(Connection::new(self.address, self.buffer_bytes));
        }
        for connection in &mut self.connections {
            connection.open().await?;
        }
        Ok(())
    }
}
