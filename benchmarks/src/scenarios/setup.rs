//! Workloads of a fleet, and how a server is filled with it.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::fleet::Fleet;
use crate::http::{Connection, RequestWriter};
use crate::load::{Pool, Prepared, Workload, send_all};
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
    let registrations = Rc::new(crate::load::Generated {
        expected_status: 204,
        write: {
            let fleet = fleet.clone();
            let scratch = std::cell::RefCell::new(Vec::new());
            move |number: u64, out: &mut Vec<u8>| {
                let record = fleet.record((number % fleet.len() as u64) as usize, 0);
                RequestWriter::SPRING.register(&record, &mut scratch.borrow_mut(), out);
            }
        },
    });
    let workload: Rc<dyn Workload> = registrations;
    let mut pool = Pool::open(address, CONNECTIONS, 4096).await?;
    let outcome = send_all(&mut pool, &workload, fleet.len() as u64).await?;
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

/// The hash code of a document, which counts instances by status.
#[must_use]
pub fn hash_in(document: &str) -> Option<&str> {
    text_after(document, "\"apps__hashcode\":\"").map(|rest| rest.split('"').next().unwrap_or_default())
}

/// What follows the first occurrence of a text.
pub(super) fn text_after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    Some(&text[memchr::memmem::find(text.as_bytes(), start.as_bytes())? + start.len()..])
}

/// Waits until a server that has just been started answers with a list of at least so many instances; returns the time from
/// the start of its process to the end of that answer.
///
/// # Errors
/// If it ends or the time is over.
pub async fn until_complete(
    server: &mut Server,
    instances: usize,
    patience: Duration,
) -> anyhow::Result<Duration> {
    loop {
        if let Ok(body) = fetch_at(server.address(), "apps/").await {
            let age = server.process.age();
            if text_of(&body)?.matches("\"instanceId\"").count() >= instances {
                return Ok(age);
            }
        }
        ensure!(server.process.is_running(), "{} has ended before it answered", server.name);
        ensure!(server.process.age() < patience, "{} had no complete list in {patience:?}", server.name);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The hash code that a server shows, by its delta.
///
/// # Errors
/// If it fails or shows none.
pub async fn hash_of(server: &Server) -> anyhow::Result<String> {
    let text = text_of(&fetch(server, "apps/delta").await?)?;
    hash_in(&text).map(str::to_owned).context("a delta without a hash code")
}

/// Waits until two servers show the same hash code, that of a registry with something in it.
///
/// # Errors
/// If one fails or the time is over.
pub async fn until_same_hash(one: &Server, two: &Server, patience: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let hash = hash_of(one).await?;
        if !hash.is_empty() && hash == hash_of(two).await? {
            return Ok(());
        }
        ensure!(started.elapsed() < patience, "{} did not become equal in {patience:?}", one.name);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A body from outside of the API, by its whole path.
///
/// # Errors
/// As for [`fetch`].
pub async fn fetch_outside(server: &Server, path: &str) -> anyhow::Result<Vec<u8>> {
    let head = "Host: localhost\r\nAccept: text/plain\r\nAccept-Encoding: gzip";
    exchange(server.address(), format!("GET {path} HTTP/1.1\r\n{head}\r\n\r\n").as_bytes(), path).await
}

async fn fetch_at(address: SocketAddr, path: &str) -> anyhow::Result<Vec<u8>> {
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

/// Waits until the delta shows nothing any more, but not for ever: a server may have been started without
/// [`SHORT_DELTA`], or keep its answers for a while.
///
/// # Errors
/// If the server fails.
pub async fn until_delta_is_empty(server: &Server, patience: Duration) -> anyhow::Result<()> {
    let started = Instant::now();
    while started.elapsed() < patience {
        if fetch(server, "apps/delta").await?.len() < 400 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// Waits until the list of an application shows so many instances.
///
/// # Errors
/// If the time is over first.
pub async fn until_app_listed(
    server: &Server,
    app: &str,
    instances: usize,
    patience: Duration,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let path = format!("apps/{}", app.to_ascii_uppercase());
    loop {
        // 404 as long as nobody has told it of the application.
        if let Ok(body) = fetch(server, &path).await
            && text_of(&body)?.matches("\"instanceId\"").count() >= instances
        {
            return Ok(());
        }
        ensure!(started.elapsed() < patience, "{} has never shown all of {app}", server.name);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until the full document shows so many instances; the time that took.
///
/// # Errors
/// If the server fails or never gets there.
pub async fn until_listed(server: &Server, instances: usize) -> anyhow::Result<Duration> {
    let started = Instant::now();
    loop {
        let text = text_of(&fetch(server, "apps/").await?)?;
        if text.matches("\"instanceId\"").count() >= instances {
            return Ok(started.elapsed());
        }
        ensure!(
            started.elapsed() < Duration::from_secs(90),
            "the list of {} never became complete",
            server.name
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_document_is_found() {
        let text =
            r#"{"applications":{"versions__delta":"3","apps__hashcode":"DOWN_1_UP_9_","application":[]}}"#;
        assert_eq!(hash_in(text), Some("DOWN_1_UP_9_"));
        assert_eq!(hash_in("{}"), None);
    }
}
