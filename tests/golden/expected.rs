//! What an exchange has to be answered with: the recorded answer, with checks in the place of what differs from run to run.
//!
//! The differences that are meant (`differences.rs`) are changes of this value, so that nothing is ever merely skipped.

use super::node::{Check, Node, parse_json, write_json};
use super::recording::{Exchange, Response};
use super::xml::{Layout, escape, is_list, parse_xml, write_xml};

/// The port that the recorded server listened on; it stands in links and in the server's own instance.
const RECORDED_PORT: &str = "9101";

/// A required answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expected {
    /// Pause before the request is sent, in milliseconds.
    pub(crate) wait_ms: u64,
    /// The status code; `None` if the recorded server never answered.
    pub(crate) status: Option<u16>,
    /// Media type in lower case and without blanks; looked at if there is a body, or if it was a `HEAD`.
    pub(crate) content_type: Option<String>,
    /// The value of `Content-Encoding`.
    pub(crate) content_encoding: Option<String>,
    /// The methods of `Allow` without `HEAD` and `OPTIONS`, sorted.
    pub(crate) allow: Option<Vec<String>>,
    /// The path of `Location`.
    pub(crate) location: Option<String>,
    /// A recorded status, and whether the connection was closed behind it; looked at as long as the status is required.
    pub(crate) closes: Option<(u16, bool)>,
    /// The body.
    pub(crate) body: Body,
    /// It answers a `HEAD`: headers as if there were a body.
    pub(crate) head: bool,
    /// Another answer that is as good, where time decides which of the two comes.
    pub(crate) or: Option<Box<Expected>>,
}

/// A required body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// None at all.
    Empty,
    /// A JSON value, written without white space.
    Json(Node),
    /// An XML document in that layout.
    Xml(Node, Layout),
    /// Exactly this text.
    Text(String),
    /// Some body whose content was not kept.
    Unkept,
    /// A page or text of our own with these parts, and without those.
    Page {
        /// Text that must occur, once entities are resolved.
        has: Vec<&'static str>,
        /// Text that must not occur as it stands.
        lacks: Vec<&'static str>,
    },
    /// A refusal that explains itself: in that form, and its text begins with the given words. Documents have Java's words
    /// to the letter, and a reason and an example beside them.
    Refusal(Form, String),
    /// Empty, or a short text of our own: nobody reads it.
    Remark,
}

/// The form of a refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Form {
    /// Nothing but the text.
    Plain,
    /// Java's `{"error": …}` with `reason` and `example`.
    Json,
    /// Java's `<error><message>…` with `reason` and `example`.
    Xml,
}

impl Form {
    /// The media type of a refusal in that form.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Form::Plain => "text/plain;charset=utf-8",
            Form::Json => "application/json",
            Form::Xml => "application/xml",
        }
    }
}

impl Expected {
    /// The recorded answer of an exchange; panics if there is none.
    pub(crate) fn recorded(exchange: &Exchange, port: u16) -> Expected {
        let request = exchange.request.as_ref().expect("a request");
        let response = exchange.response.as_ref().expect("a response");
        let text = body_text(exchange, response, port);
        let content_type = response.header("Content-Type").map(media_type);
        let mut body = recorded_body(response, content_type.as_deref(), text.as_deref());
        mark_volatile(exchange, text.as_deref().unwrap_or_default(), &mut body);
        Expected {
            wait_ms: exchange.wait_ms,
            status: response.status,
            content_type,
            content_encoding: response.header("Content-Encoding").map(str::to_owned),
            allow: response.header("Allow").map(methods),
            location: response.header("Location").map(location_path),
            closes: response.status.map(|status| (status, response.header("Connection") == Some("close"))),
            body,
            head: request.method == "HEAD",
            or: None,
        }
    }

