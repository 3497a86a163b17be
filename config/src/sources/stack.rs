//! Sources in order of precedence, and look-ups through all of them.

use crate::property::{Property, PropertySource};

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

    /// The items of a list: comma-separated text or `name[0]`, `name[1]` ..., from the highest source that has any.
    pub(crate) fn list(&self, name: &str) -> Vec<Property> {
        self.sources
            .iter()
            .rev()
            .map(|source| list_in(source, name))
            .find(|items| !items.is_empty())
            .unwrap_or_default()
    }
}

/// The items of a list in one source.
pub(crate) fn list_in(source: &PropertySource, name: &str) -> Vec<Property> {
    let item = |value: &str, found: &Property| Property { value: value.to_owned(), ..found.clone() };
    if let Some(found) = source.find(name) {
        return split_list(&found.value).map(|value| item(value, found)).collect();
    }
    let indexed = (0..).map_while(|at| source.find(&format!("{name}[{at}]")));
    indexed
        .flat_map(|found| split_list(&found.value).map(|value| item(value, found)).collect::<Vec<_>>())
        .collect()
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
    use crate::property::{Origin, SourceKind};

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
        let values = |name: &str| stack.list(name).into_iter().map(|p| p.value).collect::<Vec<_>>();
        assert_eq!(values("l"), ["a", "b", "c"]);
        assert_eq!(values("x.l"), ["z", "y"]);
        assert!(values("none").is_empty());
    }

    #[test]
    fn commas_of_placeholders_do_not_separate() {
        let items: Vec<&str> = split_list("${a:b,c}, d,${random.int[1,9]}").collect();
        assert_eq!(items, ["${a:b,c}", "d", "${random.int[1,9]}"]);
    }
}
