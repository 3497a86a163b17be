//! Every key that is known: its documented name, what it may hold, what holds without it, and what it does here.
//!
//! One table per concern. The shipped file, the documentation, the binding and the hints for misspelt keys all come from
//! here; nothing else lists keys. What a key means to the node is decided in `resolve`.

mod asg;
mod client;
mod instance;
mod netflix;
mod own;
mod regions;
mod registry;
mod spring;

pub(crate) use netflix::{Transform, find_alias, netflix_names};

use crate::key::{self, Element};
use std::collections::HashMap;
use std::sync::LazyLock;

/// One key.
#[derive(Debug)]
pub(crate) struct KeySpec {
    /// As the Spring documentation writes it; a family ends in `.*`.
    pub name: &'static str,
    pub kind: Kind,
    pub default: Default,
    pub effect: Effect,
    /// Unit, meaning, reason of the default; whole sentences.
    pub about: &'static str,
}

/// What a value may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Text,
    /// Text that is never shown.
    Secret,
    Bool,
    /// A whole number between two bounds.
    Integer(i64, i64),
    /// 0 for "off", or a whole number between two bounds.
    ZeroOr(i64, i64),
    /// A number between two bounds.
    Decimal(f64, f64),
    /// One of some words.
    Word(&'static [&'static str]),
    /// A length of time such as `500ms`, `30s`, `PT1M`; a bare number is milliseconds.
    Duration,
    /// A size such as `16KB`; a bare number is bytes.
    Size,
    /// A size of at least so many bytes.
    SizeFrom(u64),
    /// A number of threads, or `auto`.
    Threads,
    /// Comma-separated or indexed.
    List,
    /// Free keys, one text each.
    Map,
    /// Free keys, one list each.
    MapOfLists,
    /// All keys below a prefix.
    Family,
}

impl Kind {
    pub(crate) fn is_map(self) -> bool {
        matches!(self, Self::Map | Self::MapOfLists)
    }

    /// What may be written, in words.
    pub(crate) fn allowed(self) -> String {
        match self {
            Self::Text | Self::Secret => "any text".into(),
            Self::Bool => "true, on, yes, 1, false, off, no or 0".into(),
            Self::Integer(min, max) if max == i64::MAX => {
                format!("a whole number of at least {min}, without a unit")
            }
            Self::Integer(min, max) => format!("a whole number from {min} to {max}, without a unit"),
            Self::ZeroOr(min, max) => {
                format!("0 for none, or a whole number from {min} to {max}, without a unit")
            }
            Self::Decimal(min, max) => format!("a number from {min} to {max}"),
            Self::Word(words) => format!("one of {}", words.join(", ")),
            Self::Duration => "a length of time such as 500ms, 30s, 2m or PT30S".into(),
            Self::Size => "a size such as 16384, 16KB or 1MB".into(),
            Self::SizeFrom(min) => format!("a size of at least {min} bytes, such as 16384, 16KB or 1MB"),
            Self::Threads => "auto or a whole number from 1 to 1024".into(),
            Self::List => "a list, separated by commas".into(),
            Self::Map | Self::MapOfLists => "names with a value each".into(),
            Self::Family => "nothing".into(),
        }
    }
}

/// What holds if nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    /// This; writing it changes nothing.
    Is(&'static str),
    /// Nothing of the kind: what that means, and an example of a value.
    Absent { means: &'static str, example: &'static str },
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It works.
    Acts,
    /// It steers where values come from and is used before all others.
    Loads,
    /// It has no meaning here; the reason is told once if somebody sets it.
    Inert,
}

