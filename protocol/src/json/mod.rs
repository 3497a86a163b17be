//! Reading JSON: instances that clients send and documents that servers write (spec `wire.md` 3.2, 3.3).
//!
//! One pass over the body, no tree in memory, unknown members of any type passed over, member order without meaning. A
//! byte order mark in front and any text behind the document are ignored, as Java does.

mod applications;
mod batch;
mod instance;
mod object;
mod scalar;

use serde::de::{DeserializeSeed, MapAccess};

use crate::draft::InstanceDraft;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::report::{Path, Report};
use crate::text::Excerpt;
use object::{Found, Object, ObjectSeed, Value};

pub use applications::read_applications;
pub(crate) use batch::{read_list, read_responses};

/// Reads a registration body: `{"instance":{...}}` and nothing beside it.
///
/// # Errors
///
/// Malformed JSON, another root, or the first member with a wrong value.
pub fn read_instance(body: &[u8], limits: &Limits) -> Result<InstanceDraft, ReadError> {
    let root: InstanceRoot = read_document(body, limits)?;
    root.instance.ok_or_else(|| ReadError::new(Path::ROOT, "no instance", InstanceRoot::EXPECTED))
}

/// Reads an instance without root wrapper, as batches have them.
///
/// # Errors
///
/// Malformed JSON, or the first member with a wrong value.
pub fn read_instance_object(body: &[u8], limits: &Limits) -> Result<InstanceDraft, ReadError> {
    read_document(body, limits)
}

#[derive(Default)]
struct InstanceRoot {
    instance: Option<InstanceDraft>,
}

impl<'de> Object<'de> for InstanceRoot {
    const EXPECTED: &'static str = r#"an object with the single member "instance""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        let (at, report) = (value.at, value.report);
        if name != "instance" || self.instance.is_some() {
            report.fault(Path::ROOT, format_args!("the member {}", Excerpt(name)), Self::EXPECTED);
            return value.skip();
        }
        let mut draft = InstanceDraft::default();
        match value.object(&mut draft)? {
            Found::Object => self.instance = Some(draft),
            Found::Null => report.fault(at, "null", InstanceDraft::EXPECTED),
            Found::Other => {}
        }
        Ok(())
    }
}

/// Reads a whole body as one object.
fn read_document<'de, T: Object<'de>>(body: &'de [u8], limits: &Limits) -> Result<T, ReadError> {
    let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
    if body.trim_ascii().is_empty() {
        return Err(ReadError::new(Path::ROOT, "nothing", T::EXPECTED));
    }
    // Checked once and whole: the parser would check every name, every text and every raw value anew.
    let text = std::str::from_utf8(body).map_err(|error| {
        let found = format!("bytes that are not UTF-8 at {}", error.valid_up_to());
        ReadError::new(Path::ROOT, found, "UTF-8")
    })?;
    let mut report = Report::new(limits);
    let mut target = T::default();
    let seed = ObjectSeed { target: &mut target, at: Path::ROOT, report: &report };
    let found = seed.deserialize(&mut serde_json::Deserializer::from_str(text));
    match found {
        Ok(Found::Object | Found::Other) => report.verdict(target),
        Ok(Found::Null) => Err(ReadError::new(Path::ROOT, "null", T::EXPECTED)),
        Err(error) => {
            let member = report.take_broken_at().unwrap_or_else(|| Path::ROOT.to_string());
            Err(ReadError::at(member, format_args!("malformed JSON ({error})"), "well-formed JSON"))
        }
    }
}
