//! The actuator: health, info and metrics where Spring Boot has them (spec `spring.md` 1.6).
//!
//! One function answers every path below `management.endpoints.web.base-path`, whichever listener a request came in by.
//! What is not exposed does not exist: 404 without a body. Nothing here changes the node but `refresh`, which reads its
//! settings again.

mod accept;
mod health;
mod info;
mod link_list;
mod listener;
mod measurements;
mod openmetrics;
mod prometheus;
mod refresh;

pub use listener::{listen, max_connections};

use std::borrow::Cow;

use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::ManagementListener;

use crate::http::path::{self, PathError, Target};
use crate::http::{closing, connections, dispatch, headers, pages, reply, security};
use crate::node::Node;

const METHODS: [Method; 3] = [Method::GET, Method::HEAD, Method::OPTIONS];

/// What a path below the base path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndPoint<'s, 'a> {
    LinkList,
    /// With the path to one component or group.
    Health(&'s [&'a str]),
    Info,
    Prometheus,
    MetricNames,
    Metric(&'a str),
    Refresh,
}

/// True if an end point answers this path, by any method.
pub fn is_known(node: &Node, segments: &[&str]) -> bool {
    pages::behind(segments, &node.settings.management.base_path)
        .is_some_and(|names| end_point(names, node).is_some())
}

/// Answers a path of the actuator; `None` if the path is none. `segments` are those inside the context path.
pub async fn answer(request: &HttpRequest, node: &Node, segments: &[&str]) -> Option<HttpResponse> {
    let names = pages::behind(segments, &node.settings.management.base_path)?;
    let end_point = end_point(names, node)?;
    let methods: &[Method] = if end_point == EndPoint::Refresh { &refresh::METHODS } else { &METHODS };
    if request.method() == Method::OPTIONS {
        return Some(dispatch::with_allow(StatusCode::OK, methods));
    }
    if !methods.contains(request.method()) {
        return Some(dispatch::with_allow(StatusCode::METHOD_NOT_ALLOWED, methods));
    }
    Some(match end_point {
        EndPoint::LinkList => link_list::answer(request, node),
        EndPoint::Health(path) => health::answer(request, node, path),
        EndPoint::Info => info::answer(request, node),
        EndPoint::Prometheus => prometheus::answer(request, node).await,
        EndPoint::MetricNames => measurements::names(request, node).await,
        EndPoint::Metric(name) => measurements::metric(request, node, name).await,
        EndPoint::Refresh => refresh::answer(request).await,
    })
}

/// For a listener of its own (`management.server.port`): everything but the actuator is 404 there.
async fn serve_alone(request: HttpRequest, payload: Payload, node: Data<Node>) -> HttpResponse {
    let payload = closing::still_open(&request, payload).await;
    let response = answer_alone(&request, payload, &node).await;
    dispatch::finish(&request, &node, response)
}

async fn answer_alone(request: &HttpRequest, mut payload: Payload, node: &Node) -> HttpResponse {
    if let Some(refusal) = connections::refuse(request).or_else(|| headers::refuse(request, node)) {
        return refusal;
    }
    let ManagementListener::Separate { context_path, .. } = &node.settings.management.listener else {
        return reply::empty(StatusCode::NOT_FOUND);
    };
    let target = path::parse(request.uri().path(), context_path);
    let is_somewhere = || match &target {
        Ok(Target::Other(segments)) => is_known(node, &names(segments)),
        Ok(Target::Api(..)) | Err(PathError::NotFound) => false,
        Err(PathError::BadEscape) => true,
    };
    if let Some(refusal) = dispatch::discard_body(request, &mut payload, node, is_somewhere).await {
        return refusal;
    }
    let target = match target {
        Ok(target) => target,
        Err(PathError::NotFound) => return reply::empty(StatusCode::NOT_FOUND),
        Err(error @ PathError::BadEscape) => return reply::text(StatusCode::BAD_REQUEST, error.to_string()),
    };
    if let Some(refusal) = security::refuse(request, node, &target).await {
        return refusal;
    }
    let Target::Other(segments) = &target else { return reply::empty(StatusCode::NOT_FOUND) };
    let answer = answer(request, node, &names(segments)).await;
    answer.unwrap_or_else(|| reply::empty(StatusCode::NOT_FOUND))
}

fn names<'s>(segments: &'s [Cow<'_, str>]) -> Vec<&'s str> {
    segments.iter().map(Cow::as_ref).collect()
}

fn end_point<'s, 'a>(names: &'s [&'a str], node: &Node) -> Option<EndPoint<'s, 'a>> {
    let management = &node.settings.management;
    let (id, end_point) = match names {
        // With an empty base path the root is that of the pages, and Boot has no link list there either.
        [] if !management.base_path.is_empty() => return Some(EndPoint::LinkList),
        ["health", path @ ..] => ("health", EndPoint::Health(without_slash(path))),
        ["info"] | ["info", ""] => ("info", EndPoint::Info),
        ["prometheus"] | ["prometheus", ""] => ("prometheus", EndPoint::Prometheus),
        ["metrics"] | ["metrics", ""] => ("metrics", EndPoint::MetricNames),
        ["refresh"] | ["refresh", ""] => ("refresh", EndPoint::Refresh),
        ["metrics", name] | ["metrics", name, ""] => ("metrics", EndPoint::Metric(name)),
        _ => return None,
    };
    management.exposure.exposes(id).then_some(end_point)
}

fn without_slash<'s, 'a>(names: &'s [&'a str]) -> &'s [&'a str] {
    match names {
        [rest @ .., ""] => rest,
        _ => names,
    }
}
