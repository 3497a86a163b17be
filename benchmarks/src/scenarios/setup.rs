//! Workloads of a fleet, and how a server is filled with it.

use std::net::SocketAddr;
use std::ops::Range;
use std::rc::Rc;

use anyhow::{Context, ensure};

use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::load::{Generated, Pool, Prepared, Workload, send_all};
use crate::random::Random;
use crate::servers::Server;

/// Connections for small requests: as many as keep one worker busy, few enough that queues stay short.
pub const CONNECTIONS: usize = 64;
/// Connections for documents.
pub const FETCH_CONNECTIONS: usize = 16;
/// Most requests that are kept ready; larger fleets are sampled.
const MAX_PREPARED: usize = 20_000;
/// Room for the head of an answer and a good part of a document.
const BUFFER_BYTES: usize = 64 * 1024;

/// Numbers of instances in the order in which they are asked for: all over the registry, not one application after the other.
fn order(fleet: &Fleet, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..fleet.len()).collect();
    Random::new(seed).shuffle(&mut order);
    order
}

/// Heartbeats of a fleet.
#[must_use]
pub fn heartbeats(fleet: &Fleet, seed: u64) -> Rc<dyn Workload> {
    let mut prepared = Prepared::new(200);
    for instance in order(fleet, seed).into_iter().take(MAX_PREPARED) {
        prepared.add(|out| RequestWriter::SPRING.heartbeat(&fleet.record(instance, 0), out));
    }
    Rc::new(prepared)
}

/// Registrations of a fleet, in random order.
#[must_use]
pub fn registrations(fleet: &Fleet, seed: u64, generation: u32) -> Rc<dyn Workload> {
    let mut prepared = Prepared::new(204);
    let mut scratch = Vec::new();
    for instance in order(fleet, seed).into_iter().take(MAX_PREPARED) {
        let record = fleet.record(instance, generation);
        prepared.add(|out| RequestWriter::SPRING.register(&record, &mut scratch, out));
    }
    Rc::new(prepared)
}

/// Registrations of all instances, each time round a newer one.
#[must_use]
pub fn renewals(fleet: &Fleet) -> Rc<dyn Workload> {
    let fleet = fleet.clone();
    let scratch = std::cell::RefCell::new(Vec::new());
    let write = move |number: u64, out: &mut Vec<u8>| {
        let size = fleet.len() as u64;
        let (round, instance) = (number / size, (number.wrapping_mul(7_919) % size) as usize);
        let record = fleet.record(instance, u32::try_from(round + 1).unwrap_or(u32::MAX));
        RequestWriter::SPRING.register(&record, &mut scratch.borrow_mut(), out);
    };
    Rc::new(Generated { write, expected_status: 204 })
}

/// Cancellations of a fleet, each instance once in a round.
#[must_use]
pub fn cancels(fleet: &Fleet) -> Rc<dyn Workload> {
    let mut prepared = Prepared::new(200);
    for instance in 0..fleet.len() {
        prepared.add(|out| RequestWriter::SPRING.cancel(&fleet.record(instance, 0), out));
    }
    Rc::new(prepared)
}

/// One `GET`, over and over.
#[must_use]
pub fn get(path: &str) -> Rc<dyn Workload> {
    Rc::new(Prepared::single(200, |out| RequestWriter::SPRING.get(path, out)))
}

/// Registers a whole fleet and fetches it once, so that JSON is in use; checks that every instance was accepted.
///
/// # Errors
/// If the server refuses an instance or fails.
pub async fn fill(server: &Server, fleet: &Fleet) -> anyhow::Result<()> {
    fill_at(server.address(), fleet).await.with_context(|| format!("cannot fill {}", server.name))
}

/// The same for a server that somebody else has started.
///
/// # Errors
/// As for [`fill`].
pub async fn fill_at(address: SocketAddr, fleet: &Fleet) -> anyhow::Result<()> {
    register_all(address, fleet).await?;
    fetch_at(address, "apps/").await?;
    Ok(())
}

/// Registers a whole fleet; checks that every instance was accepted.
///
/// # Errors
/// As for [`fill`].
pub async fn register_all(address: SocketAddr, fleet: &Fleet) -> anyhow::Result<()> {
    register(address, fleet, 0..fleet.len()).await
}

