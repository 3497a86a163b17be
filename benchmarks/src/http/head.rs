//! The head of an answer.

use memchr::memmem;

/// How the body of an answer is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// So many bytes.
    Length(u64),
    /// Chunks.
    Chunked,
    /// Until the connection closes.
    UntilClose,
}

/// What the load needs to know of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Status code.
    pub status: u16,
    /// Bytes of the head, with the empty line.
    pub len: usize,
    /// How the body ends.
    pub body: BodyKind,
    /// True if the server closes the connection after this answer.
    pub closes: bool,
}

/// Reads a head; `None` if it is not complete yet.
///
/// # Errors
/// If it is not HTTP/1.
pub fn parse(bytes: &[u8]) -> Result<Option<Head>, &'static str> {
    let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
    let head = &bytes[..end];
    let mut lines = head.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let status = lines.next().and_then(status_of).ok_or("the answer is not HTTP/1")?;
    let mut parsed = Head { status, len: end + 4, body: BodyKind::UntilClose, closes: false };
    if status == 204 || status == 304 {
        parsed.body = BodyKind::Length(0);
    }
    for line in lines {
        if let Some(value) = value_of(line, b"content-length:") {
            parsed.body = BodyKind::Length(number(value).ok_or("content-length is not a number")?);
        } else if let Some(value) = value_of(line, b"transfer-encoding:")
            && value.eq_ignore_ascii_case(b"chunked")
        {
            parsed.body = BodyKind::Chunked;
        } else if let Some(value) = value_of(line, b"connection:") {
            parsed.closes = value.eq_ignore_ascii_case(b"close");
        }
    }
    parsed.closes |= parsed.body == BodyKind::UntilClose;
    Ok(Some(parsed))
}

fn status_of(line: &[u8]) -> Option<u16> {
    let rest = line.strip_prefix(b"HTTP/1.")?;
    number(rest.get(2..5)?).and_then(|status| u16::try_from(status).ok())
}

/// The value of a header line whose name, colon included, is given in lower case.
fn value_of<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_all_kinds_are_understood() {
        let read = |text: &str| parse(text.as_bytes()).unwrap().unwrap();
        let head = read("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nDate: x\r\n\r\nbody");
        assert_eq!((head.status, head.body, head.closes), (200, BodyKind::Length(12), false));
        assert_eq!(read("HTTP/1.1 204 \r\nConnection: close\r\n\r\n").body, BodyKind::Length(0));
        assert!(read("HTTP/1.1 204 \r\nConnection: close\r\n\r\n").closes);
        assert_eq!(read("HTTP/1.1 404 \r\ntransfer-encoding: chunked\r\n\r\n").body, BodyKind::Chunked);
        assert!(read("HTTP/1.0 200 OK\r\n\r\n").closes);
        assert_eq!(parse(b"HTTP/1.1 200 OK\r\nContent-"), Ok(None));
        assert!(parse(b"SSH-2.0\r\n\r\n").is_err());
    }
}
