//! From the node's state to the bytes of a page.

use std::sync::Arc;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use bytes::Bytes;
use heureka_actors::Refused;
use heureka_actors::cache::{Encoding, View, gzip};
use heureka_registry::Histories;
use tokio::sync::Semaphore;

use super::figures::{Figure, figures};
use super::frame::Frame;
use super::histories::{HistoryTable, tables};
use super::instances::Listing;
use super::sections::Row;
use super::visible::visible;
use crate::http::{base_url, negotiate, reply};
use crate::node::Node;
use crate::status_report::StatusReport;

const CONTENT_TYPE: &str = "text/html;charset=UTF-8";

/// Pages made at the same time: large ones must not take all processors from clients.
static RENDERERS: Semaphore = Semaphore::const_new(2);

/// Headers of a page. It loads its own files only, sends nothing anywhere, and shows the state of this moment.
const HEADERS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Start page.
#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    frame: Frame,
    figures: Vec<Figure>,
    listing: Listing<'a>,
    general: Vec<Row>,
    own: Vec<Row>,
    api_address: String,
}

/// Page of the last events.
#[derive(Template)]
#[template(path = "lastn.html")]
struct LastNPage<'a> {
    frame: Frame,
    histories: [HistoryTable<'a>; 2],
}

/// The start page. It shows what has been written up to now, not what the read-only tier shows.
pub async fn status(node: &Node, request: &HttpRequest) -> HttpResponse {
    let sources =
        async { Ok::<_, Refused>((node.registry.current_view().await?, StatusReport::of(node).await?)) };
    let (view, report) = match sources.await {
        Ok(sources) => sources,
        Err(refused) => return unavailable(&refused),
    };
    let (frame, own) = (Frame::of(node), own_rows(node));
    let api_address = format!("{}{}/", base_url::of_registry(request, node), frame.links.api);
    page(node, request, move || render_status(frame, &view, report, own, api_address)).await
}

/// The page of the last events.
pub async fn last_n(node: &Node, request: &HttpRequest) -> HttpResponse {
    let histories = match node.registry.histories().await {
        Ok(histories) => histories,
        Err(refused) => return unavailable(&refused),
    };
    let frame = Frame::of(node);
    page(node, request, move || render_last_n(frame, &histories)).await
}

fn render_status(
    frame: Frame,
    view: &Arc<View>,
    report: StatusReport,
    own: Vec<Row>,
    api_address: String,
) -> askama::Result<String> {
    let rows = report.general.into_iter().chain(report.replicas);
    let page = StatusPage {
        figures: figures(view, &frame.explanation),
        listing: Listing::of(view, &frame.links.api),
        general: rows.map(|(name, value)| Row::new(name, value)).collect(),
        own,
        api_address,
        frame,
    };
    page.render()
}

fn render_last_n(frame: Frame, histories: &Histories) -> askama::Result<String> {
    LastNPage { frame, histories: tables(histories) }.render()
}

/// "Instance Info": the node itself.
fn own_rows(node: &Node) -> Vec<Row> {
    let own = node.own_instance();
    vec![
        Row::new("ipAddr", &*own.ip_addr),
        Row::new("status", own.status.as_str()),
        Row::new("hostName", &*own.host_name),
        Row::new("instance-id", &*own.instance_id),
    ]
}

/// Makes a page on a thread that serves nobody else: a registry of many thousand instances takes milliseconds to write.
async fn page(
    node: &Node,
    request: &HttpRequest,
    render: impl FnOnce() -> askama::Result<String> + Send + 'static,
) -> HttpResponse {
    let takes_gzip =
        negotiate::encoding(request) == Encoding::Gzip && node.settings.server.compression.enabled;
    // Never closed, so this never fails.
    let _permit = RENDERERS.acquire().await;
    let made = web::block(move || {
        let plain = Bytes::from(visible(&render()?).into_owned());
        let packed = takes_gzip.then(|| gzip(&plain));
        Ok::<_, askama::Error>((plain, packed))
    });
    let mut response = match made.await {
        Ok(Ok((plain, packed))) => match packed {
            Some(packed) if node.compresses(CONTENT_TYPE, plain.len()) => {
                reply::encoded(CONTENT_TYPE, Encoding::Gzip, packed)
            }
            _ => reply::body(StatusCode::OK, CONTENT_TYPE, plain),
        },
        Ok(Err(error)) => failed(&error),
        Err(error) => failed(&error),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn failed(error: &dyn std::error::Error) -> HttpResponse {
    tracing::error!(%error, "a page could not be made");
    reply::text(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made; the log says why".to_owned())
}

fn unavailable(refused: &Refused) -> HttpResponse {
    reply::unavailable(refused.to_string())
}
