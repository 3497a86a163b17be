//! Reading request bodies: bounded in size after decompression, in time, and in slowness.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::error::PayloadError;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::web::{Bytes, BytesMut, Payload};
use flate2::bufread::MultiGzDecoder;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

/// Time after the head in which a sender need not have sent anything.
const GRACE: Duration = Duration::from_secs(5);
/// Bytes of each body that are not counted: registrations pass, however many large bodies are on their way.
const FREE_BYTES: usize = 16 * 1024;

/// Bounds of one body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Bytes, counted after decompression.
    pub max_bytes: usize,
    /// Time for the whole body.
    pub max_time: Duration,
    /// Bytes per second below which a sender is cut off, after a grace of some seconds; 0 for none.
    pub min_bytes_per_sec: u32,
}

/// Why a body was not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// 413
    #[error("the body is longer than {0} bytes, which is the limit for this request")]
    TooLarge(usize),
    /// 408
    #[error("the body did not arrive within {0} seconds, or came too slowly")]
    TooSlow(u64),
    /// 503
    #[error("the node is receiving too many large bodies at once")]
    Crowded,
    /// 400
    #[error("the body is marked as gzip but is not a gzip stream: {0}")]
    NotGzip(String),
    /// The connection broke; nobody reads the answer. 400
    #[error("the body broke off: {0}")]
    Broken(String),
}

/// Bytes of bodies that are being received, of all connections together: what each may send is bounded, and so is what
/// all of them may.
#[derive(Debug)]
pub struct BodyBudget {
    held: AtomicUsize,
    max: usize,
}

impl BodyBudget {
    /// A budget of so many bytes (`heureka.limits.max-body-bytes-in-flight`).
    #[must_use]
    pub const fn new(max: usize) -> Self {
        Self { held: AtomicUsize::new(0), max }
    }

    /// Bytes that are counted now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// How many may be.
    #[must_use]
    pub const fn max(&self) -> usize {
        self.max
    }
}

/// What one body takes of the budget; gives it back when the body is read or given up.
struct Share<'a> {
    budget: &'a BodyBudget,
    bytes: usize,
}

