//! Where the node is, as a caller sees it: scheme, host and port of the links that answers show.
//!
//! What a proxy in front says of that (`X-Forwarded-*`, `Forwarded`) is believed only as far as
//! `server.forward-headers-strategy` allows. Nothing but links depends on it: limits, logs and peers go by the address of the
//! connection.

use std::net::{IpAddr, Ipv4Addr};

use actix_web::HttpRequest;
use actix_web::http::header::{HOST, HeaderMap};
use heureka_config::settings::{ForwardHeaders, ManagementListener};

use crate::node::Node;

/// Longest host with port that is shown.
const HOST_BYTES_MAX: usize = 260;

/// Scheme and host of the registry and its pages, such as `https://registry.example:8761`; no slash at its end.
pub fn of_registry(request: &HttpRequest, node: &Node) -> String {
    let server = &node.settings.server;
    base_url(request, node, server.tls.is_some(), server.port)
}

/// The same of the actuator.
pub fn of_actuator(request: &HttpRequest, node: &Node) -> String {
    match node.settings.management.listener {
        ManagementListener::Separate { port, .. } => base_url(request, node, false, port),
        ManagementListener::Shared | ManagementListener::Off => of_registry(request, node),
    }
}

fn base_url(request: &HttpRequest, node: &Node, is_tls: bool, port: u16) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    let headers = request.headers();
    let said = match node.settings.server.forward_headers {
        ForwardHeaders::Native if is_internal(request) => Said::by_x_headers(headers),
        ForwardHeaders::Framework if headers.contains_key("forwarded") => Said::by_forwarded(headers),
        ForwardHeaders::Framework => Said::by_x_headers(headers),
        ForwardHeaders::None | ForwardHeaders::Native => Said::default(),
    };
    let target = request.uri().authority().map(|authority| authority.as_str());
    let asked = target.or_else(|| text(headers, HOST.as_str()));
    let own = format!("{}:{port}", node.settings.instance.hostname);
    said.base_url(scheme, asked.filter(|host| is_host(host)).unwrap_or(&own))
}

/// What a proxy says of the address that its caller used.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said<'a> {
    scheme: Option<&'static str>,
    host: Option<&'a str>,
    port: Option<u16>,
}

impl<'a> Said<'a> {
    /// The first value of each header: that of the proxy nearest to the caller.
    fn by_x_headers(headers: &'a HeaderMap) -> Self {
        let first = |name| text(headers, name)?.split(',').next().map(str::trim);
        Self {
            scheme: first("x-forwarded-proto").and_then(scheme),
            host: first("x-forwarded-host").filter(|host| is_host(host)),
            port: first("x-forwarded-port").and_then(|port| port.parse().ok()),
        }
    }

    /// RFC 7239.
    fn by_forwarded(headers: &'a HeaderMap) -> Self {
        let first = text(headers, "forwarded").and_then(|value| value.split(',').next()).unwrap_or_default();
        let value = |wanted: &str| {
            let pairs = first.split(';').filter_map(|pair| pair.split_once('='));
            let mut values = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
            values.next().map(|(_, value)| value.trim().trim_matches('"'))
        };
        Self {
            scheme: value("proto").and_then(scheme),
            host: value("host").filter(|host| is_host(host)),
            port: None,
        }
    }

    /// The port of the host that was asked for belongs to the scheme that was spoken here: another scheme has another.
    fn base_url(&self, scheme: &str, asked: &str) -> String {
        let host = match (self.host, self.scheme) {
            (Some(host), _) => host,
            (None, Some(_)) => without_port(asked),
            (None, None) => asked,
        };
        let scheme = self.scheme.unwrap_or(scheme);
        match self.port {
            Some(port) if is_usual(scheme, port) => format!("{scheme}://{}", without_port(host)),
            Some(port) => format!("{scheme}://{}:{port}", without_port(host)),
            None => format!("{scheme}://{host}"),
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn scheme(text: &str) -> Option<&'static str> {
    ["http", "https"].into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme))
}

fn is_usual(scheme: &str, port: u16) -> bool {
    matches!((scheme, port), ("http", 80) | ("https", 443))
}

/// True for what can stand in a link as host and port.
fn is_host(text: &str) -> bool {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || b"-._:[]".contains(&c);
    (1..=HOST_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

/// The colons of an IPv6 address stand in brackets.
fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    }
}

/// True if the other side of the connection has an address that Tomcat takes for one of its own proxies: one that no
/// caller from outside can have.
fn is_internal(request: &HttpRequest) -> bool {
    request.peer_addr().is_some_and(|peer| is_internal_address(peer.ip()))
}

fn is_internal_address(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => v4.is_private() || v4.is_loopback() || v4.is_link_local() || is_shared(v4),
        IpAddr::V6(v6) => v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unique_local(),
    }
}

/// 100.64.0.0/10, between carriers and their customers (RFC 6598).
fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && (64..128).contains(&second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn what_proxies_say_is_put_together() {
        let rows: [(&[(&str, &str)], &str); 9] = [
            (&[], "http://a:8761"),
            (&[("x-forwarded-proto", "https")], "https://a"),
            (&[("x-forwarded-proto", "HTTPS, http"), ("x-forwarded-port", "8443")], "https://a:8443"),
            (&[("x-forwarded-host", "r.example, p")], "http://r.example"),
            (&[("x-forwarded-host", "r.example:81"), ("x-forwarded-proto", "https")], "https://r.example:81"),
            (&[("x-forwarded-host", "r.example"), ("x-forwarded-port", "80")], "http://r.example"),
            (
                &[
                    ("x-forwarded-host", "[::1]:9"),
                    ("x-forwarded-port", "443"),
                    ("x-forwarded-proto", "https"),
                ],
                "https://[::1]",
            ),
            (&[("x-forwarded-host", "\"><script>"), ("x-forwarded-proto", "javascript")], "http://a:8761"),
            (&[("x-forwarded-port", "no")], "http://a:8761"),
        ];
        for (pairs, expected) in rows {
            assert_eq!(Said::by_x_headers(&headers(pairs)).base_url("http", "a:8761"), expected, "{pairs:?}");
        }
        let forwarded =
            |value| Said::by_forwarded(&headers(&[("forwarded", value)])).base_url("http", "a:8761");
        assert_eq!(
            forwarded("for=1.2.3.4;Proto=https;host=\"r.example:444\", for=x;host=y"),
            "https://r.example:444"
        );
        assert_eq!(forwarded("for=1.2.3.4"), "http://a:8761");
        assert_eq!(forwarded(";;=;host"), "http://a:8761");
    }

    #[test]
    fn proxies_have_addresses_that_no_caller_from_outside_has() {
        for internal in [
            "10.1.2.3",
            "172.31.0.1",
            "192.168.9.9",
            "127.0.0.1",
            "169.254.1.1",
            "100.127.0.1",
            "::1",
            "fe80::1",
            "fd00::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_internal_address(internal.parse().expect("an address")), "{internal}");
        }
        for outside in ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2001:db8::1", "::ffff:8.8.8.8"] {
            assert!(!is_internal_address(outside.parse().expect("an address")), "{outside}");
        }
    }
}
