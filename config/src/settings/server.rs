//! The listener: port, address, context path, TLS, compression, connections, shutdown; and the start page's place.

use super::tls::ServerTls;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// `server.*` (1.1, 1.5, 3.3).
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// `server.port`. 8761 here, 8080 in Boot. 0 asks the system for a free one; whoever opened it loads again with
    /// `--server.port` as a last argument, so that the own record and its URLs tell the real one.
    pub port: u16,
    /// `server.address`; all IPv4 interfaces unless set. `::` means both families.
    pub address: IpAddr,
    /// `server.servlet.context-path`: empty, or starts with a slash and does not end with one. Prefix of everything.
    pub context_path: String,
    /// `server.ssl.*`; absent means plain HTTP.
    pub tls: Option<ServerTls>,
    /// `server.forward-headers-strategy`: whose word counts for the address that callers used.
    pub forward_headers: ForwardHeaders,
    /// `server.compression.*`: gzip of answers other than `/apps` and `/apps/delta`, which have rules of their own.
    pub compression: CompressionSettings,
    /// How long a stop may take, in ms: `heureka.shutdown-timeout-ms`, else `spring.lifecycle.timeout-per-shutdown-phase`.
    /// 0 with `server.shutdown: immediate`.
    pub shutdown_timeout_ms: u64,
}

impl ServerSettings {
    /// Where to listen.
    pub fn socket_address(&self) -> SocketAddr {
        SocketAddr::new(self.address, self.port)
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            port: 8761,
            address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            context_path: String::new(),
            tls: None,
            forward_headers: ForwardHeaders::None,
            compression: CompressionSettings::default(),
            shutdown_timeout_ms: 4_000,
        }
    }
}

/// Who is believed that says by which scheme, host and port a caller came (`Forwarded`, `X-Forwarded-*`). Only links of
/// the start page and of the actuator depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForwardHeaders {
    /// Nobody.
    #[default]
    None,
    /// `X-Forwarded-*` of proxies with an internal address.
    Native,
    /// Everybody, `Forwarded` too.
    Framework,
}

/// `server.compression.*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompressionSettings {
    /// Off by default, as in Boot.
    pub enabled: bool,
    /// Smallest body that is worth it, in bytes.
    pub min_response_bytes: u64,
    /// Content types that are compressed.
    pub mime_types: Vec<String>,
}

impl Default for CompressionSettings {
    fn default() -> Self {
        let types = [
            "text/html",
            "text/xml",
            "text/plain",
            "text/css",
            "text/javascript",
            "application/javascript",
            "application/json",
            "application/xml",
        ];
        Self { enabled: false, min_response_bytes: 2_048, mime_types: types.map(String::from).to_vec() }
    }
}

/// `eureka.dashboard.*` (3.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DashboardSettings {
    /// Off: `/` and `/lastn` are 404, the registry is not touched.
    pub enabled: bool,
    /// Base of the page and of `lastn`; starts with a slash, ends with one only if it is the root.
    pub path: String,
}

impl Default for DashboardSettings {
    fn default() -> Self {
        Self { enabled: true, path: "/".into() }
    }
}
