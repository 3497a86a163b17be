//! The six calls that make up a registry's day.

use std::rc::Rc;

use super::baseline::typical_app;
use super::setup::{self, CONNECTIONS, FETCH_CONNECTIONS};
use crate::fleet::Fleet;
use crate::load::Workload;
use crate::servers::Baseline;

/// One kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `PUT apps/{app}/{id}`
    Heartbeat,
    /// `POST apps/{app}` of an instance that is known
    Register,
    /// `GET apps/`
    Full,
    /// `GET apps/delta`
    Delta,
    /// `GET apps/{app}`
    App,
    /// `GET vips/{vip}`
    Vip,
}

/// What an operation must reach.
#[derive(Clone, Copy, Debug)]
pub struct Goals {
    /// Least share of the baseline's rate.
    pub of_baseline: f64,
    /// Least multiple of Java's rate, where one is asked for.
    pub of_java: Option<f64>,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Heartbeat, Self::Register, Self::Full, Self::Delta, Self::App, Self::Vip];

    /// Name on the command line and in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Heartbeat => "heartbeat",
            Self::Register => "register",
            Self::Full => "full",
            Self::Delta => "delta",
            Self::App => "app",
            Self::Vip => "vip",
        }
    }

    /// What it must reach.
    #[must_use]
    pub fn goals(self) -> Goals {
        match self {
            Self::Heartbeat => Goals { of_baseline: 0.85, of_java: Some(20.0) },
            Self::Register => Goals { of_baseline: 0.60, of_java: Some(15.0) },
            // Five times Java is asked for under churn, which `churn` measures.
            Self::Full => Goals { of_baseline: 0.90, of_java: None },
            Self::Delta | Self::App | Self::Vip => Goals { of_baseline: 0.85, of_java: None },
        }
    }

    /// True if a multiple of Java's rate is asked for, here or under churn.
    #[must_use]
    pub fn has_goal_against_java(self) -> bool {
        self == Self::Full || self.goals().of_java.is_some()
    }

    /// The handler that it is compared with.
    #[must_use]
    pub fn baseline(self) -> Baseline {
        match self {
            Self::Heartbeat => Baseline::Empty,
            Self::Register => Baseline::ReadBody,
            Self::Full | Self::Delta | Self::App | Self::Vip => Baseline::Static,
        }
    }

    /// The path of a read; `None` for writes.
    #[must_use]
    pub fn path(self, fleet: &Fleet) -> Option<String> {
        let app = typical_app(fleet);
        match self {
            Self::Heartbeat | Self::Register => None,
            Self::Full => Some("apps/".to_owned()),
            Self::Delta => Some("apps/delta".to_owned()),
            Self::App => Some(format!("apps/{app}")),
            Self::Vip => Some(format!("vips/{}", app.to_ascii_lowercase())),
        }
    }

    /// Its requests.
    #[must_use]
    pub fn workload(self, fleet: &Fleet, seed: u64) -> Rc<dyn Workload> {
        match self.path(fleet) {
            Some(path) => setup::get(&path),
            None if self == Self::Heartbeat => setup::heartbeats(fleet, seed),
            None => setup::registrations(fleet, seed, 0),
        }
    }

    /// Connections that keep one worker busy.
    #[must_use]
    pub fn connections(self) -> usize {
        if self == Self::Full { FETCH_CONNECTIONS } else { CONNECTIONS }
    }
}
