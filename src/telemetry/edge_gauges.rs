//! Gauges of what callers hold of the node: connections, bodies, checks of their passwords.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::gauges::Gauges;
use crate::http::connections::Connections;
use crate::http::security::Credentials;

/// The gauges of a node's HTTP edge.
#[derive(Debug)]
pub struct EdgeGauges {
    connections: Arc<Connections>,
    credentials: Arc<Credentials>,
}

impl EdgeGauges {
    /// Gauges of one node.
    #[must_use]
    pub const fn new(connections: Arc<Connections>, credentials: Arc<Credentials>) -> Self {
        Self { connections, credentials }
    }
}

impl Collector for EdgeGauges {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut gauges = Gauges(encoder);
        let (bodies, credentials) = (&self.connections.bodies, &self.credentials);
        gauges.set("eureka_http_connections", "Open connections", self.connections.len())?;
        let help = "Bytes of large bodies on their way in";
        gauges.set("eureka_bodies_in_flight_bytes", help, bodies.held())?;
        let help = "Bytes of large bodies on their way in above which more are refused";
        gauges.set("eureka_bodies_in_flight_limit_bytes", help, bodies.max())?;
        let help = "Hashed passwords that wait for their check";
        gauges.set("eureka_password_checks_waiting", help, credentials.waiting())?;
        let help = "Hashed passwords that wait for their check above which more are refused";
        gauges.set("eureka_password_checks_waiting_limit", help, credentials.waiting_max())
    }
}
