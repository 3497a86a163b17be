//! One keep-alive connection.

use std::io;
use std::net::SocketAddr;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::head::{self, BodyKind, Head};

/// End of a chunked body whose last chunk has no trailers.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// What came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Bytes of the body as sent, framing of chunks included.
    pub body_len: u64,
    /// True if the request was sent twice, because the kept connection turned out to be closed.
    pub is_resent: bool,
}

/// A connection that is opened on first use, kept, and opened again when the server has closed it.
#[derive(Debug)]
pub struct Connection {
    address: SocketAddr,
    stream: Option<TcpStream>,
    buffer: Box<[u8]>,
    resent: u64,
}

impl Connection {
    /// A connection that reads into a buffer of `buffer_bytes`, which must hold any head.
    #[must_use]
    pub fn new(address: SocketAddr, buffer_bytes: usize) -> Self {
        Self { address, stream: None, buffer: vec![0; buffer_bytes].into_boxed_slice(), resent: 0 }
    }

    /// Requests that were sent twice, because the server had closed the connection; real clients do that too.
    #[must_use]
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// Opens the connection now, so that the first request does not wait for it; also again if the server has closed it while
    /// nothing was asked, which is its right.
    ///
    /// # Errors
    /// As from the operating system.
    pub async fn open(&mut self) -> io::Result<()> {
        // What is not "nothing to read yet" is an end, an error, or an answer that nobody has asked for.
        self.stream.take_if(|stream| {
            stream.try_read(&mut [0]).map_or_else(|error| error.kind() != io::ErrorKind::WouldBlock, |_| true)
        });
        self.ensure_open().await
    }

    async fn ensure_open(&mut self) -> io::Result<()> {
        if self.stream.is_none() {
            self.stream = Some(connect(self.address).await?);
        }
        Ok(())
    }

    /// Sends a request and reads its whole answer. A kept connection that turns out to be closed is opened again once, as real
    /// clients do.
    ///
    /// # Errors
    /// If the server cannot be reached or breaks off.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.exchange_keeping(request, None).await
    }

    /// The same, with the body (chunks joined) appended to a vector.
    ///
    /// # Errors
    /// As for [`Connection::exchange`].
    pub async fn fetch(&mut self, request: &[u8], body: &mut Vec<u8>) -> io::Result<Answer> {
        self.exchange_keeping(request, Some(body)).await
    }

    async fn exchange_keeping(
        &mut self,
        request: &[u8],
        mut body: Option<&mut Vec<u8>>,
    ) -> io::Result<Answer> {
        let was_open = self.stream.is_some();
        let kept = body.as_ref().map_or(0, |body| body.len());
        match self.attempt(request, body.as_deref_mut()).await {
            Err(_) if was_open => {
                self.resent += 1;
                // What a first attempt has left of its answer is not part of the second's.
                if let Some(body) = &mut body {
                    body.truncate(kept);
                }
                let answer = self.attempt(request, body).await?;
                Ok(Answer { is_resent: true, ..answer })
            }
            other => other,
        }
    }

    async fn attempt(&mut self, request: &[u8], body: Option<&mut Vec<u8>>) -> io::Result<Answer> {
        self.ensure_open().await?;
        // Put back only after a complete answer: a broken connection is never used again.
        let Some(mut stream) = self.stream.take() else { return Err(io::ErrorKind::NotConnected.into()) };
        stream.write_all(request).await?;
        let (head, filled) = read_head(&mut stream, &mut self.buffer).await?;
        let body_len = read_body(&mut stream, &mut self.buffer, head, filled, body).await?;
        if !head.closes {
            self.stream = Some(stream);
        }
        Ok(Answer { status: head.status, body_len, is_resent: false })
    }
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn read_head(stream: &mut TcpStream, buffer: &mut [u8]) -> io::Result<(Head, usize)> {
    let mut filled = 0;
    loop {
        let free = &mut buffer[filled..];
        if free.is_empty() {
            return Err(io::Error::other("the head of the answer is longer than the buffer"));
        }
        let read = stream.read(free).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if let Some(head) = head::parse(&buffer[..filled]).map_err(io::Error::other)? {
            return Ok((head, filled));
        }
    }
}

