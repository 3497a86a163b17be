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
use crate::{actuator, dashboard};

/// Methods of everything here.
const METHODS: [Method; 3] = [Method::GET, Method::HEAD, Method::OPTIONS];

/// What a path outside the API names.
enum Place {
    /// The start page.
    Status,
    /// The page of the last events.
    LastN,
    /// The prefix of the API, which people type into browsers.
    ApiRoot,
    /// A file of the pages.
    File(HttpResponse),
}

/// Answers a path outside the API.
pub async fn handle(request: &HttpRequest, node: &Node, segments: &[Cow<'_, str>]) -> HttpResponse {
    let names: Vec<&str> = segments.iter().map(|segment| &**segment).collect();
    if node.settings.management.listener == ManagementListener::Shared
        && let Some(response) = actuator::answer(request, node, &names).await
    {
        return response;
    }
    let Some(place) = place(&names, node) else { return reply::empty(StatusCode::NOT_FOUND) };
    if request.method() == Method::OPTIONS {
        return dispatch::with_allow(StatusCode::OK, &METHODS);
    }
    if !METHODS.contains(request.method()) {
        return dispatch::with_allow(StatusCode::METHOD_NOT_ALLOWED, &METHODS);
    }
    match place {
        Place::Status => dashboard::status(node, request).await,
        Place::LastN => dashboard::last_n(node, request).await,
        Place::File(file) => file,
        Place::ApiRoot => redirect_browser(request, node),
    }
}

/// Answers a path outside the context path. The context path without its slash leads to the one with it.
#[must_use]
pub fn outside(path: &str, node: &Node) -> HttpResponse {
    let context = &node.settings.server.context_path;
    if path == context { found(&format!("{context}/")) } else { reply::empty(StatusCode::NOT_FOUND) }
}

fn place(names: &[&str], node: &Node) -> Option<Place> {
    match names {
        ["eureka"] | ["eureka", ""] => return Some(Place::ApiRoot),
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
