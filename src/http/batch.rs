//! Batches of peers, as a receiver (spec `wire.md` 7.3): every item is a replica call, answered in its place.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::join_all;
use heureka_actors::replicator::{PEER_HEADER, PeerIdentity};
use heureka_actors::{AppCore, StatusAnswer};
use heureka_protocol::batch::{self, OutgoingResponse, ReplicationItem, ReplicationTask};
use heureka_protocol::document::Form;
use heureka_protocol::draft::Registration;
use heureka_protocol::error::ReadError;
use heureka_protocol::{AppName, LeaseInfo};
use heureka_registry::{Heartbeat, Now, Origin, Record, RenewalAnswer};

use super::error::ApiError;
use super::negotiate::{self, BodyFormat, ContentTypeError};
use super::{body, reply};
use crate::node::Node;
use crate::peers::digest::{DIGEST_HEADER, DigestRequest};

/// Answer to one item: a status, and our record where the sender's is older.
#[derive(Clone, Debug)]
struct ItemAnswer {
    status: StatusCode,
    /// With its lease as it was then: a later item may have ended it.
    conflict: Option<(Arc<Record>, LeaseInfo)>,
}

impl From<StatusCode> for ItemAnswer {
    fn from(status: StatusCode) -> Self {
        Self { status, conflict: None }
    }
}

/// `POST peerreplication/batch`.
pub async fn apply(
    node: &Node,
    request: &HttpRequest,
    mut payload: Payload,
) -> Result<HttpResponse, ApiError> {
    match negotiate::body_format(request).map_err(ApiError::ContentType)? {
        BodyFormat::Json => {}
        BodyFormat::Xml => {
            return Err(ApiError::ContentType(ContentTypeError::Malformed(
                "an XML type; a batch is JSON".into(),
            )));
        }
    }
    let sender = sender(request);
    let is_gzipped = negotiate::is_gzipped(request);
    let bytes = body::read(request, &mut payload, is_gzipped, node.limits.batch, &node.connections.bodies)
        .await
        .map_err(ApiError::Body)?;
    let items = batch::read_list(&bytes, &node.limits.reader).map_err(ApiError::UnreadableBatch)?;
    if sender.as_ref() == Some(node.replication.own()) {
        // This node has met itself under another name: nothing is applied, and the answer says who has answered.
        let answers: Vec<ItemAnswer> = vec![StatusCode::OK.into(); items.len()];
        return Ok(respond(node, &answers));
    }
    if let Some(wanted) = header(request, DIGEST_HEADER).and_then(DigestRequest::parse) {
        let mut response =
            reply::body(StatusCode::OK, Form::JsonFull.content_type(), wanted.answer(&node.registry).await?);
        response.headers_mut().insert(HeaderName::from_static(DIGEST_HEADER), HeaderValue::from_static("1"));
        return Ok(response);
    }
    let keeps_order = sender.is_some();
    let mut answers: Vec<ItemAnswer> = vec![StatusCode::BAD_REQUEST.into(); items.len()];
    let mut by_application: HashMap<AppName, Vec<(usize, ReplicationItem)>> = HashMap::new();
    let mut refused: Vec<(usize, ReadError)> = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        match item {
            Ok(item) => by_application.entry(item.app.clone()).or_default().push((place, item)),
            Err(error) => refused.push((place, error)),
        }
    }
    if let Some((place, error)) = refused.first() {
        // One line a batch, however many items are bad: whoever sends them must not fill the log.
        tracing::warn!(items = refused.len(), place, %error, "items of a peer's batch were refused; the first is shown");
    }
    let applied =
        by_application.into_iter().map(|(app, items)| apply_to_application(node, app, items, keeps_order));
    for (place, answer) in join_all(applied).await.into_iter().flatten() {
        answers[place] = answer;
    }
    Ok(respond(node, &answers))
}

