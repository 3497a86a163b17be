//! Java's `.properties` format with Boot's documents (`#---`).
//!
//! Escapes, continuation lines and separators are those of `java.util.Properties`; when a comment keeps a separator from
//! being one is copied from Boot, which was checked against 4.0.7. Strings are decoded by the caller.

use super::{Document, MAX_PROPERTIES, SyntaxError};
use crate::property::{Origin, Property};

/// Splits a text into documents. `path` only names the origin.
pub(crate) fn read_properties(text: &str, path: &str) -> Result<Vec<Document>, SyntaxError> {
    let mut documents = Documents::default();
    let mut lines = Lines::new(text);
    while let Some(line) = lines.next_line() {
        let content = line.text.trim_start_matches(is_blank);
        match content.chars().next() {
            None => documents.comment_before = None,
            Some(mark @ ('#' | '!')) => documents.comment(line.text, mark),
            Some(_) => {
                let joined = lines.join_continuations(content);
                let logical = without_leading_blanks(&joined);
                if logical.is_empty() || logical.starts_with(['#', '!']) {
                    continue;
                }
                let (name, value) = split(logical);
                let name = unescape(name, line.number)?;
                let value = unescape(value, line.number)?;
                let origin = Origin::File { path: path.into(), line: Some(line.number) };
                documents.push(Property { name, value, origin }, line.number)?;
            }
        }
    }
    Ok(documents.finish())
}

/// Java's white space inside a line.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Boot drops blanks in front of a name even if they are escaped.
fn without_leading_blanks(line: &str) -> &str {
    let mut rest = line;
    loop {
        let shorter = rest.trim_start_matches(is_blank);
        let shorter =
            shorter.strip_prefix('\\').filter(|after| after.starts_with(is_blank)).unwrap_or(shorter);
        if shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// The documents read so far and the one being read.
#[derive(Default)]
struct Documents {
    done: Vec<Document>,
    current: Document,
    count: usize,
    /// Mark of the comment on the line before, if there was one.
    comment_before: Option<char>,
}

impl Documents {
    fn comment(&mut self, line: &str, mark: char) {
        let separator = line.strip_prefix(mark).and_then(|rest| rest.strip_prefix("---"));
        let is_separator = separator.is_some_and(|rest| rest.chars().all(is_blank));
        if is_separator && self.comment_before != Some(mark) {
            if !self.current.is_empty() {
                self.done.push(std::mem::take(&mut self.current));
            }
            return;
        }
        // Boot takes a separator back if a comment follows before the first value
        if self.current.is_empty()
            && let Some(last) = self.done.pop()
        {
            self.current = last;
        }
        self.comment_before = Some(mark);
    }

    fn push(&mut self, property: Property, line: usize) -> Result<(), SyntaxError> {
        self.comment_before = None;
        self.count += 1;
        if self.count > MAX_PROPERTIES {
            return Err(SyntaxError::new(line, format!("more than {MAX_PROPERTIES} values in one file")));
        }
        self.current.push(property);
        Ok(())
    }

    fn finish(mut self) -> Vec<Document> {
        if !self.current.is_empty() {
            self.done.push(self.current);
        }
        self.done
    }
}

/// A physical line.
struct Line<'a> {
    number: usize,
    text: &'a str,
}

/// The physical lines of a text, ended by `\n`, `\r` or both.
struct Lines<'a> {
    rest: Option<&'a str>,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: Some(text.strip_prefix('\u{feff}').unwrap_or(text)), number: 0 }
    }

    fn next_line(&mut self) -> Option<Line<'a>> {
        let rest = self.rest?;
        self.number += 1;
        let (text, after) = match rest.find(['\n', '\r']) {
            Some(end) => {
                let skip = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
                (&rest[..end], Some(&rest[end + skip..]))
            }
            None => (rest, None),
        };
        self.rest = after;
        Some(Line { number: self.number, text })
    }

    /// A line that ends with an odd number of backslashes goes on after the blanks of the next one.
    fn join_continuations(&mut self, first: &str) -> String {
        let mut joined = String::new();
        let mut line = first;
        loop {
            let slashes = line.chars().rev().take_while(|c| *c == '\\').count();
            if slashes % 2 == 0 {
                joined.push_str(line);
                return joined;
            }
            joined.push_str(&line[..line.len() - 1]);
            match self.next_line() {
                Some(next) => line = next.text.trim_start_matches(is_blank),
                None => return joined,
            }
        }
    }
}

