//! A body as a value: one tree for JSON and XML, so that both are compared and edited by the same code.
//!
//! A JSON object keeps its members in the order in which they stand. An XML element becomes an object too: attributes are
//! members that begin with `@`, text beside attributes is the member `#text`, and the repeated elements `application` and
//! `instance` are gathered in one list, as in JSON. This module knows no rule of the registry.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// What may stand in the place of a recorded leaf that differs from run to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Check {
    /// A time in milliseconds that lies inside the test.
    Time,
    /// A time inside the test plus that many milliseconds: the last renewal as Java publishes it.
    TimePlus(i64),
    /// Either of the two: lists need not show the latest heartbeat.
    TimeOrPlus(i64),
    /// A time inside the test, or 0 for never.
    TimeOrZero,
    /// A version number of a delta: an integer from 0 on that never falls.
    Version,
    /// A figure of the machine, for instance `136mb` or `68mb (50%)`: digits stand where digits were recorded.
    Figure,
    /// Any text.
    AnyText,
    /// Any of these texts.
    OneOf(Vec<&'static str>),
}

/// One value of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    /// JSON `null`; XML: an element closed in its own tag.
    Null,
    /// JSON `true` or `false`.
    Bool(bool),
    /// A JSON number as written.
    Number(String),
    /// A text.
    Text(String),
    /// JSON array, or the repeated elements of an XML list.
    List(Vec<Node>),
    /// Members in order. A key may occur twice: the comparison reports it.
    Object(Vec<(String, Node)>),
    /// Only in what is expected: the recorded leaf and what is required of it instead of being equal.
    Checked(Box<Node>, Check),
}

impl Node {
    /// The member of that name of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        match self {
            Node::Object(members) => members.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Replaces the member of that name; does nothing if there is none.
    pub(crate) fn set(&mut self, key: &str, value: Node) {
        if let Some(member) = self.get_mut(key) {
            *member = value;
        }
    }

    /// Removes the member of that name and gives it back.
    pub(crate) fn take(&mut self, key: &str) -> Option<Node> {
        match self {
            Node::Object(members) => {
                let at = members.iter().position(|(name, _)| name == key)?;
                Some(members.remove(at).1)
            }
            _ => None,
        }
    }

    /// The items of a list; empty for every other value.
    pub(crate) fn items(&self) -> &[Node] {
        match self {
            Node::List(items) => items,
            _ => &[],
        }
    }

    /// The text of a leaf, without regard to its type.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) | Node::Number(text) => Some(text),
            Node::Checked(recorded, _) => recorded.text(),
            _ => None,
        }
    }

    /// The leaf as a whole number.
    pub(crate) fn integer(&self) -> Option<i64> {
        self.text()?.parse().ok()
    }

    /// The node without checks: what was recorded.
    pub(crate) fn recorded(&self) -> &Node {
        match self {
            Node::Checked(recorded, _) => recorded,
            other => other,
        }
    }

    /// Calls `change` for every object of the tree that has the member `status`, the outermost first: the instances.
    pub(crate) fn for_each_instance(&mut self, change: &mut dyn FnMut(&mut Node)) {
        if self.get("status").is_some() && self.get("hostName").is_some() {
            change(self);
        }
        match self {
            Node::List(items) => items.iter_mut().for_each(|item| item.for_each_instance(change)),
            Node::Object(members) => {
                members.iter_mut().for_each(|(_, member)| member.for_each_instance(change));
            }
            _ => {}
        }
    }
}

/// Reads one JSON document and keeps order, number texts and repeated members.
pub(crate) fn parse_json(text: &str) -> Result<Node, String> {
    serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))
}

/// Writes the node as JSON without white space, as the Java server does.
pub(crate) fn write_json(node: &Node) -> String {
    let mut out = String::new();
    json_into(node, &mut out);
    out
}

fn json_into(node: &Node, out: &mut String) {
    match node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::Number(text) => out.push_str(text),
        Node::Text(text) => out.push_str(&serde_json::Value::from(text.as_str()).to_string()),
        Node::Checked(recorded, _) => json_into(recorded, out),
        Node::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json_into(item, out);
            }
            out.push(']');
        }
        Node::Object(members) => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json_into(&Node::Text(key.clone()), out);
                out.push(':');
                json_into(member, out);
            }
            out.push('}');
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(serde_json::Value::from(value).to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}
