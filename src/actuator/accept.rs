//! Which of Boot's media types an answer of the actuator has.

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT, CACHE_CONTROL, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;

use crate::http::reply;

/// Media types of the actuator, the preferred one first.
const TYPES: [&str; 3] = [
    "application/vnd.spring-boot.actuator.v3+json",
    "application/vnd.spring-boot.actuator.v2+json",
    "application/json",
];

/// A JSON answer under the media type that the caller accepts; 406 without a body if it accepts none.
pub fn json(request: &HttpRequest, status: StatusCode, value: &impl Serialize) -> HttpResponse {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let Some(content_type) = media_type(accept) else { return reply::empty(StatusCode::NOT_ACCEPTABLE) };
    let Ok(text) = serde_json::to_vec(value) else { return reply::empty(StatusCode::INTERNAL_SERVER_ERROR) };
    let mut response = reply::body(status, content_type, text);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The first media type that the best accepted range contains.
fn media_type(accept: Option<&str>) -> Option<&'static str> {
    let Some(accept) = accept.filter(|accept| !accept.trim().is_empty()) else { return Some(TYPES[0]) };
    let mut ranges: Vec<(f32, &str)> =
        accept.split(',').map(range).filter(|(quality, _)| *quality > 0.0).collect();
    ranges.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranges.into_iter().find_map(|(_, range)| TYPES.into_iter().find(|known| contains(range, known)))
}

/// A range of an `Accept` header with its quality.
fn range(text: &str) -> (f32, &str) {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().unwrap_or_default();
    let quality =
        parts.find_map(|part| part.strip_prefix("q=")).map_or(Some(1.0), |quality| quality.parse().ok());
    (quality.unwrap_or(0.0), range)
}

fn contains(range: &str, media_type: &str) -> bool {
    let is_structured = range.eq_ignore_ascii_case("application/*+json") && media_type.ends_with("+json");
    matches!(range, "*/*" | "application/*") || is_structured || range.eq_ignore_ascii_case(media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_media_type_follows_accept_as_in_boot() {
        let [v3, v2, json] = TYPES;
        let cases = [
            (None, Some(v3)),
            (Some("*/*"), Some(v3)),
            (Some("application/json"), Some(json)),
            (Some("Application/JSON;charset=utf-8"), Some(json)),
            (Some("application/vnd.spring-boot.actuator.v2+json"), Some(v2)),
            (Some("application/*+json"), Some(v3)),
            (Some("text/html,application/xml;q=0.9,*/*;q=0.8"), Some(v3)),
            (Some("*/*;q=0.1, application/json"), Some(json)),
            (Some("text/html"), None),
            (Some("application/xml"), None),
            (Some("application/json;q=0"), None),
        ];
        for (accept, expected) in cases {
            assert_eq!(media_type(accept), expected, "{accept:?}");
        }
    }
}
