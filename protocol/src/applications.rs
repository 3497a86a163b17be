//! The content of an `applications` or `application` document that some server wrote.

use std::fmt;

use crate::draft::InstanceDraft;
use crate::instance::Instance;
use crate::names::AppName;

/// What a server said of its registry, or of a part of it. One instance that cannot be used costs only itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applications {
    /// `versions__delta`; -1 if the document has none.
    pub version: i64,
    /// `apps__hashcode`; `None` if the document has none, empty for an empty registry.
    pub hash: Option<Box<str>>,
    /// Applications and their instances in document order; none is empty. One that comes twice is listed twice.
    pub applications: Vec<(AppName, Vec<Instance>)>,
    /// Instances and applications that were left out because they could not be used.
    pub skipped: usize,
    /// Why the first one was left out.
    pub first_skipped: Option<Box<str>>,
}

impl Applications {
    pub(crate) fn new() -> Self {
        Self { version: -1, ..Self::default() }
    }

    /// Instances in all.
    #[must_use]
    pub fn instance_count(&self) -> usize {
        self.applications.iter().map(|(_, instances)| instances.len()).sum()
    }

    pub(crate) fn skip(&mut self, reason: &dyn fmt::Display) {
        self.skip_many(1, Some(&reason));
    }

    /// Counts what was left out, with the reason for the first of it.
    pub(crate) fn skip_many(&mut self, count: usize, reason: Option<impl fmt::Display>) {
        self.skipped += count;
        if let (None, Some(reason)) = (&self.first_skipped, reason) {
            self.first_skipped = Some(reason.to_string().into_boxed_str());
        }
    }

    /// Adds an application. Instances that fail the checks are left out; one without a name of its own takes that of its
    /// first instance.
    pub(crate) fn push(&mut self, name: Option<&str>, drafts: Vec<InstanceDraft>) {
        let first_app = drafts.first().and_then(|draft| draft.app.clone());
        let Some(name) = name.or(first_app.as_deref()).filter(|name| !name.is_empty()) else {
            if !drafts.is_empty() {
                self.skip_many(drafts.len(), Some("an application without a name"));
            }
            return;
        };
        let mut instances = Vec::with_capacity(drafts.len());
        for draft in drafts {
            match draft.into_listed(name) {
                Ok(instance) => instances.push(instance),
                Err(refusal) => self.skip(&format_args!("{refusal} in an instance of {name}")),
            }
        }
        if !instances.is_empty() {
            self.applications.push((AppName::new(name), instances));
        }
    }
}
