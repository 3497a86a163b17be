//! Calls on single instances (spec `wire.md` 1.7 to 1.13, 1.15).

use actix_web::http::StatusCode;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use heureka_actors::StatusAnswer;
use heureka_protocol::document;
use heureka_protocol::draft::Registration;
use heureka_protocol::{AppName, Status, json, xml};
use heureka_registry::{Heartbeat, Origin, Record, RenewalAnswer};

use super::error::ApiError;
use super::negotiate::BodyFormat;
use super::path::ApiVersion;
use super::{body, negotiate, query, reply};
use crate::node::Node;

fn origin(request: &HttpRequest) -> Origin {
    if negotiate::is_replica_call(request) { Origin::Peer } else { Origin::Client }
}

/// `POST apps/{app}`: 204 if registered.
pub async fn register(
    node: &Node,
    request: &HttpRequest,
    payload: &mut Payload,
    app: &str,
) -> Result<HttpResponse, ApiError> {
    let format = negotiate::body_format(request).map_err(ApiError::ContentType)?;
    let is_gzipped = negotiate::is_gzipped(request);
    let bytes = body::read(request, payload, is_gzipped, node.limits.registration, &node.connections.bodies)
        .await
        .map_err(ApiError::Body)?;
    let draft = match format {
        BodyFormat::Json => json::read_instance(&bytes, &node.limits.reader),
        BodyFormat::Xml => xml::read_instance(&bytes, &node.limits.reader),
    };
    let draft = draft.map_err(|error| ApiError::UnreadableInstance(format, error))?;
    let registration = Registration {
        path_app: app,
        now_wall_ms: node.registry.shared().clock.now().wall_ms,
        require_data_center_id: node.settings.registry.experimental.require_data_center_id,
    };
    let mut instance = draft.into_instance(&registration).map_err(ApiError::IncompleteInstance)?;
    instance.is_coordinating_discovery_server = node.is_own_id(&instance.instance_id);
    node.registry.register(instance, origin(request)).await?;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// `GET apps/{app}/{id}`: always current, always full.
pub async fn get(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    let record = match node.registry.instance(app, id).await? {
        Some(record) => Some(record),
        // One that is hidden because its lease has expired is not looked for elsewhere.
        None if is_registered(node, app, id) => None,
        None => node.regions.instance(Some(app), id),
    };
    let record = record.ok_or(ApiError::NotFound)?;
    Ok(single_instance(node, request, version, StatusCode::OK, &record))
}

/// `GET instances/{id}`: the first instance of that id in any application.
pub async fn get_by_id(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    let record = node.registry.instance_by_id(id).await?;
    let record = record.or_else(|| node.regions.instance(None, id)).ok_or(ApiError::NotFound)?;
    Ok(single_instance(node, request, version, StatusCode::OK, &record))
}

fn is_registered(node: &Node, app: &str, id: &str) -> bool {
    let view = node.registry.shared().view();
    view.app(&AppName::new(app)).is_some_and(|app| app.get(id).is_some())
}

fn single_instance(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    status: StatusCode,
    record: &Record,
) -> HttpResponse {
    let form = negotiate::instance_form(request, version);
    let lease = record.lease_info(node.registry.shared().clock.now());
    let mut text = Vec::with_capacity(2048);
    document::write_instance_document(form, &record.instance, &lease, &mut text);
    reply::body(status, form.content_type(), text)
}

/// `PUT apps/{app}/{id}`: the heartbeat. Its answers have no body, but for 409.
pub async fn renew(
    node: &Node,
    request: &HttpRequest,
    version: ApiVersion,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    let parameters = request.query_string();
    let last_dirty = query::number(parameters, "lastDirtyTimestamp").map_err(|_| ApiError::BadHeartbeat)?;
    let origin = origin(request);
    let overridden = match origin {
        Origin::Peer => peers_override(parameters)?,
        _ => None,
    };
    let beat = Heartbeat { last_dirty, overridden, ..Heartbeat::default() };
    let answer = node.registry.renew(app, id, beat, origin).await.map_err(ApiError::RegistryOnHeartbeat)?;
    Ok(match answer {
        RenewalAnswer::Renewed => reply::empty(StatusCode::OK),
        RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus | RenewalAnswer::RenewedSendAgain => {
            reply::empty(StatusCode::NOT_FOUND)
        }
        RenewalAnswer::Conflict(record) => {
            single_instance(node, request, version, StatusCode::CONFLICT, &record)
        }
    })
}

/// The override that a peer's heartbeat names; what a client says of it does not count.
fn peers_override(parameters: &str) -> Result<Option<Status>, ApiError> {
    let named = query::first(parameters, "overriddenstatus");
    named.map(|text| Status::from_exact(&text).ok_or(ApiError::BadHeartbeat)).transpose()
}

/// `DELETE apps/{app}/{id}`.
pub async fn cancel(
    node: &Node,
    request: &HttpRequest,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    match node.registry.cancel(app, id, origin(request)).await? {
        true => Ok(reply::empty(StatusCode::OK)),
        false => Err(ApiError::NotFound),
    }
}

/// After a `DELETE` that found nothing: what the peers' lists, which are still on their way, say of the instance does not
/// count any more.
pub async fn remember_cancel(
    node: &Node,
    request: &HttpRequest,
    app: &str,
    id: &str,
) -> Result<(), ApiError> {
    Ok(node.registry.remember_cancel(app, id, origin(request)).await?)
}

/// `PUT apps/{app}/{id}/status?value=S`. An unknown instance is 404 whatever the value.
pub async fn set_status(
    node: &Node,
    request: &HttpRequest,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    node.registry.instance(app, id).await?.ok_or(ApiError::NotFound)?;
    let status = status_value(request)?.ok_or_else(|| wrong_status("nothing"))?;
    let dirty = dirty_timestamp(request)?;
    answer_status(node.registry.set_status(app, id, status, dirty, origin(request)).await?)
}

/// `DELETE apps/{app}/{id}/status`, with or without `value`.
pub async fn remove_override(
    node: &Node,
    request: &HttpRequest,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    node.registry.instance(app, id).await?.ok_or(ApiError::NotFound)?;
    let status = status_value(request)?;
    let dirty = dirty_timestamp(request)?;
    answer_status(node.registry.remove_override(app, id, status, dirty, origin(request)).await?)
}

fn answer_status(answer: StatusAnswer) -> Result<HttpResponse, ApiError> {
    match answer {
        StatusAnswer::Done => Ok(reply::empty(StatusCode::OK)),
        StatusAnswer::NotFound => Err(ApiError::NotFound),
    }
}

fn status_value(request: &HttpRequest) -> Result<Option<Status>, ApiError> {
    query::first(request.query_string(), "value")
        .map(|text| Status::from_exact(&text).ok_or_else(|| wrong_status(&text)))
        .transpose()
}

fn wrong_status(found: &str) -> ApiError {
    let shown: String = found.chars().take(80).collect();
    ApiError::BadRequest(format!(
        "query parameter value: found {shown:?}; expected one of UP, DOWN, STARTING, OUT_OF_SERVICE, UNKNOWN, \
         for example ?value=OUT_OF_SERVICE"
    ))
}

fn dirty_timestamp(request: &HttpRequest) -> Result<Option<i64>, ApiError> {
    query::number(request.query_string(), "lastDirtyTimestamp").map_err(|found| {
        let shown: String = found.chars().take(80).collect();
        ApiError::BadRequest(format!(
            "query parameter lastDirtyTimestamp: found {shown:?}; expected milliseconds since the epoch, \
             for example ?lastDirtyTimestamp=1700000000000"
        ))
    })
}

/// `PUT apps/{app}/{id}/metadata?k=v`.
pub async fn merge_metadata(
    node: &Node,
    request: &HttpRequest,
    app: &str,
    id: &str,
) -> Result<HttpResponse, ApiError> {
    let entries = query::all(request.query_string()).map_err(ApiError::BadRequest)?;
    let merged =
        node.registry.merge_metadata(app, id, entries, node.limits.metadata, origin(request)).await?;
    merged.map_err(ApiError::Metadata)?;
    Ok(reply::empty(StatusCode::OK))
}
