//! Answers: empty ones exactly empty, documents without copying them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue, VARY};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use heureka_actors::cache::{Document, Encoding};

/// An answer with no body and no content type. Clients parse any body of a heartbeat's answer as an instance, so empty
/// means empty (spec `spring.md` 1.4).
pub fn empty(status: StatusCode) -> HttpResponse {
    HttpResponse::new(status)
}

/// An answer with a text, for people.
pub fn text(status: StatusCode, text: String) -> HttpResponse {
    HttpResponse::build(status).insert_header((CONTENT_TYPE, "text/plain;charset=utf-8")).body(text)
}

/// An answer with a body of a known type.
pub fn body(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> HttpResponse {
    typed(status, content_type, Encoding::Identity).body(body.into())
}

/// A registry document in one piece.
pub fn encoded(content_type: &'static str, encoding: Encoding, body: Bytes) -> HttpResponse {
    typed(StatusCode::OK, content_type, encoding).body(body)
}

/// A whole-registry document, sent from the parts that it shares with the view.
pub fn document(content_type: &'static str, encoding: Encoding, document: Arc<Document>) -> HttpResponse {
    let body = DocumentBody { document, run: 0, chunk: 0 };
    let mut builder = typed(StatusCode::OK, content_type, encoding);
    builder.insert_header((VARY, HeaderValue::from_static("Accept-Encoding")));
    builder.body(BoxBody::new(body))
}

fn typed(status: StatusCode, content_type: &'static str, encoding: Encoding) -> HttpResponseBuilder {
    let mut builder = HttpResponse::build(status);
    builder.insert_header((CONTENT_TYPE, HeaderValue::from_static(content_type)));
    if encoding == Encoding::Gzip {
        builder.insert_header((CONTENT_ENCODING, HeaderValue::from_static("gzip")));
    }
    builder
}

/// Body that hands out the chunks of a document one by one.
struct DocumentBody {
    document: Arc<Document>,
    run: usize,
    chunk: usize,
}

impl MessageBody for DocumentBody {
    type Error = std::convert::Infallible;

    fn size(&self) -> BodySize {
        BodySize::Sized(self.document.len())
    }

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = &mut *self;
        loop {
            let Some(run) = this.document.runs().get(this.run) else { return Poll::Ready(None) };
            match run.get(this.chunk) {
                Some(chunk) => {
                    this.chunk += 1;
                    // An empty chunk would end a chunked body; here it would only waste a turn.
                    if !chunk.is_empty() {
                        return Poll::Ready(Some(Ok(chunk.clone())));
                    }
                }
                None => {
                    this.run += 1;
                    this.chunk = 0;
                }
            }
        }
    }
}
