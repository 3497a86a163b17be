//! `/actuator`: which end points answer, and where.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::ManagementListener;
use serde::{Serialize, Serializer};

use super::accept;
use crate::http::base_url;
use crate::node::Node;

/// Name of a link, id of the end point that must be exposed, path behind the base, and whether the path is a template.
const LINKS: [(&str, &str, &str, bool); 7] = [
    ("health", "health", "/health", false),
    ("health-path", "health", "/health/{*path}", true),
    ("info", "info", "/info", false),
    ("metrics", "metrics", "/metrics", false),
    ("metrics-requiredMetricName", "metrics", "/metrics/{requiredMetricName}", true),
    ("prometheus", "prometheus", "/prometheus", false),
    ("refresh", "refresh", "/refresh", false),
];

/// One link.
#[derive(Debug, Serialize)]
struct Link {
    href: String,
    templated: bool,
}

/// Links in order: a map of the JSON library would sort them.
#[derive(Debug)]
struct Links(Vec<(&'static str, Link)>);

impl Serialize for Links {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, link)| (name, link)))
    }
}

/// The body.
#[derive(Debug, Serialize)]
struct LinkList {
    #[serde(rename = "_links")]
    links: Links,
}

/// The list, with absolute addresses as the caller sees this node.
pub fn answer(request: &HttpRequest, node: &Node) -> HttpResponse {
    let management = &node.settings.management;
    let context = match &management.listener {
        ManagementListener::Separate { context_path, .. } => context_path,
        ManagementListener::Shared | ManagementListener::Off => &node.settings.server.context_path,
    };
    let base = format!("{}{context}{}", base_url::of_actuator(request, node), management.base_path);
    let link = |path: &str, templated| Link { href: format!("{base}{path}"), templated };
    let exposed = LINKS.into_iter().filter(|(_, id, _, _)| management.exposure.exposes(id));
    let exposed = exposed.map(|(name, _, path, is_template)| (name, link(path, is_template)));
    let links = Links(std::iter::once(("self", link("", false))).chain(exposed).collect());
    accept::json(request, StatusCode::OK, &LinkList { links })
}
