//! Elements of an instance in XML, with the leniency of `wire.md` 4.2 and the improvements recommended there.

use quick_xml::events::BytesStart;

use super::cursor::{Content, Cursor};
use crate::draft::{DataCenterDraft, DataCenterName, Entries, InstanceDraft, LeaseDraft, PortDraft};
use crate::error::ReadError;
use crate::metadata::Metadata;
use crate::report::{Path, Report};
use crate::status::{ActionType, Status};
use crate::text::{Excerpt, xml_key};

/// Reads the children of an `instance` element that has just been entered.
pub(super) fn read_members(
    cursor: &mut Cursor<'_>,
    at: Path<'_>,
    report: &Report<'_>,
) -> Result<InstanceDraft, ReadError> {
    let mut draft = InstanceDraft::default();
    while let Some(start) = cursor.next_child(at)? {
        let name = start.name().0;
        let member_at = at.name(name);
        Members { cursor, at: member_at, report }.read(name, &start, &mut draft)?;
    }
    Ok(draft)
}

/// The member just entered.
struct Members<'m, 'x> {
    cursor: &'m mut Cursor<'x>,
    at: Path<'m>,
    report: &'m Report<'m>,
}

impl Members<'_, '_> {
    fn read(self, name: &str, start: &BytesStart<'_>, draft: &mut InstanceDraft) -> Result<(), ReadError> {
        if let Some(slot) = draft.text_member(name) {
            return self.text_into(slot);
        }
        match name {
            "hostName" => {
                let mut sent = None;
                self.text_into(&mut sent)?;
                draft.set_host_name(sent);
            }
            "status" => draft.status = Some(self.status()?),
            "overriddenstatus" | "overriddenStatus" => draft.overridden_status = Some(self.status()?),
            "port" => draft.port = self.port(enabled(start).is_none_or(|value| value != "false"))?,
            "securePort" => {
                draft.secure_port = self.port(enabled(start).is_some_and(|value| value == "true"))?
            }
            "countryId" => draft.country_id = self.whole_number()?,
            "dataCenterInfo" => draft.data_center = self.data_center()?,
            "leaseInfo" => draft.lease = self.lease()?,
            "metadata" => draft.metadata = self.metadata()?,
            "isCoordinatingDiscoveryServer" => {
                draft.is_coordinating_discovery_server = Some(self.plain_text()?.trim() == "true");
            }
            "lastUpdatedTimestamp" => draft.last_updated_timestamp = self.plain_text()?.parse().ok(),
            "lastDirtyTimestamp" => draft.last_dirty_timestamp = self.plain_text()?.parse().ok(),
            "actionType" => draft.action_type = ActionType::from_any_case(&self.plain_text()?),
            _ => self.cursor.skip(self.at)?,
        }
        Ok(())
    }

    /// The text of an element that must not hold others.
    fn plain_text(self) -> Result<String, ReadError> {
        let Content { text, has_elements } = self.cursor.content(self.at)?;
        if has_elements {
            self.report.fault(self.at, "elements", "a text");
        }
        Ok(text.into_owned())
    }

    fn text_into(self, slot: &mut Option<Box<str>>) -> Result<(), ReadError> {
        let (at, report) = (self.at, self.report);
        *slot = report.bounded_text(at, &self.plain_text()?);
        Ok(())
    }

    /// Any letter case, no blanks; everything else is `UNKNOWN`.
    fn status(self) -> Result<Status, ReadError> {
        Ok(Status::from_any_case(&self.plain_text()?).unwrap_or(Status::Unknown))
    }

    fn whole_number(self) -> Result<Option<i32>, ReadError> {
        let (at, report) = (self.at, self.report);
        let text = self.plain_text()?;
        let number = text.parse().ok();
        if number.is_none() {
            report.fault(at, Excerpt(&text), "a whole number of 32 bits");
        }
        Ok(number)
    }

    fn port(self, enabled: bool) -> Result<PortDraft, ReadError> {
        Ok(PortDraft { number: self.whole_number()?, enabled: Some(enabled) })
    }

    /// The name decides what it is; the class attribute is not looked at. Without a name there is no data centre.
    fn data_center(self) -> Result<Option<DataCenterDraft>, ReadError> {
        let Self { cursor, at, report } = self;
        let mut draft = DataCenterDraft::default();
        while let Some(start) = cursor.next_child(at)? {
            let name = start.name().0;
            let at = at.name(name);
            match name {
                "name" => {
                    let text = Members { cursor, at, report }.plain_text()?;
                    draft.name = data_center_name(&text);
                    if draft.name.is_none() {
                        report.fault(at, Excerpt(&text), DataCenterName::EXPECTED);
                    }
                }
                "metadata" => draft.metadata = Members { cursor, at, report }.metadata()?,
                _ => cursor.skip(at)?,
            }
        }
        Ok(draft.name.is_some().then_some(draft))
    }

    /// Java loses the rest of the instance at a child that is no number; here it counts as absent.
    fn lease(self) -> Result<LeaseDraft, ReadError> {
        let Self { cursor, at, report } = self;
        let mut lease = LeaseDraft::default();
        while let Some(start) = cursor.next_child(at)? {
            let name = start.name().0;
            let member = Members { cursor, at: at.name(name), report };
            if let Some(slot) = lease.secs_member(name) {
                *slot = member.plain_text()?.parse().ok();
            } else if let Some(slot) = lease.timestamp_member(name) {
                *slot = member.plain_text()?.parse().ok();
            } else {
                member.cursor.skip(member.at)?;
            }
        }
        Ok(lease)
    }

    /// A child that holds elements has an empty value, as in Java.
    fn metadata(self) -> Result<Metadata, ReadError> {
        let Self { cursor, at, report } = self;
        let mut entries = Entries::default();
        while let Some(start) = cursor.next_child(at)? {
            let name = start.name().0;
            let at = at.name(name);
            let Content { text, has_elements } = cursor.content(at)?;
            entries.insert(&xml_key(name), if has_elements { "" } else { &text }, at, report);
        }
        Ok(entries.finish())
    }
}

fn data_center_name(text: &str) -> Option<DataCenterName> {
    if text.eq_ignore_ascii_case("Amazon") {
        Some(DataCenterName::Amazon)
    } else {
        DataCenterName::from_exact(text)
    }
}

/// The attribute `enabled` as it stands in the document.
fn enabled<'s>(start: &'s BytesStart<'_>) -> Option<std::borrow::Cow<'s, str>> {
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    let attribute = attributes.flatten().find(|attribute| attribute.key.0 == "enabled")?;
    Some(attribute.value)
}