/// Who sends, if it is a node of our kind.
fn sender(request: &HttpRequest) -> Option<PeerIdentity> {
    header(request, PEER_HEADER).and_then(PeerIdentity::parse)
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// The items of one application, in their order, as one step: nothing comes in between.
async fn apply_to_application(
    node: &Node,
    app: AppName,
    items: Vec<(usize, ReplicationItem)>,
    keeps_order: bool,
) -> Vec<(usize, ItemAnswer)> {
    let places: Vec<usize> = items.iter().map(|(place, _)| *place).collect();
    let makes_application = items.iter().any(|(_, item)| matches!(item.task, ReplicationTask::Register(_)));
    let entry = ItemContext {
        now: node.registry.shared().clock.now(),
        own_id: node.settings.instance.instance_id.clone(),
        has_entity_on_conflict: node.settings.registry.experimental.entity_on_conflict,
        keeps_order,
    };
    let step = move |core: &mut AppCore| -> Vec<ItemAnswer> {
        items.into_iter().map(|(_, item)| apply_item(core, item, &entry)).collect()
    };
    let answers = if makes_application {
        node.registry.perform_or_open(&app, step).await.map(Some)
    } else {
        node.registry.perform(&app, step).await
    };
    let answers = match answers {
        Ok(Some(answers)) => answers,
        Ok(None) => vec![StatusCode::NOT_FOUND.into(); places.len()],
        Err(refused) => {
            // The sender tries an item again that was answered 503; it drops one that was answered 500.
            tracing::warn!(%app, %refused, "a peer's batch was not applied to an application");
            vec![StatusCode::SERVICE_UNAVAILABLE.into(); places.len()]
        }
    };
    places.into_iter().zip(answers).collect()
}

/// What items need besides the application.
struct ItemContext {
    now: Now,
    own_id: String,
    has_entity_on_conflict: bool,
    /// The sender has said that it keeps the order of events of one instance.
    keeps_order: bool,
}

fn apply_item(core: &mut AppCore, item: ReplicationItem, context: &ItemContext) -> ItemAnswer {
    let ReplicationItem { app, id, task } = item;
    match task {
        ReplicationTask::Register(instance) => {
            let registration = Registration {
                path_app: &app,
                now_wall_ms: context.now.wall_ms,
                require_data_center_id: false,
            };
            match instance.into_instance(&registration) {
                Ok(mut instance) => {
                    instance.is_coordinating_discovery_server = *instance.instance_id == *context.own_id;
                    if context.keeps_order {
                        core.lift_tombstone(&instance.instance_id, instance.last_dirty_timestamp);
                    }
                    match core.register(instance, Origin::Peer) {
                        Ok(()) => StatusCode::OK.into(),
                        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into(),
                    }
                }
                Err(refusal) => {
                    tracing::warn!(%app, %id, %refusal, "a peer's registration was refused");
                    StatusCode::BAD_REQUEST.into()
                }
            }
        }
        ReplicationTask::Heartbeat { last_dirty_timestamp, overridden_status } => {
            let beat = Heartbeat { last_dirty: last_dirty_timestamp, overridden: overridden_status };
            heartbeat_answer(core.renew(&id, &beat, Origin::Peer), context)
        }
        ReplicationTask::Cancel => match core.cancel(&id, Origin::Peer) {
            true => StatusCode::OK.into(),
            false => StatusCode::NOT_FOUND.into(),
        },
        ReplicationTask::StatusUpdate { status, last_dirty_timestamp } => {
            status_answer(core.set_status(&id, status, last_dirty_timestamp, Origin::Peer))
        }
        ReplicationTask::DeleteStatusOverride { status, last_dirty_timestamp } => {
            status_answer(core.remove_override(&id, status, last_dirty_timestamp, Origin::Peer))
        }
    }
}

fn heartbeat_answer(answer: RenewalAnswer, context: &ItemContext) -> ItemAnswer {
    match answer {
        RenewalAnswer::Renewed => StatusCode::OK.into(),
        RenewalAnswer::NotFound | RenewalAnswer::UnknownStatus | RenewalAnswer::RenewedSendAgain => {
            StatusCode::NOT_FOUND.into()
        }
        RenewalAnswer::Conflict(record) => ItemAnswer {
            status: StatusCode::CONFLICT,
            conflict: context
                .has_entity_on_conflict
                .then(|| (record.clone(), record.lease_info(context.now))),
        },
    }
}

fn status_answer(answer: StatusAnswer) -> ItemAnswer {
    match answer {
        StatusAnswer::Done => StatusCode::OK.into(),
        StatusAnswer::NotFound => StatusCode::NOT_FOUND.into(),
    }
}

fn respond(node: &Node, answers: &[ItemAnswer]) -> HttpResponse {
    let responses = answers.iter().map(|answer| OutgoingResponse {
        status_code: answer.status.as_u16(),
        entity: answer.conflict.as_ref().map(|(record, lease)| (&record.instance, lease)),
    });
    let mut text = Vec::with_capacity(answers.len() * 20 + 32);
    batch::write_responses(responses, &mut text);
    let mut response = reply::body(StatusCode::OK, Form::JsonFull.content_type(), text);
    if let Ok(own) = HeaderValue::from_str(&node.replication.own().to_string()) {
        response.headers_mut().insert(HeaderName::from_static(PEER_HEADER), own);
    }
    response
}
