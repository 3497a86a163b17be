//! Self-preservation in plain words, with the figures behind it: the start page and the log say the same (defect D4).

use std::fmt;

/// What self-preservation does at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtectionState {
    /// The node has not opened for traffic: nothing is evicted.
    NotOpened,
    /// The switch is off: expired leases are evicted whatever the renewals.
    SwitchedOff,
    /// Enough renewals: expired leases are evicted.
    Evicting,
    /// The threshold is 0 or less, so no number of renewals counts as enough.
    NothingExpected,
    /// The first minute of counting is not over.
    FirstMinute,
    /// Protection is active.
    TooFewRenewals,
}

impl ProtectionState {
    /// True if expired leases are kept.
    #[must_use]
    pub const fn is_eviction_paused(self) -> bool {
        !matches!(self, Self::SwitchedOff | Self::Evicting)
    }
}

/// State and figures; `Display` makes one or two sentences of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What happens.
    pub state: ProtectionState,
    /// `E`.
    pub expected_clients: i32,
    /// `T`, renewals a minute.
    pub threshold: i32,
    /// `R`, renewals in the last completed minute.
    pub renewals: u64,
    /// Registered instances, expired ones included.
    pub leases: u64,
    /// How many clients must renew at their own pace for eviction to go on; more than there are registered means that it
    /// cannot. `None` if no number would do.
    pub clients_enough: Option<u64>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { renewals, threshold, expected_clients, .. } = self;
        match self.state {
            ProtectionState::NotOpened => {
                write!(f, "Nothing is evicted: the server has not opened for traffic yet.")
            }
            ProtectionState::SwitchedOff => write!(
                f,
                "Self-preservation is switched off: expired instances are evicted, however few clients renew."
            ),
            ProtectionState::Evicting => write!(
                f,
                "Expired instances are evicted: {renewals} renewals in the last full minute are more than the \
                 threshold of {threshold}."
            ),
            ProtectionState::NothingExpected => write!(
                f,
                "Nothing is evicted: the threshold of renewals is {threshold}, and only one above 0 can be exceeded."
            ),
            ProtectionState::FirstMinute => write!(
                f,
                "Nothing is evicted: renewals are counted by full minutes, and the first one is not over."
            ),
            ProtectionState::TooFewRenewals => {
                write!(
                    f,
                    "Self-preservation is active, so no expired instance is evicted: {renewals} renewals in the last \
                     full minute are not more than the threshold of {threshold} ({expected_clients} clients are \
                     expected)."
                )?;
                self.write_way_out(f)
            }
        }
    }
}

impl Explanation {
    fn write_way_out(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.clients_enough {
            Some(enough) if enough <= self.leases => {
                write!(f, " It ends when {enough} of the {} registered instances renew.", self.leases)
            }
            Some(enough) => write!(
                f,
                " With {} registered instances it cannot end; it would take {enough} that renew.",
                self.leases
            ),
            None => Ok(()),
        }
    }
}
