//! `application.yml`: every document flattened to dotted names, with the line of each value.

use super::yaml_tree::{Content, Node, key_text, read_documents};
use super::{Document, MAX_PROPERTIES, SyntaxError};
use crate::property::{Origin, Property};

/// Splits a text into documents. `path` only names the origin.
pub(crate) fn read_yaml(text: &str, path: &str) -> Result<Vec<Document>, SyntaxError> {
    let mut flat = Flat { path, count: 0 };
    let mut documents = Vec::new();
    for root in read_documents(text)? {
        if !matches!(root.content, Content::Mapping(_)) {
            return Err(SyntaxError::new(
                root.line,
                "a document must be a mapping, such as `server: {port: 8761}`",
            ));
        }
        let mut document = Document::new();
        flat.add(&root, String::new(), &mut document)?;
        if !document.is_empty() {
            documents.push(document);
        }
    }
    Ok(documents)
}

struct Flat<'a> {
    path: &'a str,
    count: usize,
}

impl Flat<'_> {
    /// Recursion is bounded by the depth of the tree, its work by the count: an alias may stand in many places.
    fn add(&mut self, node: &Node, name: String, into: &mut Document) -> Result<(), SyntaxError> {
        self.count += 1;
        if self.count > 4 * MAX_PROPERTIES {
            return Err(SyntaxError::new(node.line, "too many values in one file"));
        }
        match &node.content {
            Content::Scalar { text, .. } => self.push(node, name, text.clone(), into),
            Content::Sequence(items) if items.is_empty() => self.push(node, name, String::new(), into),
            Content::Sequence(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.add(item, format!("{name}[{at}]"), into)?;
                }
            }
            Content::Mapping(entries) => {
                for (key, value) in entries {
                    self.add(value, join_name(&name, &key_text(key)?), into)?;
                }
            }
        }
        Ok(())
    }

    fn push(&self, node: &Node, name: String, value: String, into: &mut Document) {
        let origin = Origin::File { path: self.path.into(), line: Some(node.line) };
        into.push(Property { name, value, origin });
    }
}

/// Puts a member's name behind that of its parent; a bracketed one needs no dot.
pub(super) fn join_name(parent: &str, member: &str) -> String {
    if parent.is_empty() || member.starts_with('[') {
        format!("{parent}{member}")
    } else {
        format!("{parent}.{member}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Vec<(String, String)>> {
        let documents = read_yaml(text, "t.yml").unwrap();
        documents.into_iter().map(|d| d.into_iter().map(|p| (p.name, p.value)).collect()).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    fn error(text: &str) -> SyntaxError {
        read_yaml(text, "t.yml").unwrap_err()
    }

    #[test]
    fn documents_are_flattened() {
        let text = "a: {b: 1, 'c.d': 2}\nl: [x, {y: z}]\nm: {1: one, '[k/l]': two, 'true': t, yes: u}\ne: {}\nn:\n---\n---\nb: yes\n";
        let expected = vec![
            vec![
                pair("a.b", "1"),
                pair("a.c.d", "2"),
                pair("l[0]", "x"),
                pair("l[1].y", "z"),
                pair("m[1]", "one"),
                pair("m[k/l]", "two"),
                pair("m.true", "t"),
                pair("m[true]", "u"),
                pair("n", ""),
            ],
            vec![pair("b", "true")],
        ];
        assert_eq!(read(text), expected);
    }

    #[test]
    fn quoted_and_block_scalars_are_text() {
        let text = "a: \"010\"\nb: '1.10'\nc: |\n  l1\n  l2\nd: >-\n  f1\n  f2\ne: !!str 010\nf: x # y\n";
        let expected = [
            pair("a", "010"),
            pair("b", "1.10"),
            pair("c", "l1\nl2\n"),
            pair("d", "f1 f2"),
            pair("e", "010"),
            pair("f", "x"),
        ];
        assert_eq!(read(text).concat(), expected);
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        let text = "base: &b {p: 1, q: 2}\nx:\n  <<: *b\n  q: 3\n";
        let x: Vec<_> = read(text).concat().into_iter().filter(|(name, _)| name.starts_with("x.")).collect();
        assert_eq!(x, [pair("x.q", "3"), pair("x.p", "1")]);
    }

    #[test]
    fn every_value_knows_its_line() {
        let documents = read_yaml("# c\na:\n  b: 1\n---\nc: 2\n", "f.yml").unwrap();
        let lines: Vec<String> = documents.concat().iter().map(|p| p.origin.to_string()).collect();
        assert_eq!(lines, ["f.yml:3", "f.yml:5"]);
    }

    #[test]
    fn errors_name_their_line() {
        let table = [
            ("a: 1\na: 2\n", 2, "second time"),
            ("a: 1\nb: *nope\n", 2, ""),
            ("a: 1\n\tb: 2\n", 1, "tab"),
            ("- a\n", 1, "mapping"),
            ("a: !foo b\n", 1, "tag"),
            ("a:\n  ? [x]\n  : 1\n", 2, "word"),
            // ended by the end of the text: the parser itself names the line after it
            ("a: 1\n.", 2, ""),
            ("a: 1\r\n.", 2, ""),
            ("a: 1\r.", 2, ""),
        ];
        for (text, line, part) in table {
            let error = error(text);
            assert_eq!(error.line, line, "{text}: {}", error.message);
            assert!(error.message.contains(part), "{text}: {}", error.message);
        }
    }

    #[test]
    fn deep_and_explosive_documents_are_refused() {
        assert!(read_yaml(&"[".repeat(100_000), "x").is_err());
        assert!(read_yaml(&format!("a: {}{}", "[".repeat(80), "]".repeat(80)), "x").is_err());
        let deep: String = (0..200).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        assert!(read_yaml(&deep, "x").is_err());
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for n in 1..9 {
            let many = vec![format!("*a{}", n - 1); 10].join(",");
            bomb.push_str(&format!("a{n}: &a{n} [{many}]\n"));
        }
        assert!(error(&bomb).message.contains("too many"));
        assert!(read_yaml("a: &a [*a]\n", "x").is_err());
        let keys: String = (0..1_000).map(|n| format!("k{n}: 1,")).collect();
        let merged_again = format!("b: &b {{{keys}}}\nm: {{<<: [{}]}}\n", "*b,".repeat(1_000));
        assert!(error(&merged_again).message.contains("too many"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c:\\-\\[\\]{}&*!|>'\"#%@`,? \\n\\t0-9é]{0,80}") {
            let _ = read_yaml(&text, "x");
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC{0,60}") {
            let _ = read_yaml(&text, "x");
        }
    }
}
