//! One instance as documents show it: the record, and its lease times at one moment.

use std::sync::Arc;

use heureka_protocol::document::{self, Form, Place};
use heureka_protocol::{ActionType, AppName, LeaseInfo};
use heureka_registry::{Logged, Now, Record};

/// An instance in a view. Its lease times are fixed when the entry is made, so that every document of one version says
/// the same, whenever it is encoded.
///
/// Its text is not kept: writing an instance takes a third of a microsecond, a fraction of what deflating the
/// application takes, and keeping it would double the memory of the registry.
#[derive(Debug)]
pub struct Entry {
    /// The record; its lease clock goes on.
    pub record: Arc<Record>,
    /// Lease times as published.
    pub lease: LeaseInfo,
}

impl Logged for Entry {
    fn instance_id(&self) -> &str {
        &self.record.instance.instance_id
    }

    fn bytes(&self) -> usize {
        size_of::<Self>() + self.record.bytes()
    }
}

impl Entry {
    /// An entry with the lease times of this moment.
    #[must_use]
    pub fn new(record: Arc<Record>, now: Now) -> Self {
        let lease = record.lease_info(now);
        Self { record, lease }
    }

    /// The instance id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.record.instance.instance_id
    }

    /// What happened to it last.
    #[must_use]
    pub fn action(&self) -> ActionType {
        self.record.instance.action_type.unwrap_or(ActionType::Added)
    }

    /// The application name.
    #[must_use]
    pub fn app(&self) -> &AppName {
        &self.record.instance.app
    }

    /// Appends the instance as it stands inside an application.
    pub fn write(&self, form: Form, place: Place, text: &mut Vec<u8>) {
        document::write_instance(form, place, &self.record.instance, &self.lease, text);
    }
}