/// Name and value: separated by the first unescaped `=`, `:` or blank, with blanks around it.
fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let end = line.find(|c| {
        let ends = !escaped && (matches!(c, '=' | ':') || is_blank(c));
        escaped = c == '\\' && !escaped;
        ends
    });
    let Some(end) = end else { return (line, "") };
    let after = line[end..].trim_start_matches(is_blank);
    let value = after.strip_prefix(['=', ':']).unwrap_or(after);
    (&line[..end], value.trim_start_matches(is_blank))
}

/// Resolves `\t`, `\n`, `\f`, `\r`, `\uXXXX`; a backslash before anything else vanishes.
fn unescape(text: &str, line: usize) -> Result<String, SyntaxError> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    let mut buffer = [0_u16; 2];
    while let Some(c) = chars.next() {
        let resolved = match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('t')) => '\t',
            ('\\', Some('n')) => '\n',
            ('\\', Some('f')) => '\u{c}',
            ('\\', Some('r')) => '\r',
            ('\\', Some('u')) => {
                units.push(unicode_escape(&mut chars, line)?);
                continue;
            }
            ('\\', Some(other)) => other,
            (other, _) => other,
        };
        units.extend_from_slice(resolved.encode_utf16(&mut buffer));
    }
    Ok(String::from_utf16_lossy(&units))
}

fn unicode_escape(chars: &mut std::str::Chars<'_>, line: usize) -> Result<u16, SyntaxError> {
    let digits: String = chars.by_ref().take(4).collect();
    let valid = digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit());
    match u16::from_str_radix(&digits, 16) {
        Ok(unit) if valid => Ok(unit),
        _ => Err(SyntaxError::new(line, "\\u must be followed by four hexadecimal digits")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Vec<(String, String)>> {
        let documents = read_properties(text, "t.properties").unwrap();
        documents.into_iter().map(|d| d.into_iter().map(|p| (p.name, p.value)).collect()).collect()
    }

    fn one(text: &str) -> Vec<(String, String)> {
        read(text).concat()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    #[test]
    fn separators_escapes_and_continuations_are_java_s() {
        let text = "a\\ b=1\nc\\:d : x\\\n   y\nu=\\u0041\\t|\ne\nf=\n g = h \ni\\=j=k\n! comment\n# c\nl m n\no==p\r\nq=\\q\rs=é";
        let expected = [
            pair("a b", "1"),
            pair("c:d", "xy"),
            pair("u", "A\t|"),
            pair("e", ""),
            pair("f", ""),
            pair("g", "h "),
            pair("i=j", "k"),
            pair("l", "m n"),
            pair("o", "=p"),
            pair("q", "q"),
            pair("s", "é"),
        ];
        assert_eq!(one(text), expected);
    }

    #[test]
    fn a_continued_line_swallows_comments_and_blank_lines() {
        let text = "a=x\\\n#---\nb=2\\\n  ! no comment\\\n\n   \\\n  c=3\nd=\\";
        assert_eq!(
            one(text),
            [pair("a", "x#---"), pair("b", "2! no comment"), pair("c", "3"), pair("d", "")]
        );
    }

    #[test]
    fn documents_are_split_where_boot_splits_them() {
        assert_eq!(read("a=1\n#---\na=2\n!---  \na=3").len(), 3);
        assert_eq!(read("a=1\n #---\na=2").len(), 1, "not at the start of the line");
        assert_eq!(read("a=1\n#--- x\na=2").len(), 1, "text after it");
        assert_eq!(read("a=1\n# c\n#---\na=2").len(), 1, "the same comment mark before it");
        assert_eq!(read("a=1\n# c\n!---\na=2").len(), 2, "the other comment mark before it");
        assert_eq!(read("a=1\n# c\n\n#---\na=2").len(), 2, "a blank line between");
        assert_eq!(read("a=1\n#---\n\n# c\na=2").len(), 1, "a comment after it takes it back");
        assert_eq!(read("#---\n#---\na=1").len(), 1);
    }

    #[test]
    fn surrogates_become_one_character() {
        assert_eq!(one("a=\\ud83d\\ude00"), [pair("a", "😀")]);
    }

    #[test]
    fn a_bad_escape_names_its_line() {
        let error = read_properties("a=1\nb=\\u00g1", "x").unwrap_err();
        assert_eq!((error.line, error.message.contains("four hexadecimal")), (2, true));
    }

    #[test]
    fn every_value_knows_its_line() {
        let documents = read_properties("\n#c\na=1\\\n 2\nb=3", "x").unwrap();
        let lines: Vec<String> = documents[0].iter().map(|p| p.origin.to_string()).collect();
        assert_eq!(lines, ["x:3", "x:5"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-c=:#!\\\\u0 \\n\\r\\t\\-é]{0,80}") {
            let _ = read_properties(&text, "x");
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC{0,60}") {
            let _ = read_properties(&text, "x");
        }
    }
}
