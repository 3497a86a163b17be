//! Members of an instance in JSON: everything that a known client sends, with the leniency of `wire.md` 3.2 and the
//! improvements recommended there.

use serde::de::MapAccess;

use super::object::{Bare, Found, Object, Value, Word};
use super::scalar::{Number, Scalar};
use crate::draft::{
    DataCenterClass, DataCenterDraft, DataCenterName, Entries, InstanceDraft, LeaseDraft, PortDraft,
};
use crate::metadata::Metadata;
use crate::report::{Path, Report};
use crate::status::{ActionType, Status};
use crate::text::Excerpt;

impl<'de> Object<'de> for InstanceDraft {
    const EXPECTED: &'static str = "an instance object";

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        if let Some(slot) = self.text_member(name) {
            return value.text_into(slot);
        }
        match name {
            "hostName" => {
                let mut sent = None;
                value.text_into(&mut sent)?;
                self.set_host_name(sent);
                Ok(())
            }
            "status" => status_into(value, &mut self.status),
            "overriddenStatus" | "overriddenstatus" => status_into(value, &mut self.overridden_status),
            "port" => object_into(value, &mut self.port),
            "securePort" => object_into(value, &mut self.secure_port),
            "countryId" => replace(&mut self.country_id, value.number(Word::Is(0))?),
            "dataCenterInfo" => data_center_into(value, &mut self.data_center),
            "leaseInfo" => object_into(value, &mut self.lease),
            "metadata" => {
                let mut entries = Entries::default();
                if value.object(&mut entries)? == Found::Object {
                    self.metadata = entries.finish();
                }
                Ok(())
            }
            "isCoordinatingDiscoveryServer" => {
                let sent = value.scalar("true or false")?.filter(|scalar| !matches!(scalar, Scalar::Null));
                let flag = sent.map(|scalar| scalar.as_flag());
                replace(&mut self.is_coordinating_discovery_server, flag)
            }
            "lastUpdatedTimestamp" => {
                replace(&mut self.last_updated_timestamp, value.number(Word::IsNothing)?)
            }
            "lastDirtyTimestamp" => replace(&mut self.last_dirty_timestamp, value.number(Word::Is(0))?),
            "actionType" => {
                let text = value.scalar("ADDED, MODIFIED or DELETED")?.and_then(Scalar::into_text);
                replace(&mut self.action_type, text.as_deref().and_then(ActionType::from_any_case))
            }
            _ => value.skip(),
        }
    }
}

/// Null means "absent": it leaves what is there.
fn replace<T, E>(slot: &mut Option<T>, value: Option<T>) -> Result<(), E> {
    if value.is_some() {
        *slot = value;
    }
    Ok(())
}

/// Any word that is no status, and any number, means `UNKNOWN`; letter case does not matter (Q30).
fn status_into<'de, A: MapAccess<'de>>(
    value: Value<'_, 'de, A>,
    slot: &mut Option<Status>,
) -> Result<(), A::Error> {
    let text = value.scalar("a status")?.and_then(Scalar::into_text);
    let status = text.map(|text| Status::from_any_case(&text).unwrap_or(Status::Unknown));
    replace(slot, status)
}

fn object_into<'de, A: MapAccess<'de>, T: Object<'de>>(
    value: Value<'_, 'de, A>,
    slot: &mut T,
) -> Result<(), A::Error> {
    let mut target = T::default();
    if value.object(&mut target)? == Found::Object {
        *slot = target;
    }
    Ok(())
}

impl<'de> Object<'de> for PortDraft {
    const EXPECTED: &'static str = r#"{"$":8080,"@enabled":"true"} or a port number"#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            // Java takes null and words for 0 here.
            "$" => self.number = Some(value.number(Word::Is(0))?.unwrap_or(0)),
            "@enabled" => self.enabled = value.scalar("true or false")?.map(|scalar| scalar.as_flag()),
            _ => value.skip()?,
        }
        Ok(())
    }

    /// A bare number, or its digits, leaves the flag at its default (conformance 72).
    fn bare(&mut self, value: &Bare<'_>) -> bool {
        let whole = match *value {
            Bare::Number(number) => Some(number),
            Bare::Text(text) => match Scalar::Text(text.into()).as_number() {
                Number::Whole(number) => Some(number),
                _ => None,
            },
        };
        self.number = whole.and_then(|number| i32::try_from(number).ok());
        self.number.is_some()
    }
}

impl<'de> Object<'de> for LeaseDraft {
    const EXPECTED: &'static str = "an object with renewalIntervalInSecs and durationInSecs";

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        if let Some(slot) = self.secs_member(name) {
            *slot = value.number(Word::IsNothing)?;
            Ok(())
        } else if let Some(slot) = self.timestamp_member(name) {
            *slot = value.number(Word::IsNothing)?;
            Ok(())
        } else {
            value.skip()
        }
    }
}

/// Null values are dropped (Q32), Java's class marker is passed over.
impl<'de> Object<'de> for Entries {
    const EXPECTED: &'static str = "an object of texts";

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        if name == "@class" {
            return value.skip();
        }
        let (at, report) = (value.at, value.report);
        if let Some(text) = value.scalar("a text")?.and_then(Scalar::into_text) {
            self.insert(name, &text, at, report);
        }
        Ok(())
    }
}

/// Members of a data centre, in any order; what the name may be is known only when the class is.
#[derive(Default)]
struct DataCenterMembers {
    class: Option<Box<str>>,
    name: Option<Box<str>>,
    metadata: Metadata,
}

impl<'de> Object<'de> for DataCenterMembers {
    const EXPECTED: &'static str = r#"an object with "@class" and "name""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            "@class" => value.text_into(&mut self.class),
            "name" => value.text_into(&mut self.name),
            "metadata" => {
                let mut entries = Entries::default();
                if value.object(&mut entries)? == Found::Object {
                    self.metadata = entries.finish();
                }
                Ok(())
            }
            _ => value.skip(),
        }
    }
}

impl DataCenterMembers {
    /// The class decides whether a name matters: that of Amazon is never looked at.
    fn finish(self, at: Path<'_>, report: &Report<'_>) -> DataCenterDraft {
        let class = self.class.as_deref().and_then(DataCenterClass::from_java);
        if let (Some(text), None) = (&self.class, class) {
            report.fault(at.name("@class"), Excerpt(text), "the class name of a data center");
        }
        let name = self.name.as_deref().and_then(DataCenterName::from_exact);
        if let (Some(text), None) = (&self.name, name)
            && class != Some(DataCenterClass::Amazon)
        {
            report.fault(at.name("name"), Excerpt(text), DataCenterName::EXPECTED);
        }
        DataCenterDraft { class, name, metadata: self.metadata }
    }
}

fn data_center_into<'de, A: MapAccess<'de>>(
    value: Value<'_, 'de, A>,
    slot: &mut Option<DataCenterDraft>,
) -> Result<(), A::Error> {
    let (at, report) = (value.at, value.report);
    let mut members = DataCenterMembers::default();
    if value.object(&mut members)? == Found::Object {
        *slot = Some(members.finish(at, report));
    }
    Ok(())
}
