//! `PUT asg/{asg}/status` (spec `wire.md` 1.16): switches an auto-scaling group with all its instances.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, rt};
use heureka_actors::replicator::{PEER_HEADER, PeerIdentity};
use heureka_config::settings::ServiceUrl;

use super::{query, reply};
use crate::node::Node;
use crate::peers::directory::PeerUrls;
use crate::peers::group_words::GroupPeers;
use crate::peers::http::{GroupCalls, PeerHttp};

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
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    if !header(REPLICATION_HEADER).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        tell_peers(node, asg, is_enabled);
    } else if header(PEER_HEADER).and_then(PeerIdentity::parse).as_ref() != Some(node.replication.own()) {
        node.group_words.forget(asg);
    }
    reply::empty(StatusCode::OK)
}

/// Everybody but this node itself, as far as it knows where that is.
fn tell_peers(node: &Node, asg: &str, is_enabled: bool) {
    let Some(urls) = node.peer_list() else { return };
    let http = PeerHttp::new(&node.settings, node.replication.own().clone());
    for peer in node.group_words.say(node.peer_urls(), asg, is_enabled) {
        let peers = Listed { urls: urls.clone(), http: http.clone() };
        rt::spawn(Arc::clone(&node.group_words).tell_all(peer, peers));
    }
}

/// The peers as they are listed.
struct Listed {
    urls: PeerUrls,
    http: PeerHttp,
}

impl GroupPeers for Listed {
    type Tell = GroupCalls;

    fn listed(&self, peer: &str) -> Option<ServiceUrl> {
        self.urls.find(peer)
    }

    fn reach(&self, url: &ServiceUrl) -> anyhow::Result<GroupCalls> {
        self.http.group_calls(url)
    }
}
