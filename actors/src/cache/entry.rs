//! One instance as documents show it: the record, its lease times at one moment, and its encoded fragments.

use std::sync::Arc;

use heureka_protocol::document::{self, Form, Place};
use heureka_protocol::{ActionType, AppName, LeaseInfo};
use heureka_registry::{Logged, Now, Record};

use super::memo::Memo;

/// An instance in a view. Its lease times are fixed when the entry is made, so that every document of one version says
/// the same, whenever it is encoded.
#[derive(Debug)]
pub struct Entry {
    /// The record; its lease clock goes on.
    pub record: Arc<Record>,
    /// Lease times as published.
    pub lease: LeaseInfo,
    fragments: Memo<Box<[u8]>, { Form::ALL.len() }>,
}

impl Logged for Entry {
    fn instance_id(&self) -> &str {
        &self.record.instance.instance_id
    }
}

impl Entry {
    /// An entry with the lease times of this moment.
    #[must_use]
    pub fn new(record: Arc<Record>, now: Now) -> Self {
        let lease = record.lease_info(now);
        Self { record, lease, fragments: Memo::default() }
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

    /// The instance inside an application inside `applications`; encoded once per change and form.
    pub fn fragment(&self, form: Form) -> &[u8] {
        self.fragments.get_or_make(form.index(), || {
            let mut text = Vec::with_capacity(1536);
            document::write_instance(
                form,
                Place::InApplications,
                &self.record.instance,
                &self.lease,
                &mut text,
            );
            text.into_boxed_slice()
        })
    }

    /// True if any form of it has been encoded.
    #[must_use]
    pub fn is_encoded(&self) -> bool {
        Form::ALL.iter().any(|form| self.fragments.get(form.index()).is_some())
    }
}
