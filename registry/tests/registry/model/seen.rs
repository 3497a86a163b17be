//! What an observer can see of a registry. The real one and the naive one must show the same.

use heureka_protocol::{ActionType, Status};
use heureka_registry::{ChangeKind, Origin};

/// One lease.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenLease {
    pub id: String,
    pub metadata: Vec<(String, String)>,
    pub status: Status,
    pub overridden: Status,
    pub reported: Status,
    pub dirty: i64,
    pub updated_ms: i64,
    pub action: ActionType,
    pub registered_ms: i64,
    pub service_up_ms: i64,
    pub duration_ms: u64,
    pub clock_ms: Option<u64>,
    pub direct_contact_ms: Option<u64>,
    pub settings: (i32, i32),
    pub is_visible: bool,
}

/// One application.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenApp {
    pub leases: Vec<SeenLease>,
    pub overrides: Vec<(String, Status, Origin)>,
    /// Id, dirty timestamp, end.
    pub tombstones: Vec<(String, i64, u64)>,
    pub leases_and_micros: (u64, u64),
    pub next_sequence: u64,
    /// Id, action, status and dirty timestamp.
    pub delta: Vec<(String, ActionType, Status, i64)>,
    pub is_forgettable: bool,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenChange {
    pub app: usize,
    pub id: String,
    pub sequence: u64,
    pub kind: ChangeKind,
    pub origin: Origin,
    pub previous: Option<Status>,
    pub status: Status,
    pub eviction_ms: i64,
    pub at_mono_ms: u64,
}

/// What a step gave to its caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub answer: Answer,
    pub changes: Vec<SeenChange>,
}

/// The answer to a caller.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Nothing to say.
    None,
    /// It worked (true) or did not.
    Done(bool),
    /// HTTP status, whether it counts in the renew rate, dirty timestamp of a conflicting record.
    Renewal(u16, bool, Option<i64>),
    /// Ids found, application by application.
    Found(Vec<(usize, String)>),
}

/// Id of an instance by its number.
pub fn id_text(id: usize) -> String {
    format!("i-{id}")
}
