//! Holds an answer against what is required and says in words what is different.
//!
//! Applications are matched by name, instances by id and metadata by key; everything else by position, member order
//! included. It never decides whether a difference is meant: `differences.rs` has changed the requirement before.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::expected::{Body, Expected, Form, is_written_plainly, location_path, media_type, methods};
use super::http::Answer;
use super::node::{Check, Node, parse_json, write_json};
use super::xml::{Layout, parse_xml, unescape, write_xml};

/// Longest remark that an error without a reader may carry.
const REMARK_LENGTH: usize = 2048;

/// What times and versions are judged by: one for each scenario.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Earliest and latest time that the test can have produced, in milliseconds.
    pub(crate) window: (i64, i64),
    /// The greatest delta version seen.
    pub(crate) version: Cell<i64>,
}

impl Frame {
    /// A frame for one answer.
    pub(crate) fn new(window: (i64, i64), version: i64) -> Frame {
        Frame { window, version: Cell::new(version) }
    }
}

/// The differences between an answer and what is required, empty if there are none.
pub(crate) fn compare(expected: &Expected, answer: &Answer, frame: &Frame) -> Vec<String> {
    let found = compare_one(expected, answer, frame);
    match &expected.or {
        Some(other) if !found.is_empty() && compare_one(other, answer, frame).is_empty() => Vec::new(),
        _ => found,
    }
}

fn compare_one(expected: &Expected, answer: &Answer, frame: &Frame) -> Vec<String> {
    let mut found = Vec::new();
    let Some(status) = expected.status else {
        return vec![format!("status: expected no answer, got {}", answer.status)];
    };
    if answer.status != status {
        found.push(format!("status: expected {status}, got {} ({})", answer.status, excerpt(&answer.text())));
        return found;
    }
    headers(expected, answer, &mut found);
    body(&expected.body, answer, frame, &mut found);
    found
}

fn headers(expected: &Expected, answer: &Answer, found: &mut Vec<String>) {
    let mut differ = |name: &str, expected: String, actual: String| {
        if expected != actual {
            found.push(format!("{name}: expected {expected}, got {actual}"));
        }
    };
    let content_type = answer.header("Content-Type").map(media_type);
    if expected.body != Body::Empty && expected.body != Body::Remark || expected.head {
        differ("Content-Type", format!("{:?}", expected.content_type), format!("{content_type:?}"));
    } else if !expected.head && expected.body == Body::Empty {
        // A reader that meets a document type without a document fails on the answer.
        let named = content_type.filter(|value| value.contains("json") || value.contains("xml"));
        differ(
            "Content-Type of an empty body",
            "None".to_owned(),
            format!("{:?}", named.as_deref().unwrap_or("None")).replace('"', ""),
        );
    }
    let encoding = answer.header("Content-Encoding").map(str::to_owned);
    differ("Content-Encoding", format!("{:?}", expected.content_encoding), format!("{encoding:?}"));
    if expected.allow.is_some() {
        differ(
            "Allow",
            format!("{:?}", expected.allow),
            format!("{:?}", answer.header("Allow").map(methods)),
        );
    }
    if let Some((_, closes)) = expected.closes.filter(|(status, _)| expected.status == Some(*status)) {
        let is_closed = answer.header("Connection") == Some("close");
        differ("closes the connection", closes.to_string(), is_closed.to_string());
    }
    if expected.location.is_some() {
        let location = answer.header("Location").map(location_path);
        differ("Location", format!("{:?}", expected.location), format!("{location:?}"));
    }
}

