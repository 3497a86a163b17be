//! One value as it was written, and where.

use crate::key;
use std::collections::HashMap;
use std::fmt;

/// Where arguments stand.
pub(crate) const COMMAND_LINE: &str = "command line";

/// Where a value comes from, in words an operator can act on. Never contains the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file and, if known, the line (from 1).
    File {
        /// Path as it was found.
        path: String,
        /// Line of the value.
        line: Option<usize>,
    },
    /// An environment variable.
    Environment(String),
    /// `-Dname=value` in one of the variables that carry JVM options, or on the command line.
    SystemProperty {
        /// The variable, or `command line`.
        carrier: String,
    },
    /// `SPRING_APPLICATION_JSON` or `spring.application.json`.
    Json,
    /// `--name=value`.
    Argument,
    /// Given by the program itself, as tests do.
    Given,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line: Some(line) } => write!(f, "{path}:{line}"),
            Self::File { path, line: None } => f.write_str(path),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::SystemProperty { carrier } if carrier == COMMAND_LINE => {
                write!(f, "-D on the {COMMAND_LINE}")
            }
            Self::SystemProperty { carrier } => write!(f, "-D in {carrier}"),
            Self::Json => f.write_str("SPRING_APPLICATION_JSON"),
            Self::Argument => f.write_str(COMMAND_LINE),
            Self::Given => f.write_str("given"),
        }
    }
}

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Full name as written, elements joined by dots.
    pub name: String,
    /// Value as written, placeholders unresolved.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
}

/// How the names of a source are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    /// Names are names.
    Plain,
    /// Names are names; a list may be given by repeating an argument.
    Arguments,
    /// Names are environment variables, in upper case with underscores, or literally dotted.
    Environment,
}

/// All values of one place, with an index for look-ups by any spelling. The last value of a name counts.
#[derive(Clone, Debug)]
pub(crate) struct PropertySource {
    pub kind: SourceKind,
    pub properties: Vec<Property>,
    exact: HashMap<String, usize>,
    relaxed: HashMap<String, usize>,
}

impl PropertySource {
    pub(crate) fn new(kind: SourceKind, properties: Vec<Property>) -> Self {
        let mut exact = HashMap::new();
        let mut relaxed = HashMap::new();
        for (at, property) in properties.iter().enumerate() {
            exact.insert(property.name.clone(), at);
            if kind != SourceKind::Environment || property.name.contains('.') {
                relaxed.insert(key::canonical(&property.name), at);
            }
        }
        Self { kind, properties, exact, relaxed }
    }

    /// The value of a name: exactly as written, else in any spelling.
    pub(crate) fn find(&self, name: &str) -> Option<&Property> {
        let at = self.exact.get(name).or_else(|| self.relaxed.get(&key::canonical(name))).copied();
        match at {
            Some(at) => self.properties.get(at),
            None if self.kind == SourceKind::Environment => self.find_variable(name),
            None => None,
        }
    }

    /// A dotted name may be given by a variable in upper case; a variable's own name was tried before.
    fn find_variable(&self, name: &str) -> Option<&Property> {
        if !name.contains('.') {
            return None;
        }
        let elements = key::elements(name);
        let canonical: Vec<&str> = elements.iter().map(|e| e.canonical.as_str()).collect();
        let named =
            |p: &Property| key::match_variable(&p.name, &canonical).is_some_and(|rest| rest.is_empty());
        self.properties.iter().find(|p| named(p) && !is_service_link(&p.name, &p.value))
    }
}

/// True for a variable that Kubernetes or Docker sets to tell a container where a service is, such as
/// `EUREKA_PORT=tcp://10.0.0.1:8761`. It is nobody's configuration although its name may look like a key.
pub(crate) fn is_service_link(variable: &str, value: &str) -> bool {
    let behind = |part: &str| variable.rsplit_once(part).map(|(_, behind)| behind);
    if variable.ends_with("_SERVICE_HOST") || variable.ends_with("_SERVICE_PORT") {
        return true;
    }
    if behind("_SERVICE_PORT_").is_some() || (variable.ends_with("_PORT") && value.contains("://")) {
        return true;
    }
    let transport = |rest: &str| {
        let (port, rest) = rest.split_once('_').unwrap_or((rest, ""));
        !port.is_empty()
            && port.bytes().all(|b| b.is_ascii_digit())
            && ["TCP", "UDP", "SCTP"].iter().any(|name| rest.starts_with(name))
    };
    behind("_PORT_").is_some_and(transport)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(name: &str, value: &str) -> Property {
        Property { name: name.into(), value: value.into(), origin: Origin::Given }
    }

    #[test]
    fn the_last_value_of_a_name_counts_and_an_exact_name_wins() {
        let source = PropertySource::new(
            SourceKind::Plain,
            vec![property("a.b-c", "1"), property("a.bC", "2"), property("a.d", "3"), property("a.d", "4")],
        );
        assert_eq!(source.find("a.b-c").unwrap().value, "1");
        assert_eq!(source.find("a.b_c").unwrap().value, "2");
        assert_eq!(source.find("a.d").unwrap().value, "4");
        assert!(source.find("a").is_none());
    }

    #[test]
    fn links_to_services_are_recognised() {
        for name in
            ["EUREKA_SERVICE_HOST", "EUREKA_SERVICE_PORT", "EUREKA_SERVICE_PORT_HTTP", "EUREKA_PORT_8761_TCP"]
        {
            assert!(is_service_link(name, "x"), "{name}");
        }
        assert!(
            is_service_link("SERVER_PORT", "tcp://10.0.0.1:80") && is_service_link("E_PORT_80_TCP_ADDR", "x")
        );
        assert!(!is_service_link("SERVER_PORT", "8761") && !is_service_link("EUREKA_PORT_X", "x"));
        let link = property("SERVER_PORT", "tcp://10.0.0.1:80");
        assert!(PropertySource::new(SourceKind::Environment, vec![link]).find("server.port").is_none());
    }

    #[test]
    fn variables_answer_to_dotted_names_and_to_their_own() {
        let source = PropertySource::new(
            SourceKind::Environment,
            vec![property("MY_KEY", "1"), property("x.yZ", "2")],
        );
        assert_eq!(source.find("my.key").unwrap().value, "1");
        assert_eq!(source.find("MY_KEY").unwrap().value, "1");
        assert_eq!(source.find("x.y-z").unwrap().value, "2");
        assert!(source.find("mykey").is_none());
    }
}