const fn acts(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> KeySpec {
    KeySpec { name, kind, default: Default::Is(default), effect: Effect::Acts, about }
}

const fn acts_if_set(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    means: &'static str,
    about: &'static str,
) -> KeySpec {
    KeySpec { name, kind, default: Default::Absent { means, example }, effect: Effect::Acts, about }
}

const fn inert(name: &'static str, kind: Kind, default: &'static str, reason: &'static str) -> KeySpec {
    KeySpec { name, kind, default: Default::Is(default), effect: Effect::Inert, about: reason }
}

const fn loads(
    name: &'static str,
    kind: Kind,
    example: &'static str,
    means: &'static str,
    about: &'static str,
) -> KeySpec {
    KeySpec { name, kind, default: Default::Absent { means, example }, effect: Effect::Loads, about }
}

const ONE_PASSWORD: &str = "A PKCS12 store has one password, for itself and for its keys.";
const COUNT: Kind = Kind::Integer(0, i32::MAX as i64);
const POSITIVE: Kind = Kind::Integer(1, i32::MAX as i64);
/// A limit of time in milliseconds: none that is shorter leaves a usual network a chance.
const TIME_LIMIT: Kind = Kind::Integer(100, i32::MAX as i64);
const LONG: Kind = Kind::Integer(0, i64::MAX);
const PORT: Kind = Kind::Integer(0, 65_535);

/// A group of keys with a heading, in the order of the shipped file.
pub(crate) struct Section {
    pub title: &'static str,
    pub keys: &'static [KeySpec],
}

/// All groups.
pub(crate) const SECTIONS: &[Section] = &[
    Section { title: "Where values come from", keys: spring::LOADING },
    Section { title: "Listener", keys: spring::LISTENER },
    Section { title: "TLS of the listener", keys: spring::TLS },
    Section { title: "Name, address and access", keys: spring::APPLICATION },
    Section { title: "Actuator and logs", keys: spring::OPERATION },
    Section { title: "Start page", keys: registry::PAGE },
    Section { title: "Self-preservation, eviction, start", keys: registry::RULES },
    Section { title: "Response cache and delta", keys: registry::CACHE },
    Section { title: "Replication to peers", keys: registry::PEERS },
    Section { title: "Auto-scaling groups", keys: asg::ASG },
    Section { title: "Other regions", keys: regions::REGIONS },
    Section { title: "Rate limiter, metrics, experiments", keys: registry::EXTRAS },
    Section { title: "Who the peers are", keys: client::PEERS },
    Section { title: "Own registration and fetch", keys: client::OWN_CLIENT },
    Section { title: "TLS and proxy towards peers", keys: client::TRANSPORT },
    Section { title: "The record of this server itself", keys: instance::INSTANCE },
    Section { title: "Heureka's own keys", keys: own::OWN },
    Section { title: "Known, but without a meaning here: the registry", keys: registry::INERT },
    Section { title: "Known, but without a meaning here: the client", keys: client::INERT },
    Section { title: "Known, but without a meaning here: the instance", keys: instance::INERT },
    Section { title: "Known, but without a meaning here: Spring", keys: spring::INERT },
];

/// All keys.
pub(crate) fn all() -> impl Iterator<Item = &'static KeySpec> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// A key with what is often needed of its name.
struct Named {
    spec: &'static KeySpec,
    path: Vec<String>,
    position: usize,
}

struct Index {
    by_name: HashMap<&'static str, Named>,
    by_canonical: HashMap<String, &'static KeySpec>,
    families: Vec<(String, &'static KeySpec)>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let families = all().filter(|spec| spec.kind == Kind::Family);
    let mut families: Vec<(String, &'static KeySpec)> =
        families.map(|spec| (key::canonical(spec.name.trim_end_matches('*')), spec)).collect();
    families.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
    let keys = || all().filter(|spec| spec.kind != Kind::Family);
    let named = |(position, spec): (usize, &'static KeySpec)| {
        let path = key::elements(spec.name).into_iter().map(|element| element.canonical).collect();
        (spec.name, Named { spec, path, position })
    };
    Index {
        by_name: keys().enumerate().map(named).collect(),
        by_canonical: keys().map(|spec| (key::canonical(spec.name), spec)).collect(),
        families,
    }
});

/// The key of a name in any spelling.
pub(crate) fn find(name: &str) -> Option<&'static KeySpec> {
    let by_name = INDEX.by_name.get(name).map(|named| named.spec);
    by_name.or_else(|| find_canonical(&key::canonical(name)))
}

fn find_canonical(canonical: &str) -> Option<&'static KeySpec> {
    INDEX.by_canonical.get(canonical).copied()
}