fn body(expected: &Body, answer: &Answer, frame: &Frame, found: &mut Vec<String>) {
    let text = answer.text();
    match expected {
        Body::Empty => {
            if !text.is_empty() {
                found.push(format!("body: expected none, got {}", excerpt(&text)));
            }
        }
        Body::Json(node) => match parse_json(&text) {
            Ok(actual) => {
                if !is_written_plainly(&actual, &text) {
                    found.push("layout: JSON is not written as the Java server does".to_owned());
                }
                nodes("", node, &actual, frame, found);
            }
            Err(error) => found.push(format!("body: {error}: {}", excerpt(&text))),
        },
        Body::Xml(node, layout) => match parse_xml(&text) {
            Ok(actual) => {
                let is_laid_out = actual.layout == *layout && write_xml(&actual.root, *layout) == text;
                if *layout != Layout::Free && !is_laid_out {
                    found.push(format!("layout: XML is not written {layout:?} as the Java server does"));
                }
                nodes("", node, &actual.root, frame, found);
            }
            Err(error) => found.push(format!("body: {error}: {}", excerpt(&text))),
        },
        Body::Text(expected) => {
            if text != *expected {
                found.push(format!("body: expected {}, got {}", excerpt(expected), excerpt(&text)));
            }
        }
        Body::Unkept => {
            if text.is_empty() {
                found.push("body: expected some, got none".to_owned());
            }
        }
        Body::Page { has, lacks } => page(has, lacks, &text, found),
        Body::Refusal(form, words) => refusal(*form, words, &text, found),
        Body::Remark => {
            let is_page = text.contains("<html") || text.contains("\"timestamp\"");
            if text.len() > REMARK_LENGTH || is_page {
                found.push(format!("body: expected a short remark at most, got {}", excerpt(&text)));
            }
        }
    }
}

fn page(has: &[&str], lacks: &[&str], text: &str, found: &mut Vec<String>) {
    let shown = unescape(text);
    for part in has.iter().filter(|part| !shown.contains(**part)) {
        found.push(format!("page: lacks `{part}`"));
    }
    for part in lacks.iter().filter(|part| text.contains(**part)) {
        found.push(format!("page: has `{part}`"));
    }
}

fn refusal(form: Form, words: &str, text: &str, found: &mut Vec<String>) {
    let read = |node: Option<&Node>| node.and_then(Node::text).map(str::to_owned);
    let is_right = match form {
        Form::Plain => text.starts_with(words),
        Form::Json => parse_json(text).is_ok_and(|node| {
            let reason = read(node.get("reason")).unwrap_or_default();
            read(node.get("error")).as_deref() == Some(words)
                && !reason.is_empty()
                && node.get("example").is_some()
        }),
        Form::Xml => parse_xml(text).is_ok_and(|document| {
            let Some(error) = document.root.get("error") else { return false };
            let reason = read(error.get("reason")).unwrap_or_default();
            read(error.get("message")).as_deref() == Some(words)
                && !reason.is_empty()
                && error.get("example").is_some()
        }),
    };
    if !is_right {
        found.push(format!("refusal: expected {form:?} that says `{words}` and why, got {}", excerpt(text)));
    }
}

fn nodes(path: &str, expected: &Node, actual: &Node, frame: &Frame, found: &mut Vec<String>) {
    match (expected, actual) {
        (Node::Checked(recorded, check), actual) => checked(path, recorded, check, actual, frame, found),
        (Node::List(expected), Node::List(actual)) => lists(path, expected, actual, frame, found),
        (Node::Object(expected), Node::Object(actual)) => objects(path, expected, actual, frame, found),
        (expected, actual) if expected == actual => {}
        (expected, actual) => found.push(format!(
            "{path}: expected {}, got {}",
            excerpt(&write_json(expected)),
            excerpt(&write_json(actual))
        )),
    }
}

fn objects(
    path: &str,
    expected: &[(String, Node)],
    actual: &[(String, Node)],
    frame: &Frame,
    found: &mut Vec<String>,
) {
    let keys = |members: &[(String, Node)]| members.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    let (mut expected_keys, mut actual_keys) = (keys(expected), keys(actual));
    // These come out of hash maps: of them only the entries count, not their order.
    let is_map = ["/metadata", "/generalStats", "/applicationStats"].iter().any(|map| path.ends_with(map));
    if is_map {
        expected_keys.sort();
        actual_keys.sort();
    }
    if expected_keys != actual_keys {
        let missing: Vec<_> = expected_keys.iter().filter(|key| !actual_keys.contains(key)).collect();
        let extra: Vec<_> = actual_keys.iter().filter(|key| !expected_keys.contains(key)).collect();
        found.push(match (missing.is_empty(), extra.is_empty()) {
            (true, true) => format!("{path}: member order: expected {expected_keys:?}, got {actual_keys:?}"),
            _ => format!("{path}: members missing {missing:?}, extra {extra:?}"),
        });
    }
    for (key, node) in expected {
        if let Some((_, actual)) = actual.iter().find(|(name, _)| name == key) {
            nodes(&format!("{path}/{key}"), node, actual, frame, found);
        }
    }
}

