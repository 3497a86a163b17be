//! `${key}` and `${key:default}` inside values (`spec/spring.md` 3.2): nested, resolved when needed, in any spelling.
//!
//! Spring's syntax: the whole text up to the closing brace is tried as a name first, then what stands before the first
//! colon. `\${` is text. An unclosed `${` is text. Depth, work and length are bounded; a cycle is an error, never a hang.

use std::fmt;

/// Deepest nesting of values inside values.
const MAX_DEPTH: usize = 32;
/// Most look-ups for one value.
const MAX_LOOKUPS: usize = 2_000;
/// Longest result.
const MAX_LENGTH: usize = 1 << 20;

/// Gives the raw value of a name.
pub(crate) trait Lookup {
    /// What was written for this name, in any source.
    fn find(&self, name: &str) -> Result<Option<String>, String>;
    /// What stands in if nothing was written and the placeholder has no default.
    fn fallback(&self, name: &str) -> Option<String>;
}

/// Why a value has no meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// Nothing of this name, and no default.
    Missing(String),
    /// A name that stands, directly or not, in its own value.
    Cycle(String),
    /// A limit of this module.
    TooMuch,
    /// A name that exists but is wrong, such as `random.int(x)`.
    Wrong { name: String, reason: String },
    /// Encrypted values need Spring Cloud Config's key.
    Cipher,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "the placeholder ${{{name}}} has no value and no default"),
            Self::Cycle(name) => write!(f, "the placeholder ${{{name}}} stands in its own value"),
            Self::TooMuch => write!(f, "placeholders are nested too deeply or grow too long"),
            Self::Wrong { name, reason } => write!(f, "the placeholder ${{{name}}} is wrong: {reason}"),
            Self::Cipher => {
                write!(f, "encrypted values ({{cipher}}...) can only be read by Spring Cloud Config")
            }
        }
    }
}

/// Replaces all placeholders of a text. `names` receives every name that was looked up.
pub(crate) fn resolve(
    text: &str,
    lookup: &dyn Lookup,
    names: &mut Vec<String>,
) -> Result<String, Unresolved> {
    let mut resolver = Resolver { lookup, names, under_way: Vec::new(), depth: 0, lookups: 0 };
    let resolved = resolver.text(text)?;
    if resolved.starts_with("{cipher}") { Err(Unresolved::Cipher) } else { Ok(resolved) }
}

struct Resolver<'a> {
    lookup: &'a dyn Lookup,
    names: &'a mut Vec<String>,
    /// Names whose values are being resolved, outermost first.
    under_way: Vec<String>,
    depth: usize,
    lookups: usize,
}

impl Resolver<'_> {
    fn text(&mut self, text: &str) -> Result<String, Unresolved> {
        let mut resolved = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            if let Some(before) = rest[..start].strip_suffix('\\') {
                resolved.push_str(before);
                resolved.push_str("${");
                rest = &rest[start + 2..];
                continue;
            }
            resolved.push_str(&rest[..start]);
            let inside = &rest[start + 2..];
            let Some(end) = closing_brace(inside) else {
                rest = &rest[start..];
                break;
            };
            resolved.push_str(&self.placeholder(&inside[..end])?);
            rest = &inside[end + 1..];
            if resolved.len() > MAX_LENGTH {
                return Err(Unresolved::TooMuch);
            }
        }
        resolved.push_str(rest);
        Ok(resolved)
    }

    /// The value of what stands between the braces.
    fn placeholder(&mut self, inside: &str) -> Result<String, Unresolved> {
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS || self.depth >= MAX_DEPTH {
            return Err(Unresolved::TooMuch);
        }
        self.depth += 1;
        let found = self.placeholder_value(inside);
        self.depth -= 1;
        found
    }

    fn placeholder_value(&mut self, inside: &str) -> Result<String, Unresolved> {
        let (name, default) = split_default(inside);
        if let Some(default) = default {
            // a name with a colon in it, such as an environment variable of some tools
            if !inside.contains("${")
                && let Some(found) = self.value_of(inside)?
            {
                return Ok(found);
            }
            let name = self.text(name)?;
            return match self.value_of(&name)? {
                Some(found) => Ok(found),
                None => self.text(default),
            };
        }
        let name = self.text(name)?;
        match self.value_of(&name)? {
            Some(found) => Ok(found),
            None => match self.lookup.fallback(&name) {
                Some(found) => self.text(&found),
                None => Err(Unresolved::Missing(name)),
            },
        }
    }

    fn value_of(&mut self, name: &str) -> Result<Option<String>, Unresolved> {
        let wrong = |reason| Unresolved::Wrong { name: name.to_owned(), reason };
        let Some(raw) = self.lookup.find(name).map_err(wrong)? else { return Ok(None) };
        self.names.push(name.to_owned());
        let canonical = crate::key::canonical(name);
        if self.under_way.contains(&canonical) {
            return Err(Unresolved::Cycle(name.to_owned()));
        }
        self.under_way.push(canonical);
        let value = self.text(&raw)?;
        self.under_way.pop();
        Ok(Some(value))
    }
}