/// The canonical elements of a key by its documented name; none for other names.
pub(crate) fn path(name: &str) -> &'static [String] {
    INDEX.by_name.get(name).map_or(&[], |named| &named.path)
}

/// Place of a key, or of the map that an entry belongs to, in the order of the shipped file.
pub(crate) fn position(name: &str) -> usize {
    let prefixes = name.char_indices().rev().filter(|(_, c)| *c == '.').map(|(at, _)| &name[..at]);
    let mut names = std::iter::once(name).chain(prefixes);
    names.find_map(|name| INDEX.by_name.get(name)).map_or(usize::MAX, |named| named.position)
}

/// Which part of a key a property gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All of it.
    Whole,
    /// One item of a list.
    Item(usize),
    /// One entry of a map.
    Entry(String),
    /// One item of one entry.
    EntryItem(String, usize),
}

/// Finds what a name in any spelling gives.
pub(crate) fn locate(elements: &[Element]) -> Option<(&'static KeySpec, Place)> {
    let whole = key::join(elements);
    // YAML puts keys that are numbers in brackets, as in `experimental.bugfix.934`
    if let Some(spec) =
        find_canonical(&whole).or_else(|| find_canonical(&whole.replace('[', ".").replace(']', "")))
    {
        return Some((spec, Place::Whole));
    }
    let (last, before) = elements.split_last()?;
    let index = last.bracketed.then(|| last.written.parse::<usize>().ok()).flatten();
    if let (Some(index), Some(spec)) = (index, find_canonical(&key::join(before)))
        && spec.kind == Kind::List
    {
        return Some((spec, Place::Item(index)));
    }
    (1..elements.len()).rev().find_map(|length| {
        let spec = find_canonical(&key::join(&elements[..length])).filter(|spec| spec.kind.is_map())?;
        let rest = &elements[length..];
        // Lists by name: a number alone is the item of a sequence and no name.
        if spec.kind == Kind::MapOfLists && index.is_some() && rest.len() == 1 {
            return None;
        }
        match (spec.kind, index) {
            (Kind::MapOfLists, Some(index)) if rest.len() > 1 => {
                Some((spec, Place::EntryItem(key::map_key(&rest[..rest.len() - 1]), index)))
            }
            _ => Some((spec, Place::Entry(key::map_key(rest)))),
        }
    })
}

/// The key that a name gives in a form that the key cannot have: an item or an entry of a single value, an entry of a list.
/// A name below one that other keys lie below too is only unknown.
pub(crate) fn find_misshapen(elements: &[Element]) -> Option<(&'static KeySpec, Form)> {
    (1..elements.len()).rev().find_map(|length| {
        let prefix = key::join(&elements[..length]);
        let next = elements.get(length)?;
        let form =
            if next.bracketed && next.written.parse::<usize>().is_ok() { Form::List } else { Form::Map };
        let spec = find_canonical(&prefix).or_else(|| {
            let alias = netflix::find_alias(&elements[..length]).filter(|_| form == Form::List)?;
            find(alias.name).filter(|_| alias.place == Place::Whole)
        })?;
        let is_taken = form == Form::Map && has_keys_below(&prefix);
        // A map may have any entry; its items are only too many if nothing else can be meant.
        let is_open = spec.kind == Kind::Map || (spec.kind == Kind::MapOfLists && form == Form::Map);
        (!is_taken && !is_open).then_some((spec, form))
    })
}

/// How a value was written that does not fit its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `key[0]`, a sequence.
    List,
    /// `key.name`, a mapping.
    Map,
}

