//! Offers to upgrade a connection are overlooked, as the Java servers do (spec `spring.md` 7.5).
//!
//! Apache's HTTP client, from version 5.4 on and with it every current Spring client, sends `Connection: Upgrade` and
//! `Upgrade: TLS/1.2` with each plain GET; Java's own client offers `h2c` with every plain request, also with those that
//! have a body. The HTTP library below takes this as a wish that it cannot refuse and closes the connection after the
//! answer; what follows an offer of WebSocket it takes for a stream. A server that does not want to upgrade ignores the
//! offer (RFC 9110, 7.8). So the one word that makes an offer is made unreadable on its way in: one byte of it changes. No
//! byte is added, dropped or held back, so nothing that is read here can move the border between two requests.
//!
//! Since it knows where heads begin and end, it also bounds the time of each; the library below does so for the first one of
//! a connection only, and a later one that came drop by drop would hold its connection for ever. And it tells whether a body
//! is arriving, and cuts the connection behind an answer that did not wait for it ([`Cutter`]), and counts the requests that
//! wait for an answer ([`Pipeline`]).
//!
//! To find heads, the lengths of bodies are followed. Where that fails nothing is changed any more, and the worst that a
//! wrong guess can do is to change one letter of a body line that looks like an offer.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use memchr::{memchr, memchr2, memchr3};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::closing::Cutter;
use super::pipeline::{Pipeline, READ_BYTES_MAX};

/// Longest header name that matters: `transfer-encoding`.
const NAME_MAX: usize = 17;
/// What takes the place of the last letter of an offer.
const STRUCK: u8 = b'-';

/// A stream whose requests offer no upgrade.
#[derive(Debug)]
pub struct WithoutOffers<Io> {
    io: Io,
    offers: Offers,
    head_timeout: Duration,
    /// Runs while a head has begun and is not complete, which is rare: most come in one piece.
    deadline: Option<Pin<Box<Sleep>>>,
    cutter: Cutter,
    pipeline: Rc<Pipeline>,
}

impl<Io> WithoutOffers<Io> {
    /// A connection, from its first byte on. It ends if a head takes longer than this.
    pub fn new(io: Io, head_timeout: Duration) -> Self {
        Self {
            io,
            offers: Offers::default(),
            head_timeout,
            deadline: None,
            cutter: Cutter::default(),
            pipeline: Rc::default(),
        }
    }

    /// The connection itself.
    pub const fn get_ref(&self) -> &Io {
        &self.io
    }

    /// What ends the connection.
    pub const fn cutter(&self) -> &Cutter {
        &self.cutter
    }

    /// The requests that wait.
    pub const fn pipeline(&self) -> &Rc<Pipeline> {
        &self.pipeline
    }
}

/// Reads at most so many bytes.
fn poll_read_at_most<Io: AsyncRead + Unpin>(
    io: &mut Io,
    max: usize,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    if buf.remaining() <= max {
        return Pin::new(io).poll_read(cx, buf);
    }
    let mut part = ReadBuf::new(buf.initialize_unfilled_to(max));
    ready!(Pin::new(io).poll_read(cx, &mut part))?;
    let read = part.filled().len();
    buf.advance(read);
    Poll::Ready(Ok(()))
}

impl<Io: AsyncRead + Unpin> AsyncRead for WithoutOffers<Io> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.cutter.check(cx)?;
        let is_full = this.pipeline.is_full(cx);
        if is_full && !this.offers.is_inside_body() {
            // A head that is not complete waits for this node, not for its sender.
            this.deadline = None;
            return Poll::Pending;
        }
        let known = buf.filled().len();
        let max = this.offers.read_bytes_max(is_full);
        let read = poll_read_at_most(&mut this.io, max, cx, buf);
        this.offers.strike(&mut buf.filled_mut()[known..]);
        this.pipeline.entered(std::mem::take(&mut this.offers.heads));
        this.cutter.received(buf.filled().len() - known, this.offers.is_inside_body());
        if !this.offers.is_inside_head() {
            this.deadline = None;
        } else if this.deadline.is_none() {
            this.deadline = Some(Box::pin(sleep(this.head_timeout)));
        }
        match &mut this.deadline {
            // As if the sender had closed: there is nothing to answer yet.
            Some(deadline) if read.is_pending() => deadline.as_mut().poll(cx).map(Ok),
            _ => read,
        }
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for WithoutOffers<Io> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        if written.is_ready() {
            self.cutter.sent();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cutter.check(cx)?;
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.cutter.check(cx)?;
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, slices);
        if written.is_ready() {
            self.cutter.sent();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

/// Where in a request the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In a head, in a line of this kind.
    Head(Line),
    /// In a body of which so many bytes follow.
    Body(u64),
    /// In the line that says how long the next chunk of a body is.
    ChunkSize { size: u64, is_read: bool },
    /// In a chunk, or in the line end behind it.
    Chunk(u64),
    /// Behind the last chunk; true at the start of a line.
    Trailer(bool),
    /// Lost: nothing is changed any more.
    Lost,
}

