//! Offers to upgrade a connection are overlooked, as the Java servers do (spec `spring.md` 7.5).
//!
//! Apache's HTTP client, from version 5.4 on and with it every current Spring client, sends `Connection: Upgrade` and
//! `Upgrade: TLS/1.2` with each plain GET. The HTTP library below takes the first of the two as a wish that it cannot
//! refuse, and closes the connection after the answer. So the name of that header is made unknown before the library sees
//! it; a server that does not want to upgrade ignores the offer (RFC 9110, 7.8).

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Methods that come with offers; their requests have no body in which something could look like a header.
const METHODS: [&[u8]; 3] = [b"GET ", b"HEAD ", b"OPTIONS "];
const HEADER: &[u8] = b"\r\nconnection:";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// A stream whose requests offer no upgrade.
#[derive(Debug)]
pub struct WithoutOffers<T>(pub T);

impl<T: AsyncRead + Unpin> AsyncRead for WithoutOffers<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(cx, buf))?;
        overlook_offer(&mut buf.filled_mut()[before..]);
        Poll::Ready(Ok(()))
    }
}

/// Renames a `Connection` header that says nothing but `Upgrade`, if these bytes begin with a head. Clients send a head in
/// one piece; one that comes in several is left as it is, and its connection closes after the answer.
fn overlook_offer(bytes: &mut [u8]) {
    if !METHODS.iter().any(|method| bytes.starts_with(method)) {
        return;
    }
    let head_len = find(bytes, HEAD_END).unwrap_or(bytes.len());
    let Some(at) = find(&bytes[..head_len], HEADER) else { return };
    let value = &bytes[at + HEADER.len()..head_len];
    let value_len = find(value, b"\r\n").unwrap_or(value.len());
    if value[..value_len].trim_ascii().eq_ignore_ascii_case(b"upgrade") {
        // Behind the line break stands the `C`.
        bytes[at + 2] = b'x';
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window.eq_ignore_ascii_case(wanted))
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WithoutOffers<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.0.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlooked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        overlook_offer(&mut bytes);
        String::from_utf8(bytes).expect("still text")
    }

    #[test]
    fn only_a_pure_offer_of_a_request_without_body_is_overlooked() {
        assert_eq!(
            overlooked("GET / HTTP/1.1\r\nHost: x\r\nCONNECTION:  upgrade \r\nUpgrade: TLS/1.2\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: x\r\nxONNECTION:  upgrade \r\nUpgrade: TLS/1.2\r\n\r\n"
        );
        for untouched in [
            "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
            "GET / HTTP/1.1\r\nConnection: Upgrade, close\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nConnection: upgrade\r\n\r\n",
            "PUT / HTTP/1.1\r\nConnection: upgrade\r\n\r\n",
            "GET / HTTP/1.1\r\nX-Connection: upgrade\r\n\r\n",
            "GET",
            "",
        ] {
            assert_eq!(overlooked(untouched), untouched);
        }
    }
}
