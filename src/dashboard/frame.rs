//! What both pages have: navigation, banner, System Status, DS Replicas (spec `spring.md` 2.1 to 2.4).

use heureka_config::Settings;
use heureka_registry::{Explanation, ProtectionState};

use super::banner::Banner;
use super::files::Addresses;
use super::numbers::{current_time, grouped, grouped_count};
use super::peers::Peer;
use super::regions::RegionLine;
use super::sections::Row;
use crate::node::Node;
use crate::status_report::uptime;

/// Addresses that the pages link.
#[derive(Clone, Debug)]
pub struct Links {
    /// The start page.
    pub home: String,
    /// The page of the last events.
    pub last_n: String,
    /// Style sheet.
    pub css: String,
    /// Script.
    pub js: String,
    /// Mark of the product.
    pub icon: String,
    /// The API, without a slash at its end.
    pub api: String,
}

impl Links {
    /// Addresses under the configured context path and page path.
    pub fn of(settings: &Settings) -> Self {
        let context = &settings.server.context_path;
        let page = format!("{context}{}", settings.dashboard.path);
        let page = page.trim_end_matches('/');
        let files = Addresses::under(context);
        Self {
            home: if settings.dashboard.path == "/" { format!("{page}/") } else { page.to_owned() },
            last_n: format!("{page}/lastn"),
            css: files.css,
            js: files.js,
            icon: files.icon,
            api: format!("{context}/eureka"),
        }
    }
}

/// The frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Addresses.
    pub links: Links,
    /// Which node this is.
    pub node_name: String,
    /// Version of this program.
    pub version: &'static str,
    /// A warning, if there is reason for one.
    pub banner: Option<Banner>,
    /// The two tables of System Status.
    pub system: [Vec<Row>; 2],
    /// What self-preservation does and why.
    pub explanation: Explanation,
    /// The same as one or two sentences.
    pub words: String,
    /// Peers.
    pub peers: Vec<Peer>,
    /// Other regions.
    pub regions: Vec<RegionLine>,
}

impl Frame {
    /// The frame of this moment.
    pub fn of(node: &Node) -> Self {
        let shared = node.registry.shared();
        let now = shared.clock.now();
        let renewals = shared.renewals().last_minute();
        let (explanation, is_below, is_expiring) = shared.with_protection(|protection| {
            let is_below = protection.is_below_threshold(renewals, now);
            (protection.explain(renewals, now), is_below, protection.lease_expiration_enabled(renewals))
        });
        let settings = &node.settings;
        let is_protected = settings.registry.self_preservation.enabled;
        Self {
            links: Links::of(settings),
            node_name: settings.instance.instance_id.clone(),
            version: env!("CARGO_PKG_VERSION"),
            banner: Banner::of(is_below, is_protected, &explanation),
            system: [
                vec![
                    Row::new("Environment", settings.environment.as_str()),
                    Row::new("Data center", settings.datacenter.as_str()),
                ],
                vec![
                    Row::new("Current time", current_time(now.wall_ms)),
                    Row::new("Uptime", uptime(shared.clock.uptime_ms())),
                    Row::new("Lease expiration enabled", is_expiring.to_string()),
                    Row::new("Renews threshold", grouped(explanation.threshold)),
                    Row::new("Renews (last min)", grouped_count(renewals)),
                ],
            ],
            words: words(&explanation),
            explanation,
            peers: node.peer_statuses().iter().map(|status| Peer::of(status, now.wall_ms)).collect(),
            regions: node
                .regions
                .list()
                .iter()
                .map(|region| RegionLine::of(region.state(now.mono_ms)))
                .collect(),
        }
    }
}

/// An empty registry has no threshold worth explaining.
fn words(explanation: &Explanation) -> String {
    if explanation.leases == 0 && explanation.state == ProtectionState::NothingExpected {
        return "No instance is registered, so there is nothing to evict.".to_owned();
    }
    explanation.to_string()
}
