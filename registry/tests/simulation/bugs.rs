//! Planted bugs: each changes what passes between rules, queue, network and disk, and each must be found.

/// One planted bug; a history has at most one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A cancel leaves no tombstone.
    TombstoneDropped,
    /// What a peer has sent is offered to the peers as if a client had done it.
    ReplicaReplicated,
    /// The counts behind the hash code miss removals by eviction and corrections by heartbeat.
    HashNotUpdated,
    /// A peer's older registration replaces newer content.
    StaleRegisterWins,
    /// Expired leases go although self-preservation is active.
    EvictionUnderProtection,
    /// Leases that have not expired are evicted.
    EvictionTooEarly,
    /// Cancels get lost on their way and count as confirmed.
    CancelLost,
    /// Operations on overrides get lost on their way and count as confirmed.
    OverrideNotSent,
    /// A batch is applied a second time, back to front.
    BatchTwice,
    /// A batch that failed is forgotten if something else waits for the same instance.
    RetryForgetsMerge,
    /// A restart brings back what was cancelled and has a tombstone on disk.
    RestartResurrects,
    /// Heartbeats are not told to the peers.
    HeartbeatNotSent,
    /// A sender takes "not found" for success.
    NotFoundIgnored,
    /// A sender does not take over the newer record of its peer.
    ConflictIgnored,
    /// Of two copies at the start the older one wins.
    OlderCopyWins,
    /// A peer's list at the start removes what is not in it.
    CopyDeletes,
    /// Leases count on the wall clock.
    WallClockLeases,
    /// Evictions are told to the peers.
    EvictionReplicated,
    /// Two batches with the same instance are on their way at once.
    TwoInFlight,
    /// Any registration with the same dirty timestamp ends a tombstone, whoever sent it.
    AnybodyLifts,
    /// A cancel does not say which record it ended.
    CancelNamesNothing,
    /// An operation on an override tells the status shown and nothing else.
    StatusInsteadOfOverride,
    /// A batch that later ones have overtaken is applied all the same.
    LateBatchApplied,
    /// The lists at the start bring back what was cancelled while they were on their way.
    CopyUndoesCancel,
    /// A peer's operation on an override makes an older record look as new as the peer's.
    OperationRaisesDirty,
    /// Nobody says when an override was set or removed.
    StampsNotTold,
    /// What a peer tells of an override counts as done when it arrives.
    StampsOfArrival,
}

impl Bug {
    pub const ALL: [Self; 27] = [
        Self::TombstoneDropped,
        Self::ReplicaReplicated,
        Self::HashNotUpdated,
        Self::StaleRegisterWins,
        Self::EvictionUnderProtection,
        Self::EvictionTooEarly,
        Self::CancelLost,
        Self::OverrideNotSent,
        Self::BatchTwice,
        Self::RetryForgetsMerge,
        Self::RestartResurrects,
        Self::HeartbeatNotSent,
        Self::NotFoundIgnored,
        Self::ConflictIgnored,
        Self::OlderCopyWins,
        Self::CopyDeletes,
        Self::WallClockLeases,
        Self::EvictionReplicated,
        Self::TwoInFlight,
        Self::AnybodyLifts,
        Self::CancelNamesNothing,
        Self::StatusInsteadOfOverride,
        Self::LateBatchApplied,
        Self::CopyUndoesCancel,
        Self::OperationRaisesDirty,
        Self::StampsNotTold,
        Self::StampsOfArrival,
    ];

    /// Where to begin to look for it: what matters only in rare histories is not looked for in all that come before them.
    pub fn first_seed(self) -> u64 {
        match self {
            Self::OperationRaisesDirty => 1_900,
            Self::StampsOfArrival => 400,
            Self::StampsNotTold => 150,
            _ => 0,
        }
    }
}
