//! The recorded scenarios: files under `recordings/`, as the recorder wrote them.
//!
//! `spec/wire.md` and `spec/spring.md` say what of it Heureka must answer too; this module only reads the files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One scenario: exchanges played in order on a fresh server.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Scenario {
    /// Name of the file without its ending.
    pub(crate) scenario: String,
    /// Settings of the server; `{port}` stands for its port.
    pub(crate) properties: BTreeMap<String, String>,
    /// What was asked and answered, in order.
    pub(crate) exchanges: Vec<Exchange>,
}

/// One request and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exchange {
    /// Unique in its scenario.
    pub(crate) name: String,
    /// Pause before sending, in milliseconds.
    #[serde(default)]
    pub(crate) wait_ms: u64,
    /// What was sent; absent where only the server acted.
    pub(crate) request: Option<Request>,
    /// What came back; absent together with the request.
    pub(crate) response: Option<Response>,
    /// What differed between two recordings.
    #[serde(default)]
    pub(crate) volatile: Vec<String>,
    /// What the server sent to a stand-in peer; absent in most scenarios.
    pub(crate) peer_requests: Option<Vec<serde_json::Value>>,
}

/// A recorded request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// `GET`, `PUT` and so on, in its letter case.
    pub(crate) method: String,
    /// Path and query as sent.
    pub(crate) path: String,
    /// Headers in order and letter case, without `Host` and `Content-Length`.
    pub(crate) headers: Vec<(String, String)>,
    /// A body that is text.
    pub(crate) body: Option<String>,
    /// A body that is not text.
    pub(crate) body_base64: Option<String>,
    /// A long body, made of a repeated part.
    pub(crate) body_fill: Option<Fill>,
    /// The body is to be compressed.
    #[serde(default)]
    pub(crate) body_gzip: bool,
    /// The body is to be sent in chunks.
    #[serde(default)]
    pub(crate) chunked: bool,
}

/// A body of `prefix`, `count` times `fill`, and `suffix`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fill {
    prefix: String,
    fill: String,
    count: usize,
    suffix: String,
}

/// A recorded answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response {
    /// Absent if no answer came.
    pub(crate) status: Option<u16>,
    /// Headers in order, without `Date`.
    pub(crate) headers: Vec<(String, String)>,
    /// The body as text, decompressed.
    pub(crate) body: Option<String>,
    /// A page whose text was not kept.
    pub(crate) body_file: Option<String>,
    /// Length of a body that was not kept.
    pub(crate) body_not_kept: Option<u64>,
}

impl Request {
    /// The value of a header, in any letter case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }

    /// The path without the query.
    pub(crate) fn path_only(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The body before compression, if there is one.
    pub(crate) fn body_bytes(&self) -> Option<Vec<u8>> {
        if let Some(fill) = &self.body_fill {
            return Some(
                [&fill.prefix, &fill.fill.repeat(fill.count), &fill.suffix]
                    .map(String::as_str)
                    .concat()
                    .into_bytes(),
            );
        }
        if let Some(text) = &self.body_base64 {
            return Some(decode_base64(text));
        }
        self.body.as_ref().map(|text| text.as_bytes().to_vec())
    }
}

impl Response {
    /// The value of a header, in any letter case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        find_header(&self.headers, name)
    }
}

/// The first value of a header in a list, in any letter case.
pub(crate) fn find_header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn decode_base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        let value = alphabet.iter().position(|known| *known == byte).expect("base64");
        bits = (bits << 6) | u32::try_from(value).expect("six bits");
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).expect("eight bits"));
        }
    }
    out
}

/// The folder of these tests.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The JSON files of a folder, sorted by name.
pub(crate) fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("recordings")
        .map(|entry| entry.expect("recordings").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    files.sort();
    files
}

/// All scenarios, sorted by name.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a recording");
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    json_files(&folder("recordings")).iter().map(read).collect()
}
