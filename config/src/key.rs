//! Names of properties and when two of them are the same (`spec/spring.md` 3.1).
//!
//! A name is a list of elements, split at dots; `[...]` is an element too. Two names are the same if their elements are
//! equal after `-` and `_` are dropped and the rest is lower case. What stands in brackets is data and compared as it is.
//! Nothing here knows which names exist.

/// One part of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    /// As written, without brackets.
    pub written: String,
    /// What is compared.
    pub canonical: String,
    /// True if it stood in brackets.
    pub bracketed: bool,
}

/// Splits a name. Never fails: an unclosed bracket is text like any other.
pub(crate) fn elements(name: &str) -> Vec<Element> {
    let mut found = Vec::new();
    let mut rest = name;
    loop {
        if let Some(inside) = rest.strip_prefix('[')
            && let Some((index, after)) = inside.split_once(']')
        {
            found.push(Element { written: index.into(), canonical: format!("[{index}]"), bracketed: true });
            rest = after.strip_prefix('.').unwrap_or(after);
            if rest.is_empty() {
                return found;
            }
            continue;
        }
        let start = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[start..].find(['.', '[']).map_or(rest.len(), |at| at + start);
        let end = if rest.starts_with('.') { 0 } else { end };
        found.push(plain(&rest[..end]));
        match rest[end..].chars().next() {
            None => return found,
            Some('.') => rest = &rest[end + 1..],
            Some(_) if rest[end..].contains(']') => rest = &rest[end..],
            Some(_) => {
                // an unclosed bracket: everything up to the end belongs to the last element
                found.pop();
                found.push(plain(rest));
                return found;
            }
        }
    }
}

fn plain(text: &str) -> Element {
    Element { written: text.into(), canonical: canonical_element(text), bracketed: false }
}

/// One element, comparable.
pub(crate) fn canonical_element(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '-' | '_')).flat_map(char::to_lowercase).collect()
}

/// A whole name, comparable.
pub(crate) fn canonical(name: &str) -> String {
    join(&elements(name))
}

/// The comparable form of some elements.
pub(crate) fn join(elements: &[Element]) -> String {
    let mut joined = String::new();
    for element in elements {
        if !joined.is_empty() && !element.bracketed {
            joined.push('.');
        }
        joined.push_str(&element.canonical);
    }
    joined
}

/// The key of a map entry: the elements after the map's own name, kept as they are.
///
/// Characters other than letters, digits, `-`, `_` and `.` are dropped unless they stood in brackets, as Boot does.
pub(crate) fn map_key(elements: &[Element]) -> String {
    let mut key = String::new();
    for (at, element) in elements.iter().enumerate() {
        if at > 0 {
            key.push('.');
        }
        key.extend(element.written.chars().filter(|c| is_kept(element, *c)));
    }
    key
}

/// True if [`map_key`] leaves something out.
pub(crate) fn loses_signs(elements: &[Element]) -> bool {
    elements.iter().any(|element| !element.written.chars().all(|c| is_kept(element, c)))
}

fn is_kept(element: &Element, c: char) -> bool {
    element.bracketed || c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// Compares an environment variable with a name: dots are `_`, dashes are dropped or `_`, case does not matter.
///
/// Returns the parts of the variable that the name does not use (a list index or a map key), or `None` if it is not this name.
pub(crate) fn match_variable(variable: &str, canonical_elements: &[&str]) -> Option<Vec<String>> {
    let mut parts = variable.split(['_', '-']).map(str::to_lowercase);
    for element in canonical_elements {
        let element = element.trim_start_matches('[').trim_end_matches(']');
        let mut taken = String::new();
        while taken != element {
            let part = parts.next()?;
            taken.push_str(&part);
            if part.is_empty() || !element.starts_with(&taken) {
                return None;
            }
        }
    }
    Some(parts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(name: &str) -> Vec<String> {
        elements(name).into_iter().map(|e| e.written).collect()
    }

    #[test]
    fn all_spellings_of_a_name_are_one() {
        let expected = "eureka.server.renewalpercentthreshold";
        for name in [
            "eureka.server.renewal-percent-threshold",
            "eureka.server.renewalPercentThreshold",
            "Eureka.SERVER.renewal_percent_threshold",
        ] {
            assert_eq!(canonical(name), expected, "{name}");
        }
    }

    #[test]
    fn brackets_are_elements() {
        assert_eq!(written("a.b[0].c[x.y]"), ["a", "b", "0", "c", "x.y"]);
        assert_eq!(canonical("a.b[0].cD"), "a.b[0].cd");
        assert_eq!(written("[x]"), ["x"]);
    }

    #[test]
    fn odd_names_are_text() {
        assert_eq!(written("a[b"), ["a[b"]);
        assert_eq!(written("a..b"), ["a", "", "b"]);
        assert_eq!(written(""), [""]);
        assert_eq!(written("a."), ["a", ""]);
        assert_eq!(written("[x].a"), ["x", "a"]);
    }

    #[test]
    fn map_keys_keep_their_spelling() {
        let key = |name: &str| map_key(&elements(name)[1..]);
        assert_eq!(key("m.defaultZone"), "defaultZone");
        assert_eq!(key("m.user_name.Two"), "user_name.Two");
        assert_eq!(key("m.my key/2"), "mykey2");
        assert_eq!(key("m[my key/2]"), "my key/2");
    }

    #[test]
    fn variables_match_in_every_form() {
        let name = ["eureka", "server", "renewalpercentthreshold"];
        for variable in [
            "EUREKA_SERVER_RENEWALPERCENTTHRESHOLD",
            "EUREKA_SERVER_RENEWAL_PERCENT_THRESHOLD",
            "eureka_server_renewal-percent-threshold",
        ] {
            assert_eq!(match_variable(variable, &name), Some(vec![]), "{variable}");
        }
        assert_eq!(match_variable("EUREKA_SERVER_RENEWALPERCENT", &name), None);
        assert_eq!(match_variable("EUREKASERVER_RENEWALPERCENTTHRESHOLD", &name), None);
        assert_eq!(match_variable("EUREKA__SERVER_RENEWALPERCENTTHRESHOLD", &name), None);
        assert_eq!(match_variable("A_B_0", &["a", "b"]), Some(vec!["0".to_owned()]));
    }

    proptest! {
        #[test]
        fn no_name_panics(name in "[a-zA-Z\\[\\]._\\-é ]{0,40}", variable in "\\PC{0,40}") {
            let parts = elements(&name);
            let _ = (canonical(&name), map_key(&parts));
            let canonical: Vec<&str> = parts.iter().map(|e| e.canonical.as_str()).collect();
            let _ = match_variable(&variable, &canonical);
        }
    }
}
