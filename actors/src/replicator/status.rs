//! What pages, `GET status` and tests are told of a peer (spec `replication.md` 9.3.9).

/// A peer, as it stands now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerStatus {
    /// The URL without credentials, with its trailing slash.
    pub url: String,
    /// In one word.
    pub state: PeerState,
    /// True if the peer has said that it is one of ours.
    pub is_heureka: bool,
    /// Instances of which something waits or is on its way.
    pub queued_instances: usize,
    /// Batches on their way.
    pub batches_in_flight: usize,
    /// Age of the oldest unconfirmed event, milliseconds; 0 if there is none.
    pub oldest_age_ms: u64,
    /// Length of the pause that failures have caused, milliseconds; 0 if there is none.
    pub backoff_ms: u64,
    /// Wall clock of the last batch that was answered item by item, milliseconds since the epoch.
    pub last_success_wall_ms: Option<i64>,
    /// The last failure; kept also after a success.
    pub last_error: Option<PeerError>,
}

/// A failure in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerError {
    /// What happened, without credentials.
    pub words: String,
    /// Wall clock, milliseconds since the epoch.
    pub wall_ms: i64,
}

/// State of a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeerState {
    /// Nothing has been sent yet.
    #[default]
    NotContacted,
    /// The last batch was answered.
    Available,
    /// The last batch failed.
    Failing,
    /// It is this node itself, under another name: nothing is sent.
    Itself,
}

impl PeerState {
    /// For people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotContacted => "not contacted yet",
            Self::Available => "available",
            Self::Failing => "failing",
            Self::Itself => "this node itself",
        }
    }
}
