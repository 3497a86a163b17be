//! Query parameters (spec `wire.md` 1.2): case-sensitive names, the first of repeated ones counts, `+` is a space.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::split::split;

/// The first value of a parameter, decoded. Heartbeats ask this, so what is not asked for is not decoded.
pub fn first<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    split(query, b'&').find_map(|pair| {
        let (key, _) = halves(pair);
        let is_it = key == name || (is_escaped(key) && decoded(key).is_some_and(|(key, _)| key == name));
        if !is_it {
            return None;
        }
        match halves(pair) {
            (_, Some(value)) if !is_escaped(value) => Some(Cow::Borrowed(value)),
            _ => decoded(pair).map(|(_, value)| value),
        }
    })
}

/// Name and value, as sent; no value if there is no `=`.
fn halves(pair: &str) -> (&str, Option<&str>) {
    match memchr(b'=', pair.as_bytes()) {
        Some(end) => (&pair[..end], Some(&pair[end + 1..])),
        None => (pair, None),
    }
}

fn is_escaped(text: &str) -> bool {
    memchr2(b'%', b'+', text.as_bytes()).is_some()
}

fn decoded(pair: &str) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(pair.as_bytes()).next()
}

/// All parameters in order, the first of repeated ones only; parameters without a name are left out.
pub fn all(query: &str) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        if !key.is_empty() && entries.iter().all(|(known, _)| *known != key) {
            entries.push((key.into_owned(), value.into_owned()));
        }
    }
    entries
}

/// A whole number; `Err` with the text if it is there and is none.
pub fn number<'a>(query: &'a str, name: &str) -> Result<Option<i64>, Cow<'a, str>> {
    match first(query, name) {
        None => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_counts_and_plus_is_a_space() {
        assert_eq!(first("a=1&b=x+y%20z&a=2", "a").as_deref(), Some("1"));
        assert_eq!(first("a=1&b=x+y%20z", "b").as_deref(), Some("x y z"));
        assert_eq!(first("flag", "flag").as_deref(), Some(""));
        assert_eq!(first("A=1", "a"), None);
        assert_eq!(first("%61=1+2", "a").as_deref(), Some("1 2"));
        assert_eq!(first("a=b=c", "a").as_deref(), Some("b=c"));
        assert_eq!(first("ab=1&&a", "a").as_deref(), Some(""));
        let entries = [("a", "1"), ("flag", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(all("a=1&flag&a=3&=x"), entries);
        assert_eq!(number("n=12", "n"), Ok(Some(12)));
        assert_eq!(number("n=", "n"), Err("".into()));
        assert_eq!(number("", "n"), Ok(None));
    }
}
