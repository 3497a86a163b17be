//! The list of known keys for others: help texts, documentation, tests.

use crate::catalogue::{self, Default, Effect, KeySpec, Kind};

/// A key that is understood, or known to have no meaning here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// As the Spring documentation writes it. A family ends in `.*`.
    pub name: &'static str,
    /// What may be written, in words.
    pub allowed: String,
    /// What holds if it is not set; `None` if nothing does.
    pub default: Option<&'static str>,
    /// What it means that nothing holds; empty if there is a default.
    pub without: &'static str,
    /// A valid value; for a map one entry, `name: value`.
    pub example: &'static str,
    /// What it does.
    pub role: KeyRole,
    /// Whether it takes one value, several, or names with values.
    pub shape: KeyShape,
    /// Whether its value is never shown.
    pub is_secret: bool,
    /// Unit, meaning, reason.
    pub about: &'static str,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// It works.
    Acts,
    /// It steers where values come from.
    Loads,
    /// It is accepted and has no meaning here; `about` says why.
    Inert,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyShape {
    /// One value.
    Single,
    /// Several values, separated by commas or indexed.
    List,
    /// Names with a value each.
    Map,
    /// Everything below a prefix.
    Family,
}

/// All known keys in the order of the shipped file.
pub fn known_keys() -> impl Iterator<Item = KnownKey> {
    catalogue::all().map(known)
}

fn known(spec: &'static KeySpec) -> KnownKey {
    let (default, without, example) = match spec.default {
        Default::Is(value) => (Some(value), "", value),
        Default::Absent { means, example } => (None, means, example),
    };
    KnownKey {
        name: spec.name,
        allowed: spec.kind.allowed(),
        default,
        without,
        example,
        role: match spec.effect {
            Effect::Acts => KeyRole::Acts,
            Effect::Loads => KeyRole::Loads,
            Effect::Inert => KeyRole::Inert,
        },
        shape: match spec.kind {
            Kind::List => KeyShape::List,
            Kind::Map | Kind::MapOfLists => KeyShape::Map,
            Kind::Family => KeyShape::Family,
            _ => KeyShape::Single,
        },
        is_secret: spec.kind == Kind::Secret,
        about: spec.about,
    }
}
