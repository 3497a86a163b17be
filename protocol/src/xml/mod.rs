//! Reading XML: instances that clients send and documents that servers write (spec `wire.md` 4).
//!
//! One pass over the body with a pull parser, no tree in memory, unknown elements passed over, bounded depth. Document
//! types are refused, and entities other than the five of XML and character numbers with them.

mod applications;
mod cursor;
mod instance;

use crate::draft::InstanceDraft;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::report::{Path, Report};
use crate::text::Excerpt;
use cursor::Cursor;

pub use applications::read_applications;

const INSTANCE_EXPECTED: &str = "an <instance> element";

/// Reads a registration body: an `instance` element. What follows behind it is not looked at.
///
/// # Errors
///
/// Malformed XML, a document type, another root, or the first member with a wrong value.
pub fn read_instance(body: &[u8], limits: &Limits) -> Result<InstanceDraft, ReadError> {
    let mut cursor = Cursor::new(body, limits)?;
    let root = cursor.root(INSTANCE_EXPECTED)?;
    let name = root.name().0;
    if !is_instance(name) {
        return Err(ReadError::new(
            Path::ROOT,
            format_args!("the element {}", Excerpt(name)),
            INSTANCE_EXPECTED,
        ));
    }
    let report = Report::new(limits);
    let draft = instance::read_members(&mut cursor, Path::ROOT.name("instance"), &report)?;
    report.verdict(draft)
}

/// XStream writes the class name for a class without alias, and reads both.
fn is_instance(name: &str) -> bool {
    matches!(name, "instance" | "com.netflix.appinfo.InstanceInfo")
}
