//! `/actuator/prometheus`: everything that is counted, as text.

use std::fmt;

use actix_web::http::StatusCode;
use actix_web::http::header::ACCEPT;
use actix_web::{HttpRequest, HttpResponse, web};
use prometheus_client::encoding::text::encode;

use super::openmetrics;
use crate::http::reply;
use crate::node::Node;

const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0;charset=utf-8";
const PLAIN: &str = "text/plain;version=0.0.4;charset=utf-8";

/// Open Metrics to those who ask for it, as Prometheus does; the older text to everybody else.
pub async fn answer(request: &HttpRequest, node: &Node) -> HttpResponse {
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    let takes_open_metrics = accept.is_some_and(|accept| accept.contains("application/openmetrics-text"));
    match scrape(node).await {
        Ok(text) if takes_open_metrics => reply::body(StatusCode::OK, OPEN_METRICS, text),
        Ok(text) => reply::body(StatusCode::OK, PLAIN, openmetrics::to_plain(&text)),
        Err(error) => {
            tracing::error!(%error, "metrics could not be written");
            reply::empty(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

/// All metrics of this moment as Open Metrics text. Gauges walk the registry, so this happens on a thread that serves nobody.
pub async fn scrape(node: &Node) -> Result<String, fmt::Error> {
    let registry = node.metric_registry.clone();
    let made = web::block(move || {
        let mut text = String::new();
        encode(&mut text, &registry).map(|()| text)
    });
    made.await.unwrap_or(Err(fmt::Error))
}