/// Registers some instances of a fleet; checks that every one was accepted.
///
/// # Errors
/// As for [`fill`].
pub async fn register(address: SocketAddr, fleet: &Fleet, instances: Range<usize>) -> anyhow::Result<()> {
    let count = instances.len() as u64;
    let registrations = Rc::new(Generated {
        expected_status: 204,
        write: {
            let fleet = fleet.clone();
            let scratch = std::cell::RefCell::new(Vec::new());
            move |number: u64, out: &mut Vec<u8>| {
                let record = fleet.record(instances.start + number as usize, 0);
                RequestWriter::SPRING.register(&record, &mut scratch.borrow_mut(), out);
            }
        },
    });
    let workload: Rc<dyn Workload> = registrations;
    let mut pool = Pool::open(address, CONNECTIONS, 4096).await?;
    let outcome = send_all(&mut pool, &workload, count).await?;
    ensure!(outcome.failed() == 0, "registrations were refused: {:?}", outcome.failures);
    Ok(())
}

/// One body, as sent (gzip where the server compresses).
///
/// # Errors
/// If the answer is not 200.
pub async fn fetch(server: &Server, path: &str) -> anyhow::Result<Vec<u8>> {
    fetch_at(server.address(), path).await.with_context(|| format!("cannot read from {}", server.name))
}

/// What follows the first occurrence of a text.
pub(super) fn text_after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    Some(&text[memchr::memmem::find(text.as_bytes(), start.as_bytes())? + start.len()..])
}

/// A body from outside of the API, by its whole path.
///
/// # Errors
/// As for [`fetch`].
pub async fn fetch_outside(server: &Server, path: &str) -> anyhow::Result<Vec<u8>> {
    let head = "Host: localhost\r\nAccept: text/plain\r\nAccept-Encoding: gzip";
    exchange(server.address(), format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes(), path).await
}

pub(super) async fn fetch_at(address: SocketAddr, path: &str) -> anyhow::Result<Vec<u8>> {
    let mut request = Vec::new();
    RequestWriter::SPRING.get(path, &mut request);
    exchange(address, &request, path).await
}

async fn exchange(address: SocketAddr, request: &[u8], path: &str) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    let answer = Connection::new(address, BUFFER_BYTES).fetch(request, &mut body).await?;
    ensure!(answer.status == 200, "{path} was answered {}", answer.status);
    Ok(body)
}

/// A body as text, whether it came compressed or not.
///
/// # Errors
/// If it is neither text nor gzip of text.
pub fn text_of(body: &[u8]) -> anyhow::Result<String> {
    use std::io::Read as _;
    if !body.starts_with(&[0x1F, 0x8B]) {
        return Ok(String::from_utf8(body.to_vec())?);
    }
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(body).read_to_string(&mut text).context("not gzip")?;
    Ok(text)
}

/// Puts a body into the static baseline, with the headers that it has at the real server.
///
/// # Errors
/// If the baseline fails.
pub async fn keep_static(baseline: &Server, body: &[u8]) -> anyhow::Result<()> {
    use std::io::Write as _;
    let encoding = if body.starts_with(&[0x1F, 0x8B]) { "Content-Encoding: gzip\r\n" } else { "" };
    let mut request = Vec::with_capacity(body.len() + 256);
    let length = body.len();
    write!(request, "PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{encoding}")?;
    write!(request, "Content-Length: {length}\r\n\r\n")?;
    request.extend_from_slice(body);
    let answer = Connection::new(baseline.address(), BUFFER_BYTES).exchange(&request).await?;
    ensure!(answer.status == 200, "the static baseline answered {}", answer.status);
    Ok(())
}

/// Options that empty the delta within seconds after a change, so that a freshly filled registry has the small deltas of a
/// registry that has been running for hours.
pub const SHORT_DELTA: [&str; 2] = [
    "--eureka.server.retention-time-in-m-s-in-delta-queue=3000",
    "--eureka.server.delta-retention-timer-interval-in-ms=1000",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_is_newer() {
        let fleet = Fleet::new(1, 100);
        let workload = renewals(&fleet);
        let (mut one, mut two) = (Vec::new(), Vec::new());
        let first = workload.request(3, &mut one);
        let second = workload.request(103, &mut two);
        assert!(memchr::memmem::find(first, b"\"deployment\":\"1\"").is_some());
        assert!(memchr::memmem::find(second, b"\"deployment\":\"2\"").is_some());
    }
}
