//! List queries: the whole registry, its delta, one application (spec `wire.md` 1.4 to 1.6).

use std::borrow::Cow;
use std::sync::Arc;

use actix_web::{HttpRequest, HttpResponse, web};
use heureka_actors::Refused;
use heureka_actors::cache::{Document, Encoding, Scope, Union, Variant};
use heureka_registry::Access;

use super::error::ApiError;
use super::path::ApiVersion;
use super::{negotiate, query, reply};
use crate::node::Node;

/// `GET apps` and `GET apps/delta`: only these two are compressed without being told to, as on a Spring server.
pub async fn whole_registry(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    scope: Scope,
) -> Result<HttpResponse, ApiError> {
    let regions = named_regions(request);
    let has_regions = regions.is_some();
    let counts = &node.metrics.fetches;
    if scope == Scope::Full {
        (if has_regions { &counts.full_with_regions } else { &counts.full }).inc();
    }
    if scope == Scope::Delta && node.settings.registry.delta.disabled {
        return Err(ApiError::AccessRefused);
    }
    check_access(node, has_regions)?;
    if scope == Scope::Delta {
        (if has_regions { &counts.delta_with_regions } else { &counts.delta }).inc();
    }
    let form = negotiate::form(request, version);
    let encoding = negotiate::encoding(request);
    let variant = Variant { scope, form, encoding };
    let union = beside(node, request, regions.as_deref()).await?;
    let document = match union {
        None => node.registry.document(variant).await?,
        Some(union) => document_of(union, variant).await?,
    };
    Ok(reply::document(form.content_type(), encoding, document, node.connections.piece_bytes()))
}

/// The regions that a request names; an empty list counts as none, as in Java.
fn named_regions(request: &HttpRequest) -> Option<Cow<'_, str>> {
    query::first(request.query_string(), "regions").filter(|regions| !regions.is_empty())
}

/// The registry with what is shown of other regions; `None` if that is nothing.
async fn beside(
    node: &Node,
    request: &HttpRequest,
    regions: Option<&str>,
) -> Result<Option<Arc<Union>>, ApiError> {
    if node.regions.is_empty() {
        return Ok(None);
    }
    let own = node.registry.list_view().await?;
    Ok(node.regions.beside(&own, request, regions))
}

/// Made on a thread that may block if nobody has made it yet: deflating a registry takes longer than a request may.
async fn document_of(union: Arc<Union>, variant: Variant) -> Result<Arc<Document>, ApiError> {
    if let Some(document) = union.view().ready_document(variant) {
        return Ok(document.clone());
    }
    let made = web::block(move || union.document(variant).clone()).await;
    made.map_err(|_| ApiError::Registry(Refused::Internal))
}

/// `GET apps/{app}`.
pub async fn application(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    app: &str,
) -> Result<HttpResponse, ApiError> {
    check_access(node, false)?;
    node.metrics.fetches.application.inc();
    let form = negotiate::form(request, version);
    let view = node.registry.list_view().await?;
    let name = heureka_protocol::AppName::new(app);
    let elsewhere = if view.app(&name).is_none() { node.regions.with_app(request, &name) } else { None };
    let app = elsewhere.as_ref().unwrap_or(&view).app(&name).ok_or(ApiError::NotFound)?;
    let plain = app.document(form, Encoding::Identity);
    Ok(compressible(node, request, form.content_type(), plain, || app.document(form, Encoding::Gzip)))
}

/// `GET vips/{vip}` and `GET svips/{vip}`: 200 also if nobody carries it.
pub async fn vip(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    vip: &str,
    is_secure: bool,
) -> Result<HttpResponse, ApiError> {
    let regions = named_regions(request);
    check_access(node, regions.is_some())?;
    node.metrics.fetches.vip.inc();
    let form = negotiate::form(request, version);
    if let Some(union) = beside(node, request, regions.as_deref()).await? {
        let plain = union.vip_document(vip, is_secure, form, Encoding::Identity);
        let gzip = || union.vip_document(vip, is_secure, form, Encoding::Gzip);
        return Ok(compressible(node, request, form.content_type(), plain, gzip));
    }
    let view = node.registry.list_view().await?;
    let plain = view.vip_document(vip, is_secure, form, Encoding::Identity);
    let gzip = || view.vip_document(vip, is_secure, form, Encoding::Gzip);
    Ok(compressible(node, request, form.content_type(), plain, gzip))
}

/// Refuses list queries until the registry can answer them truly (spec `registry.md` 4.6).
fn check_access(node: &Node, needs_remote_regions: bool) -> Result<(), ApiError> {
    match node.registry.shared().access(needs_remote_regions) {
        Access::Allowed => Ok(()),
        Access::NotOpened | Access::WaitingForInstances { .. } | Access::RemoteRegionsNotReady => {
            Err(ApiError::AccessRefused)
        }
    }
}

/// A body that is compressed only if `server.compression` says so (spec `wire.md` 2.3).
fn compressible(
    node: &Node,
    request: &HttpRequest,
    content_type: &'static str,
    plain: bytes::Bytes,
    gzip: impl FnOnce() -> bytes::Bytes,
) -> HttpResponse {
    let is_wanted = negotiate::encoding(request) == Encoding::Gzip;
    if is_wanted && node.compresses(content_type, plain.len()) {
        return reply::encoded(content_type, Encoding::Gzip, gzip());
    }
    reply::encoded(content_type, Encoding::Identity, plain)
}
