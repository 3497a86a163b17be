//! Everything that is not the registry API.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};

use super::reply;
use crate::node::Node;

/// Answers a path outside the API.
pub async fn handle(_request: &HttpRequest, _node: &Node, _segments: &[std::borrow::Cow<'_, str>]) -> HttpResponse {
    reply::empty(StatusCode::NOT_FOUND)
}