/// A line of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Before its colon; the name so far stands in `Offers::name`.
    Name,
    /// Behind the colon of a header that may hold this word, of which so many letters were just read.
    Word(&'static [u8], usize),
    /// Behind the colon of `Content-Length`.
    Length,
    /// Anything else.
    Other,
}

/// What is known of the request that is being read.
#[derive(Debug)]
struct Offers {
    place: Place,
    name: [u8; NAME_MAX],
    name_len: usize,
    has_request_line: bool,
    length: Option<u64>,
    is_chunked: bool,
    /// Heads that have ended since somebody has asked.
    heads: usize,
}

impl Default for Offers {
    fn default() -> Self {
        Self {
            place: Place::Head(Line::Name),
            name: [0; NAME_MAX],
            name_len: 0,
            has_request_line: false,
            length: None,
            is_chunked: false,
            heads: 0,
        }
    }
}

impl Offers {
    /// Strikes the offers out of the bytes that come next.
    fn strike(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while at < bytes.len() {
            at += match self.place {
                Place::Head(Line::Other) => self.skip_line(&bytes[at..]),
                Place::Head(Line::Name) => self.read_name(&bytes[at..]),
                Place::Body(left) => self.skip(left, bytes.len() - at, Place::Body, Self::next_head),
                Place::Chunk(left) => self.skip(left, bytes.len() - at, Place::Chunk, Self::next_chunk),
                Place::Lost => return,
                Place::Head(line) => self.read_value(line, &mut bytes[at..]),
                Place::ChunkSize { size, is_read } => {
                    self.chunk_size_byte(size, is_read, bytes[at]);
                    1
                }
                Place::Trailer(is_line_start) => {
                    self.trailer_byte(is_line_start, bytes[at]);
                    1
                }
            };
        }
    }

    /// True if a head has begun and is not complete.
    const fn is_inside_head(&self) -> bool {
        match self.place {
            Place::Head(Line::Name) => self.has_request_line || self.name_len > 0,
            Place::Head(_) => true,
            _ => false,
        }
    }

    /// True if a head is complete and its body is not, as far as can be told.
    const fn is_inside_body(&self) -> bool {
        !matches!(self.place, Place::Head(_))
    }

    /// Most bytes to read next: what is left of a body, and a little behind it unless enough requests have been read.
    fn read_bytes_max(&self, is_full: bool) -> usize {
        let left = match self.place {
            Place::Body(left) | Place::Chunk(left) => usize::try_from(left).unwrap_or(usize::MAX),
            Place::Lost => READ_BYTES_MAX,
            _ => 1,
        };
        if is_full { left } else { left.saturating_add(READ_BYTES_MAX - 1) }
    }

    fn skip_line(&mut self, bytes: &[u8]) -> usize {
        match memchr(b'\n', bytes) {
            Some(end) => {
                self.end_line();
                end + 1
            }
            None => bytes.len(),
        }
    }

    fn skip(&mut self, left: u64, have: usize, stay: fn(u64) -> Place, then: fn() -> Place) -> usize {
        let skipped = left.min(have as u64);
        self.place = if skipped == left { then() } else { stay(left - skipped) };
        // At most `have`, which is a `usize`.
        skipped as usize
    }

    const fn next_head() -> Place {
        Place::Head(Line::Name)
    }

    const fn next_chunk() -> Place {
        Place::ChunkSize { size: 0, is_read: false }
    }

    /// Reads on in the name of a header, up to its colon or the end of its line.
    fn read_name(&mut self, bytes: &[u8]) -> usize {
        if self.name_len == 0 {
            match bytes[0] {
                b'\n' => {
                    self.end_head();
                    return 1;
                }
                // The end of a head is an empty line; the carriage return in it is no name.
                b'\r' => return 1,
                b'C' | b'c' | b'U' | b'u' | b'T' | b't' => {}
                // Most lines cannot be one of those that matter, and most of them tell by their first letter.
                _ => {
                    self.place = Place::Head(Line::Other);
                    return 0;
                }
            }
        }
        let room = NAME_MAX - self.name_len;
        let read = &bytes[..bytes.len().min(room + 1)];
        let end = memchr2(b':', b'\n', read);
        let part = &read[..end.unwrap_or(read.len())];
        if part.len() > room {
            self.place = Place::Head(Line::Other);
            return part.len();
        }
        let name = &mut self.name[self.name_len..][..part.len()];
        name.copy_from_slice(part);
        name.make_ascii_lowercase();
        self.name_len += part.len();
        match end {
            None => return part.len(),
            Some(end) if read[end] == b'\n' => self.end_line(),
            Some(_) => self.place = Place::Head(self.line_named()),
        }
        part.len() + 1
    }

    /// The kind of line that the name says.
    fn line_named(&mut self) -> Line {
        match &self.name[..self.name_len] {
            b"connection" => Line::Word(b"upgrade", 0),
            b"upgrade" => Line::Word(b"websocket", 0),
            b"content-length" => Line::Length,
            b"transfer-encoding" => {
                self.is_chunked = true;
                Line::Other
            }
            _ => Line::Other,
        }
    }

