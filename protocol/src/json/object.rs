//! Objects and lists of a body, read in one pass by seeds that know where they stand.
//!
//! Two kinds of errors are kept apart. Text that is no JSON ends the reading. Content that is wrong (a list where a text
//! belongs) is noted in the [`Report`], and the reading goes on behind it: so the fault of one item costs that item only.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::scalar::{Number, Scalar};
use crate::error::ReadError;
use crate::report::{Path, Report};
use crate::text::Excerpt;

/// A kind of object: what its members mean.
pub(super) trait Object<'de>: Default {
    /// What belongs here, for the error message when something else is found.
    const EXPECTED: &'static str;

    /// Reads or skips the value of one member. A member that comes twice is read twice: the last one wins.
    ///
    /// # Errors
    ///
    /// Only those of the text; a fault of content goes into the report.
    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error>;

    /// Takes a number or a text that stands in place of the object; false if it means nothing here.
    fn bare(&mut self, _value: &Bare<'_>) -> bool {
        false
    }
}

/// A plain value in place of an object.
pub(super) enum Bare<'v> {
    Number(i64),
    Text(&'v str),
}

/// What was found where an object belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// An object, or a plain value that stands for one.
    Object,
    Null,
    /// Something else; a fault has been noted.
    Other,
}

/// What a text that is no number means where a number belongs.
pub(super) enum Word<N> {
    /// This number.
    Is(N),
    /// The same as null.
    IsNothing,
    /// A fault.
    IsRefused,
}

/// A kind of list, all of whose items are objects.
pub(super) trait Items<'de> {
    type Item: Object<'de>;
    /// What belongs here, for the error message when something else is found.
    const EXPECTED_LIST: &'static str;
    /// Whether one object in place of the list means a list of one, as old XStream writers have it.
    const TAKES_ONE: bool;
    /// Most items that are taken.
    fn most(&self, report: &Report<'_>) -> usize;
    /// Takes one item: read, or with its first fault. `is_object` is false if it was no object at all.
    fn push(&mut self, item: Result<Self::Item, ReadError>, is_object: bool);
}

/// The value of one member, not yet read.
pub(super) struct Value<'v, 'de, A> {
    map: &'v mut A,
    pub(super) at: Path<'v>,
    pub(super) report: &'v Report<'v>,
    _body: std::marker::PhantomData<&'de ()>,
}

impl<'v, 'de, A: MapAccess<'de>> Value<'v, 'de, A> {
    /// Passes over a value of any type, unless it is nested too deeply.
    pub(super) fn skip(self) -> Result<(), A::Error> {
        let raw = self.map.next_value::<&RawValue>()?;
        let limit = self.report.limits.depth;
        if nesting(raw.get()) > limit {
            self.report.fault(self.at, "a deeply nested value", format_args!("at most {limit} levels"));
        }
        Ok(())
    }

    /// A plain value; `None`, with a fault noted, for an object or a list.
    pub(super) fn scalar(self, expected: &str) -> Result<Option<Scalar<'de>>, A::Error> {
        let raw = self.map.next_value::<&'de RawValue>()?;
        match Scalar::from_raw(raw) {
            Ok(scalar) => Ok(Some(scalar)),
            Err(found) => {
                self.report.fault(self.at, found, expected);
                Ok(None)
            }
        }
    }

    /// Stores a text, or a number or flag as its text; null leaves the slot as it is.
    pub(super) fn text_into(self, slot: &mut Option<Box<str>>) -> Result<(), A::Error> {
        let (at, report) = (self.at, self.report);
        if let Some(text) = self.scalar("a text")?.and_then(Scalar::into_text) {
            *slot = report.bounded_text(at, &text);
        }
        Ok(())
    }

    /// A whole number of 32 or 64 bits; `None` for null.
    pub(super) fn number<N: TryFrom<i64>>(self, word: Word<N>) -> Result<Option<N>, A::Error> {
        let (at, report) = (self.at, self.report);
        let Some(scalar) = self.scalar("a whole number")? else { return Ok(None) };
        let whole = match (scalar.as_number(), word) {
            (Number::Absent, _) | (Number::Word, Word::IsNothing) => return Ok(None),
            (Number::Word, Word::Is(number)) => return Ok(Some(number)),
            (Number::Whole(whole), _) => N::try_from(whole).ok(),
            (Number::TooLarge, _) | (Number::Word, Word::IsRefused) => None,
        };
        if whole.is_none() {
            let bits = size_of::<N>() * 8;
            report.fault(at, scalar, format_args!("a whole number of {bits} bits"));
        }
        Ok(whole)
    }

    /// Reads an object into `target`.
    pub(super) fn object<T: Object<'de>>(self, target: &mut T) -> Result<Found, A::Error> {
        self.map.next_value_seed(ObjectSeed { target, at: self.at, report: self.report })
    }

    /// Reads a list of objects into `target`; false for null.
    pub(super) fn list<L: Items<'de>>(self, target: &mut L) -> Result<bool, A::Error> {
        self.map.next_value_seed(ListSeed { target, at: self.at, report: self.report })
    }
}

