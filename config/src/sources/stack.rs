//! Sources in order of precedence, and look-ups through all of them.

use crate::error::{ConfigError, Problem};
use crate::key;
use crate::placeholders::{self, Lookup};
use crate::property::{Property, PropertySource, SourceKind};
use crate::secret::mask_credentials;

/// Sources, lowest precedence first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    pub sources: Vec<PropertySource>,
}

impl Stack {
    pub(crate) fn new(sources: Vec<PropertySource>) -> Self {
        Self { sources }
    }

    /// The value that counts for a name.
    pub(crate) fn find(&self, name: &str) -> Option<&Property> {
        self.sources.iter().rev().find_map(|source| source.find(name))
    }

    /// The items of a list: comma-separated text or `name[0]`, `name[1]` ..., from the highest source that has any,
    /// placeholders resolved. An empty text is a list without items.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<Property>, ConfigError> {
        let found = self.sources.iter().rev().find_map(|source| list_in(source, name));
        self.resolve_all(found.unwrap_or_default())
    }

    /// Resolves the placeholders of items, each of which may turn into several.
    pub(crate) fn resolve_all(&self, items: Vec<Property>) -> Result<Vec<Property>, ConfigError> {
        let mut resolved = Vec::with_capacity(items.len());
        for item in items {
            let text = self.resolve(&item)?;
            resolved
                .extend(split_list(&text).map(|piece| Property { value: piece.to_owned(), ..item.clone() }));
        }
        Ok(resolved)
    }

    /// Resolves the placeholders of a value with what stands in these sources.
    pub(crate) fn resolve(&self, property: &Property) -> Result<String, ConfigError> {
        placeholders::resolve(&property.value, self, &mut Vec::new()).map_err(|why| {
            ConfigError::Invalid(vec![Problem {
                key: property.name.clone(),
                found: mask_credentials(&property.value),
                origin: property.origin.to_string(),
                expected: why.to_string(),
            }])
        })
    }
}

impl Lookup for Stack {
    fn find(&self, name: &str) -> Result<Option<String>, String> {
        Ok(Self::find(self, name).map(|property| property.value.clone()))
    }

    fn fallback(&self, _name: &str) -> Option<String> {
        None
    }
}

/// The items of a list in one source; `None` if it says nothing about it. An argument given several times is a list.
pub(crate) fn list_in(source: &PropertySource, name: &str) -> Option<Vec<Property>> {
    let items = |found: &Property| -> Vec<Property> {
        split_list(&found.value).map(|value| Property { value: value.to_owned(), ..found.clone() }).collect()
    };
    if source.kind == SourceKind::Arguments {
        let canonical = key::canonical(name);
        let repeated: Vec<&Property> =
            source.properties.iter().filter(|property| key::canonical(&property.name) == canonical).collect();
        if !repeated.is_empty() {
            return Some(repeated.into_iter().flat_map(items).collect());
        }
    }
    if let Some(found) = source.find(name) {
        return Some(items(found));
    }
    let mut indexed = (0..).map_while(|at| source.find(&format!("{name}[{at}]"))).peekable();
    indexed.peek()?;
    Some(indexed.flat_map(items).collect())
}

/// Comma-separated items without blanks and empty ones. Commas inside `${...}` do not separate.
pub(crate) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let pieces = text.split(move |c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    pieces.map(str::trim).filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Origin;

    fn source(pairs: &[(&str, &str)]) -> PropertySource {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).into(),
            value: (*value).into(),
            origin: Origin::Given,
        };
        PropertySource::new(SourceKind::Plain, pairs.iter().map(property).collect())
    }

    #[test]
    fn lists_come_from_the_highest_source_as_a_whole() {
        let stack =
            Stack::new(vec![source(&[("l", "a, b ,,c")]), source(&[("x.l[0]", "z"), ("x.l[1]", "y")])]);
        let values = |name: &str| stack.list(name).unwrap().into_iter().map(|p| p.value).collect::<Vec<_>>();
        assert_eq!(values("l"), ["a", "b", "c"]);
        assert_eq!(values("x.l"), ["z", "y"]);
        assert!(values("none").is_empty());
    }

    #[test]
    fn an_empty_text_hides_lower_lists_and_placeholders_are_resolved() {
        let stack =
            Stack::new(vec![source(&[("l", "a"), ("x", "b,c")]), source(&[("l", ""), ("m", "${x},${y:d}")])]);
        let values = |name: &str| stack.list(name).unwrap().into_iter().map(|p| p.value).collect::<Vec<_>>();
        assert!(values("l").is_empty());
        assert_eq!(values("m"), ["b", "c", "d"]);
        assert!(Stack::new(vec![source(&[("l", "${nope}")])]).list("l").is_err());
    }

    #[test]
    fn commas_of_placeholders_do_not_separate() {
        let items: Vec<&str> = split_list("${a:b,c}, d,${random.int[1,9]}").collect();
        assert_eq!(items, ["${a:b,c}", "d", "${random.int[1,9]}"]);
    }
}
