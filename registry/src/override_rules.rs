//! Which status an instance gets: the override rules in order (`registry.md` 3.7). Pure; changes nothing.

use heureka_protocol::Status;

/// What the rules look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Status of the record that is registered or renewed.
    pub record: Status,
    /// The override of the instance, if there is one.
    pub overridden: Option<Status>,
    /// State of the record's auto-scaling group; `None` outside AWS or if it names no group.
    pub group_is_enabled: Option<bool>,
    /// Status of the existing lease, if there is one.
    pub existing: Option<Status>,
    /// True for a replica call.
    pub replicated: bool,
}

/// The rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DecidedBy {
    /// 1: DOWN, STARTING and UNKNOWN always show through.
    DownOrStarting,
    /// 2: an override exists.
    OverrideExists,
    /// 2a: the auto-scaling group decides.
    GroupEnabled,
    /// 3: a client cannot move itself between UP and `OUT_OF_SERVICE`.
    LeaseExists,
    /// 4: nothing else matched.
    AlwaysMatch,
}

/// Is it one of the two statuses between which the registry, not the instance, decides?
const fn is_traffic_status(status: Status) -> bool {
    matches!(status, Status::Up | Status::OutOfService)
}

/// The effective status and the rule that gave it; the first match wins (invariants O-1 to O-5).
#[must_use]
pub fn decide(situation: Situation) -> (Status, DecidedBy) {
    let Situation { record, overridden, group_is_enabled, existing, replicated } = situation;
    if !is_traffic_status(record) {
        return (record, DecidedBy::DownOrStarting);
    }
    if let Some(status) = overridden {
        return (status, DecidedBy::OverrideExists);
    }
    if let Some(is_enabled) = group_is_enabled {
        let status = if is_enabled { Status::Up } else { Status::OutOfService };
        return (status, DecidedBy::GroupEnabled);
    }
    match existing {
        Some(status) if !replicated && is_traffic_status(status) => (status, DecidedBy::LeaseExists),
        _ => (record, DecidedBy::AlwaysMatch),
    }
}
