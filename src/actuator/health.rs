//! `/actuator/health`: is the node alive, does it take traffic, and what it is made of.
//!
//! The tree of components is Boot's, so that monitors which look into it find what they look for.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::ShowDetails;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::accept;
use crate::http::{reply, security};
use crate::node::Node;

/// Groups that have a path of their own.
const GROUPS: [&str; 2] = ["liveness", "readiness"];

/// Status of a component, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Health {
    OutOfService,
    Up,
    Unknown,
}

impl Health {
    const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfService => "OUT_OF_SERVICE",
            Self::Up => "UP",
            Self::Unknown => "UNKNOWN",
        }
    }

    const fn code(self) -> StatusCode {
        match self {
            Self::OutOfService => StatusCode::SERVICE_UNAVAILABLE,
            Self::Up | Self::Unknown => StatusCode::OK,
        }
    }
}

/// A component: a leaf with a status of its own, or a composite of others.
#[derive(Debug)]
enum Component {
    Leaf { health: Health, description: Option<&'static str>, details: Option<Value> },
    Composite(Vec<(&'static str, Component)>),
}

/// A component as Boot writes it, members in its order.
#[derive(Debug, Default, Serialize)]
struct Description {
    #[serde(skip_serializing_if = "Option::is_none")]
    components: Option<BTreeMap<&'static str, Description>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    groups: &'static [&'static str],
    status: &'static str,
}

/// How much a caller gets to see.
#[derive(Clone, Copy, Debug)]
struct Shown {
    components: bool,
    details: bool,
}

impl Component {
    const fn leaf(health: Health) -> Self {
        Self::Leaf { health, description: None, details: None }
    }

    /// The worst of its parts.
    fn health(&self) -> Health {
        match self {
            Self::Leaf { health, .. } => *health,
            Self::Composite(parts) => {
                parts.iter().map(|(_, part)| part.health()).min().unwrap_or(Health::Unknown)
            }
        }
    }

    fn part(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Leaf { .. } => None,
            Self::Composite(parts) => parts.iter().find(|(known, _)| *known == name).map(|(_, part)| part),
        }
    }

    fn describe(&self, shown: Shown, groups: &'static [&'static str]) -> Description {
        let mut description = Description { status: self.health().as_str(), ..Description::default() };
        match self {
            Self::Leaf { description: words, details, .. } if shown.details => {
                description.details = details.clone();
                description.description = *words;
            }
            Self::Leaf { .. } => {}
            Self::Composite(parts) => {
                let parts = parts.iter().map(|(name, part)| (*name, part.describe(shown, &[])));
                description.components = shown.components.then(|| parts.collect());
                description.groups = groups;
            }
        }
        description
    }
}

/// Answers for the whole, a group, or a component; 404 without a body for what does not exist or is not shown.
pub fn answer(request: &HttpRequest, node: &Node, path: &[&str]) -> HttpResponse {
    let settings = &node.settings.management.health;
    if let [group] = path
        && settings.probes_enabled
        && GROUPS.contains(group)
    {
        let health = if *group == "readiness" { readiness(node) } else { Health::Up };
        return accept::json(request, health.code(), &json!({"status": health.as_str()}));
    }
    let shown = Shown {
        components: shows_to(settings.show_components, request, node),
        details: shows_to(settings.show_details, request, node),
    };
    let root = components(node);
    let mut component = &root;
    for name in path {
        match component.part(name).filter(|_| shown.components) {
            Some(part) => component = part,
            None => return reply::empty(StatusCode::NOT_FOUND),
        }
    }
    let groups: &'static [&'static str] = if settings.probes_enabled { &GROUPS } else { &[] };
    accept::json(request, component.health().code(), &component.describe(shown, groups))
}

fn shows_to(who: ShowDetails, request: &HttpRequest, node: &Node) -> bool {
    match who {
        ShowDetails::Never => false,
        ShowDetails::WhenAuthorized => security::is_authenticated(request, node),
        ShowDetails::Always => true,
    }
}

/// Ready once the node has opened for traffic, until it stops. Unlike Java's, which is ready while it still copies the
/// registry from its peers (spec `spring.md` item 66). A node that has found no instance and was told not to open empty
/// is ready although it refuses lists for a while: it waits for clients to register, and where only ready nodes are reached
/// none could.
fn readiness(node: &Node) -> Health {
    if node.is_ready() { Health::Up } else { Health::OutOfService }
}

fn components(node: &Node) -> Component {
    let discovery =
        Component::Leaf { health: Health::Up, description: None, details: Some(json!({"services": []})) };
    let no_certificates = json!({"expiringChains": [], "invalidChains": [], "validChains": []});
    let mut parts = vec![
        (
            "discoveryComposite",
            Component::Composite(vec![("discoveryClient", discovery), ("eureka", eureka(node))]),
        ),
        ("ping", Component::leaf(Health::Up)),
        ("refreshScope", Component::leaf(Health::Up)),
        ("ssl", Component::Leaf { health: Health::Up, description: None, details: Some(no_certificates) }),
    ];
    if node.settings.management.health.probes_enabled {
        parts.push(("livenessState", Component::leaf(Health::Up)));
        parts.push(("readinessState", Component::leaf(readiness(node))));
    }
    Component::Composite(parts)
}

/// The node as a client of itself: its status in the registry, unknown if it does not register, and what it fetches.
fn eureka(node: &Node) -> Component {
    let view = node.registry.shared().view();
    let client = &node.settings.client;
    let mut applications = Map::new();
    if client.fetch_registry {
        applications.extend(view.apps().map(|app| (app.name.to_string(), app.entries().len().into())));
    }
    let is_registered = client.register_with_eureka && node.is_ready();
    Component::Leaf {
        health: if is_registered { Health::Up } else { Health::Unknown },
        description: Some("Remote status from Eureka server"),
        details: Some(json!({"applications": applications})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_part_decides_and_unknown_is_not_bad() {
        let of = |parts: &[Health]| {
            Component::Composite(parts.iter().map(|health| ("x", Component::leaf(*health))).collect())
                .health()
        };
        assert_eq!(of(&[Health::Unknown, Health::Up]), Health::Up);
        assert_eq!(of(&[Health::Up, Health::OutOfService]), Health::OutOfService);
        assert_eq!(of(&[Health::Unknown]), Health::Unknown);
        assert_eq!(Health::OutOfService.code(), StatusCode::SERVICE_UNAVAILABLE);
    }

    #[test]
    fn details_are_left_out_unless_shown() {
        let leaf = Component::Leaf {
            health: Health::Up,
            description: Some("words"),
            details: Some(json!({"secret": 1})),
        };
        let tree = Component::Composite(vec![("part", leaf)]);
        let text =
            |details| serde_json::to_string(&tree.describe(Shown { components: true, details }, &["g"]));
        let plain = r#"{"components":{"part":{"status":"UP"}},"groups":["g"],"status":"UP"}"#;
        assert_eq!(text(false).expect("JSON"), plain);
        let part = r#"{"part":{"details":{"secret":1},"description":"words","status":"UP"}}"#;
        assert!(text(true).expect("JSON").contains(part));
    }
}
