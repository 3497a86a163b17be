//! A raw HTTP/1.1 client: it sends exactly what was recorded and reads one answer, one connection for each request.
//!
//! A library would tidy up header order, letter case, odd paths and odd methods, which are what the recordings are about.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::recording::{Request, find_header};

/// How long to wait for an answer.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// An answer as it came.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The status code.
    pub(crate) status: u16,
    /// Headers in order.
    pub(crate) headers: Vec<(String, String)>,
    /// The body without chunk marks, decompressed if the answer says `gzip`.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header, in any letter case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    /// The body as text; bytes that are no UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Sends one request on a connection of its own and reads the answer.
pub(crate) fn send(port: u16, request: &Request, timeout: Duration) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    stream.set_nodelay(true)?;
    let written = stream.write_all(&encode(port, request)?);
    // A server may refuse a long body before all of it was sent: its answer counts, not the broken pipe.
    match (read_answer(&mut BufReader::new(stream), &request.method), written) {
        (Ok(answer), _) => Ok(answer),
        (Err(_), Err(error)) | (Err(error), Ok(())) => Err(error),
    }
}

/// The bytes of a request. Headers that say how long the body is are added only if none was recorded.
pub(crate) fn encode(port: u16, request: &Request) -> io::Result<Vec<u8>> {
    let mut out = format!("{} {} HTTP/1.1\r\n", request.method, request.path).into_bytes();
    if request.header("Host").is_none() {
        out.extend(format!("Host: localhost:{port}\r\n").into_bytes());
    }
    for (name, value) in &request.headers {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    let is_chunked = request.chunked || request.header("Transfer-Encoding").is_some();
    let says_length = request.header("Content-Length").or(request.header("Transfer-Encoding")).is_some();
    let Some(mut body) = request.body_bytes() else {
        out.extend_from_slice(if is_chunked { b"\r\n0\r\n\r\n" } else { b"\r\n" });
        return Ok(out);
    };
    if request.body_gzip {
        body = gzip(&body)?;
    }
    if !says_length {
        let length = format!("Content-Length: {}\r\n", body.len());
        out.extend_from_slice(if is_chunked { b"Transfer-Encoding: chunked\r\n" } else { length.as_bytes() });
    }
    out.extend_from_slice(b"\r\n");
    if is_chunked {
        for chunk in body.chunks(1000) {
            out.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        body = b"0\r\n\r\n".to_vec();
    }
    out.extend_from_slice(&body);
    Ok(out)
}

/// Compresses as one gzip member.
pub(crate) fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

/// Reads one answer to a request with that method.
pub(crate) fn read_answer(reader: &mut impl BufRead, method: &str) -> io::Result<Answer> {
    let (status, headers) = loop {
        let (status, headers) = read_head(reader)?;
        if !(100..200).contains(&status) {
            break (status, headers);
        }
    };
    let mut body = if method == "HEAD" || status == 204 || status == 304 {
        Vec::new()
    } else {
        read_body(reader, &headers)?
    };
    if find_header(&headers, "Content-Encoding") == Some("gzip") && !body.is_empty() {
        let mut plain = Vec::new();
        GzDecoder::new(body.as_slice()).read_to_end(&mut plain)?;
        body = plain;
    }
    Ok(Answer { status, headers, body })
}

fn read_head(reader: &mut impl BufRead) -> io::Result<(u16, Vec<(String, String)>)> {
    let first = read_line(reader)?;
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| malformed(&format!("status line `{first}`")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            return Ok((status, headers));
        }
        let (name, value) = line.split_once(':').ok_or_else(|| malformed(&format!("header `{line}`")))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

fn read_body(reader: &mut impl BufRead, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    if find_header(headers, "Transfer-Encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        loop {
            let line = read_line(reader)?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size =
                usize::from_str_radix(size, 16).map_err(|_| malformed(&format!("chunk size `{line}`")))?;
            let mut chunk = vec![0; size];
            reader.read_exact(&mut chunk)?;
            body.extend_from_slice(&chunk);
            read_line(reader)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    match find_header(headers, "Content-Length") {
        Some(length) => {
            let length = length.parse().map_err(|_| malformed(&format!("length `{length}`")))?;
            body.resize(length, 0);
            reader.read_exact(&mut body)?;
        }
        None => {
            reader.read_to_end(&mut body)?;
        }
    }
    Ok(body)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes)?;
    if bytes.pop() != Some(b'\n') {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer breaks off"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("malformed answer: {what}"))
}
