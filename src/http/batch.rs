//! Batches of peers, as a receiver (spec `wire.md` 7.3): every item is a replica call, answered in its place.

use std::collections::HashMap;
use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::future::join_all;
use heureka_actors::replicator::{
    CLOCK_HEADER, ORDER_HEADER, PEER_HEADER, PeerIdentity, PlacedStamps, STAMPS_HEADER, clock_from_text,
    clock_to_text, order_from_text,
};
use heureka_actors::{AppCore, Refused};
use heureka_protocol::batch::{self, OutgoingResponse, ReplicationItem, ReplicationTask};
use heureka_protocol::document::Form;
use heureka_protocol::draft::{Refusal, Registration};
use heureka_protocol::error::ReadError;
use heureka_protocol::{AppName, LeaseInfo};
use heureka_registry::replication::Arrival;
use heureka_registry::replication::receive::{Applied, Incoming};
use heureka_registry::{ClockReading, Heartbeat, Now, Record, Sender, Stamp, StampClock};

use super::batch_refusals::{self, ItemRefusal};
use super::error::ApiError;
use super::negotiate::{self, BodyFormat, ContentTypeError};
use super::{body, reply};
use crate::node::Node;
use crate::peers::digest::{DIGEST_HEADER, DIGEST_VERSION, DigestRequest};

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
    payload: &mut Payload,
) -> Result<HttpResponse, ApiError> {
    match negotiate::body_format(request).map_err(ApiError::ContentType)? {
        BodyFormat::Json => {}
        BodyFormat::Xml => {
            return Err(ApiError::ContentType(ContentTypeError::Malformed(
                "an XML type; a batch is JSON".into(),
            )));
        }
    }
    let sender = header(request, PEER_HEADER).and_then(PeerIdentity::parse);
    let is_gzipped = negotiate::is_gzipped(request);
    let bytes = body::read(request, payload, is_gzipped, node.limits.batch, &node.connections.bodies)
        .await
        .map_err(ApiError::Body)?;
    let items = batch::read_list(&bytes, &node.limits.reader).map_err(ApiError::UnreadableBatch)?;
    let is_ours = sender.is_some();
    if sender.as_ref() == Some(node.replication.own()) {
        // This node has met itself under another name: nothing is applied, and the answer says who has answered.
        let answers: Vec<ItemAnswer> = vec![StatusCode::OK.into(); items.len()];
        return Ok(respond(node, &answers, is_ours));
    }
    let now = node.registry.shared().clock.now();
    let clock = header(request, CLOCK_HEADER).filter(|_| is_ours).and_then(clock_from_text);
    let clock = clock.map(|clock| clock.bounded(now));
    if let Some(clock) = clock {
        node.registry.hear_clock(clock);
    }
    if let Some(wanted) = header(request, DIGEST_HEADER).and_then(DigestRequest::parse) {
        let mut response =
            reply::body(StatusCode::OK, Form::JsonFull.content_type(), wanted.answer(&node.registry).await?);
        response
            .headers_mut()
            .insert(HeaderName::from_static(DIGEST_HEADER), HeaderValue::from_static(DIGEST_VERSION));
        insert(&mut response, PEER_HEADER, &node.replication.own().to_string());
        insert(&mut response, CLOCK_HEADER, &clock_to_text(read_clock(node)));
        return Ok(response);
    }
    if !is_ours && node.registry.shared().is_copying() && items.iter().flatten().any(is_override_operation) {
        return Err(ApiError::StillCopying);
    }
    let stamps = stamps_in(request, clock);
    let order = header(request, ORDER_HEADER).and_then(order_from_text);
    let arrival = node.replication.enter(sender.as_ref(), order);
    let answers = apply_all(node, items, &stamps, arrival, is_ours).await?;
    Ok(respond(node, &answers, is_ours))
}

