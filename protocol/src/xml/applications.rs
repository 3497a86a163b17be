//! `applications` documents as servers write them (spec `wire.md` 4.1, 4.3).

use super::cursor::Cursor;
use super::instance::read_members;
use super::is_instance;
use crate::applications::Applications;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::report::{Path, Report};
use crate::text::Excerpt;

const EXPECTED: &str = "an <applications> or <application> element";

/// Reads what a server answers to a fetch: an `applications` document, full or compact, or one `application`. An
/// instance that cannot be used is left out and counted.
///
/// # Errors
///
/// Malformed XML, a document type, or another kind of document.
pub fn read_applications(body: &[u8], limits: &Limits) -> Result<Applications, ReadError> {
    let mut cursor = Cursor::new(body, limits)?;
    let root = cursor.root(EXPECTED)?;
    let report = Report::new(limits);
    let mut list = Applications::new();
    match root.name().0 {
        "applications" | "com.netflix.discovery.shared.Applications" => {
            read_list(&mut cursor, &report, &mut list)?;
        }
        "application" | "com.netflix.discovery.shared.Application" => {
            read_application(&mut cursor, Path::ROOT.name("application"), &report, &mut list)?;
        }
        name => {
            let found = format_args!("the element {}", Excerpt(name));
            return Err(ReadError::new(Path::ROOT, found, EXPECTED));
        }
    }
    Ok(list)
}

fn read_list(cursor: &mut Cursor<'_>, report: &Report<'_>, list: &mut Applications) -> Result<(), ReadError> {
    let at = Path::ROOT.name("applications");
    while let Some(start) = cursor.next_child(at)? {
        let name = start.name().0;
        let at = at.name(name);
        match name {
            "versions__delta" | "versions_delta" => {
                list.version = cursor.content(at)?.text.trim().parse().unwrap_or(-1);
            }
            "apps__hashcode" | "apps_hashcode" => {
                list.hash = Some(cursor.content(at)?.text.trim().into());
            }
            "application" => {
                read_application(cursor, at.index(list.applications.len()), report, list)?;
            }
            _ => cursor.skip(at)?,
        }
    }
    Ok(())
}

fn read_application(
    cursor: &mut Cursor<'_>,
    at: Path<'_>,
    report: &Report<'_>,
    list: &mut Applications,
) -> Result<(), ReadError> {
    let mut name: Option<Box<str>> = None;
    let mut drafts = Vec::new();
    while let Some(start) = cursor.next_child(at)? {
        let element = start.name().0;
        let at = at.name(element);
        match element {
            "name" => name = Some(cursor.content(at)?.text.into()),
            element if is_instance(element) => {
                let at = at.index(drafts.len());
                let item_report = Report::for_item(report);
                let draft = read_members(cursor, at, &item_report)?;
                match item_report.verdict(draft) {
                    Ok(draft) => drafts.push(draft),
                    Err(fault) => list.skip(&fault),
                }
            }
            _ => cursor.skip(at)?,
        }
    }
    list.push(name.as_deref(), drafts);
    Ok(())
}
