//! Reads one key after the other: resolves placeholders, checks against the catalogue, notes value and source for the report.
//!
//! A wrong value becomes a [`Problem`] and the default stands in, so that all problems of a start are told at once.

use super::lookup::Everything;
use super::values;
use crate::binding::{Raw, RawItem};
use crate::catalogue::{self, Default, KeySpec, Kind};
use crate::error::Problem;
use crate::report::{Effective, Notice};
use crate::secret::{MASK, Secret, mask_credentials};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A resolved text with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sourced {
    pub text: String,
    pub origin: String,
    /// How it may be shown.
    pub shown: String,
}

/// See the module.
pub(super) struct Reader<'a> {
    raw: &'a Raw,
    lookup: &'a Everything<'a>,
    working_dir: &'a Path,
    pub problems: Vec<Problem>,
    pub notices: Vec<Notice>,
    pub effective: Vec<Effective>,
    /// Names that placeholders used.
    pub used: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(raw: &'a Raw, lookup: &'a Everything<'a>, working_dir: &'a Path) -> Self {
        Self {
            raw,
            lookup,
            working_dir,
            problems: Vec::new(),
            notices: Vec::new(),
            effective: Vec::new(),
            used: BTreeSet::new(),
        }
    }

    /// The machine's name, if no key says it.
    pub(super) fn machine_hostname(&self) -> String {
        self.lookup.hostname().to_owned()
    }

    /// The machine's address, if no key says it.
    pub(super) fn machine_address(&self) -> String {
        self.lookup.ip_address().to_owned()
    }

    /// The cloud platform, if one is recognised.
    pub(super) fn cloud_platform(&self) -> Option<String> {
        self.lookup.cloud_platform()
    }

    /// A value that no key of the catalogue holds, such as `vcap.application.instance_id`.
    pub(super) fn foreign(&self, name: &str) -> Option<String> {
        let placeholder = format!("${{{name}:}}");
        self.lookup.resolve(&placeholder).ok().map(|(text, _)| text).filter(|text| !text.is_empty())
    }

    /// True if somebody wrote a value.
    pub(super) fn is_set(&self, key: &'static str) -> bool {
        self.raw.text(key).is_some_and(|item| !item.text.trim().is_empty())
    }

    /// Notes a problem with a value.
    pub(super) fn wrong(&mut self, key: &str, found: &Sourced, expected: impl Into<String>) {
        self.problems.push(Problem {
            key: key.to_owned(),
            found: found.shown.clone(),
            origin: found.origin.clone(),
            expected: expected.into(),
        });
    }

    /// Notes a problem with a key that was read before.
    pub(super) fn wrong_as_written(&mut self, key: &'static str, expected: impl Into<String>) {
        let item =
            self.raw.text(key).unwrap_or_else(|| RawItem { text: String::new(), origin: "default".into() });
        let found = Sourced { shown: mask_credentials(&item.text), text: item.text, origin: item.origin };
        self.wrong(key, &found, expected);
    }

    /// Notes what holds and why.
    pub(super) fn note(&mut self, key: &str, value: impl Into<String>, source: impl Into<String>) {
        self.effective.push(Effective { key: key.to_owned(), value: value.into(), source: source.into() });
    }

    fn spec(key: &'static str) -> Option<&'static KeySpec> {
        let spec = catalogue::find(key);
        debug_assert!(spec.is_some_and(|spec| spec.name == key), "{key} is not in the catalogue");
        spec
    }

    fn note_default(&mut self, key: &'static str) {
        let Some(spec) = catalogue::find(key) else { return };
        match spec.default {
            Default::Is(value) if spec.kind == Kind::Secret && !value.is_empty() => {
                self.note(key, MASK, "default")
            }
            Default::Is(value) => self.note(key, value, "default"),
            Default::Absent { means, .. } => self.note(key, "(not set)", format!("default: {means}")),
        }
    }

    /// Resolves a value of a key; a problem if that cannot be done.
    fn resolve(&mut self, key: &str, secret: bool, item: &RawItem) -> Option<Sourced> {
        let raw_shown = if secret { MASK.to_owned() } else { mask_credentials(&item.text) };
        match self.lookup.resolve(&item.text) {
            Ok((text, names)) => {
                let shown = if secret { MASK.to_owned() } else { self.masked(&text, &names) };
                self.used.extend(names);
                Some(Sourced { text, origin: item.origin.clone(), shown })
            }
            Err(why) => {
                let found = Sourced { text: String::new(), origin: item.origin.clone(), shown: raw_shown };
                self.wrong(key, &found, why.to_string());
                None
            }
        }
    }

    /// Credentials in URLs, and values that came from a placeholder with a telling name, are not shown.
    fn masked(&self, text: &str, names: &[String]) -> String {
        if text.contains("-----BEGIN") {
            return "PEM text".to_owned();
        }
        let mut shown = mask_credentials(text);
        for name in names.iter().filter(|name| values::is_sensitive(name)) {
            if let Ok((secret, _)) = self.lookup.resolve(&format!("${{{name}}}"))
                && !secret.is_empty()
            {
                shown = shown.replace(&secret, MASK);
            }
        }
        shown
    }

    /// The text of a key, noted; `None` if it is not set, empty or broken. An empty text means "not set".
    pub(super) fn optional(&mut self, key: &'static str) -> Option<Sourced> {
        let spec = Self::spec(key)?;
        let Some(item) = self.raw.text(key) else {
            self.note_default(key);
            return None;
        };
        let found = self.resolve(key, spec.kind == Kind::Secret, &item)?;
        if found.text.trim().is_empty() {
            let is_text = matches!(spec.kind, Kind::Text | Kind::Secret);
            if !is_text {
                let message = "is empty and counts as not set";
                self.notices.push(Notice::warning(key, &found.origin, message));
            }
            self.note_default(key);
            return None;
        }
        self.note(key, found.shown.clone(), found.origin.clone());
        Some(found)
    }

    /// A text without blanks at its ends; the default if it is not set.
    pub(super) fn text(&mut self, key: &'static str, default: &str) -> String {
        self.optional(key).map_or_else(|| default.to_owned(), |found| found.text.trim().to_owned())
    }

    /// A text that may be absent.
    pub(super) fn optional_text(&mut self, key: &'static str) -> Option<String> {
        self.optional(key).map(|found| found.text.trim().to_owned())
    }

    /// A text that is worked out if it is not set; says how.
    pub(super) fn text_or(
        &mut self,
        key: &'static str,
        how: &str,
        value: impl FnOnce(&mut Self) -> String,
    ) -> String {
        if let Some(found) = self.optional(key) {
            return found.text.trim().to_owned();
        }
        let worked_out = value(self);
        self.effective.retain(|line| line.key != key);
        self.note(key, mask_credentials(&worked_out), how);
        worked_out
    }

    /// A secret as it is written, blanks included.
    pub(super) fn secret(&mut self, key: &'static str, default: &Secret) -> Secret {
        self.optional(key).map_or_else(|| default.clone(), |found| Secret::new(found.text))
    }

    /// Reads a value and checks it; the default if it is not set or wrong.
    fn checked<T>(&mut self, key: &'static str, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let found = self.optional(key)?;
        let value = read(&found.text);
        if value.is_none() {
            let allowed = catalogue::find(key).map(|spec| spec.kind.allowed()).unwrap_or_default();
            self.wrong(key, &found, format!("must be {allowed}"));
        }
        value
    }

    /// Yes or no.
    pub(super) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.checked(key, values::boolean).unwrap_or(default)
    }

    /// A whole number within the bounds of the catalogue.
    pub(super) fn number<T: TryFrom<i64>>(&mut self, key: &'static str, default: T) -> T {
        self.optional_number(key).unwrap_or(default)
    }

    /// The same, if it is set.
    pub(super) fn optional_number<T: TryFrom<i64>>(&mut self, key: &'static str) -> Option<T> {
        let (min, max, is_zero_allowed) = match catalogue::find(key).map(|spec| spec.kind) {
            Some(Kind::Integer(min, max)) => (min, max, false),
            Some(Kind::ZeroOr(min, max)) => (min, max, true),
            _ => (i64::MIN, i64::MAX, false),
        };
        let is_allowed = |value: &i64| (min..=max).contains(value) || (*value == 0 && is_zero_allowed);
        self.checked(key, |text| {
            let value = values::integer(text).filter(is_allowed)?;
            T::try_from(value).ok()
        })
    }

    /// A number within the bounds of the catalogue.
    pub(super) fn decimal(&mut self, key: &'static str, default: f64) -> f64 {
        let (min, max) = match catalogue::find(key).map(|spec| spec.kind) {
            Some(Kind::Decimal(min, max)) => (min, max),
            _ => (f64::MIN, f64::MAX),
        };
        self.checked(key, |text| values::decimal(text).filter(|value| (min..=max).contains(value)))
            .unwrap_or(default)
    }

    /// One of some words, in any case and with or without dashes.
    pub(super) fn word<T: Copy>(&mut self, key: &'static str, table: &[(&str, T)]) -> Option<T> {
        self.checked(key, |text| {
            table.iter().find(|(word, _)| values::is_word(text, word)).map(|(_, value)| *value)
        })
    }

    /// A length of time in milliseconds.
    pub(super) fn duration_ms(&mut self, key: &'static str) -> Option<u64> {
        self.checked(key, values::duration_ms)
    }

    /// A size in bytes, within the bound of the catalogue.
    pub(super) fn size(&mut self, key: &'static str) -> Option<u64> {
        let min = match catalogue::find(key).map(|spec| spec.kind) {
            Some(Kind::SizeFrom(min)) => min,
            _ => 0,
        };
        self.checked(key, |text| values::size_bytes(text).filter(|size| *size >= min))
    }

    /// A number of threads; `None` for `auto`.
    pub(super) fn threads(&mut self, key: &'static str) -> Option<usize> {
        let read = |text: &str| match values::integer(text) {
            Some(number @ 1..=1024) => usize::try_from(number).ok().map(Some),
            None if values::is_word(text, "auto") => Some(None),
            _ => None,
        };
        self.checked(key, read).flatten()
    }

    /// A file: `file:` and relative paths are understood.
    pub(super) fn path(&mut self, key: &'static str) -> Option<PathBuf> {
        let found = self.optional(key)?;
        self.file_path(key, &found)
    }

    /// The same for a value that was read before.
    pub(super) fn file_path(&mut self, key: &str, found: &Sourced) -> Option<PathBuf> {
        let text = found.text.trim();
        if text.starts_with("classpath:") {
            self.wrong(key, found, "there is no class path here; name the file with file:");
            return None;
        }
        let path = text.strip_prefix("file:").unwrap_or(text);
        Some(self.working_dir.join(path.strip_prefix("//").unwrap_or(path)))
    }

    /// A path relative to the working directory.
    pub(super) fn in_working_dir(&self, path: &Path) -> PathBuf {
        self.working_dir.join(path)
    }

    /// The items of a list.
    pub(super) fn list(&mut self, key: &'static str, default: &[String]) -> Vec<String> {
        match self.optional_items(key) {
            Some(items) => items.into_iter().map(|item| item.text).collect(),
            None => default.to_vec(),
        }
    }

    /// The same with the source of each; empty if nothing is set.
    pub(super) fn items(&mut self, key: &'static str) -> Vec<Sourced> {
        self.optional_items(key).unwrap_or_default()
    }

    /// The same; `None` if nothing is set.
    pub(super) fn optional_items(&mut self, key: &'static str) -> Option<Vec<Sourced>> {
        Self::spec(key);
        let Some(items) = self.raw.list(key) else {
            self.note_default(key);
            return None;
        };
        let found: Vec<Sourced> = items.iter().filter_map(|item| self.resolve(key, false, item)).collect();
        let origin = found.first().map_or_else(|| "empty".to_owned(), |item| item.origin.clone());
        let shown: Vec<&str> = found.iter().map(|item| item.shown.as_str()).collect();
        self.note(key, shown.join(","), origin);
        // A placeholder may stand for several items.
        Some(found.iter().flat_map(pieces).collect())
    }

    /// The entries of a map, one text each.
    pub(super) fn texts(&mut self, key: &'static str) -> BTreeMap<String, Sourced> {
        Self::spec(key);
        let entries = self.raw.texts(key);
        if entries.is_empty() {
            self.note_default(key);
        }
        let mut map = BTreeMap::new();
        for (entry, item) in entries {
            let name = format!("{key}.{entry}");
            if let Some(found) = self.resolve(&name, values::is_sensitive(&entry), &item) {
                self.note(&name, found.shown.clone(), found.origin.clone());
                map.insert(entry, found);
            }
        }
        map
    }

    /// The entries of a map, a list each. An entry with an empty list is kept.
    pub(super) fn lists(&mut self, key: &'static str) -> BTreeMap<String, Vec<Sourced>> {
        Self::spec(key);
        let entries = self.raw.map(key);
        if entries.is_empty() {
            self.note_default(key);
        }
        let mut map = BTreeMap::new();
        for (entry, items) in entries {
            let name = format!("{key}.{entry}");
            let found: Vec<Sourced> =
                items.iter().filter_map(|item| self.resolve(&name, false, item)).collect();
            let pieces: Vec<Sourced> = found.iter().flat_map(pieces).collect();
            let origin = found.first().map_or_else(|| "empty".to_owned(), |item| item.origin.clone());
            let shown: Vec<&str> = pieces.iter().map(|item| item.shown.as_str()).collect();
            self.note(&name, shown.join(","), origin);
            map.insert(entry, pieces);
        }
        map
    }
}

fn pieces(item: &Sourced) -> Vec<Sourced> {
    let shown = crate::sources::split_list(&item.shown).map(str::to_owned);
    let texts = crate::sources::split_list(&item.text);
    texts
        .zip(shown)
        .map(|(text, shown)| Sourced { text: text.to_owned(), origin: item.origin.clone(), shown })
        .collect()
}
