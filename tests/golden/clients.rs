//! Recordings of real client libraries: files under `clients/`, and what can be checked when they are fed to a server.
//!
//! The recorded server had other instances and was changed from outside while the client ran. `client_world.rs` brings
//! the server under test into the state that each recorded answer shows; then the client's request is sent as it was.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::client_world::{Target, World};
use super::compare::{Frame, compare, instance_id};
use super::edit::check_times;
use super::expected::{Body, Expected, media_type, readable_body};
use super::http::{Answer, TIMEOUT, send};
use super::node::{Check, Node};
use super::recording::{Request, find_header};
use super::replay::now_ms;

/// One exchange of a client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClientExchange {
    /// What the client sent.
    pub(crate) request: ClientRequest,
    /// What the Java server answered.
    pub(crate) response: ClientResponse,
}

/// What a client sent; all headers in order, `Host` included.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClientRequest {
    /// The method.
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    body: String,
}

/// What the Java server answered.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ClientResponse {
    /// The status code.
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub(crate) body: String,
}

/// The exchanges of one file, in order.
pub(crate) fn load(path: &Path) -> Vec<ClientExchange> {
    let text = fs::read_to_string(path).expect("a recording");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl ClientExchange {
    /// The request to send again.
    pub(crate) fn to_send(&self) -> Request {
        let body = (!self.request.body.is_empty()).then(|| self.request.body.clone());
        Request {
            method: self.request.method.clone(),
            path: self.request.path.clone(),
            headers: self.request.headers.clone(),
            body,
            ..Request::default()
        }
    }

    /// The recorded answer as a requirement, with what a replay cannot repeat taken out.
    fn required(&self) -> Expected {
        let (status, headers) = (self.response.status, &self.response.headers);
        let mut expected = Expected::answer(status);
        expected.content_encoding = find_header(headers, "Content-Encoding").map(str::to_owned);
        // Errors have no body here: half of these clients need that.
        if status == 200 && !self.response.body.is_empty() {
            expected.content_type = find_header(headers, "Content-Type").map(media_type);
            expected.body = readable_body(&self.response.body);
        }
        expected.each_instance(replayable);
        if let Some(applications) = expected.node_mut().and_then(|node| node.get_mut("applications")) {
            applications.take("registeredApplicationsEmpty");
        }
        expected
    }
}

/// Times and actions belong to the run; the id is always written.
fn replayable(instance: &mut Node) {
    let id = Node::Text(instance_id(instance));
    if instance.get("instanceId").is_none()
        && let Node::Object(members) = instance
    {
        members.insert(0, ("instanceId".to_owned(), id));
    }
    check_times(instance);
    if let Some(action) = instance.get_mut("actionType") {
        *action = Node::Checked(Box::new(action.clone()), Check::OneOf(vec!["ADDED", "MODIFIED", "DELETED"]));
    }
    // What others did in several steps is done in one here: an instance may never have been UP.
    if let Some(Node::Checked(_, check)) =
        instance.get_mut("leaseInfo").and_then(|lease| lease.get_mut("serviceUpTimestamp"))
    {
        *check = Check::TimeOrZero;
    }
    let duration =
        instance.get("leaseInfo").and_then(|lease| lease.get("durationInSecs")).and_then(Node::integer);
    if let Some(Node::Checked(_, check)) =
        instance.get_mut("leaseInfo").and_then(|lease| lease.get_mut("lastRenewalTimestamp"))
    {
        *check = Check::TimeOrPlus(duration.unwrap_or_default() * 1000);
    }
}

/// Feeds a recording to the server and returns what is not as required.
pub(crate) fn replay(exchanges: &[ClientExchange], port: u16) -> Vec<String> {
    let since_ms = now_ms();
    let mut world = World::new(port);
    let mut failures = Vec::new();
    for exchange in exchanges {
        let expected = exchange.required();
        let target = Target::of(&exchange.request.path);
        world.prepare(exchange, &target, &expected);
        let found = match send(port, &exchange.to_send(), TIMEOUT) {
            Ok(answer) => {
                let frame = Frame::new((since_ms - 1000, now_ms() + 1000), 0);
                if target == Target::Delta {
                    delta(&expected, &answer, &world)
                } else {
                    compare(&expected, &answer, &frame)
                }
            }
            Err(error) => vec![format!("no answer: {error}")],
        };
        world.note(exchange, &target);
        let request = format!("{} {}", exchange.request.method, exchange.request.path);
        failures.extend(found.into_iter().map(|found| format!("{request}: {found}")));
    }
    failures
}

/// Of a delta the history cannot be repeated. It must be readable, say what happened to each instance, know every instance
/// that is there (all of them are new), and have the hash code of the whole registry.
fn delta(expected: &Expected, answer: &Answer, world: &World) -> Vec<String> {
    let actual = Expected { body: readable_body(&answer.text()), ..Expected::answer(answer.status) };
    let mut found = Vec::new();
    let mut require = |holds: bool, what: String| found.extend((!holds).then_some(what));
    let is_xml = |expected: &Expected| matches!(expected.body, Body::Xml(..));
    require(actual.status == expected.status, format!("status: got {:?}", actual.status));
    require(
        actual.node().is_some() && is_xml(&actual) == is_xml(expected),
        "the format is another one".to_owned(),
    );
    let media_types = (answer.header("Content-Type").map(media_type), expected.content_type.clone());
    require(media_types.0 == media_types.1, format!("Content-Type: got {media_types:?}"));
    let encodings = (answer.header("Content-Encoding").map(str::to_owned), expected.content_encoding.clone());
    require(encodings.0 == encodings.1, format!("Content-Encoding: got {encodings:?}"));
    let member = |name: &str| {
        let value = actual.node().and_then(|node| node.get("applications")?.get(name)).and_then(Node::text);
        value.map(str::to_owned)
    };
    let version = member("versions__delta").and_then(|text| text.parse::<i64>().ok());
    require(version.is_some_and(|version| version >= 0), format!("versions__delta: got {version:?}"));
    let hash = world.hash();
    require(
        member("apps__hashcode") == Some(hash.clone()),
        format!("apps__hashcode is not that of all, {hash}"),
    );
    let mut seen = Vec::new();
    actual.clone().each_instance(|node| {
        seen.push(instance_id(node));
        let action = node.get("actionType").and_then(Node::text).unwrap_or_default().to_owned();
        require(
            ["ADDED", "MODIFIED", "DELETED"].contains(&action.as_str()),
            format!("actionType: got {action:?}"),
        );
    });
    for id in world.ids() {
        require(seen.contains(&id), format!("`{id}` is missing"));
    }
    found
}