    /// An answer without a body.
    pub(crate) fn answer(status: u16) -> Expected {
        Expected {
            wait_ms: 0,
            status: Some(status),
            content_type: None,
            content_encoding: None,
            allow: None,
            location: None,
            closes: None,
            body: Body::Empty,
            head: false,
            or: None,
        }
    }

    /// Replaces the answer by one without a body.
    pub(crate) fn empty(&mut self, status: u16) {
        self.status = Some(status);
        self.content_type = None;
        self.content_encoding = None;
        self.body = Body::Empty;
    }

    /// The value of the body, if it is JSON or XML.
    pub(crate) fn node_mut(&mut self) -> Option<&mut Node> {
        match &mut self.body {
            Body::Json(node) | Body::Xml(node, _) => Some(node),
            _ => None,
        }
    }

    /// The same, to read it.
    pub(crate) fn node(&self) -> Option<&Node> {
        match &self.body {
            Body::Json(node) | Body::Xml(node, _) => Some(node),
            _ => None,
        }
    }

    /// A body that fulfils the requirement: for the stand-in server of the harness's own tests.
    pub(crate) fn sample(&self) -> String {
        match &self.body {
            Body::Empty | Body::Remark => String::new(),
            Body::Json(node) => write_json(node),
            Body::Xml(node, layout) => write_xml(node, *layout),
            Body::Text(text) => text.clone(),
            Body::Unkept => "kept elsewhere".to_owned(),
            Body::Page { has, .. } => has.iter().map(|part| escape(part)).collect::<Vec<_>>().join("\n"),
            Body::Refusal(Form::Plain, text) => text.clone(),
            Body::Refusal(Form::Json, words) => {
                format!(r#"{{"error": "{words}","reason":"why","example":{{}}}}"#)
            }
            Body::Refusal(Form::Xml, words) => {
                format!("<error><message>{words}</message><reason>why</reason><example>x</example></error>")
            }
        }
    }
}

/// A media type in lower case without blanks.
pub(crate) fn media_type(value: &str) -> String {
    value.to_lowercase().replace(' ', "")
}

/// The methods of an `Allow` header that matter, sorted.
pub(crate) fn methods(value: &str) -> Vec<String> {
    let known = value.split(',').map(|method| method.trim().to_owned());
    let mut methods: Vec<String> = known.filter(|method| method != "HEAD" && method != "OPTIONS").collect();
    methods.sort();
    methods.dedup();
    methods
}

/// The path of a `Location` header.
pub(crate) fn location_path(value: &str) -> String {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    rest.find('/').map_or_else(String::new, |at| rest[at..].to_owned())
}

/// The recorded body with the port of this run; only status reports and the actuator show one.
fn body_text(exchange: &Exchange, response: &Response, port: u16) -> Option<String> {
    let path = exchange.request.as_ref().map(|request| request.path_only().to_owned()).unwrap_or_default();
    let shows_port = path.ends_with("/eureka/status") || path.contains("/actuator");
    let text = response.body.clone()?;
    Some(if shows_port { text.replace(RECORDED_PORT, &port.to_string()) } else { text })
}

fn recorded_body(response: &Response, content_type: Option<&str>, text: Option<&str>) -> Body {
    let Some(text) = text else {
        return if response.body_file.is_some() || response.body_not_kept.is_some() {
            Body::Unkept
        } else {
            Body::Empty
        };
    };
    let is_page = content_type.is_some_and(|value| value.starts_with("text/html"));
    match readable_body(text) {
        // The Java server writes its parse errors by hand, with a blank: a text.
        Body::Json(node) if !is_written_plainly(&node, text) => Body::Text(text.to_owned()),
        Body::Xml(..) if is_page => Body::Text(text.to_owned()),
        body => body,
    }
}

/// A body as JSON or XML, or as a text if it is neither.
pub(crate) fn readable_body(text: &str) -> Body {
    match text.trim_start().chars().next() {
        None => Body::Empty,
        Some('{' | '[') => parse_json(text).map_or_else(|_| Body::Text(text.to_owned()), Body::Json),
        Some('<') => match parse_xml(text) {
            Ok(document) => Body::Xml(document.root, document.layout),
            Err(_) => Body::Text(text.to_owned()),
        },
        Some(_) => Body::Text(text.to_owned()),
    }
}

/// Whether the text is the node without white space. A writer may escape characters beyond the basic plane or not.
pub(crate) fn is_written_plainly(node: &Node, text: &str) -> bool {
    write_json(node) == text
        || (text.contains("\\uD") && parse_json(text).as_ref() == Ok(node) && !text.contains(' '))
}

fn mark_volatile(exchange: &Exchange, text: &str, body: &mut Body) {
    let lines = parse_xml(text).map(|document| document.lines).unwrap_or_default();
    let (node, is_xml) = match body {
        Body::Json(node) => (node, false),
        Body::Xml(node, _) => (node, true),
        _ => return,
    };
    for entry in &exchange.volatile {
        let paths = if let Some(pointer) = entry.strip_prefix("body:") {
            vec![if is_xml { element_path(pointer) } else { json_path(pointer) }]
        } else if let Some(line) = entry.strip_prefix("line:") {
            let line: usize = line.parse().expect("a line number");
            lines.iter().filter(|(at, _)| *at == line).map(|(_, path)| path.clone()).collect()
        } else {
            Vec::new()
        };
        for path in paths {
            assert!(mark(node, &path), "{}: volatile path {path:?} leads nowhere", exchange.name);
        }
    }
    settle_renewals(node);
}

fn json_path(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect()
}

fn element_path(pointer: &str) -> Vec<String> {
    let mut path: Vec<String> = Vec::new();
    let mut parent = "";
    for part in pointer.split('/').skip(1) {
        let (name, index) =
            part.strip_suffix(']').and_then(|part| part.split_once('[')).unwrap_or((part, "1"));
        path.push(name.to_owned());
        if is_list(parent, name) {
            let index: Option<usize> = index.parse().ok();
            path.push(index.map_or_else(|| "*".to_owned(), |index| (index - 1).to_string()));
        }
        parent = name;
    }
    path
}

/// Puts a check in the place of the leaf at the end of the path, `*` being every position of a list.
fn mark(node: &mut Node, path: &[String]) -> bool {
    let Some((key, rest)) = path.split_first() else { return false };
    if rest.is_empty() {
        return match node.get_mut(key) {
            Some(leaf) => {
                *leaf = Node::Checked(Box::new(leaf.recorded().clone()), check_of(key));
                true
            }
            None => false,
        };
    }
    match node {
        Node::List(items) if key == "*" => items.iter_mut().all(|item| mark(item, rest)),
        Node::List(items) => {
            key.parse::<usize>().ok().and_then(|at| items.get_mut(at)).is_some_and(|item| mark(item, rest))
        }
        other => other.get_mut(key).is_some_and(|member| mark(member, rest)),
    }
}

fn check_of(key: &str) -> Check {
    if key.ends_with("Timestamp") { Check::Time } else { Check::Figure }
}

/// A lease that was renewed shows a time in the future: the recording tells whether it was.
fn settle_renewals(node: &mut Node) {
    match node {
        Node::List(items) => items.iter_mut().for_each(settle_renewals),
        Node::Object(members) => {
            members.iter_mut().for_each(|(_, member)| settle_renewals(member));
            let read = |key: &str| node.get(key).and_then(Node::integer);
            let (Some(duration), Some(registered), Some(renewed)) =
                (read("durationInSecs"), read("registrationTimestamp"), read("lastRenewalTimestamp"))
            else {
                return;
            };
            let ahead = duration * 1000;
            if let Some(Node::Checked(_, check)) = node.get_mut("lastRenewalTimestamp")
                && renewed - registered >= ahead
            {
                *check = Check::TimePlus(ahead);
            }
        }
        _ => {}
    }
}
