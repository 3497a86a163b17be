//! From a request to the handler of its resource: path, method, then the handler (spec `wire.md` 1.2).

use actix_web::http::header::{ALLOW, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use heureka_actors::cache::Scope;

use super::error::ApiError;
use super::path::{ApiVersion, PathError, Resource, Target};
use super::{
    applications, batch, body, closing, compress, connections, groups, headers, identity, instances, pages,
    path, rate_limiter, reply, security, server,
};
use crate::node::Node;

/// Answers a request. Never fails: whatever goes wrong becomes an answer.
pub async fn handle(request: HttpRequest, payload: Payload, node: Data<Node>) -> HttpResponse {
    let payload = closing::still_open(&request, payload).await;
    let response = answer(&request, payload, &node).await;
    finish(&request, &node, response)
}

/// An answer as it leaves any listener: compressed if that was asked for, logged, and the last one of its connection if it has
/// to be.
pub fn finish(request: &HttpRequest, node: &Node, response: HttpResponse) -> HttpResponse {
    let response = compress::apply(request, node, response);
    // Paths are written as they came, escapes and all, and the log escapes the rest: a name cannot fake a line.
    tracing::debug!(
        method = request.method().as_str(),
        path = request.uri().path(),
        status = response.status().as_u16(),
        "request answered"
    );
    let mut response = reply::finish(request, response);
    if ends_connection(response.status()) {
        closing::close_behind(request, &mut response);
    }
    response
}

/// True for the answers behind which Tomcat closes, as far as this node gives them: a sender that is not understood may have
/// got the border between two requests wrong. Not 503, of which Tomcat's list has more: who shall come back must not have to
/// connect again.
const fn ends_connection(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::BAD_REQUEST
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::URI_TOO_LONG
            | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
            | StatusCode::INTERNAL_SERVER_ERROR
    )
}

async fn answer(request: &HttpRequest, mut payload: Payload, node: &Node) -> HttpResponse {
    if let Some(refusal) = connections::refuse(request).or_else(|| headers::refuse(request, node)) {
        return refusal;
    }
    let target = path::parse(request.uri().path(), &node.settings.server.context_path);
    let is_body_read =
        matches!(&target, Ok(Target::Api(_, resource)) if reads_body(resource, request.method()));
    let is_somewhere = || match &target {
        Ok(Target::Api(..)) | Err(PathError::BadEscape) => true,
        Ok(Target::Other(segments)) => pages::is_known(node, segments),
        Err(PathError::NotFound) => pages::is_known_odd(request, node),
    };
    if !is_body_read && let Some(refusal) = discard_body(request, &mut payload, node, is_somewhere).await {
        return refusal;
    }
    let target = match target {
        Ok(target) => target,
        Err(PathError::NotFound) => return pages::handle_odd(request, node).await,
        Err(error @ PathError::BadEscape) => return reply::text(StatusCode::BAD_REQUEST, error.to_string()),
    };
    let refusal = security::refuse(request, node, &target).await;
    let is_refused = refusal.is_some();
    let response = match refusal {
        Some(refusal) => refusal,
        None => match target {
            Target::Api(version, resource) => api(request, &mut payload, node, version, resource).await,
            Target::Other(segments) => pages::handle(request, node, &segments).await,
        },
    };
    if is_body_read && (is_refused || is_about_head(response.status())) {
        // Whatever comes of it: the answer closes the connection if the body is still arriving then.
        let _ = body::discard(request, &mut payload, node.limits.registration).await;
    }
    response
}

/// True for refusals that do not depend on the body, as those for missing credentials, and so may have come before it. It is
/// waited for as if it were not needed, and the connection stays usable.
const fn is_about_head(status: StatusCode) -> bool {
    matches!(status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND | StatusCode::UNSUPPORTED_MEDIA_TYPE)
}

/// Waits for a body that nobody needs. The answer if it is too long or does not come: where nothing is, nothing is, whatever
/// the body. The connection closes behind it.
pub async fn discard_body(
    request: &HttpRequest,
    payload: &mut Payload,
    node: &Node,
    is_somewhere: impl FnOnce() -> bool,
) -> Option<HttpResponse> {
    let error = body::discard(request, payload, node.limits.registration).await.err()?;
    Some(if is_somewhere() { ApiError::Body(error).respond() } else { reply::empty(StatusCode::NOT_FOUND) })
}

/// True for the two calls whose body says something.
fn reads_body(resource: &Resource<'_>, method: &Method) -> bool {
    method == Method::POST && matches!(resource, Resource::Application { .. } | Resource::Batch)
}