/// Index of the brace that closes a placeholder, counting inner pairs as Spring does.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            b'{' => depth += 1,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Name and default: split at the first colon that is not inside an inner placeholder.
fn split_default(inside: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 => return (&inside[..at], Some(&inside[at + 1..])),
            _ => {}
        }
    }
    (inside, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    struct Table(HashMap<&'static str, String>);

    impl Lookup for Table {
        fn find(&self, name: &str) -> Result<Option<String>, String> {
            Ok(self.0.get(name).cloned())
        }

        fn fallback(&self, name: &str) -> Option<String> {
            (name == "server.port").then(|| "8761".to_owned())
        }
    }

    fn table() -> Table {
        let entries = [
            ("hex", "31"),
            ("sel", "hex"),
            ("a", "${b}"),
            ("b", "${c}"),
            ("c", "${a}"),
            ("self", "x${self}"),
            ("twice", "${hex}${hex}"),
            ("odd:name", "colon"),
            ("host", "peer1"),
        ];
        Table(entries.map(|(name, value)| (name, value.to_owned())).into())
    }

    fn resolved(text: &str) -> Result<String, Unresolved> {
        resolve(text, &table(), &mut Vec::new())
    }

    #[test]
    fn placeholders_resolve_as_spring_s() {
        let rows = [
            ("plain", "plain"),
            ("a${hex}b$h{x}", "a31b$h{x}"),
            ("${nope:${hex}}", "31"),
            ("${${sel}}", "31"),
            ("${nope:b:c}", "b:c"),
            ("${:x}", "x"),
            ("${nope:}", ""),
            ("\\${hex}", "${hex}"),
            ("${hex", "${hex"),
            ("${twice}", "3131"),
            ("${odd:name}", "colon"),
            ("http://${host}:${server.port}/eureka/", "http://peer1:8761/eureka/"),
            ("${server.port:1}", "1"),
            ("${nope:{a}}", "{a}"),
            ("}{", "}{"),
        ];
        for (text, expected) in rows {
            assert_eq!(resolved(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_resolved_says_why() {
        assert_eq!(resolved("${nope}"), Err(Unresolved::Missing("nope".into())));
        assert_eq!(resolved("${}"), Err(Unresolved::Missing(String::new())));
        assert!(matches!(resolved("${a}"), Err(Unresolved::Cycle(_))));
        assert_eq!(resolved("${self}"), Err(Unresolved::Cycle("self".into())));
        assert_eq!(resolved("{cipher}AQB"), Err(Unresolved::Cipher));
    }

    #[test]
    fn depth_and_work_are_bounded() {
        let deep = format!("{}x{}", "${nope:".repeat(500), "}".repeat(500));
        assert_eq!(resolved(&deep), Err(Unresolved::TooMuch));
        let mut entries: HashMap<&'static str, String> = HashMap::new();
        for (name, next) in [("e0", "e1"), ("e1", "e2"), ("e2", "e3"), ("e3", "e4"), ("e4", "hex")] {
            entries.insert(name, format!("${{{next}}}").repeat(20));
        }
        entries.insert("hex", "31".into());
        assert_eq!(resolve("${e0}", &Table(entries), &mut Vec::new()), Err(Unresolved::TooMuch));
    }

    #[test]
    fn names_that_were_used_are_told() {
        let mut names = Vec::new();
        resolve("${${sel}} ${nope:x}", &table(), &mut names).unwrap();
        assert_eq!(names, ["sel", "hex"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[$\\{\\}:ab\\\\\\[\\]é]{0,60}") {
            let _ = resolved(&text);
        }
    }
}
