//! `PUT asg/{asg}/status` (spec `wire.md` 1.16): switches an auto-scaling group with all its instances.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, rt};
use heureka_config::settings::ServiceUrl;

use super::{query, reply};
use crate::node::Node;
use crate::peers::http::PeerHttp;

/// Says that a call comes from a peer; its value counts in any letter case here.
const REPLICATION_HEADER: &str = "x-netflix-discovery-replication";

/// 400 where groups do not exist, as on every Spring server; 500 for another value, as in Java.
pub fn set_status(node: &Node, request: &HttpRequest, asg: &str) -> HttpResponse {
    let Some(groups) = &node.groups else { return reply::empty(StatusCode::BAD_REQUEST) };
    let value = query::first(request.query_string(), "value").unwrap_or_default();
    let is_enabled = match value.to_ascii_uppercase().as_str() {
        "ENABLED" => true,
        "DISABLED" => false,
        _ => return reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
    };
    if !groups.set(asg, is_enabled) {
        return reply::unavailable("too many auto-scaling groups are known".to_owned());
    }
    let header = request.headers().get(REPLICATION_HEADER).and_then(|value| value.to_str().ok());
    if !header.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        tell_peers(node, asg, is_enabled);
    }
    reply::empty(StatusCode::OK)
}

/// Once to each peer, each on its own: a peer that does not hear it asks the cloud, or is told again by an operator.
fn tell_peers(node: &Node, asg: &str, is_enabled: bool) {
    let http = PeerHttp::new(&node.settings, node.replication.own().clone());
    let asg: Arc<str> = asg.into();
    for url in node.peer_service_urls() {
        let (http, asg) = (http.clone(), asg.clone());
        rt::spawn(async move { tell(&http, &url, &asg, is_enabled).await });
    }
}

async fn tell(http: &PeerHttp, url: &ServiceUrl, asg: &str, is_enabled: bool) {
    match http.set_group(url, asg, is_enabled).await {
        Ok(200) => {}
        Ok(status) => {
            tracing::warn!(peer = %url, asg, status, "a peer did not take the state of an auto-scaling group")
        }
        Err(error) => {
            tracing::warn!(peer = %url, asg, "a peer was not told of an auto-scaling group: {error:#}")
        }
    }
}
