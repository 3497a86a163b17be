//! `server.compression`: answers that are compressed only because the settings say so (spec `wire.md` 2.3).
//!
//! The lists of the registry are compressed without it, and bring their compressed form along where they have one.

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY};
use actix_web::{HttpRequest, HttpResponse};
use heureka_actors::cache::{Encoding, gzip};

use super::negotiate;
use crate::node::Node;

/// Compresses an answer if the settings and the caller say so. Whatever depends on what the caller accepts says so in
/// `Vary`, compressed or not: a cache in between must not hand one form to everybody.
pub fn apply(request: &HttpRequest, node: &Node, mut response: HttpResponse) -> HttpResponse {
    if !node.settings.server.compression.enabled {
        return response;
    }
    let is_compressed = response.headers().contains_key(CONTENT_ENCODING);
    if !is_compressed && !is_worth_it(node, &response) {
        return response;
    }
    if !response.headers().contains_key(VARY) {
        response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    if is_compressed || negotiate::encoding(request) != Encoding::Gzip {
        return response;
    }
    let (mut response, body) = response.into_parts();
    match body.try_into_bytes() {
        Ok(plain) => {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response.set_body(BoxBody::new(gzip(&plain)))
        }
        Err(body) => response.set_body(body),
    }
}

fn is_worth_it(node: &Node, response: &HttpResponse) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    match (content_type, response.body().size()) {
        (Some(content_type), BodySize::Sized(length)) => {
            node.compresses(content_type, usize::try_from(length).unwrap_or(usize::MAX))
        }
        _ => false,
    }
}
