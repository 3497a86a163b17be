//! What a peer must be told of one instance, merged to the shortest list that has the same effect (`replication.md` 9.3.1).

use heureka_protocol::batch::Action;

/// A pending operation on the override of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverrideKind {
    /// It was set.
    Set,
    /// It was removed.
    Removed,
    /// It was set to the status that the instance had already, and nothing was stored (defect D9). Java tells its peers all
    /// the same; whatever else there is to tell of the override counts more.
    Stated,
}

/// Whether the peer must hear of the instance itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Presence {
    #[default]
    Nothing,
    Heartbeat,
    Register,
}

/// A list of at most three intents: cancel, heartbeat or registration, override operation.
///
/// A cancel before a registration stays: it clears a possibly higher dirty timestamp and the override at the peer, as it
/// did here. What the items say is read from the registry when they leave, so the order of registration and override
/// operation is free: see [`Intents::actions`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Intents {
    cancel: bool,
    presence: Presence,
    override_op: Option<OverrideKind>,
    /// The override was set and removed, in either order. A peer that has heard of neither changes nothing when it hears of
    /// the removal alone, so it must be told the status that came with it.
    is_mixed: bool,
}

/// How much would be lost without an intent; the least goes first when a queue is full (`replication.md` 9.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    Heartbeat,
    Register,
    Override,
    Cancel,
}

impl Intents {
    /// Nothing to tell.
    pub const NONE: Self =
        Self { cancel: false, presence: Presence::Nothing, override_op: None, is_mixed: false };
    /// The instance was cancelled.
    pub const CANCEL: Self = Self { cancel: true, ..Self::NONE };
    /// The instance renewed its lease.
    pub const HEARTBEAT: Self = Self { presence: Presence::Heartbeat, ..Self::NONE };
    /// The instance registered.
    pub const REGISTER: Self = Self { presence: Presence::Register, ..Self::NONE };

    /// An operation on the override.
    #[must_use]
    pub const fn override_op(kind: OverrideKind) -> Self {
        Self { override_op: Some(kind), ..Self::NONE }
    }

    /// True if there is nothing to tell.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// True if a cancel is in the list.
    #[must_use]
    pub const fn has_cancel(self) -> bool {
        self.cancel
    }

    /// True if a registration is in the list.
    #[must_use]
    pub fn has_register(self) -> bool {
        self.presence == Presence::Register
    }

    /// The override operation in the list.
    #[must_use]
    pub const fn override_kind(self) -> Option<OverrideKind> {
        self.override_op
    }

    /// This list followed by another one, merged (the table of `replication.md` 9.3.1).
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        if later.cancel {
            return later;
        }
        let is_gone = self.cancel && self.presence == Presence::Nothing;
        if is_gone && later.presence != Presence::Register {
            // Whatever came after the cancel without a registration was meant for the instance before it.
            return self;
        }
        // An override operation renews the lease at the peer too, so a heartbeat after it adds nothing.
        let is_renewed = self.override_op.is_some() && later.presence == Presence::Heartbeat;
        let presence = if is_renewed { self.presence } else { self.presence.max(later.presence) };
        let override_op = match later.override_op {
            None | Some(OverrideKind::Stated) => self.override_op.or(later.override_op),
            changed => changed,
        };
        let before = self.override_op.filter(|kind| *kind != OverrideKind::Stated);
        let differ = before.is_some() && before != override_op;
        Self {
            cancel: self.cancel,
            presence,
            override_op,
            is_mixed: self.is_mixed || later.is_mixed || differ,
        }
    }

    /// What remains when the instance has left the registry by itself (evicted, or cancelled by way of another peer).
    #[must_use]
    pub const fn without_instance(self) -> Self {
        Self { presence: Presence::Nothing, override_op: None, is_mixed: false, ..self }
    }

    /// What remains when a cancel has been overtaken by a newer registration from elsewhere.
    #[must_use]
    pub const fn without_cancel(self) -> Self {
        Self { cancel: false, ..self }
    }

    /// What remains when somebody else has changed the override later.
    #[must_use]
    pub const fn without_override(self) -> Self {
        Self { override_op: None, is_mixed: false, ..self }
    }

    /// The same with the operation that leads to what is there now: since it was done here, another one may have come from
    /// somewhere else, in a registration or a heartbeat.
    #[must_use]
    pub fn telling(self, has_override: bool) -> Self {
        let told = if has_override { OverrideKind::Set } else { OverrideKind::Removed };
        Self {
            override_op: self.override_op.map(|kind| if kind == OverrideKind::Stated { kind } else { told }),
            ..self
        }
    }

    /// Everything but a registration or heartbeat.
    #[must_use]
    pub const fn without_register(self) -> Self {
        Self { presence: Presence::Nothing, ..self }
    }

    /// The actions to send, in order.
    ///
    /// An override operation goes before the registration, other than in `replication.md` 9.3.1: a receiver stores no
    /// override for an instance that already has its status, and a registration as DOWN or STARTING gives it just that
    /// while an older override stays in force. Where the peer does not know the instance, as after a cancel, the operation
    /// fails, the registration brings the override along, and both are told once more: the peer may have kept another
    /// override of an earlier life, which no registration replaces. It is sent first all the same: the peer may have heard of
    /// the registration before, without our knowing it, and then the cancel of what was before it changes nothing there.
    pub fn actions(self) -> impl Iterator<Item = Action> {
        let cancel = self.cancel.then_some(Action::Cancel);
        let told = if self.is_mixed { Presence::Register } else { self.presence };
        let presence = match told {
            Presence::Nothing => None,
            Presence::Heartbeat => Some(Action::Heartbeat),
            Presence::Register => Some(Action::Register),
        };
        let override_op = self.override_op.map(|kind| match kind {
            OverrideKind::Set | OverrideKind::Stated => Action::StatusUpdate,
            OverrideKind::Removed => Action::DeleteStatusOverride,
        });
        let is_override_first = told == Presence::Register;
        let (one, two) = if is_override_first { (override_op, presence) } else { (presence, override_op) };
        cancel.into_iter().chain(one).chain(two)
    }

    /// The intents behind one action.
    #[must_use]
    pub const fn of(action: Action) -> Self {
        match action {
            Action::Heartbeat => Self::HEARTBEAT,
            Action::Register => Self::REGISTER,
            Action::Cancel => Self::CANCEL,
            Action::StatusUpdate => Self::override_op(OverrideKind::Set),
            Action::DeleteStatusOverride => Self::override_op(OverrideKind::Removed),
        }
    }

    /// What the heaviest of the intents weighs; `None` for an empty list.
    pub(super) fn weight(self) -> Option<Weight> {
        if self.cancel {
            Some(Weight::Cancel)
        } else if self.override_op.is_some() {
            Some(Weight::Override)
        } else {
            match self.presence {
                Presence::Nothing => None,
                Presence::Heartbeat => Some(Weight::Heartbeat),
                Presence::Register => Some(Weight::Register),
            }
        }
    }
}
