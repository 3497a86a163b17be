//! Replication lists and the answers to them, read item by item (spec `wire.md` 7.3).

use serde::de::MapAccess;

use super::object::{Found, Items, Object, Value, Word};
use super::read_document;
use super::scalar::Scalar;
use crate::batch::{Action, ItemResponse, ReplicationItem, ReplicationTask};
use crate::draft::InstanceDraft;
use crate::error::ReadError;
use crate::limits::Limits;
use crate::names::AppName;
use crate::report::{Path, Report};
use crate::status::Status;
use crate::text::Excerpt;

const ACTIONS: &str = "Heartbeat, Register, Cancel, StatusUpdate or DeleteStatusOverride";
const STATUSES: &str = "UP, DOWN, STARTING, OUT_OF_SERVICE or UNKNOWN";

/// See [`crate::batch::read_list`].
pub(crate) fn read_list(
    body: &[u8],
    limits: &Limits,
) -> Result<Vec<Result<ReplicationItem, ReadError>>, ReadError> {
    let root: ListRoot = read_document(body, limits)?;
    match root {
        ListRoot { not_an_object: Some(fault), .. } => Err(fault),
        ListRoot { is_there: true, items, .. } => Ok(items),
        _ => Err(ReadError::new(Path::ROOT, "no replicationList", ListRoot::EXPECTED)),
    }
}

#[derive(Default)]
struct ListRoot {
    is_there: bool,
    items: Vec<Result<ReplicationItem, ReadError>>,
    not_an_object: Option<ReadError>,
}

impl<'de> Object<'de> for ListRoot {
    const EXPECTED: &'static str = r#"an object with the member "replicationList""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        if name != "replicationList" {
            return value.skip();
        }
        self.items.clear();
        self.is_there = value.list(self)?;
        Ok(())
    }
}

impl<'de> Items<'de> for ListRoot {
    type Item = Members;
    const EXPECTED_LIST: &'static str = "a list of items";
    const TAKES_ONE: bool = false;

    fn most(&self, report: &Report<'_>) -> usize {
        report.limits.batch_items
    }

    fn push(&mut self, item: Result<Members, ReadError>, is_object: bool) {
        let index = self.items.len();
        let item = item.and_then(|members| members.into_item(index));
        match item {
            Err(fault) if !is_object => {
                self.not_an_object.get_or_insert(fault);
            }
            item => self.items.push(item),
        }
    }
}

/// Members of an item as they came.
#[derive(Default)]
struct Members {
    app_name: Option<Box<str>>,
    id: Option<Box<str>>,
    last_dirty_timestamp: Option<i64>,
    overridden_status: Option<Box<str>>,
    status: Option<Box<str>>,
    instance: Option<Box<InstanceDraft>>,
    action: Option<Action>,
}

impl<'de> Object<'de> for Members {
    const EXPECTED: &'static str = r#"an object with "appName", "id" and "action""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            "appName" => value.text_into(&mut self.app_name),
            "id" => value.text_into(&mut self.id),
            // Unlike in an instance, a word is no timestamp here: a heartbeat must not look older than it is.
            "lastDirtyTimestamp" => {
                self.last_dirty_timestamp = value.number(Word::IsRefused)?;
                Ok(())
            }
            "overriddenStatus" | "overriddenstatus" => value.text_into(&mut self.overridden_status),
            "status" => value.text_into(&mut self.status),
            "instanceInfo" => {
                let mut draft = Box::<InstanceDraft>::default();
                if value.object(&mut *draft)? == Found::Object {
                    self.instance = Some(draft);
                }
                Ok(())
            }
            "action" => action_into(value, &mut self.action),
            _ => value.skip(),
        }
    }
}

/// A name, or the number that Java readers take for it.
fn action_into<'de, A: MapAccess<'de>>(
    value: Value<'_, 'de, A>,
    slot: &mut Option<Action>,
) -> Result<(), A::Error> {
    let (at, report) = (value.at, value.report);
    let Some(scalar) = value.scalar(ACTIONS)? else { return Ok(()) };
    let action = match &scalar {
        Scalar::Null => return Ok(()),
        Scalar::Text(name) => Action::from_exact(name),
        Scalar::Number(digits) => digits.parse::<usize>().ok().and_then(|n| Action::ALL.get(n).copied()),
        Scalar::Bool(_) => None,
    };
    if action.is_none() {
        report.fault(at, scalar, ACTIONS);
    }
    *slot = action;
    Ok(())
}

