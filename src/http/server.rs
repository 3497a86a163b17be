//! What the node tells of itself through the API: `status` and `serverinfo/statusoverrides` (spec `wire.md` 1.18, 1.19).

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse};
use heureka_protocol::document::{self, Form, Place};

use super::error::ApiError;
use super::{negotiate, reply};
use crate::node::Node;
use crate::status_report::StatusReport;

/// `GET status`.
pub async fn status(node: &Node, request: &HttpRequest) -> Result<HttpResponse, ApiError> {
    let report = StatusReport::of(node).await?;
    Ok(if negotiate::wants_json(request) {
        reply::body(StatusCode::OK, Form::JsonFull.content_type(), as_json(node, &report))
    } else {
        reply::body(StatusCode::OK, Form::XmlFull.content_type(), as_xml(node, &report))
    })
}

/// `GET serverinfo/statusoverrides`: of two applications with the same instance id the later one wins.
pub async fn overrides(node: &Node) -> Result<HttpResponse, ApiError> {
    let overrides = node.registry.overrides().await?;
    let map: serde_json::Map<String, serde_json::Value> =
        overrides.into_iter().map(|(id, status)| (id.to_string(), status.as_str().into())).collect();
    let text = serde_json::Value::from(map).to_string();
    Ok(reply::body(StatusCode::OK, Form::JsonFull.content_type(), text))
}

/// Java's members in Java's order, but always a complete document: there the default one breaks off.
fn as_json(node: &Node, report: &StatusReport) -> Vec<u8> {
    let object = |rows: &[(&'static str, String)]| {
        let map: serde_json::Map<String, serde_json::Value> =
            rows.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
        serde_json::Value::from(map).to_string()
    };
    let mut text = format!(
        "{{\"generalStats\":{},\"applicationStats\":{},\"instanceInfo\":",
        object(&report.general),
        object(&report.replicas)
    )
    .into_bytes();
    let own = node.own_instance();
    document::write_instance(Form::JsonFull, Place::Alone, &own, &own.lease, &mut text);
    if let Some(is_healthy) = report.is_healthy {
        text.extend_from_slice(format!(",\"healthy\":{is_healthy}").as_bytes());
    }
    text.push(b'}');
    text
}

/// Java's root and elements, the misspelt `isHeathly` included.
fn as_xml(node: &Node, report: &StatusReport) -> Vec<u8> {
    let rows = |rows: &[(&'static str, String)]| -> String {
        let line = |(name, value): &(&str, String)| format!("    <{name}>{}</{name}>\n", escape(value));
        rows.iter().map(line).collect()
    };
    let mut text = format!(
        "<com.netflix.eureka.util.StatusInfo>\n  <generalStats>\n{}  </generalStats>\n  <applicationStats>\n{}  \
         </applicationStats>\n",
        rows(&report.general),
        rows(&report.replicas)
    )
    .into_bytes();
    let own = node.own_instance();
    let mut instance = Vec::new();
    document::write_instance(Form::XmlFull, Place::InApplication, &own, &own.lease, &mut instance);
    let instance = String::from_utf8_lossy(&instance);
    let instance = instance.replacen("<instance>", "<instanceInfo>", 1);
    let renamed = match instance.rfind("</instance>") {
        Some(end) => format!("{}</instanceInfo>", &instance[..end]),
        None => instance,
    };
    text.extend_from_slice(renamed.as_bytes());
    text.push(b'\n');
    if let Some(is_healthy) = report.is_healthy {
        text.extend_from_slice(format!("  <isHeathly>{is_healthy}</isHeathly>\n").as_bytes());
    }
    text.extend_from_slice(b"</com.netflix.eureka.util.StatusInfo>");
    text
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
