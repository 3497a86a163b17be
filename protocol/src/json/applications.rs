//! `applications` documents: lenient towards every server that was ever seen (spec `wire.md` 3.1, 3.4, 3.5).

use serde::de::MapAccess;

use super::object::{Found, Items, Object, Value, Word};
use super::read_document;
use crate::applications::Applications;
use crate::draft::InstanceDraft;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::report::{Path, Report};

/// Reads what a server answers to a fetch: an `applications` document, full or compact, or one `application`.
///
/// Taken are: members in any order, one object in place of a list, `application` absent or null, numbers for texts and
/// the other way round, header names with one or two underscores. An instance that cannot be used is left out and
/// counted.
///
/// # Errors
///
/// Malformed JSON, or another kind of document.
pub fn read_applications(body: &[u8], limits: &Limits) -> Result<Applications, ReadError> {
    let root: Root = read_document(body, limits)?;
    root.content
        .map(|list| list.0)
        .ok_or_else(|| ReadError::new(Path::ROOT, "neither of them", Root::EXPECTED))
}

#[derive(Default)]
struct Root {
    content: Option<List>,
}

impl<'de> Object<'de> for Root {
    const EXPECTED: &'static str = r#"an object with the member "applications" or "application""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        let mut list = List::default();
        match name {
            "applications" => {
                if value.object(&mut list)? == Found::Object {
                    self.content = Some(list);
                }
                Ok(())
            }
            "application" => {
                value.list(&mut list)?;
                self.content = Some(list);
                Ok(())
            }
            _ => value.skip(),
        }
    }
}

/// The applications read so far, with the members around them.
struct List(Applications);

impl Default for List {
    fn default() -> Self {
        Self(Applications::new())
    }
}

impl<'de> Object<'de> for List {
    const EXPECTED: &'static str = r#"an object with the member "application""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            "versions__delta" | "versions_delta" => {
                self.0.version = value.number(Word::IsNothing)?.unwrap_or(-1);
                Ok(())
            }
            "apps__hashcode" | "apps_hashcode" => value.text_into(&mut self.0.hash),
            "application" => value.list(self).map(drop),
            _ => value.skip(),
        }
    }
}

impl<'de> Items<'de> for List {
    type Item = Application;
    const EXPECTED_LIST: &'static str = "a list of applications";
    const TAKES_ONE: bool = true;

    fn most(&self, _report: &Report<'_>) -> usize {
        usize::MAX
    }

    fn push(&mut self, item: Result<Application, ReadError>, _is_object: bool) {
        match item {
            Ok(application) => {
                self.0.skip_many(application.skipped, application.first_fault.as_ref());
                self.0.push(application.name.as_deref(), application.drafts);
            }
            Err(fault) => self.0.skip(&fault),
        }
    }
}

#[derive(Default)]
struct Application {
    name: Option<Box<str>>,
    drafts: Vec<InstanceDraft>,
    skipped: usize,
    first_fault: Option<ReadError>,
}

impl<'de> Object<'de> for Application {
    const EXPECTED: &'static str = r#"an object with the members "name" and "instance""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            "name" => value.text_into(&mut self.name),
            "instance" => value.list(self).map(drop),
            _ => value.skip(),
        }
    }
}

impl<'de> Items<'de> for Application {
    type Item = InstanceDraft;
    const EXPECTED_LIST: &'static str = "a list of instances";
    const TAKES_ONE: bool = true;

    fn most(&self, _report: &Report<'_>) -> usize {
        usize::MAX
    }

    fn push(&mut self, item: Result<InstanceDraft, ReadError>, _is_object: bool) {
        match item {
            Ok(draft) => self.drafts.push(draft),
            Err(fault) => {
                self.skipped += 1;
                self.first_fault.get_or_insert(fault);
            }
        }
    }
}
