//! From parser events to a tree, without recursion, with limits. Knows YAML, not properties.

use super::yaml_scalar::plain_scalar;
use super::{MAX_PROPERTIES, SyntaxError};
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Deepest nesting.
const MAX_DEPTH: usize = 64;

/// A node and the line where it starts.
#[derive(Debug)]
pub(super) struct Node {
    pub line: usize,
    pub content: Content,
}

/// What a node holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Text, typed and back. `is_typed` (a number or a switch) matters for keys only.
    Scalar { text: String, is_typed: bool },
    /// Items in order.
    Sequence(Vec<Rc<Node>>),
    /// Entries in order, keys unique.
    Mapping(Vec<(Rc<Node>, Rc<Node>)>),
}

/// A collection whose end has not come yet.
struct Open {
    line: usize,
    anchor: usize,
    is_mapping: bool,
    children: Vec<Rc<Node>>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Rc<Node>>,
    roots: Vec<Rc<Node>>,
    /// Nodes that were read, and entries that merge keys looked at.
    work: usize,
}

/// Reads all documents; empty ones are left out.
pub(super) fn read_documents(text: &str) -> Result<Vec<Rc<Node>>, SyntaxError> {
    let mut builder = Builder::default();
    let last = last_line(text);
    for event in Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        let (event, span) = event.map_err(|e| SyntaxError::new(e.marker().line().min(last), e.info()))?;
        builder.event(event, span.start.line().min(last))?;
    }
    Ok(builder.roots)
}

/// Number of the last line. The parser ends a text that has no line break at its end on the line after it.
fn last_line(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_break = |at: &usize| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    1 + (0..bytes.len()).filter(is_break).count()
}

impl Builder {
    fn event(&mut self, event: Event<'_>, line: usize) -> Result<(), SyntaxError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let content = scalar(&text, style, tag.as_deref(), line)?;
                self.finish(Node { line, content }, anchor)
            }
            Event::SequenceStart(anchor, tag) => self.start(line, anchor, false, tag.as_deref()),
            Event::MappingStart(anchor, tag) => self.start(line, anchor, true, tag.as_deref()),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(node) => self.attach(node),
                None => Err(SyntaxError::new(line, "an alias stands inside the node that it names")),
            },
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn start(
        &mut self,
        line: usize,
        anchor: usize,
        is_mapping: bool,
        tag: Option<&Tag>,
    ) -> Result<(), SyntaxError> {
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return Err(SyntaxError::new(line, format!("unknown tag {tag}")));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(SyntaxError::new(line, format!("more than {MAX_DEPTH} levels")));
        }
        self.open.push(Open { line, anchor, is_mapping, children: Vec::new() });
        Ok(())
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let content = match open.is_mapping {
            true => mapping(open.children, &mut self.work)?,
            false => Content::Sequence(open.children),
        };
        self.finish(Node { line: open.line, content }, open.anchor)
    }

    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), SyntaxError> {
        add_work(&mut self.work, 1, node.line)?;
        let node = Rc::new(node);
        if anchor > 0 {
            self.anchors.insert(anchor, Rc::clone(&node));
        }
        self.attach(node)
    }

    fn attach(&mut self, node: Rc<Node>) -> Result<(), SyntaxError> {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None if matches!(&node.content, Content::Scalar { text, .. } if text.is_empty()) => {}
            None => self.roots.push(node),
        }
        Ok(())
    }
}

/// Bounds what one file may cost.
fn add_work(work: &mut usize, more: usize, line: usize) -> Result<(), SyntaxError> {
    *work += more;
    if *work > 4 * MAX_PROPERTIES {
        return Err(SyntaxError::new(line, "too many values in one file"));
    }
    Ok(())
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, line: usize) -> Result<Content, SyntaxError> {
    let core = tag.map(|tag| (tag.is_yaml_core_schema(), tag.suffix.as_str()));
    let typed = match core {
        None => style == ScalarStyle::Plain,
        Some((true, "str")) => false,
        Some((true, _)) => true,
        Some((false, "")) => false, // the lone `!` of YAML 1.1
        Some((false, suffix)) => return Err(SyntaxError::new(line, format!("unknown tag {suffix}"))),
    };
    let is_null = typed && matches!(text, "" | "~" | "null" | "Null" | "NULL");
    let is_typed = typed && !is_null && is_switch_or_number(text);
    let text = if typed { plain_scalar(text) } else { text.to_owned() };
    Ok(Content::Scalar { text, is_typed })
}

/// True if YAML 1.1 makes something else than text of a plain scalar.
fn is_switch_or_number(text: &str) -> bool {
    let read = plain_scalar(text);
    read != text || matches!(text, "true" | "false") || read.parse::<f64>().is_ok()
}

/// Pairs keys with values, resolves merge keys (`<<`), refuses the same key twice as `SnakeYAML` does.
fn mapping(children: Vec<Rc<Node>>, work: &mut usize) -> Result<Content, SyntaxError> {
    let mut entries: Vec<(Rc<Node>, Rc<Node>)> = Vec::with_capacity(children.len() / 2);
    let mut merged: Vec<Rc<Node>> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut children = children.into_iter();
    while let (Some(name), Some(value)) = (children.next(), children.next()) {
        let text = key_text(&name)?;
        if text == "<<" {
            merged.push(value);
            continue;
        }
        if let Some(first) = seen.insert(text.clone(), name.line) {
            let message =
                format!("the key {text:?} stands here for the second time, the first is in line {first}");
            return Err(SyntaxError::new(name.line, message));
        }
        entries.push((name, value));
    }
    for source in merged {
        merge(&source, &mut entries, &mut seen, work)?;
    }
    Ok(Content::Mapping(entries))
}

/// Adds the entries of one or several mappings that are not there yet.
fn merge(
    source: &Rc<Node>,
    entries: &mut Vec<(Rc<Node>, Rc<Node>)>,
    seen: &mut HashMap<String, usize>,
    work: &mut usize,
) -> Result<(), SyntaxError> {
    let wrong = || SyntaxError::new(source.line, "<< must name a mapping or a list of mappings");
    let mappings: Vec<&Rc<Node>> = match &source.content {
        Content::Mapping(_) => vec![source],
        Content::Sequence(items) => items.iter().collect(),
        Content::Scalar { .. } => return Err(wrong()),
    };
    for mapping in mappings {
        let Content::Mapping(inherited) = &mapping.content else { return Err(wrong()) };
        add_work(work, inherited.len(), source.line)?;
        for (name, value) in inherited {
            let text = key_text(name)?;
            if let Entry::Vacant(place) = seen.entry(text) {
                place.insert(name.line);
                entries.push((Rc::clone(name), Rc::clone(value)));
            }
        }
    }
    Ok(())
}

/// The text of a key; numbers and switches are put in brackets, as Boot does.
pub(super) fn key_text(node: &Node) -> Result<String, SyntaxError> {
    match &node.content {
        Content::Scalar { text, is_typed: true } => Ok(format!("[{text}]")),
        Content::Scalar { text, .. } => Ok(text.clone()),
        _ => Err(SyntaxError::new(node.line, "a key must be a word, not a list or a mapping")),
    }
}
