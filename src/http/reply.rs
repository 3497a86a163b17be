//! Answers: empty ones exactly empty, documents without copying them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY,
};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use heureka_actors::cache::{Document, Encoding};

use super::{closing, pipeline};

/// An answer with no body and no content type. Clients parse any body of a heartbeat's answer as an instance, so empty
/// means empty (spec `spring.md` 1.4).
pub fn empty(status: StatusCode) -> HttpResponse {
    HttpResponse::new(status)
}

/// An answer with a text, for people.
pub fn text(status: StatusCode, text: String) -> HttpResponse {
    HttpResponse::build(status).insert_header((CONTENT_TYPE, "text/plain;charset=utf-8")).body(text)
}

/// 503 with a reason: something is full now that need not be a second later.
pub fn unavailable(reason: String) -> HttpResponse {
    let mut response = text(StatusCode::SERVICE_UNAVAILABLE, reason);
    retry_soon(&mut response);
    response
}

/// Tells when to try again, as every 503 of the API does.
pub fn retry_soon(response: &mut HttpResponse) {
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
}

/// An answer with a body of a known type.
pub fn body(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> HttpResponse {
    typed(status, content_type, Encoding::Identity).body(body.into())
}

/// A registry document in one piece.
pub fn encoded(content_type: &'static str, encoding: Encoding, body: Bytes) -> HttpResponse {
    let body = DocumentBody::new(Arc::new(Document::from_bytes(body)));
    typed(StatusCode::OK, content_type, encoding).body(BoxBody::new(body))
}

/// A whole-registry document, sent from the parts that it shares with the view, in pieces of at most `piece_bytes`.
pub fn document(
    content_type: &'static str,
    encoding: Encoding,
    document: Arc<Document>,
    piece_bytes: usize,
) -> HttpResponse {
    let body = DocumentBody { piece_bytes, ..DocumentBody::new(document) };
    let mut builder = typed(StatusCode::OK, content_type, encoding);
    builder.insert_header((VARY, HeaderValue::from_static("Accept-Encoding")));
    builder.body(BoxBody::new(body))
}

/// An answer as it leaves the node: without a body to HEAD, and the last one of its connection if it has to be.
pub fn finish(request: &HttpRequest, response: HttpResponse) -> HttpResponse {
    let is_head = request.method() == Method::HEAD;
    let mut response = if is_head { head_only(response) } else { response };
    closing::finish(request, &mut response);
    pipeline::answered(request);
    response
}

/// The answer to HEAD: the head of the answer to GET, length included, and nothing behind it. Leaving the body out is not
/// left to the server below: it forgets that it was a HEAD as soon as it has read a request behind it.
fn head_only(response: HttpResponse) -> HttpResponse {
    let BodySize::Sized(length) = response.body().size() else { return response };
    let mut response = response.map_body(|_, _| BoxBody::new(NoBytes));
    response.head_mut().no_chunking(true);
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

fn typed(status: StatusCode, content_type: &'static str, encoding: Encoding) -> HttpResponseBuilder {
    let mut builder = HttpResponse::build(status);
    builder.insert_header((CONTENT_TYPE, HeaderValue::from_static(content_type)));
    if encoding == Encoding::Gzip {
        builder.insert_header((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
    }
    builder
}

/// Longest piece that is handed to the server at once, unless the caller allows more. The server copies a piece whole into the buffer of its connection,
/// so this is what a reader costs that asks for everything and reads nothing.
pub const PIECE_BYTES: usize = 128 * 1024;

/// Body that hands out a document piece by piece, without copying it.
struct DocumentBody {
    document: Arc<Document>,
    run: usize,
    chunk: usize,
    offset: usize,
    piece_bytes: usize,
}

impl DocumentBody {
    fn new(document: Arc<Document>) -> Self {
        Self { document, run: 0, chunk: 0, offset: 0, piece_bytes: PIECE_BYTES }
    }

    fn next_piece(&mut self) -> Option<Bytes> {
        loop {
            let run = self.document.runs().get(self.run)?;
            let Some(chunk) = run.get(self.chunk) else {
                self.run += 1;
                self.chunk = 0;
                continue;
            };
            let end = chunk.len().min(self.offset + self.piece_bytes);
            if self.offset == end {
                self.chunk += 1;
                self.offset = 0;
                continue;
            }
            let piece = chunk.slice(self.offset..end);
            self.offset = end;
            return Some(piece);
        }
    }
}

impl MessageBody for DocumentBody {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.document.len())
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(self.next_piece().map(Ok))
    }
}

/// A body of unknown length that has no bytes: the only kind beside which a length may be written by hand.
struct NoBytes;

impl MessageBody for NoBytes {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn head_keeps_the_length_and_drops_the_body() {
        let head = head_only(body(StatusCode::OK, "text/plain", "twelve bytes"));
        assert_eq!(head.headers().get(CONTENT_LENGTH).map(HeaderValue::as_bytes), Some(&b"12"[..]));
        let bytes = actix_web::body::to_bytes(head.into_body()).await;
        assert!(bytes.is_ok_and(|bytes| bytes.is_empty()));
    }

    #[test]
    fn a_body_hands_out_every_byte_once_in_bounded_pieces() {
        let text: Vec<u8> = (0..PIECE_BYTES * 2 + 5).map(|i| (i % 251) as u8).collect();
        for length in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, text.len()] {
            let document = Document::from_bytes(Bytes::copy_from_slice(&text[..length]));
            let mut body = DocumentBody::new(Arc::new(document));
            let pieces: Vec<Bytes> = std::iter::from_fn(|| body.next_piece()).collect();
            assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.len() <= PIECE_BYTES));
            assert_eq!(pieces.concat(), &text[..length]);
        }
    }
}
