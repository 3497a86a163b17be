//! `heureka healthcheck`: for images that have no `curl`.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};
use heureka_config::Settings;
use heureka_config::settings::ManagementListener;

const TIMEOUT: Duration = Duration::from_secs(3);

/// Asks the node of this machine for its health; an error if it is not up.
pub(super) fn ask(settings: &Settings) -> anyhow::Result<()> {
    let (address, context_path) = match &settings.management.listener {
        ManagementListener::Separate { port, address, context_path } => {
            (SocketAddr::new(*address, *port), context_path.clone())
        }
        ManagementListener::Shared => {
            (settings.server.socket_address(), settings.server.context_path.clone())
        }
        ManagementListener::Off => bail!("the actuator is switched off (management.server.port: -1)"),
    };
    let address = SocketAddr::new(reachable(address.ip()), address.port());
    let mut stream =
        TcpStream::connect_timeout(&address, TIMEOUT).with_context(|| format!("cannot reach {address}"))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    if settings.server.tls.is_some() && settings.management.listener == ManagementListener::Shared {
        // Somebody accepts connections there; more cannot be said without the trust that clients need.
        return Ok(());
    }
    let path = format!("{context_path}{}/health", settings.management.base_path);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut answer).context("no answer")?;
    let answer = String::from_utf8_lossy(&answer);
    let line = answer.lines().next().unwrap_or("nothing");
    if line.contains(" 200 ") { Ok(()) } else { bail!("the node at {address} is not up: {line}") }
}

/// An address that means "all" is reached through loopback.
fn reachable(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) if v4.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(v6) if v6.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}
