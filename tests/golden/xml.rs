//! XML bodies: text to [`Node`] and back, in the two layouts of the Java server.
//!
//! The reader is as forgiving as the recorded documents need (prefixes without declaration) and knows nothing of what the
//! elements mean, except that `application` and `instance` repeat inside their lists.

use quick_xml::Reader;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::node::Node;

/// How an XML document is laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Layout {
    /// Two blanks for each level, line feeds between elements: the full form.
    Indented,
    /// No white space between elements: the compact form.
    Flat,
    /// Required of nobody.
    Free,
}

/// An XML document as a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Document {
    /// An object with the root element as its only member.
    pub(crate) root: Node,
    /// How it was laid out.
    pub(crate) layout: Layout,
    /// The leaf elements with the line (from 1) in which each begins, as paths of keys and list positions.
    pub(crate) lines: Vec<(usize, Vec<String>)>,
}

struct Element {
    name: String,
    attributes: Vec<(String, Node)>,
    children: Vec<Element>,
    text: String,
    closed_in_tag: bool,
    line: usize,
}

/// Reads one document.
pub(crate) fn parse_xml(text: &str) -> Result<Document, String> {
    let root = parse_elements(text)?;
    let layout =
        if text.contains("\n  <") || root.children.is_empty() { Layout::Indented } else { Layout::Flat };
    let mut lines = Vec::new();
    let mut path = vec![root.name.clone()];
    let name = root.name.clone();
    let node = to_node(root, &mut path, &mut lines);
    Ok(Document { root: Node::Object(vec![(name, node)]), layout, lines })
}

fn parse_elements(text: &str) -> Result<Element, String> {
    let mut reader = Reader::from_str(text);
    let mut open: Vec<Element> = Vec::new();
    let mut root = None;
    let (mut counted, mut line) = (0, 1);
    loop {
        let start = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX).min(text.len());
        line += text.as_bytes()[counted..start].iter().filter(|byte| **byte == b'\n').count();
        counted = start;
        let event = reader.read_event().map_err(|error| format!("not XML: {error}"))?;
        let finished = match event {
            Event::Start(tag) => {
                open.push(element(&tag, line, false)?);
                None
            }
            Event::Empty(tag) => Some(element(&tag, line, true)?),
            Event::End(_) => open.pop(),
            Event::Text(bytes) => {
                push_text(&mut open, &bytes);
                None
            }
            Event::GeneralRef(reference) => {
                push_text(&mut open, &resolve(&reference)?);
                None
            }
            Event::Eof => break,
            _ => None,
        };
        match (finished, open.last_mut()) {
            (Some(child), Some(parent)) => parent.children.push(child),
            (Some(child), None) if root.is_none() => root = Some(child),
            (Some(child), None) => return Err(format!("not XML: a second root <{}>", child.name)),
            (None, _) => {}
        }
    }
    match open.last() {
        Some(element) => Err(format!("not XML: <{}> is not closed", element.name)),
        None => root.ok_or_else(|| "not XML: no element".to_owned()),
    }
}

fn element(tag: &BytesStart<'_>, line: usize, closed_in_tag: bool) -> Result<Element, String> {
    let name = tag.name().as_ref().to_owned();
    if name.is_empty() {
        return Err("not XML: an element without a name".to_owned());
    }
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| format!("not XML: {error}"))?;
        let key = attribute.key.as_ref().to_owned();
        let value = attribute.value.into_owned();
        attributes.push((format!("@{key}"), Node::Text(value)));
    }
    Ok(Element { name, attributes, children: Vec::new(), text: String::new(), closed_in_tag, line })
}

fn push_text(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn resolve(reference: &BytesRef<'_>) -> Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| format!("not XML: {error}"))? {
        return Ok(character.to_string());
    }
    match reference.as_ref() {
        "amp" => Ok("&".to_owned()),
        "lt" => Ok("<".to_owned()),
        "gt" => Ok(">".to_owned()),
        "quot" => Ok("\"".to_owned()),
        "apos" => Ok("'".to_owned()),
        other => Err(format!("not XML: unknown entity &{other};")),
    }
}