impl Share<'_> {
    /// Takes what a body of this length needs; false if there is not enough left.
    fn grow_to(&mut self, length: usize) -> bool {
        let more = length.saturating_sub(FREE_BYTES).saturating_sub(self.bytes);
        // Relaxed: a number, beside which nothing is decided.
        let held = self.budget.held.fetch_add(more, Ordering::Relaxed) + more;
        self.bytes += more;
        more == 0 || held <= self.budget.max
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Reads a whole body.
///
/// # Errors
/// See [`BodyError`]. Nothing of the body has had an effect then.
pub async fn read(
    request: &HttpRequest,
    payload: &mut Payload,
    is_gzipped: bool,
    limits: BodyLimits,
    budget: &BodyBudget,
) -> Result<Bytes, BodyError> {
    let mut body = BytesMut::new();
    let mut share = Share { budget, bytes: 0 };
    let keep = |chunk: &[u8]| {
        if !share.grow_to(body.len() + chunk.len()) {
            return Err(BodyError::Crowded);
        }
        body.extend_from_slice(chunk);
        Ok(())
    };
    receive(request, payload, limits, keep).await?;
    if is_gzipped { gunzip(&body, limits.max_bytes) } else { Ok(body.freeze()) }
}

/// Reads a body that nobody needs, so that the connection stays usable: clients send `{}` with heartbeats, some of them
/// after the head has long arrived.
///
/// # Errors
/// As for [`read`], for bodies that are too long or too slow.
pub async fn discard(
    request: &HttpRequest,
    payload: &mut Payload,
    limits: BodyLimits,
) -> Result<(), BodyError> {
    let headers = request.headers();
    let has_body =
        announced(request).is_some_and(|length| length > 0) || headers.contains_key(TRANSFER_ENCODING);
    if has_body { receive(request, payload, limits, |_| Ok(())).await } else { Ok(()) }
}

/// Takes a body in, chunk by chunk, within its limits. One that announces to be too long is not waited for.
async fn receive(
    request: &HttpRequest,
    payload: &mut Payload,
    limits: BodyLimits,
    mut take: impl FnMut(&[u8]) -> Result<(), BodyError>,
) -> Result<(), BodyError> {
    if announced(request).is_some_and(|length| length > limits.max_bytes as u64) {
        return Err(BodyError::TooLarge(limits.max_bytes));
    }
    let started = Instant::now();
    let mut received = 0;
    loop {
        let deadline = started + allowed_time(received, limits);
        let chunk = match timeout_at(deadline, payload.next()).await {
            Err(_) => return Err(BodyError::TooSlow(limits.max_time.as_secs())),
            Ok(None) => return Ok(()),
            Ok(Some(Err(PayloadError::Incomplete(None)))) => {
                return Err(BodyError::Broken("it ended early, or in a chunk that is none".to_owned()));
            }
            Ok(Some(Err(error))) => return Err(BodyError::Broken(error.to_string())),
            Ok(Some(Ok(chunk))) => chunk,
        };
        received += chunk.len();
        if received > limits.max_bytes {
            return Err(BodyError::TooLarge(limits.max_bytes));
        }
        take(&chunk)?;
    }
}

/// Length of a body as its sender announces it; the connection has refused what is no number.
fn announced(request: &HttpRequest) -> Option<u64> {
    request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// How long a sender may take until its next byte: some grace, then the floor rate, but never more than the whole time.
fn allowed_time(received: usize, limits: BodyLimits) -> Duration {
    if limits.min_bytes_per_sec == 0 {
        return limits.max_time;
    }
    let earned_ms = received as u64 * 1000 / u64::from(limits.min_bytes_per_sec);
    (GRACE + Duration::from_millis(earned_ms)).min(limits.max_time)
}

/// Undoes gzip, of several members too; stops as soon as the text is longer than allowed, so a bomb costs no memory.
fn gunzip(body: &[u8], max_bytes: usize) -> Result<Bytes, BodyError> {
    let mut text = Vec::new();
    let limit = max_bytes as u64 + 1;
    let read = MultiGzDecoder::new(body).take(limit).read_to_end(&mut text);
    read.map_err(|error| BodyError::NotGzip(error.to_string()))?;
    if text.len() > max_bytes {
        return Err(BodyError::TooLarge(max_bytes));
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heureka_actors::cache::gzip;

    #[test]
    fn gzip_is_undone_up_to_the_limit() {
        let text = vec![b'x'; 10_000];
        assert_eq!(gunzip(&gzip(&text), 10_000).as_deref(), Ok(&text[..]));
        assert_eq!(gunzip(&gzip(&text), 9_999), Err(BodyError::TooLarge(9_999)));
        let members = [&gzip(b"one")[..], &gzip(b" two")[..]].concat();
        assert_eq!(gunzip(&members, 7).as_deref(), Ok(&b"one two"[..]));
        assert!(matches!(gunzip(&[&members[..], b"rest"].concat(), 100), Err(BodyError::NotGzip(_))));
        assert!(matches!(gunzip(b"plain", 100), Err(BodyError::NotGzip(_))));
        assert!(matches!(gunzip(&gzip(&text)[..30], 100_000), Err(BodyError::NotGzip(_))));
    }

    #[test]
    fn the_floor_rate_grants_more_time_to_those_who_send() {
        let limits = BodyLimits { max_bytes: 1, max_time: Duration::from_secs(15), min_bytes_per_sec: 1000 };
        assert_eq!(allowed_time(0, limits), Duration::from_secs(5));
        assert_eq!(allowed_time(2000, limits), Duration::from_secs(7));
        assert_eq!(allowed_time(1_000_000, limits), Duration::from_secs(15));
    }

    #[test]
    fn small_bodies_always_fit_and_large_ones_as_long_as_there_is_room() {
        let budget = BodyBudget::new(1000);
        let share = || Share { budget: &budget, bytes: 0 };
        let (mut first, mut second, mut small) = (share(), share(), share());
        assert!(first.grow_to(FREE_BYTES) && first.grow_to(FREE_BYTES + 600));
        assert!(second.grow_to(FREE_BYTES + 400));
        assert!(!second.grow_to(FREE_BYTES + 401));
        assert!(small.grow_to(FREE_BYTES));
        drop((first, second, small));
        assert_eq!(budget.held(), 0);
        assert!(share().grow_to(FREE_BYTES + 1000));
    }
}