/// Reads what is left of the body after a head; `filled` bytes of the buffer hold the head and the start of the body.
async fn read_body(
    stream: &mut TcpStream,
    buffer: &mut [u8],
    head: Head,
    filled: usize,
    mut keep: Option<&mut Vec<u8>>,
) -> io::Result<u64> {
    if let Some(keep) = &mut keep {
        keep.extend_from_slice(&buffer[head.len..filled]);
    }
    let mut received = (filled - head.len) as u64;
    let mut tail = Tail::default();
    tail.push(&buffer[head.len..filled]);
    let is_complete = |received: u64, tail: &Tail| match head.body {
        BodyKind::Length(length) => received >= length,
        BodyKind::Chunked => tail.is_last_chunk(),
        BodyKind::UntilClose => false,
    };
    while !is_complete(received, &tail) {
        let read = stream.read(buffer).await?;
        if read == 0 {
            if head.body == BodyKind::UntilClose {
                break;
            }
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received += read as u64;
        tail.push(&buffer[..read]);
        if let Some(keep) = &mut keep {
            keep.extend_from_slice(&buffer[..read]);
        }
    }
    if let (BodyKind::Chunked, Some(keep)) = (head.body, keep) {
        *keep = join_chunks(keep);
    }
    Ok(received)
}

/// The last bytes of a body, to see the end of a chunked one.
#[derive(Default)]
struct Tail([u8; LAST_CHUNK.len()]);

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        let size = self.0.len();
        if bytes.len() >= size {
            self.0.copy_from_slice(&bytes[bytes.len() - size..]);
        } else {
            self.0.copy_within(bytes.len().., 0);
            self.0[size - bytes.len()..].copy_from_slice(bytes);
        }
    }

    fn is_last_chunk(&self) -> bool {
        self.0 == LAST_CHUNK
    }
}

/// Takes the framing out of a chunked body.
fn join_chunks(framed: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(framed.len());
    let mut rest = framed;
    while let Some(line_end) = memmem::find(rest, b"\r\n") {
        let digits = std::str::from_utf8(&rest[..line_end]).unwrap_or("0");
        let size = usize::from_str_radix(digits.split(';').next().unwrap_or("0").trim(), 16).unwrap_or(0);
        let start = line_end + 2;
        let end = (start + size).min(rest.len());
        if size == 0 {
            break;
        }
        joined.extend_from_slice(&rest[start..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// A server that answers each request with the next of the given texts, then closes.
    async fn serve(answers: Vec<&'static str>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            while answers.peek().is_some() {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 1024];
                while let Ok(1..) = stream.read(&mut request).await {
                    let Some(answer) = answers.next() else { return };
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    if answer.contains("close") {
                        break;
                    }
                }
            }
        });
        address
    }

    #[tokio::test]
    async fn answers_are_read_to_their_end_and_connections_opened_again() {
        let address = serve(vec![
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
            "HTTP/1.1 404 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            "HTTP/1.1 204 \r\n\r\n",
        ])
        .await;
        let mut connection = Connection::new(address, 4096);
        let mut body = Vec::new();
        let answer = connection.fetch(b"GET", &mut body).await.unwrap();
        assert_eq!((answer.status, answer.body_len, body.as_slice()), (200, 5, &b"hello"[..]));
        body.clear();
        assert_eq!(connection.fetch(b"GET", &mut body).await.unwrap().status, 200);
        assert_eq!(body, b"abcde");
        assert_eq!(connection.exchange(b"GET").await.unwrap().status, 404);
        assert_eq!(connection.exchange(b"GET").await.unwrap().status, 204);
        assert_eq!(connection.resent(), 0);
    }

    const CLOSING: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: closes without a word\r\n\r\n";

    #[tokio::test]
    async fn a_request_that_meets_a_closed_connection_is_sent_again_and_counted() {
        let address = serve(vec![CLOSING, "HTTP/1.1 204 \r\n\r\n"]).await;
        let mut connection = Connection::new(address, 4096);
        assert!(!connection.exchange(b"GET").await.unwrap().is_resent);
        let answer = connection.exchange(b"GET").await.unwrap();
        assert_eq!((answer.status, answer.is_resent, connection.resent()), (204, true, 1));
    }

    #[tokio::test]
    async fn a_connection_that_was_closed_in_silence_is_opened_again_before_it_is_used() {
        let address = serve(vec![CLOSING, "HTTP/1.1 204 \r\n\r\n"]).await;
        let mut connection = Connection::new(address, 4096);
        connection.exchange(b"GET").await.unwrap();
        connection.stream.as_ref().unwrap().readable().await.unwrap();
        connection.open().await.unwrap();
        assert!(!connection.exchange(b"GET").await.unwrap().is_resent);
        assert_eq!(connection.resent(), 0);
    }
}