/// True for the name of a section: other keys lie below it.
pub(crate) fn has_keys_below(canonical: &str) -> bool {
    let prefix = format!("{canonical}.");
    let is_key = INDEX.by_canonical.keys().any(|name| name.starts_with(&prefix));
    is_key || INDEX.families.iter().any(|(family, _)| family.starts_with(&prefix))
}

/// The family that a canonical name belongs to.
pub(crate) fn find_family(canonical: &str) -> Option<&'static KeySpec> {
    INDEX.families.iter().find(|(prefix, _)| canonical.starts_with(prefix)).map(|(_, spec)| *spec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn located(name: &str) -> Option<(&'static str, Place)> {
        locate(&key::elements(name)).map(|(spec, place)| (spec.name, place))
    }

    #[test]
    fn no_two_keys_are_the_same_and_none_lies_below_a_map() {
        let mut seen = HashSet::new();
        for spec in all() {
            assert!(seen.insert(key::canonical(spec.name)), "{} stands twice", spec.name);
        }
        for map in all().filter(|spec| spec.kind.is_map()) {
            let prefix = format!("{}.", key::canonical(map.name));
            assert!(seen.iter().all(|name| !name.starts_with(&prefix)), "a key lies below {}", map.name);
        }
    }

    #[test]
    fn no_two_keys_share_an_environment_variable() {
        let mut seen = HashSet::new();
        for spec in all().filter(|spec| spec.kind != Kind::Family) {
            let variable = key::canonical(spec.name).replace('.', "_").to_uppercase();
            assert!(seen.insert(variable), "{}", spec.name);
        }
    }

    #[test]
    fn names_are_located() {
        assert_eq!(located("EUREKA.server.myURL"), Some(("eureka.server.my-url", Place::Whole)));
        let entry = |key: &str| Place::Entry(key.into());
        assert_eq!(
            located("eureka.client.serviceUrl.defaultZone"),
            Some(("eureka.client.service-url", entry("defaultZone")))
        );
        assert_eq!(
            located("eureka.instance.metadata-map.a.b[c/d]"),
            Some(("eureka.instance.metadata-map", entry("a.b.c/d")))
        );
        assert_eq!(
            located("eureka.client.availabilityZones.eu-1[1]"),
            Some(("eureka.client.availability-zones", Place::EntryItem("eu-1".into(), 1)))
        );
        assert_eq!(
            located("management.endpoints.web.exposure.include[0]"),
            Some(("management.endpoints.web.exposure.include", Place::Item(0)))
        );
        assert_eq!(located("eureka.server.nope"), None);
        assert_eq!(located("eureka.client.service-url[0]"), None);
        assert_eq!(find_family("server.tomcat.threads.max").map(|s| s.name), Some("server.tomcat.*"));
    }

    #[test]
    fn forms_that_do_not_fit_are_found() {
        let found = |name: &str| find_misshapen(&key::elements(name)).map(|(spec, form)| (spec.name, form));
        let rows = [
            ("server.port[0]", "server.port", Form::List),
            ("server.port.http", "server.port", Form::Map),
            ("server.port[1].x", "server.port", Form::List),
            ("server.compression.mimeTypes.a", "server.compression.mime-types", Form::Map),
            ("server.compression.mime-types[0].a", "server.compression.mime-types", Form::List),
            ("eureka.client.service-url[0]", "eureka.client.service-url", Form::List),
            ("eureka.myUrl[0]", "eureka.server.my-url", Form::List),
        ];
        for (name, key, form) in rows {
            assert_eq!(found(name), Some((key, form)), "{name}");
        }
        // Other keys lie below spring.profiles; eureka.region is Netflix' and may stand in front of anything.
        for name in ["spring.profiles.more", "eureka.region.x", "eureka.server.nope.x", "my.own[0]"] {
            assert_eq!(found(name), None, "{name}");
        }
    }

    #[test]
    fn every_key_has_a_sentence() {
        for spec in all() {
            assert!(spec.about.ends_with('.'), "{}", spec.name);
        }
    }
}