/// The items, those of one application as one step; their answers in their places.
async fn apply_all(
    node: &Node,
    items: Vec<Result<ReplicationItem, ReadError>>,
    stamps: &PlacedStamps,
    arrival: Arrival,
    is_ours: bool,
) -> Result<Vec<ItemAnswer>, ApiError> {
    let mut answers: Vec<ItemAnswer> = vec![StatusCode::BAD_REQUEST.into(); items.len()];
    let mut by_application: HashMap<AppName, Vec<(usize, ReplicationItem)>> = HashMap::new();
    let mut refusals: Vec<(usize, ItemRefusal)> = Vec::new();
    for (place, item) in items.into_iter().enumerate() {
        match item {
            Ok(item) => by_application.entry(item.app.clone()).or_default().push((place, item)),
            Err(error) => refusals.push((place, ItemRefusal::Unreadable(error))),
        }
    }
    let applied = by_application
        .into_iter()
        .map(|(app, items)| apply_to_application(node, app, items, stamps, arrival));
    let applied: Vec<AppliedItems> = join_all(applied).await;
    if !is_ours && let Some(refused) = applied.iter().find_map(AppliedItems::put_off) {
        // To a Java server 503 for an item means that it is lost, for the batch that it is to be sent again.
        tracing::warn!(%refused, "a batch of a peer that is no node of our kind was put off");
        return Err(ApiError::Registry(refused));
    }
    for AppliedItems { app, places, answers: of_application } in applied {
        let not_applied = |refused| Err(ItemRefusal::NotApplied { app: app.clone(), refused });
        let of_application =
            of_application.unwrap_or_else(|refused| places.iter().map(|_| not_applied(refused)).collect());
        for (place, answer) in places.into_iter().zip(of_application) {
            answers[place] = answer.unwrap_or_else(|refusal| {
                let status = refusal.status();
                refusals.push((place, refusal));
                status.into()
            });
        }
    }
    batch_refusals::report(node.replication.metrics(), is_ours, &refusals);
    Ok(answers)
}

/// True for an operation on an override. A Java server tells it once: if it meets no instance it is lost, and the list that
/// brings the instance a moment later may be older than it. A node of our kind tells it again.
const fn is_override_operation(item: &ReplicationItem) -> bool {
    matches!(item.task, ReplicationTask::StatusUpdate { .. } | ReplicationTask::DeleteStatusOverride { .. })
}

fn shared_clock(node: &Node) -> &StampClock {
    &node.registry.shared().options.rules.stamps
}

fn read_clock(node: &Node) -> ClockReading {
    shared_clock(node).read(node.registry.shared().clock.now())
}

/// The stamps of the overrides that the items tell of, if their sender says what its clock shows.
fn stamps_in(request: &HttpRequest, clock: Option<ClockReading>) -> PlacedStamps {
    let text = header(request, STAMPS_HEADER);
    text.zip(clock).map_or_else(PlacedStamps::default, |(text, clock)| PlacedStamps::from_text(text, clock))
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers().get(name)?.to_str().ok()
}

/// The items of one application, in their order, as one step: nothing comes in between.
async fn apply_to_application(
    node: &Node,
    app: AppName,
    items: Vec<(usize, ReplicationItem)>,
    stamps: &PlacedStamps,
    arrival: Arrival,
) -> AppliedItems {
    let places: Vec<usize> = items.iter().map(|(place, _)| *place).collect();
    let opens = |task: &ReplicationTask| match task {
        ReplicationTask::Register(_) => true,
        // It may have to be remembered although nothing of that application is here yet.
        ReplicationTask::Cancel { last_dirty_timestamp } => {
            last_dirty_timestamp.is_some() || node.registry.shared().is_copying()
        }
        _ => false,
    };
    let makes_application = items.iter().any(|(_, item)| opens(&item.task));
    let context = ItemContext {
        now: node.registry.shared().clock.now(),
        own_id: node.settings.instance.instance_id.clone(),
        has_entity_on_conflict: node.settings.registry.experimental.entity_on_conflict,
        sender: arrival.sender,
    };
    let items: Vec<(ReplicationItem, Option<Stamp>)> =
        items.into_iter().map(|(place, item)| (item, stamps.get(place))).collect();
    let replication = Arc::clone(&node.replication);
    let step = move |core: &mut AppCore| -> Vec<Result<ItemAnswer, ItemRefusal>> {
        if replication.is_overtaken(arrival) {
            replication.metrics().count_overtaken(items.len());
            return items.iter().map(|_| Ok(StatusCode::SERVICE_UNAVAILABLE.into())).collect();
        }
        items.into_iter().map(|(item, stamp)| apply_item(core, item, stamp, &context)).collect()
    };
    let answers = if makes_application {
        node.registry.perform_or_open(&app, step).await.map(Some)
    } else {
        node.registry.perform(&app, step).await
    };
    let unknown = || places.iter().map(|_| Ok(StatusCode::NOT_FOUND.into())).collect();
    let answers = answers.map(|answers| answers.unwrap_or_else(unknown));
    AppliedItems { app, places, answers }
}

