//! The end of connections whose request is answered before its body is there, or was not understood.
//!
//! What follows such an answer cannot be told from a new request before the body has ended, and its sender may never end it.
//! The HTTP library below closes these connections only if the body has a length: one in chunks it reads for ever. So the
//! stream below the library tells here whether a body is still arriving, every answer asks ([`finish`]), and a connection
//! that must close is cut by its stream: a little time and a bounded number of bytes later, since a sender that is cut
//! while it sends does not get its answer.
//!
//! The library also hands out a request that came together with one whose answer ends the connection, behind that answer. Its
//! sender has been told that nothing more is answered, and what stands there may be no request at all but the rest of one
//! that was not understood. So it is not carried out ([`still_open`]).

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Context;
use std::time::Duration;

use actix_http::ConnectionType;
use actix_web::web::Payload;
use actix_web::{HttpRequest, HttpResponse};
use tokio::time::{Sleep, sleep};

/// Time from the end of the answer to the cut. Longer than what the library below waits where it does close, and gently.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes that a connection may still send: more than any client does that has not seen the answer yet.
const MAX_BYTES: usize = 32 << 20;

/// What the stream of a connection and the handlers of its requests tell each other.
#[derive(Debug, Default)]
pub struct Closing {
    is_body_arriving: Cell<bool>,
    must_close: Cell<bool>,
    is_over: Cell<bool>,
}

/// Makes an answer the last one of its connection if a body is still arriving.
pub fn finish(request: &HttpRequest, response: &mut HttpResponse) {
    let Some(closing) = request.conn_data::<Rc<Closing>>() else { return };
    if closing.is_body_arriving.get() {
        closing.must_close.set(true);
        response.head_mut().set_connection_type(ConnectionType::Close);
    }
}

/// Makes an answer the last one of its connection, whatever has come behind its request already. A header `Connection` would
/// not: the library below overlooks it.
pub fn close_behind(request: &HttpRequest, response: &mut HttpResponse) {
    if let Some(closing) = request.conn_data::<Rc<Closing>>() {
        closing.must_close.set(true);
        closing.is_over.set(true);
    }
    response.head_mut().set_connection_type(ConnectionType::Close);
}

/// Gives the payload back, unless [`close_behind`] has ended the connection: then it never returns, and the request
/// goes with its connection.
pub async fn still_open(request: &HttpRequest, payload: Payload) -> Payload {
    if request.conn_data::<Rc<Closing>>().is_some_and(|closing| closing.is_over.get()) {
        // A body that nobody takes would keep the stream from being read, and so from being cut.
        drop(payload);
        return std::future::pending().await;
    }
    payload
}

/// Cuts the connection of one stream.
#[derive(Debug, Default)]
pub struct Cutter {
    closing: Rc<Closing>,
    deadline: Option<Pin<Box<Sleep>>>,
    received: usize,
}

impl Cutter {
    /// For the handlers.
    pub const fn closing(&self) -> &Rc<Closing> {
        &self.closing
    }

    /// Bytes have come; behind them a body is arriving or not.
    pub fn received(&mut self, bytes: usize, is_body_arriving: bool) {
        self.closing.is_body_arriving.set(is_body_arriving);
        if self.closing.must_close.get() {
            self.received += bytes;
        }
    }

    /// A part of an answer has gone: the time starts behind the last one.
    pub fn sent(&mut self) {
        self.deadline = None;
    }

    /// An error if the connection is to be cut now; else sees to it that the task comes back in time. The time starts with
    /// the first call behind an answer.
    pub fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if !self.closing.must_close.get() {
            return Ok(());
        }
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(TIMEOUT)));
        if self.received > MAX_BYTES || deadline.as_mut().poll(cx).is_ready() {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "what comes behind the last answer has no end",
            ));
        }
        Ok(())
    }
}
