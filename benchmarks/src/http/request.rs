//! Requests as real clients send them, byte for byte but for the host.

use std::io::Write as _;

use crate::fleet::{self, Record};

/// Format in which a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `application/json`
    Json,
    /// `application/xml`
    Xml,
}

impl Format {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Xml => "application/xml",
        }
    }
}

/// Writes the requests of a Spring client (Apache `HttpClient`): these headers, this order.
#[derive(Clone, Copy, Debug)]
pub struct RequestWriter {
    /// Format of bodies and answers.
    pub format: Format,
    /// Whether answers may come gzipped.
    pub takes_gzip: bool,
}

impl RequestWriter {
    /// A client that speaks JSON and takes gzip, as most do.
    pub const SPRING: Self = Self { format: Format::Json, takes_gzip: true };

    /// `GET` of a path below the API's base.
    pub fn get(&self, path: &str, out: &mut Vec<u8>) {
        self.start("GET", format_args!("/eureka/{path}"), out);
        let media_type = self.format.media_type();
        let _ = write!(out, "Content-Type: {media_type}\r\nAccept: {media_type}\r\n");
        self.end(None, out);
    }

    /// The heartbeat of an instance.
    pub fn heartbeat(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        let Record { app, id, dirty_ms, .. } = record;
        let upper = app.to_ascii_uppercase();
        let path = format_args!("/eureka/apps/{upper}/{id}?status=UP&lastDirtyTimestamp={dirty_ms}");
        self.start("PUT", path, out);
        let media_type = self.format.media_type();
        let _ = write!(out, "Content-Type: {media_type}\r\nAccept: {media_type}\r\n");
        self.end(Some(0), out);
    }

    /// The registration of an instance. `scratch` is overwritten.
    pub fn register(&self, record: &Record<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        scratch.clear();
        match self.format {
            Format::Json => fleet::write_json(record, scratch),
            Format::Xml => fleet::write_xml(record, scratch),
        }
        let upper = record.app.to_ascii_uppercase();
        self.start("POST", format_args!("/eureka/apps/{upper}"), out);
        let _ = write!(out, "Content-Type: {}\r\n", self.format.media_type());
        self.end(Some(scratch.len()), out);
        out.extend_from_slice(scratch);
    }

    /// The cancellation of an instance.
    pub fn cancel(&self, record: &Record<'_>, out: &mut Vec<u8>) {
        let upper = record.app.to_ascii_uppercase();
        self.start("DELETE", format_args!("/eureka/apps/{upper}/{}", record.id), out);
        self.end(Some(0), out);
    }

    /// Puts an override on the status of an instance, as a Spring service registry does.
    pub fn set_status(&self, record: &Record<'_>, status: &str, out: &mut Vec<u8>) {
        self.status("PUT", record, status, out);
    }

    /// Takes the override away; `status` is what the instance has then.
    pub fn delete_status(&self, record: &Record<'_>, status: &str, out: &mut Vec<u8>) {
        self.status("DELETE", record, status, out);
    }

    fn status(&self, method: &str, record: &Record<'_>, status: &str, out: &mut Vec<u8>) {
        let upper = record.app.to_ascii_uppercase();
        let Record { id, dirty_ms, .. } = record;
        let query = format_args!("value={status}&lastDirtyTimestamp={dirty_ms}").to_string();
        self.start(method, format_args!("/eureka/apps/{upper}/{id}/status?{query}"), out);
        self.end(Some(0), out);
    }

    fn start(&self, method: &str, path: std::fmt::Arguments<'_>, out: &mut Vec<u8>) {
        // Writing to a vector cannot fail.
        let _ = write!(out, "{method} {path} HTTP/1.1\r\n");
        if self.takes_gzip {
            out.extend_from_slice(b"Accept-Encoding: gzip, x-gzip, deflate\r\n");
        }
    }

    fn end(&self, length: Option<usize>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"Host: eureka.example.com:8761\r\n");
        if let Some(length) = length {
            let _ = write!(out, "Content-Length: {length}\r\n");
        }
        out.extend_from_slice(
            b"Connection: keep-alive\r\nUser-Agent: Apache-HttpClient/5.5.2 (Java/17.0.15)\r\n\r\n",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::Fleet;

    #[test]
    fn lengths_are_those_of_the_bodies() {
        let fleet = Fleet::new(1, 10);
        for format in [Format::Json, Format::Xml] {
            let (mut scratch, mut out) = (Vec::new(), Vec::new());
            let writer = RequestWriter { format, takes_gzip: true };
            writer.register(&fleet.record(3, 0), &mut scratch, &mut out);
            let text = String::from_utf8(out).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
        }
    }
}