/// Levels of nesting in well-formed JSON.
fn nesting(raw: &str) -> usize {
    let (mut depth, mut deepest, mut in_text, mut is_escaped) = (0_usize, 0, false, false);
    if !raw.starts_with(['{', '[']) {
        return 0;
    }
    for byte in raw.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// A member name, borrowed from the body unless it holds escapes.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Cow<'de, str>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Cow<'de, str>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }
    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }
    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

/// Reads one object.
pub(super) struct ObjectSeed<'v, T> {
    pub(super) target: &'v mut T,
    pub(super) at: Path<'v>,
    pub(super) report: &'v Report<'v>,
}

impl<T> ObjectSeed<'_, T> {
    fn other(self, found: impl fmt::Display, expected: &str) -> Found {
        self.report.fault(self.at, found, expected);
        Found::Other
    }

    fn members<'de, A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error>
    where
        T: Object<'de>,
    {
        let Self { target, at, report } = self;
        while let Some(name) = map.next_key_seed(NameSeed)? {
            let at = at.name(&name);
            let value = Value { map: &mut map, at, report, _body: std::marker::PhantomData };
            target.member(&name, value).inspect_err(|_| report.broken(at))?;
        }
        Ok(Found::Object)
    }

    fn bare<'de>(self, value: &Bare<'_>, found: impl fmt::Display) -> Found
    where
        T: Object<'de>,
    {
        if self.target.bare(value) { Found::Object } else { self.other(found, T::EXPECTED) }
    }
}

impl<'de, T: Object<'de>> DeserializeSeed<'de> for ObjectSeed<'_, T> {
    type Value = Found;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Object<'de>> Visitor<'de> for ObjectSeed<'_, T> {
    type Value = Found;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Found, A::Error> {
        self.members(map)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.other("a list", T::EXPECTED))
    }
    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Found, E> {
        Ok(self.other(value, T::EXPECTED))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Found, E> {
        Ok(self.bare(&Bare::Number(value), value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Found, E> {
        match i64::try_from(value) {
            Ok(number) => Ok(self.bare(&Bare::Number(number), value)),
            Err(_) => Ok(self.other(value, T::EXPECTED)),
        }
    }
    fn visit_f64<E>(self, value: f64) -> Result<Found, E> {
        Ok(self.other(value, T::EXPECTED))
    }
    fn visit_str<E>(self, value: &str) -> Result<Found, E> {
        Ok(self.bare(&Bare::Text(value), Excerpt(value)))
    }
}

/// Reads one list of objects.
struct ListSeed<'v, L> {
    target: &'v mut L,
    at: Path<'v>,
    report: &'v Report<'v>,
}

impl<'de, L: Items<'de>> ListSeed<'_, L> {
    fn other(self, found: impl fmt::Display) -> bool {
        self.report.fault(self.at, found, L::EXPECTED_LIST);
        true
    }
}

impl<'de, L: Items<'de>> DeserializeSeed<'de> for ListSeed<'_, L> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, L: Items<'de>> Visitor<'de> for ListSeed<'_, L> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(L::EXPECTED_LIST)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let Self { target, at, report } = self;
        let most = target.most(report);
        for index in 0..most {
            let at = at.index(index);
            let item_report = Report::for_item(report);
            let mut item = L::Item::default();
            let seed = ObjectSeed { target: &mut item, at, report: &item_report };
            match list.next_element_seed(seed).inspect_err(|_| report.broken(at))? {
                None => return Ok(true),
                Some(Found::Null) => item_report.fault(at, "null", L::Item::EXPECTED),
                Some(Found::Object) => {
                    target.push(item_report.verdict(item), true);
                    continue;
                }
                Some(Found::Other) => {}
            }
            target.push(item_report.verdict(item), false);
        }
        let mut extra = 0_usize;
        while list.next_element::<IgnoredAny>()?.is_some() {
            extra += 1;
        }
        if extra > 0 {
            report.fault(at, format_args!("{} items", most + extra), format_args!("at most {most} items"));
        }
        Ok(true)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<bool, A::Error> {
        if !L::TAKES_ONE {
            let mut map = map;
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(self.other("an object"));
        }
        let item_report = Report::for_item(self.report);
        let mut item = L::Item::default();
        ObjectSeed { target: &mut item, at: self.at, report: &item_report }.members(map)?;
        self.target.push(item_report.verdict(item), true);
        Ok(true)
    }
    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(self.other(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<bool, E> {
        Ok(self.other(value))
    }
    fn visit_u64<E>(self, value: u64) -> Result<bool, E> {
        Ok(self.other(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<bool, E> {
        Ok(self.other(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<bool, E> {
        Ok(self.other(Excerpt(value)))
    }
}
