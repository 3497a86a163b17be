//! Configuration files: what was read is written in the plainest form of the format, and read again the same.

use heureka_config::{ConfigError, Origin, Property, read_properties, read_yaml};
use std::collections::HashSet;
use std::fmt::Write;

type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Every value knows a line of the text; written with all signs escaped, names and values come back.
pub fn check_properties(text: &str, documents: &[Vec<Property>]) {
    check_lines(text, documents);
    let mut written = String::new();
    for (at, document) in documents.iter().enumerate() {
        if at > 0 {
            written.push_str("#---\n");
        }
        for property in document {
            push_utf16(&property.name, &mut written);
            written.push('=');
            push_utf16(&property.value, &mut written);
            written.push('\n');
        }
    }
    let again = read_properties(&written, "again").expect("properties that we wrote");
    assert_eq!(pairs(&again), pairs(documents), "{written}");
}

/// The same for YAML. Of a name that a document holds several times, as `a.b` and as `a: {b: ...}`, the first is written.
pub fn check_yaml(text: &str, documents: &[Vec<Property>]) {
    check_lines(text, documents);
    let mut first: Vec<Pairs<'_>> = pairs(documents);
    for document in &mut first {
        let mut seen = HashSet::new();
        document.retain(|(name, _)| seen.insert(*name));
    }
    let mut written = String::new();
    for document in &first {
        written.push_str("---\n");
        for (name, value) in document {
            // a key with a mark of its own may be longer than 1,024 signs
            written.push_str("? ");
            push_quoted(name, &mut written);
            written.push_str("\n: ");
            push_quoted(value, &mut written);
            written.push('\n');
        }
    }
    let again = read_yaml(&written, "again").expect("YAML that we wrote");
    assert_eq!(pairs(&again), first, "{written}");
}

/// A refusal is short, and a syntax error names a line that the text has.
pub fn check_config_error(text: &str, error: &ConfigError) {
    let shown = error.to_string();
    assert!((10..2_000 + 16 * text.len()).contains(&shown.len()), "{} bytes: {shown}", shown.len());
    if let ConfigError::Syntax { line, .. } = error {
        assert!((1..=line_count(text)).contains(line), "line {line} of {}: {shown}", line_count(text));
    }
}

fn check_lines(text: &str, documents: &[Vec<Property>]) {
    let lines = line_count(text);
    for property in documents.iter().flatten() {
        let Origin::File { line: Some(line), .. } = property.origin else {
            panic!("{property:?} has no line")
        };
        assert!((1..=lines).contains(&line), "{property:?} of {lines} lines");
    }
}

/// At least the number of lines: `\r\n` counts twice.
fn line_count(text: &str) -> usize {
    text.split(['\n', '\r']).count()
}

fn pairs(documents: &[Vec<Property>]) -> Vec<Pairs<'_>> {
    documents
        .iter()
        .map(|document| document.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect())
        .collect()
}

fn push_utf16(text: &str, out: &mut String) {
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => write!(out, "\\u{unit:04x}").expect("a string takes everything"),
        }
    }
}

fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c.is_ascii_alphanumeric() {
            true => out.push(c),
            false => write!(out, "\\U{:08x}", u32::from(c)).expect("a string takes everything"),
        }
    }
    out.push('"');
}