/// Methods that a resource answers, as `Allow` lists them.
fn allowed(resource: &Resource<'_>) -> &'static [Method] {
    match resource {
        Resource::Application { .. } => &[Method::POST, Method::GET, Method::HEAD, Method::OPTIONS],
        Resource::Instance { .. } => {
            &[Method::DELETE, Method::GET, Method::HEAD, Method::OPTIONS, Method::PUT]
        }
        Resource::InstanceStatus { .. } => &[Method::DELETE, Method::OPTIONS, Method::PUT],
        Resource::InstanceMetadata { .. } | Resource::AsgStatus { .. } => &[Method::OPTIONS, Method::PUT],
        Resource::Batch => &[Method::POST, Method::OPTIONS],
        Resource::Applications
        | Resource::Delta
        | Resource::InstanceById { .. }
        | Resource::Vip { .. }
        | Resource::ServerStatus
        | Resource::StatusOverrides => &[Method::GET, Method::HEAD, Method::OPTIONS],
    }
}

async fn api(
    request: &HttpRequest,
    payload: &mut Payload,
    node: &Node,
    version: ApiVersion,
    resource: Resource<'_>,
) -> HttpResponse {
    let methods = allowed(&resource);
    if !methods.contains(request.method()) || request.method() == Method::OPTIONS {
        let is_question = request.method() == Method::OPTIONS;
        let status = if is_question { StatusCode::OK } else { StatusCode::METHOD_NOT_ALLOWED };
        return with_allow(status, methods);
    }
    if let Some(refusal) = rate_limiter::refuse(request, node, &resource) {
        return refusal;
    }
    identity::count(request, node);
    let timer = node.metrics.start(&resource, request.method());
    let answer = call(request, payload, node, version, &resource).await;
    let response = answer.unwrap_or_else(|error: ApiError| {
        tracing::debug!(?error, path = request.path(), "request refused");
        error.respond()
    });
    node.metrics.finish(&timer, response.status());
    response
}

async fn call(
    request: &HttpRequest,
    payload: &mut Payload,
    node: &Node,
    version: ApiVersion,
    resource: &Resource<'_>,
) -> Result<HttpResponse, ApiError> {
    let method = request.method();
    match resource {
        Resource::Applications => applications::whole_registry(node, request, version, Scope::Full).await,
        Resource::Delta => applications::whole_registry(node, request, version, Scope::Delta).await,
        Resource::Application { app } if method == Method::POST => {
            instances::register(node, request, payload, app).await
        }
        Resource::Application { app } => applications::application(node, request, version, app).await,
        Resource::Instance { app, id } if method == Method::DELETE => {
            let answer =
                known_or_copied(node, async || instances::cancel(node, request, app, id).await).await;
            if let Err(ApiError::NotFound) = answer {
                instances::remember_cancel(node, request, app, id).await?;
            }
            answer
        }
        Resource::Instance { app, id } => {
            known_or_copied(node, async || match *method {
                Method::PUT => instances::renew(node, request, version, app, id).await,
                _ => instances::get(node, request, version, app, id).await,
            })
            .await
        }
        Resource::InstanceStatus { app, id } => {
            known_or_copied(node, async || match *method {
                Method::PUT => instances::set_status(node, request, app, id).await,
                _ => instances::remove_override(node, request, app, id).await,
            })
            .await
        }
        Resource::InstanceMetadata { app, id } => {
            known_or_copied(node, async || instances::merge_metadata(node, request, app, id).await).await
        }
        Resource::InstanceById { id } => instances::get_by_id(node, request, version, id).await,
        Resource::Vip { vip, is_secure } => applications::vip(node, request, version, vip, *is_secure).await,
        Resource::AsgStatus { asg } => Ok(groups::set_status(node, request, asg)),
        Resource::Batch => batch::apply(node, request, payload).await,
        Resource::ServerStatus => server::status(node, request).await,
        Resource::StatusOverrides => server::overrides(node).await,
    }
}

/// Makes a call about one instance once more if the instance is unknown and the copy of the peers' registry, which a node
/// makes when it starts, has come meanwhile.
async fn known_or_copied(
    node: &Node,
    call: impl AsyncFn() -> Result<HttpResponse, ApiError>,
) -> Result<HttpResponse, ApiError> {
    let answer = call().await;
    let status = answer.as_ref().map_or_else(ApiError::status, HttpResponse::status);
    if status == StatusCode::NOT_FOUND && node.start_copy.arrives().await { call().await } else { answer }
}

/// An empty answer that lists the methods of a resource.
pub fn with_allow(status: StatusCode, methods: &[Method]) -> HttpResponse {
    let list = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(",");
    let mut response = reply::empty(status);
    if let Ok(value) = HeaderValue::from_str(&list) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}