    /// Reads on in the value of a header: the next byte that can matter, and what stands before it.
    fn read_value(&mut self, line: Line, bytes: &mut [u8]) -> usize {
        let skipped = match line {
            Line::Word(word, 0) => {
                memchr3(word[0], word[0].to_ascii_uppercase(), b'\n', bytes).unwrap_or(bytes.len())
            }
            _ => 0,
        };
        let Some(byte) = bytes.get_mut(skipped) else { return skipped };
        self.value_byte(line, byte);
        skipped + 1
    }

    fn value_byte(&mut self, line: Line, byte: &mut u8) {
        if *byte == b'\n' {
            return self.end_line();
        }
        let next = match line {
            Line::Word(word, read) => {
                let read = match byte.to_ascii_lowercase() {
                    letter if letter == word[read] => read + 1,
                    letter => usize::from(letter == word[0]),
                };
                if read == word.len() {
                    *byte = STRUCK;
                }
                Line::Word(word, read % word.len())
            }
            Line::Length if !self.takes_digit(*byte) => {
                self.place = Place::Lost;
                return;
            }
            Line::Length | Line::Name | Line::Other => line,
        };
        self.place = Place::Head(next);
    }

    /// False if the length has become larger than any body can be.
    fn takes_digit(&mut self, byte: u8) -> bool {
        if !byte.is_ascii_digit() {
            return true;
        }
        let digit = u64::from(byte - b'0');
        self.length = self.length.unwrap_or(0).checked_mul(10).and_then(|length| length.checked_add(digit));
        self.length.is_some()
    }

    fn end_line(&mut self) {
        self.has_request_line = true;
        self.name_len = 0;
        self.place = Self::next_head();
    }

    /// An empty line: the end of a head, unless there was none yet.
    fn end_head(&mut self) {
        if !self.has_request_line {
            return;
        }
        let place = match self.length {
            _ if self.is_chunked => Self::next_chunk(),
            Some(length) if length > 0 => Place::Body(length),
            _ => Self::next_head(),
        };
        *self = Self { place, heads: self.heads + 1, ..Self::default() };
    }

    fn chunk_size_byte(&mut self, size: u64, is_read: bool, byte: u8) {
        self.place = match (byte, char::from(byte).to_digit(16)) {
            (b'\n', _) if size == 0 => Place::Trailer(true),
            (b'\n', _) => Place::Chunk(size.saturating_add(2)),
            (_, Some(digit)) if !is_read => match size.checked_mul(16) {
                Some(size) => Place::ChunkSize { size: size + u64::from(digit), is_read },
                None => Place::Lost,
            },
            // An extension, or the line end.
            _ => Place::ChunkSize { size, is_read: true },
        };
    }

    fn trailer_byte(&mut self, is_line_start: bool, byte: u8) {
        self.place = match byte {
            b'\n' if is_line_start => Self::next_head(),
            b'\n' => Place::Trailer(true),
            b'\r' => Place::Trailer(is_line_start),
            _ => Place::Trailer(false),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a text that comes in reads of this size.
    fn struck(text: &str, size: usize) -> String {
        let mut offers = Offers::default();
        let mut bytes = text.as_bytes().to_vec();
        bytes.chunks_mut(size).for_each(|read| offers.strike(read));
        String::from_utf8(bytes).expect("still text")
    }

    #[test]
    fn offers_are_struck_out_of_every_head_and_out_of_nothing_else() {
        let body = "\r\nConnection: Upgrade\r\n\r\nGET / HTTP/1.1\r\nConnection: upgrade\r\n\r\n";
        let (length, chunk) = (body.len(), format!("{:x};a=b\r\n{body}\r\n", body.len()));
        let before = format!(
            "\r\nGET /Upgrade HTTP/1.1\r\nHost: upgrade\r\nConnection: keep-alive, Upgrade, x\r\nUpgrade: TLS/1.2\r\n\r\n\
             POST / HTTP/1.1\r\nX-Connection: Upgrade\r\nContent-Length: {length}\r\n\r\n{body}\
             PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\nCONNECTION:UPGRADE\r\n\r\n{chunk}{chunk}0\r\nConnection: Upgrade\r\n\r\n\
             GET / HTTP/1.1\r\nConnection: uupgrade\r\nUpgrade: WebSocket\r\nConnection-x: Upgrade\r\n\r\n"
        );
        let after = before
            .replacen("keep-alive, Upgrade, x", "keep-alive, Upgrad-, x", 1)
            .replacen("CONNECTION:UPGRADE", "CONNECTION:UPGRAD-", 1)
            .replacen("uupgrade", "uupgrad-", 1)
            .replacen("WebSocket", "WebSocke-", 1);
        for size in 1..before.len() {
            assert_eq!(struck(&before, size), after, "reads of {size} bytes");
        }
    }

    #[test]
    fn what_cannot_be_followed_is_left_alone() {
        let offer = "GET / HTTP/1.1\r\nConnection: Upgrade\r\n\r\n";
        for head in [
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n",
        ] {
            let text = format!("{head}{offer}");
            assert_eq!(struck(&text, 7), text);
        }
    }
}
