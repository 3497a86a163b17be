//! `-Dname=value` in variables that carry JVM options. Users' images set them; everything else in there is for Java.

use crate::property::{Origin, Property};

/// Variables that a JVM or the usual start scripts read, lowest precedence first.
const CARRIERS: &[&str] = &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "_JAVA_OPTIONS"];

/// All `-D` pairs of the environment.
pub(super) fn system_properties(env: &[(String, String)]) -> Vec<Property> {
    let mut properties = Vec::new();
    for carrier in CARRIERS {
        for (_, options) in env.iter().filter(|(name, _)| name == carrier) {
            properties.extend(words(options).iter().filter_map(|word| definition(word, carrier)));
        }
    }
    properties
}

/// Reads one `-Dname=value`; without a value it is empty.
pub(super) fn definition(word: &str, carrier: &str) -> Option<Property> {
    let pair = word.strip_prefix("-D")?;
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    if name.is_empty() {
        return None;
    }
    let origin = Origin::SystemProperty { carrier: carrier.to_owned() };
    Some(Property { name: name.to_owned(), value: value.to_owned(), origin })
}

/// Splits at blanks outside quotes and drops the quotes, as the JVM does.
fn words(options: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut started = false;
    for c in options.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                started = true;
            }
            (None, _) if c.is_whitespace() => {
                if started || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                started = false;
            }
            (None, _) => word.push(c),
        }
    }
    if started || !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_are_taken() {
        let env = [
            ("JAVA_OPTS".to_owned(), "-Xmx1g -Da.b=1 '-Dc=x y' -Dd=\"q r\" -De -D=z".to_owned()),
            ("OTHER".to_owned(), "-Dx=1".to_owned()),
        ];
        let read = system_properties(&env);
        let pairs: Vec<_> = read.iter().map(|p| (p.name.as_str(), p.value.as_str())).collect();
        assert_eq!(pairs, [("a.b", "1"), ("c", "x y"), ("d", "q r"), ("e", "")]);
        assert_eq!(read[0].origin.to_string(), "-D in JAVA_OPTS");
    }
}
