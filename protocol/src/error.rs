//! Why a body could not be read, and the document that tells the sender.
//!
//! An error names the member, what was found and what is expected. It never repeats more than a short piece of the body.

use std::fmt;

use crate::report::Path;
use crate::text::{push_json_string, push_xml_text};

/// A body, or one item of it, that could not be read. `Display` is one sentence for the sender.
///
/// Retrying the same body never helps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("found {found} in {member}, expected {expected}")]
pub struct ReadError {
    member: Box<str>,
    found: Box<str>,
    expected: Box<str>,
}

impl ReadError {
    pub(crate) fn new(at: Path<'_>, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self::at(at.to_string(), found, expected)
    }

    pub(crate) fn at(member: String, found: impl fmt::Display, expected: impl fmt::Display) -> Self {
        Self {
            member: member.into_boxed_str(),
            found: shortened(found.to_string()),
            expected: expected.to_string().into_boxed_str(),
        }
    }

    /// The member, for example `instance.port.$`; `the body` for the root.
    #[must_use]
    pub fn member(&self) -> &str {
        &self.member
    }

    /// What was found there.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.found
    }

    /// What should have been there.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

/// Parsers quote names from the body in their messages, and those can be as long as the body.
fn shortened(mut text: String) -> Box<str> {
    const LONGEST: usize = 200;
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        text.truncate(end);
        text.push_str("...");
    }
    text.into_boxed_str()
}

/// A registration body that is right, for error documents.
pub const EXAMPLE_INSTANCE_JSON: &str = concat!(
    r#"{"instance":{"instanceId":"web-7:checkout:9090","hostName":"web-7.shop.example","app":"CHECKOUT","#,
    r#""ipAddr":"192.0.2.17","status":"UP","port":{"$":9090,"@enabled":"true"},"vipAddress":"checkout","#,
    r#""dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}}}"#
);

/// The same as XML.
pub const EXAMPLE_INSTANCE_XML: &str = concat!(
    "<instance><instanceId>web-7:checkout:9090</instanceId><hostName>web-7.shop.example</hostName>",
    "<app>CHECKOUT</app><ipAddr>192.0.2.17</ipAddr><status>UP</status>",
    r#"<port enabled="true">9090</port><vipAddress>checkout</vipAddress>"#,
    r#"<dataCenterInfo class="com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo">"#,
    "<name>MyOwn</name></dataCenterInfo></instance>"
);

/// A replication list that is right, for error documents.
pub const EXAMPLE_BATCH_JSON: &str = concat!(
    r#"{"replicationList":[{"appName":"CHECKOUT","id":"web-7:checkout:9090","#,
    r#""lastDirtyTimestamp":1700000000000,"status":"UP","action":"Heartbeat"}]}"#
);

/// The body of a 400 answer to a registration (spec `wire.md` 1.7): Java's document, then the reason and an example.
/// The two additions are ours; the first member is exactly as Java writes it.
#[must_use]
pub fn error_document(is_json: bool, reason: &dyn fmt::Display) -> Vec<u8> {
    if is_json {
        return json_error_document(reason, EXAMPLE_INSTANCE_JSON);
    }
    let mut out = b"<error><message>cannot parse request body</message><reason>".to_vec();
    push_xml_text(&reason.to_string(), &mut out);
    out.extend_from_slice(b"</reason><example>");
    out.extend_from_slice(EXAMPLE_INSTANCE_XML.as_bytes());
    out.extend_from_slice(b"</example></error>");
    out
}

/// The same for the batch endpoint, which speaks JSON only.
#[must_use]
pub fn batch_error_document(reason: &dyn fmt::Display) -> Vec<u8> {
    json_error_document(reason, EXAMPLE_BATCH_JSON)
}

fn json_error_document(reason: &dyn fmt::Display, example: &str) -> Vec<u8> {
    let mut out = b"{\"error\": \"cannot parse request body\",\"reason\":".to_vec();
    push_json_string(&reason.to_string(), &mut out);
    out.extend_from_slice(b",\"example\":");
    out.extend_from_slice(example.as_bytes());
    out.push(b'}');
    out
}
