//! Which format an answer has (spec `wire.md` 2). One rule for every resource: JSON if `Accept` mentions it, else XML.

use actix_web::HttpRequest;
use actix_web::http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderName};
use heureka_actors::cache::Encoding;
use heureka_protocol::document::Form;

use super::path::ApiVersion;

/// Client's wish for full or compact documents.
const EUREKA_ACCEPT: HeaderName = HeaderName::from_static("x-eureka-accept");
/// Marks calls of peers.
const REPLICATION: HeaderName = HeaderName::from_static("x-netflix-discovery-replication");

/// A header as text; `None` if missing or not visible ASCII.
fn header<'a>(request: &'a HttpRequest, name: &HeaderName) -> Option<&'a str> {
    request.headers().get(name).and_then(|value| value.to_str().ok())
}

/// True if the answer should be JSON. A missing or `*/*` header means XML: Python clients and Prometheus rely on it.
pub fn wants_json(request: &HttpRequest) -> bool {
    header(request, &ACCEPT).is_some_and(contains_json)
}

fn contains_json(accept: &str) -> bool {
    accept.as_bytes().windows(4).any(|window| window.eq_ignore_ascii_case(b"json"))
}

/// The form of a document that exists full and compact.
pub fn form(request: &HttpRequest, version: ApiVersion) -> Form {
    let is_compact =
        header(request, &EUREKA_ACCEPT).is_some_and(|value| value.eq_ignore_ascii_case("compact"));
    match (wants_json(request), is_compact, version) {
        (true, true, _) => Form::JsonCompact,
        (true, false, _) => Form::JsonFull,
        (false, true, _) => Form::XmlCompact,
        (false, false, ApiVersion::V1) => Form::XmlFullV1,
        (false, false, ApiVersion::V2) => Form::XmlFull,
    }
}

/// The form of a single instance, which is never compact.
pub fn instance_form(request: &HttpRequest, version: ApiVersion) -> Form {
    match (wants_json(request), version) {
        (true, _) => Form::JsonFull,
        (false, ApiVersion::V1) => Form::XmlFullV1,
        (false, ApiVersion::V2) => Form::XmlFull,
    }
}

/// Gzip if the client takes it. `gzip;q=0` counts as a wish for gzip, as in Java.
pub fn encoding(request: &HttpRequest) -> Encoding {
    match header(request, &ACCEPT_ENCODING) {
        Some(value) if value.contains("gzip") => Encoding::Gzip,
        _ => Encoding::Identity,
    }
}

/// True if the request comes from a peer. Only the exact text `true` counts.
pub fn is_replica_call(request: &HttpRequest) -> bool {
    header(request, &REPLICATION) == Some("true")
}

/// Format of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    /// `application/json`
    Json,
    /// `application/xml`, `application/*`, `*/*`
    Xml,
}

/// Why the content type of a body is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentTypeError {
    /// Not a media type at all: 400.
    Malformed(String),
    /// Another media type, or a charset that is not ASCII-compatible: 415.
    Unsupported(String),
}

/// The format that the content type names (spec `wire.md` 2.4). A missing header means JSON.
pub fn body_format(request: &HttpRequest) -> Result<BodyFormat, ContentTypeError> {
    let Some(raw) = request.headers().get(CONTENT_TYPE) else { return Ok(BodyFormat::Json) };
    let text = String::from_utf8_lossy(raw.as_bytes()).to_ascii_lowercase();
    let mut parts = text.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or("");
    if !media_type.contains('/') {
        return Err(ContentTypeError::Malformed(text));
    }
    let charset =
        parts.filter_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"')).next();
    if charset.is_some_and(|name| !matches!(name, "utf-8" | "iso-8859-1" | "us-ascii")) {
        return Err(ContentTypeError::Unsupported(text));
    }
    match media_type {
        "application/json" => Ok(BodyFormat::Json),
        "application/xml" | "application/*" | "*/*" => Ok(BodyFormat::Xml),
        _ => Err(ContentTypeError::Unsupported(text)),
    }
}

/// True if the body is gzipped. Other encodings are ignored, as in Java: the bytes are read as they are.
pub fn is_gzipped(request: &HttpRequest) -> bool {
    let is_gzip = |value: &str| ["gzip", "x-gzip"].iter().any(|name| value.trim().eq_ignore_ascii_case(name));
    header(request, &CONTENT_ENCODING).is_some_and(is_gzip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    #[test]
    fn gzip_has_two_names() {
        for (encoding, is_gzip) in
            [("gzip", true), (" X-GZip", true), ("deflate", false), ("gzip, gzip", false)]
        {
            let request =
                TestRequest::default().insert_header(("Content-Encoding", encoding)).to_http_request();
            assert_eq!(is_gzipped(&request), is_gzip, "{encoding}");
        }
        assert!(!is_gzipped(&TestRequest::default().to_http_request()));
    }

    #[test]
    fn json_is_chosen_by_substring_and_xml_is_the_default() {
        for (accept, is_json) in [
            ("application/json", true),
            ("application/xml;q=0.9, application/json;q=0.1", true),
            ("application/JSON", true),
            ("application/vnd.x+json", true),
            ("*/*", false),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false),
            ("", false),
        ] {
            let request = TestRequest::default().insert_header((ACCEPT, accept)).to_http_request();
            assert_eq!(wants_json(&request), is_json, "{accept}");
        }
        assert!(!wants_json(&TestRequest::default().to_http_request()));
    }

    #[test]
    fn body_formats_are_those_of_the_table() {
        let format = |value: &str| {
            body_format(&TestRequest::default().insert_header((CONTENT_TYPE, value)).to_http_request())
        };
        assert_eq!(format("application/json"), Ok(BodyFormat::Json));
        assert_eq!(format("Application/JSON;foo=bar"), Ok(BodyFormat::Json));
        assert_eq!(format("application/json;charset=ISO-8859-1"), Ok(BodyFormat::Json));
        assert_eq!(format("application/xml"), Ok(BodyFormat::Xml));
        assert_eq!(format("*/*"), Ok(BodyFormat::Xml));
        assert!(matches!(format("application/json;charset=utf-16"), Err(ContentTypeError::Unsupported(_))));
        assert!(matches!(format("text/plain"), Err(ContentTypeError::Unsupported(_))));
        assert!(matches!(format("json"), Err(ContentTypeError::Malformed(_))));
        assert_eq!(body_format(&TestRequest::default().to_http_request()), Ok(BodyFormat::Json));
    }
}
