//! The actuator: which end points exist, where, and what health says (1.6).

use std::collections::BTreeSet;
use std::net::IpAddr;

/// `management.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagementSettings {
    /// `management.server.port` and `.address`.
    pub listener: ManagementListener,
    /// `management.endpoints.web.base-path`: starts with a slash, does not end with one; empty means the root.
    pub base_path: String,
    /// `management.endpoints.web.exposure.*`.
    pub exposure: Exposure,
    /// `management.endpoint.health.*`.
    pub health: HealthSettings,
}

impl Default for ManagementSettings {
    fn default() -> Self {
        Self {
            listener: ManagementListener::Shared,
            base_path: "/actuator".into(),
            exposure: Exposure::default(),
            health: HealthSettings::default(),
        }
    }
}

/// Where the actuator listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ManagementListener {
    /// On the port of the registry.
    #[default]
    Shared,
    /// On a port of its own, without context path and TLS of the registry.
    Separate {
        /// `management.server.port`.
        port: u16,
        /// `management.server.address`, else that of the registry.
        address: IpAddr,
        /// `management.server.base-path`, as a context path.
        context_path: String,
    },
    /// `management.server.port: -1`: nowhere.
    Off,
}

/// Which end points answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposure {
    /// Ids, or `*`. Health, info and prometheus by default; Boot exposes health only.
    pub include: BTreeSet<String>,
    /// Ids, or `*`; wins over `include`.
    pub exclude: BTreeSet<String>,
}

impl Exposure {
    /// End points that exist.
    pub const IDS: [&str; 5] = ["health", "info", "metrics", "prometheus", "refresh"];

    /// True if the end point of this id is to answer.
    pub fn exposes(&self, id: &str) -> bool {
        let named = |set: &BTreeSet<String>| set.contains("*") || set.contains(id);
        named(&self.include) && !named(&self.exclude)
    }
}

impl Default for Exposure {
    fn default() -> Self {
        Self { include: ["health", "info", "prometheus"].map(String::from).into(), exclude: BTreeSet::new() }
    }
}

/// What `/actuator/health` tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthSettings {
    /// `show-details`.
    pub show_details: ShowDetails,
    /// `show-components`; follows `show-details` unless set.
    pub show_components: ShowDetails,
    /// `probes.enabled`: liveness and readiness.
    pub probes_enabled: bool,
}

impl Default for HealthSettings {
    fn default() -> Self {
        Self { show_details: ShowDetails::Never, show_components: ShowDetails::Never, probes_enabled: true }
    }
}

/// Who sees more than the status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShowDetails {
    /// Nobody.
    #[default]
    Never,
    /// Callers with credentials.
    WhenAuthorized,
    /// Everybody.
    Always,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exclusion_wins_and_a_star_means_all() {
        let all_but_info = Exposure { include: ["*".to_owned()].into(), exclude: ["info".to_owned()].into() };
        assert!(all_but_info.exposes("prometheus") && !all_but_info.exposes("info"));
        assert!(Exposure::default().exposes("info") && !Exposure::default().exposes("env"));
    }
}
