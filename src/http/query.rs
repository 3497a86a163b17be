//! Query parameters (spec `wire.md` 1.2): case-sensitive names, the first of repeated ones counts, `+` is a space.

use std::borrow::Cow;

use memchr::{memchr, memchr2};
use percent_encoding::percent_decode_str;

use super::path::has_broken_escape;
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

/// All parameters in order, the first of repeated ones only; parameters without a name are left out. What is kept of them
/// must be what was meant, so escapes are held to the same rule as in paths.
///
/// # Errors
/// If an escape is broken or does not stand for UTF-8; the text names the parameter.
pub fn all(query: &str) -> Result<Vec<(String, String)>, String> {
    if let Some(pair) = split(query, b'&').find(|pair| !is_readable(pair)) {
        return Err(unreadable(pair));
    }
    let mut entries: Vec<(String, String)> = Vec::new();
    for (key, value) in form_urlencoded::parse(query.as_bytes()) {
        if !key.is_empty() && entries.iter().all(|(known, _)| *known != key) {
            entries.push((key.into_owned(), value.into_owned()));
        }
    }
    Ok(entries)
}

fn is_readable(pair: &str) -> bool {
    let (key, value) = halves(pair);
    // Each on its own: a letter must not begin in the name and end in the value.
    [key, value.unwrap_or("")]
        .into_iter()
        .all(|text| !has_broken_escape(text.as_bytes()) && percent_decode_str(text).decode_utf8().is_ok())
}

fn unreadable(pair: &str) -> String {
    let shown = |text: &str| text.chars().take(80).collect::<String>();
    let (key, value) = halves(pair);
    format!(
        "query parameter {:?}: found {:?}; expected %XX escapes of UTF-8 bytes, for example ?name=100%25",
        shown(key),
        shown(value.unwrap_or(""))
    )
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
        assert_eq!(all("a=1&flag&a=3&=x"), Ok(entries.to_vec()));
        assert_eq!(number("n=12", "n"), Ok(Some(12)));
        assert_eq!(number("n=", "n"), Err("".into()));
        assert_eq!(number("", "n"), Ok(None));
    }

    #[test]
    fn escapes_that_cannot_be_read_are_refused_by_name() {
        for (query, named) in [
            ("a=1&b=%ff", "query parameter \"b\": found \"%ff\""),
            ("b=%zz", "query parameter \"b\": found \"%zz\""),
            ("b=100%", "found \"100%\""),
            ("%C3=%A9", "query parameter \"%C3\""),
            ("a=%ED%A0%80", "found \"%ED%A0%80\""),
        ] {
            let error = all(query).expect_err(query);
            assert!(error.contains(named) && error.contains("expected %XX escapes of UTF-8"), "{error}");
        }
        let entries = [("é", "ü %"), ("+", " ")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(all("%C3%A9=%c3%bc+%25&%2B=+"), Ok(entries.to_vec()));
    }
}
