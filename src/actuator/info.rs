//! `/actuator/info`: which program this is. The default status-page link of every Spring instance leads to such a page.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use serde_json::json;

use super::accept;
use crate::node::Node;
use crate::status_report::uptime;

/// Name, version, build and uptime.
pub fn answer(request: &HttpRequest, node: &Node) -> HttpResponse {
    let clock = &node.registry.shared().clock;
    let uptime_ms = clock.uptime_ms();
    let info = json!({
        "app": {
            "name": node.settings.application_name,
            "instanceId": node.settings.instance.instance_id,
        },
        "build": {
            "name": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "profile": if cfg!(debug_assertions) { "debug" } else { "release" },
            "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        },
        "uptime": { "text": uptime(uptime_ms), "seconds": uptime_ms / 1000 },
    });
    accept::json(request, StatusCode::OK, &info)
}