fn lists(path: &str, expected: &[Node], actual: &[Node], frame: &Frame, found: &mut Vec<String>) {
    let identity: fn(&Node) -> Option<String> = match path.rsplit('/').next() {
        Some("application") => |node| node.get("name")?.text().map(str::to_owned),
        Some("instance") => |node| Some(instance_id(node)),
        _ => {
            if expected.len() != actual.len() {
                found.push(format!("{path}: expected {} items, got {}", expected.len(), actual.len()));
            }
            for (index, (expected, actual)) in expected.iter().zip(actual).enumerate() {
                nodes(&format!("{path}/{index}"), expected, actual, frame, found);
            }
            return;
        }
    };
    let mut rest: BTreeMap<String, Vec<&Node>> = BTreeMap::new();
    for node in actual {
        rest.entry(identity(node).unwrap_or_default()).or_default().push(node);
    }
    for node in expected {
        let name = identity(node).unwrap_or_default();
        match rest.get_mut(&name).and_then(Vec::pop) {
            Some(actual) => nodes(&format!("{path}[{name}]"), node, actual, frame, found),
            None => found.push(format!("{path}: `{name}` is missing")),
        }
    }
    for (name, nodes) in rest {
        nodes.iter().for_each(|_| found.push(format!("{path}: `{name}` is extra")));
    }
}

/// The id by which the registry knows an instance (spec `wire.md` 6.1).
pub(crate) fn instance_id(node: &Node) -> String {
    let text =
        |node: Option<&Node>| node.and_then(Node::text).filter(|text| !text.is_empty()).map(str::to_owned);
    let amazon = || {
        node.get("dataCenterInfo")
            .and_then(|info| info.get("metadata"))
            .and_then(|map| map.get("instance-id"))
    };
    text(node.get("instanceId"))
        .or_else(|| text(amazon()))
        .or_else(|| text(node.get("hostName")))
        .unwrap_or_default()
}

fn checked(
    path: &str,
    recorded: &Node,
    check: &Check,
    actual: &Node,
    frame: &Frame,
    found: &mut Vec<String>,
) {
    if std::mem::discriminant(recorded) != std::mem::discriminant(actual) {
        found.push(format!(
            "{path}: expected the type of {}, got {}",
            write_json(recorded),
            excerpt(&write_json(actual))
        ));
        return;
    }
    let (first, last) = frame.window;
    let within =
        |ahead: i64| actual.integer().is_some_and(|time| (first + ahead..=last + ahead).contains(&time));
    let fulfilled = match check {
        Check::Time => within(0),
        Check::TimeOrZero => within(0) || actual.integer() == Some(0),
        Check::TimePlus(ahead) => within(*ahead),
        Check::TimeOrPlus(ahead) => within(0) || within(*ahead),
        Check::Version => {
            actual.integer().is_some_and(|version| version >= 0 && frame.version.replace(version) <= version)
        }
        Check::Figure => shape(recorded) == shape(actual),
        Check::AnyText => actual.text().is_some_and(|text| !text.is_empty()),
        Check::OneOf(texts) => actual.text().is_some_and(|text| texts.contains(&text)),
    };
    if !fulfilled {
        found.push(format!(
            "{path}: expected {check:?} (recorded {}), got {}",
            write_json(recorded),
            write_json(actual)
        ));
    }
}

/// A text with every run of digits written as one `0`.
fn shape(node: &Node) -> String {
    let mut out = String::new();
    for character in node.text().unwrap_or_default().chars() {
        match character {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            other => out.push(other),
        }
    }
    out
}

/// The beginning of a text, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    let line: String = text.chars().take(160).map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("`{line}`{}", if text.chars().count() > 160 { "…" } else { "" })
}
