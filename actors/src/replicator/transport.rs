//! How a batch gets to a peer: a trait, so that tests need no network and the actors no HTTP client.

use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use heureka_registry::ClockReading;

use super::identity::PeerIdentity;
use super::stamps::{BatchHead, PlacedStamps};

/// A batch on its way.
pub type Sending = Pin<Box<dyn Future<Output = Result<PeerReply, TransportError>> + Send>>;

/// Carries batches to one peer.
pub trait PeerTransport: Send + Sync {
    /// Sends the body of a batch to the peer's batch endpoint, with what its headers say, and reads the whole answer. Never
    /// waits for longer than the time-outs of the settings.
    fn send(&self, body: Bytes, head: BatchHead) -> Sending;
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerReply {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, as sent.
    pub content_type: Option<String>,
    /// The body, decompressed.
    pub body: Bytes,
    /// Who answered, if it is one of ours.
    pub identity: Option<PeerIdentity>,
    /// What its clock shows, if it is one of ours.
    pub clock: Option<ClockReading>,
    /// The stamps of the overrides of the records in it.
    pub stamps: PlacedStamps,
}

/// Why nothing came back. The words are for people; they name no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// No connection, or it broke: the peer may not have seen the batch. A retry helps soon.
    #[error("not reachable: {0}")]
    Unreachable(String),
    /// The peer has taken the batch and did not answer in time. A retry helps, but not at once.
    #[error("no answer in time: {0}")]
    TimedOut(String),
    /// An answer that cannot be read: too long, broken.
    #[error("unreadable answer: {0}")]
    Unreadable(String),
}