fn to_node(element: Element, path: &mut Vec<String>, lines: &mut Vec<(usize, Vec<String>)>) -> Node {
    let mut members = element.attributes;
    if element.children.is_empty() {
        lines.push((element.line, path.clone()));
        return match (members.is_empty(), element.closed_in_tag) {
            (true, true) => Node::Null,
            (true, false) => Node::Text(element.text),
            (false, true) => Node::Object(members),
            (false, false) => {
                members.push(("#text".to_owned(), Node::Text(element.text)));
                Node::Object(members)
            }
        };
    }
    for child in element.children {
        let key = child.name.clone();
        path.push(key.clone());
        if is_list(&element.name, &key) {
            let at = members
                .iter()
                .filter(|(name, _)| *name == key)
                .map(|(_, node)| node.items().len())
                .sum::<usize>();
            path.push(at.to_string());
            let node = to_node(child, path, lines);
            path.pop();
            match members.iter_mut().find(|(name, _)| *name == key) {
                Some((_, Node::List(items))) => items.push(node),
                _ => members.push((key, Node::List(vec![node]))),
            }
        } else {
            let node = to_node(child, path, lines);
            members.push((key, node));
        }
        path.pop();
    }
    Node::Object(members)
}

/// Whether the child elements of that name are a list.
pub(crate) fn is_list(parent: &str, child: &str) -> bool {
    matches!((parent, child), ("applications", "application") | ("application", "instance"))
}

/// Writes a document as the Java server lays it out.
pub(crate) fn write_xml(root: &Node, layout: Layout) -> String {
    let mut out = String::new();
    if let Node::Object(members) = root {
        for (name, node) in members {
            write_element(name, node, layout, 0, &mut out);
        }
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn write_element(name: &str, node: &Node, layout: Layout, depth: usize, out: &mut String) {
    if let Node::List(items) = node {
        items.iter().for_each(|item| write_element(name, item, layout, depth, out));
        return;
    }
    let indent = |out: &mut String, depth: usize| {
        if layout == Layout::Indented {
            out.push_str(&"  ".repeat(depth));
        }
    };
    indent(out, depth);
    out.push('<');
    out.push_str(name);
    let members: &[(String, Node)] = if let Node::Object(members) = node { members } else { &[] };
    for (key, value) in members {
        if let Some(attribute) = key.strip_prefix('@') {
            out.push_str(&format!(" {attribute}=\"{}\"", value.text().unwrap_or_default()));
        }
    }
    let children: Vec<_> = members.iter().filter(|(key, _)| !key.starts_with('@')).collect();
    match (node.text(), children.as_slice()) {
        (Some(text), _) => out.push_str(&format!(">{}</{name}>", escape(text))),
        (None, []) => out.push_str("/>"),
        (None, [(key, text)]) if key == "#text" => {
            out.push_str(&format!(">{}</{name}>", escape(text.text().unwrap_or_default())));
        }
        (None, children) => {
            out.push('>');
            line_end(layout, out);
            children.iter().for_each(|(key, child)| write_element(key, child, layout, depth + 1, out));
            indent(out, depth);
            out.push_str(&format!("</{name}>"));
        }
    }
    line_end(layout, out);
}

fn line_end(layout: Layout, out: &mut String) {
    if layout == Layout::Indented {
        out.push('\n');
    }
}

/// A text as the Java server writes it between tags.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\r' => out.push_str("&#xd;"),
            other => out.push(other),
        }
    }
    out
}

/// Resolves the entities that pages use for the five characters that they must not show as they are.
pub(crate) fn unescape(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&#60;", "<"),
        ("&gt;", ">"),
        ("&#62;", ">"),
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&#38;", "&"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}
