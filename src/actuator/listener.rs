//! A listener of its own for the actuator (`management.server.port`), so that a network can keep it from clients.

use std::time::Duration;

use actix_web::dev::Server;
use actix_web::web::{self, Data};
use actix_web::{App, HttpServer};
use anyhow::Context;
use heureka_config::settings::ManagementListener;

use super::serve_alone;
use crate::http::connections;
use crate::node::Node;

/// Monitors and people, never a fleet of clients.
const WORKERS: usize = 1;

/// Binds the listener if the settings ask for one. Plain HTTP, as the settings have no certificate for it.
///
/// # Errors
/// If the address cannot be bound.
pub fn listen(node: &Data<Node>) -> anyhow::Result<Option<Server>> {
    let ManagementListener::Separate { port, address, .. } = node.settings.management.listener else {
        return Ok(None);
    };
    let data = node.clone();
    let limits = &node.settings.limits;
    let (connections, per_address) = (node.connections.clone(), limits.max_connections_per_address);
    let server =
        HttpServer::new(move || App::new().app_data(data.clone()).default_service(web::to(serve_alone)))
            .workers(WORKERS)
            .max_connections(limits.max_connections)
            .client_request_timeout(Duration::from_millis(limits.header_timeout_ms))
            .tcp_nodelay(true)
            .on_connect(move |connection, data| {
                connections::on_connect(&connections, per_address, connection, data);
            })
            .disable_signals();
    let bound = server.bind((address, port));
    let context =
        || format!("cannot listen on {address}:{port} (management.server.port, management.server.address)");
    Ok(Some(bound.with_context(context)?.run()))
}
