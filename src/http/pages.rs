//! Everything that is not the registry API: the pages, their files, the actuator (spec `spring.md` 1.2, 1.6, 2).
//!
//! Decides only which part answers a path. Redirects never lead out of the node, and only browsers get them: no client of
//! the API follows one.

use std::borrow::Cow;

use actix_web::http::header::{ACCEPT, HeaderValue, LOCATION};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use heureka_config::settings::ManagementListener;

use super::{dispatch, reply};
use crate::node::Node;
use crate::telemetry::latency::{Call, Timer};
use crate::{actuator, dashboard};

/// Methods of everything here.
const METHODS: [Method; 3] = [Method::GET, Method::HEAD, Method::OPTIONS];

/// What a path outside the API names.
enum Place {
    /// The start page.
    Status,
    /// The page of the last events.
    LastN,
    /// The context path without its slash.
    ContextPath,
    /// The prefix of the API, which people type into browsers.
    ApiRoot,
    /// A file of the pages.
    File(HttpResponse),
}

/// True if something answers a path outside the API, by any method.
pub fn is_known(node: &Node, segments: &[Cow<'_, str>]) -> bool {
    let names: Vec<&str> = segments.iter().map(|segment| &**segment).collect();
    let is_shared = node.settings.management.listener == ManagementListener::Shared;
    (is_shared && actuator::is_known(node, &names)) || place(&names, node).is_some()
}

/// The same for a path that no resource can have.
pub fn is_known_odd(request: &HttpRequest, node: &Node) -> bool {
    odd_place(request, node).is_some()
}

/// Answers a path outside the API.
pub async fn handle(request: &HttpRequest, node: &Node, segments: &[Cow<'_, str>]) -> HttpResponse {
    let names: Vec<&str> = segments.iter().map(|segment| &**segment).collect();
    if node.settings.management.listener == ManagementListener::Shared
        && let Some(response) = actuator::answer(request, node, &names).await
    {
        return response;
    }
    match place(&names, node) {
        Some(place) => respond(request, node, place).await,
        None => reply::empty(StatusCode::NOT_FOUND),
    }
}

/// Answers a path that no resource can have. Two of them are what people type into browsers: the context path without its
/// slash, which leads to the one with it, and the prefix of the API with a slash.
pub async fn handle_odd(request: &HttpRequest, node: &Node) -> HttpResponse {
    match odd_place(request, node) {
        Some(place) => respond(request, node, place).await,
        None => reply::empty(StatusCode::NOT_FOUND),
    }
}

fn odd_place(request: &HttpRequest, node: &Node) -> Option<Place> {
    match request.uri().path().strip_prefix(node.settings.server.context_path.as_str())? {
        "" => Some(Place::ContextPath),
        "/eureka/" => Some(Place::ApiRoot),
        _ => None,
    }
}

async fn respond(request: &HttpRequest, node: &Node, place: Place) -> HttpResponse {
    if request.method() == Method::OPTIONS {
        return dispatch::with_allow(StatusCode::OK, &METHODS);
    }
    if !METHODS.contains(request.method()) {
        return dispatch::with_allow(StatusCode::METHOD_NOT_ALLOWED, &METHODS);
    }
    match place {
        Place::Status => timed(node, Call::STATUS_PAGE, dashboard::status(node, request)).await,
        Place::LastN => timed(node, Call::LAST_N_PAGE, dashboard::last_n(node, request)).await,
        Place::File(file) => file,
        Place::ContextPath => found(&format!("{}/", node.settings.server.context_path)),
        Place::ApiRoot => redirect_browser(request, node),
    }
}

async fn timed(node: &Node, call: Call, answer: impl Future<Output = HttpResponse>) -> HttpResponse {
    let timer = Timer::start(call);
    let response = answer.await;
    node.metrics.finish(&timer, response.status());
    response
}

fn place(names: &[&str], node: &Node) -> Option<Place> {
    match names {
        ["eureka"] => return Some(Place::ApiRoot),
        ["eureka", folder, name] => return dashboard::files::answer(folder, name).map(Place::File),
        _ => {}
    }
    let dashboard = &node.settings.dashboard;
    if !dashboard.enabled {
        return None;
    }
    match behind(names, &dashboard.path)? {
        [] | [""] => Some(Place::Status),
        ["lastn"] | ["lastn", ""] => Some(Place::LastN),
        _ => None,
    }
}

/// The segments behind a base path such as `/` or `/a/b`.
#[must_use]
pub fn behind<'s, 'a>(names: &'s [&'a str], base: &str) -> Option<&'s [&'a str]> {
    let mut rest = names;
    for part in base.split('/').filter(|part| !part.is_empty()) {
        let (first, others) = rest.split_first()?;
        if *first != part {
            return None;
        }
        rest = others;
    }
    Some(rest)
}

fn redirect_browser(request: &HttpRequest, node: &Node) -> HttpResponse {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let is_browser = accept.is_some_and(|accept| accept.contains("text/html"));
    if is_browser && node.settings.dashboard.enabled {
        found(&format!("{}{}", node.settings.server.context_path, node.settings.dashboard.path))
    } else {
        reply::empty(StatusCode::NOT_FOUND)
    }
}

/// 302 to a path of this node.
fn found(location: &str) -> HttpResponse {
    let mut response = reply::empty(StatusCode::FOUND);
    match HeaderValue::from_str(location) {
        Ok(location) => {
            response.headers_mut().insert(LOCATION, location);
            response
        }
        Err(_) => reply::empty(StatusCode::NOT_FOUND),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_path_may_have_any_number_of_segments() {
        assert_eq!(behind(&["lastn"], "/"), Some(["lastn"].as_slice()));
        assert_eq!(behind(&["a", "b", ""], "/a/b"), Some([""].as_slice()));
        assert_eq!(behind(&["a"], "/a"), Some([].as_slice()));
        assert_eq!(behind(&["b"], "/a"), None);
        assert_eq!(behind(&[], "/a"), None);
    }
}