impl Members {
    fn into_item(self, index: usize) -> Result<ReplicationItem, ReadError> {
        let missing = |member: &str| {
            let item = format!("replicationList[{index}]");
            ReadError::at(item, format_args!("no {member}"), Self::EXPECTED)
        };
        let action = self.action.ok_or_else(|| missing("action"))?;
        let app = AppName::new(self.app_name.as_deref().ok_or_else(|| missing("appName"))?);
        let own_id = self.instance.as_ref().and_then(|draft| draft.effective_id());
        let id = match (&self.id, own_id) {
            (Some(id), _) => (**id).into(),
            (None, Some(own_id)) if action == Action::Register => own_id,
            _ => return Err(missing("id")),
        };
        Ok(ReplicationItem { app, id, task: self.into_task(action, index)? })
    }

    fn into_task(self, action: Action, index: usize) -> Result<ReplicationTask, ReadError> {
        let last_dirty_timestamp = self.last_dirty_timestamp;
        let fault = |member: &str, found: &dyn std::fmt::Display, expected| {
            ReadError::at(format!("replicationList[{index}].{member}"), found, expected)
        };
        let status = || match self.status.as_deref() {
            None => Ok(None),
            Some(word) => match Status::from_any_case(word) {
                None => Err(fault("status", &Excerpt(word), STATUSES)),
                status => Ok(status),
            },
        };
        let overridden_status = self.overridden_status.as_deref().and_then(Status::from_any_case);
        Ok(match action {
            Action::Heartbeat => ReplicationTask::Heartbeat {
                last_dirty_timestamp,
                overridden_status,
                status: self.status.as_deref().and_then(Status::from_any_case),
            },
            Action::Register => match self.instance {
                Some(draft) => ReplicationTask::Register(draft),
                None => return Err(fault("instanceInfo", &"nothing", InstanceDraft::EXPECTED)),
            },
            Action::Cancel => ReplicationTask::Cancel { last_dirty_timestamp },
            Action::StatusUpdate => ReplicationTask::StatusUpdate {
                status: status()?.ok_or_else(|| fault("status", &"nothing", STATUSES))?,
                overridden_status,
                last_dirty_timestamp,
            },
            Action::DeleteStatusOverride => {
                ReplicationTask::DeleteStatusOverride { status: status()?, last_dirty_timestamp }
            }
        })
    }
}

/// See [`crate::batch::read_responses`].
pub(crate) fn read_responses(body: &[u8], limits: &Limits) -> Result<Vec<ItemResponse>, ReadError> {
    let root: ResponseRoot = read_document(body, limits)?;
    root.responses.ok_or_else(|| ReadError::new(Path::ROOT, "no responseList", ResponseRoot::EXPECTED))
}

#[derive(Default)]
struct ResponseRoot {
    responses: Option<Vec<ItemResponse>>,
}

impl<'de> Object<'de> for ResponseRoot {
    const EXPECTED: &'static str = r#"an object with the member "responseList""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        if name != "responseList" {
            return value.skip();
        }
        let mut responses = Responses::default();
        let is_there = value.list(&mut responses)?;
        self.responses = is_there.then_some(responses.0);
        Ok(())
    }
}

#[derive(Default)]
struct Responses(Vec<ItemResponse>);

impl<'de> Items<'de> for Responses {
    type Item = ResponseMembers;
    const EXPECTED_LIST: &'static str = "a list of answers";
    const TAKES_ONE: bool = false;

    fn most(&self, report: &Report<'_>) -> usize {
        report.limits.batch_items
    }

    /// The number of answers must stay that of the items, so an unreadable one keeps its place.
    fn push(&mut self, item: Result<ResponseMembers, ReadError>, _is_object: bool) {
        const UNREADABLE: u16 = 500;
        let members = item.unwrap_or_default();
        let code = members.status_code.and_then(|code| u16::try_from(code).ok());
        self.0.push(ItemResponse { status_code: code.unwrap_or(UNREADABLE), entity: members.entity });
    }
}

#[derive(Default)]
struct ResponseMembers {
    status_code: Option<i32>,
    entity: Option<Box<InstanceDraft>>,
}

impl<'de> Object<'de> for ResponseMembers {
    const EXPECTED: &'static str = r#"an object with the member "statusCode""#;

    fn member<A: MapAccess<'de>>(&mut self, name: &str, value: Value<'_, 'de, A>) -> Result<(), A::Error> {
        match name {
            "statusCode" => {
                self.status_code = value.number(Word::IsRefused)?;
                Ok(())
            }
            "responseEntity" => {
                let mut draft = Box::<InstanceDraft>::default();
                if value.object(&mut *draft)? == Found::Object {
                    self.entity = Some(draft);
                }
                Ok(())
            }
            _ => value.skip(),
        }
    }
}
