//! Reading request bodies: bounded in size after decompression, in time, and in slowness.

use std::io::Read;
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use actix_web::web::{Bytes, BytesMut, Payload};
use flate2::bufread::GzDecoder;
use futures_util::StreamExt;
use tokio::time::{Instant, timeout_at};

/// Bounds of one body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Bytes, counted after decompression.
    pub max_bytes: usize,
    /// Time for the whole body.
    pub max_time: Duration,
    /// Bytes per second below which a sender that has had one second is cut off; 0 for none.
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
    /// 400
    #[error("the body is marked as gzip but is not a gzip stream: {0}")]
    NotGzip(String),
    /// The connection broke; nobody reads the answer. 400
    #[error("the body ended early: {0}")]
    Broken(String),
}

/// Reads a whole body.
///
/// # Errors
/// See [`BodyError`]. Nothing of the body has had an effect then.
pub async fn read(payload: &mut Payload, is_gzipped: bool, limits: BodyLimits) -> Result<Bytes, BodyError> {
    let started = Instant::now();
    let too_slow = || BodyError::TooSlow(limits.max_time.as_secs());
    let mut body = BytesMut::new();
    loop {
        let deadline = started + allowed_time(body.len(), limits);
        let chunk = match timeout_at(deadline, payload.next()).await {
            Err(_) => return Err(too_slow()),
            Ok(None) => break,
            Ok(Some(Err(error))) => return Err(BodyError::Broken(error.to_string())),
            Ok(Some(Ok(chunk))) => chunk,
        };
        if body.len() + chunk.len() > limits.max_bytes {
            return Err(BodyError::TooLarge(limits.max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
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
    let length = headers.get(CONTENT_LENGTH);
    let has_body = length.is_some_and(|length| length != "0") || headers.contains_key(TRANSFER_ENCODING);
    if has_body {
        read(payload, false, limits).await?;
    }
    Ok(())
}

/// How long a sender may take until its next byte: one second's grace, then the floor rate, but never more than the
/// whole time.
fn allowed_time(received: usize, limits: BodyLimits) -> Duration {
    if limits.min_bytes_per_sec == 0 {
        return limits.max_time;
    }
    let earned_ms = received as u64 * 1000 / u64::from(limits.min_bytes_per_sec);
    Duration::from_millis(earned_ms.saturating_add(5000)).min(limits.max_time)
}

/// Undoes gzip; stops as soon as the text is longer than allowed, so a bomb costs no memory.
fn gunzip(body: &[u8], max_bytes: usize) -> Result<Bytes, BodyError> {
    let mut text = Vec::new();
    let limit = max_bytes as u64 + 1;
    let read = GzDecoder::new(body).take(limit).read_to_end(&mut text);
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
}