/// What became of the items of one application.
struct AppliedItems {
    app: AppName,
    /// Where they stand in the batch.
    places: Vec<usize>,
    answers: Result<Vec<Result<ItemAnswer, ItemRefusal>>, Refused>,
}

impl AppliedItems {
    /// Why they may be sent again a little later, if nothing was wrong with them.
    fn put_off(&self) -> Option<Refused> {
        self.answers.as_ref().err().copied().filter(|refused| refused.is_worth_a_retry())
    }
}

/// What items need besides the application.
struct ItemContext {
    now: Now,
    own_id: String,
    has_entity_on_conflict: bool,
    sender: Sender,
}

fn apply_item(
    core: &mut AppCore,
    item: ReplicationItem,
    stamp: Option<Stamp>,
    context: &ItemContext,
) -> Result<ItemAnswer, ItemRefusal> {
    let ReplicationItem { app, id, task } = item;
    let incoming = match checked(&app, task, context) {
        Ok(incoming) => incoming,
        Err(refusal) => return Err(ItemRefusal::Invalid { app, id, refusal }),
    };
    let id = match &incoming {
        Incoming::Register(instance) => Arc::clone(&instance.instance_id),
        _ => id,
    };
    let applied = core.apply(&id, incoming, stamp, context.sender);
    applied
        .map(|applied| answer_of(applied, context))
        .map_err(|refused| ItemRefusal::NotApplied { app, refused })
}

/// What the item asks for, as the rules take it.
fn checked(app: &AppName, task: ReplicationTask, context: &ItemContext) -> Result<Incoming, Refusal> {
    Ok(match task {
        ReplicationTask::Register(draft) => {
            let registration = Registration {
                path_app: app,
                now_wall_ms: context.now.wall_ms,
                require_data_center_id: false,
            };
            let mut instance = draft.into_instance(&registration)?;
            instance.is_coordinating_discovery_server = *instance.instance_id == *context.own_id;
            Incoming::Register(Box::new(instance))
        }
        ReplicationTask::Heartbeat { last_dirty_timestamp, overridden_status, status } => {
            Incoming::Heartbeat(Heartbeat {
                last_dirty: last_dirty_timestamp,
                overridden: overridden_status,
                shown: status,
                stamp: None,
            })
        }
        ReplicationTask::Cancel { last_dirty_timestamp } => {
            Incoming::Cancel { last_dirty: last_dirty_timestamp }
        }
        ReplicationTask::StatusUpdate { status, overridden_status, last_dirty_timestamp } => {
            Incoming::SetStatus { status, stored: overridden_status, last_dirty: last_dirty_timestamp }
        }
        ReplicationTask::DeleteStatusOverride { status, last_dirty_timestamp } => {
            Incoming::RemoveOverride { status, last_dirty: last_dirty_timestamp }
        }
    })
}

fn answer_of(applied: Applied, context: &ItemContext) -> ItemAnswer {
    let status = StatusCode::from_u16(applied.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let conflict = applied.conflict.filter(|_| context.has_entity_on_conflict);
    ItemAnswer { status, conflict: conflict.map(|record| (record.clone(), record.lease_info(context.now))) }
}

/// The answers; to a node of our kind with what Java does not know, in headers.
fn respond(node: &Node, answers: &[ItemAnswer], is_ours: bool) -> HttpResponse {
    let responses = answers.iter().map(|answer| OutgoingResponse {
        status_code: answer.status.as_u16(),
        entity: answer.conflict.as_ref().map(|(record, lease)| (&record.instance, lease)),
    });
    let mut text = Vec::with_capacity(answers.len() * 20 + 32);
    batch::write_responses(responses, &mut text);
    let mut response = reply::body(StatusCode::OK, Form::JsonFull.content_type(), text);
    insert(&mut response, PEER_HEADER, &node.replication.own().to_string());
    if is_ours {
        let clock = read_clock(node);
        insert(&mut response, CLOCK_HEADER, &clock_to_text(clock));
        let stamp = |answer: &ItemAnswer| answer.conflict.as_ref()?.0.override_stamp.get();
        if let Some(text) = PlacedStamps::of(answers.iter().map(stamp)).to_text(clock) {
            insert(&mut response, STAMPS_HEADER, &text);
        }
    }
    response
}

fn insert(response: &mut HttpResponse, name: &'static str, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
}
