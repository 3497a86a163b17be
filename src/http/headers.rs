//! What is refused for its head alone: a target that is no path, and heads above their bounds.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};

use super::reply;
use crate::node::Node;

/// Bytes that separate name and value and end the line.
const LINE_OVERHEAD: usize = 4;

/// Refuses a target that is no path, as that of a `CONNECT` to a proxy: 400. Refuses a head that is longer than the limit:
/// 431, or 414 if the path alone is. The parser below us has bounds of its own, so a much longer head never gets here, nor
/// one with more than 96 headers.
pub fn refuse(request: &HttpRequest, node: &Node) -> Option<HttpResponse> {
    if request.uri().path().is_empty() {
        let reason = "the request target is not a path; expected one that begins with a slash";
        return Some(reply::text(StatusCode::BAD_REQUEST, reason.to_owned()));
    }
    let limit = node.settings.limits.header_bytes;
    let line = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    let headers: usize =
        request.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + LINE_OVERHEAD).sum();
    if line > limit {
        let reason = format!("the request line has {line} bytes, at most {limit} are allowed");
        return Some(reply::text(StatusCode::URI_TOO_LONG, reason));
    }
    (line + headers > limit).then(|| {
        let found = line + headers;
        let reason = format!("the head of the request has {found} bytes, at most {limit} are allowed");
        reply::text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, reason)
    })
}
