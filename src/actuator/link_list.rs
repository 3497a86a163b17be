//! `/actuator`: which end points answer, and where.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::ManagementListener;
use serde_json::{Map, Value, json};

use super::accept;
use crate::node::Node;

/// Name of a link, id of the end point that must be exposed, path behind the base, and whether the path is a template.
const LINKS: [(&str, &str, &str, bool); 6] = [
    ("health", "health", "/health", false),
    ("health-path", "health", "/health/{*path}", true),
    ("info", "info", "/info", false),
    ("metrics", "metrics", "/metrics", false),
    ("metrics-requiredMetricName", "metrics", "/metrics/{requiredMetricName}", true),
    ("prometheus", "prometheus", "/prometheus", false),
];

/// The list, with absolute addresses as the caller sees this node.
pub fn answer(request: &HttpRequest, node: &Node) -> HttpResponse {
    let management = &node.settings.management;
    let context = match &management.listener {
        ManagementListener::Separate { context_path, .. } => context_path,
        ManagementListener::Shared | ManagementListener::Off => &node.settings.server.context_path,
    };
    let connection = request.connection_info();
    let base = format!("{}://{}{context}{}", connection.scheme(), connection.host(), management.base_path);
    let link =
        |path: &str, is_template: bool| json!({"href": format!("{base}{path}"), "templated": is_template});
    let mut links = Map::new();
    links.insert("self".to_owned(), link("", false));
    for (name, id, path, is_template) in LINKS {
        if management.exposure.exposes(id) {
            links.insert(name.to_owned(), link(path, is_template));
        }
    }
    accept::json(request, StatusCode::OK, &json!({"_links": Value::from(links)}))
}
