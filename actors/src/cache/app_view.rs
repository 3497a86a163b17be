//! One application of a view: its instances, its recent changes, and the document parts made from them.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use foldhash::quality::RandomState;
use heureka_protocol::document::{self, Form, Place};
use heureka_protocol::{ActionType, AppName, InstanceId};
use heureka_registry::{DeltaEntry, DeltaLog, Now};

use super::entry::Entry;
use super::memo::{Encoding, Memo, Scope, Variant};
use super::piece::{Deflated, gzip};

/// Room for an instance of usual length.
const USUAL_INSTANCE_BYTES: usize = 1400;

/// Part of a document that stands for one application.
#[derive(Debug)]
pub enum Part {
    /// Plain text.
    Plain(Bytes),
    /// Deflated text that can be joined to other parts.
    Deflated(Deflated),
}

/// The instances by id.
type ById = HashMap<InstanceId, Arc<Entry>, RandomState>;

/// An application in a view. Changing it empties its memos.
#[derive(Clone, Debug)]
pub struct AppView {
    /// Name, upper case.
    pub name: AppName,
    /// Live instances in id order.
    entries: Vec<Arc<Entry>>,
    /// Changes that deltas show.
    recent: DeltaLog<Entry>,
    /// For heartbeats: one look-up instead of a search that follows two pointers a step.
    by_id: Memo<ById, 1>,
    parts: Memo<Part, { Variant::COUNT }>,
    alone: Memo<Bytes, { Form::ALL.len() * 2 }>,
}

impl AppView {
    /// An application without instances.
    #[must_use]
    pub fn new(name: AppName) -> Self {
        Self {
            name,
            entries: Vec::new(),
            recent: DeltaLog::new(),
            by_id: Memo::default(),
            parts: Memo::default(),
            alone: Memo::default(),
        }
    }

    /// An application with instances that are not news: deltas do not show them. They must be in the order of their ids.
    #[must_use]
    pub fn restored(name: AppName, entries: Vec<Arc<Entry>>) -> Self {
        Self { entries, ..Self::new(name) }
    }

    /// Live instances in id order.
    #[must_use]
    pub fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// One live instance.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Arc<Entry>> {
        let by_id = self.by_id.get_or_make(0, || {
            let with_id = |entry: &Arc<Entry>| (entry.record.instance.instance_id.clone(), entry.clone());
            self.entries.iter().map(with_id).collect()
        });
        by_id.get(id)
    }

    /// True if this very entry is live here.
    #[must_use]
    pub fn has(&self, entry: &Arc<Entry>) -> bool {
        self.position(entry.id()).is_ok_and(|index| Arc::ptr_eq(&self.entries[index], entry))
    }

    /// This application together with that of the same name in a mirror, whose instances come before equal ids of ours. A
    /// removal there is none if the id lives here.
    #[must_use]
    pub fn merged_with(&self, mirror: &Self) -> Self {
        let is_hidden = |id: &str| mirror.position(id).is_ok();
        let ours = self.entries.iter().filter(|entry| !is_hidden(entry.id()));
        let mut entries: Vec<_> = ours.chain(&mirror.entries).cloned().collect();
        entries.sort_by(|a, b| a.id().cmp(b.id()));
        let ours = self.recent.entries().filter(|change| !is_hidden(change.record.id())).cloned();
        let theirs = mirror.recent.entries().map(|change| match self.position(change.record.id()) {
            Ok(index) if change.action == ActionType::Deleted => {
                let back = self.entries[index].clone();
                DeltaEntry { action: back.action(), record: back, at_mono_ms: change.at_mono_ms }
            }
            _ => change.clone(),
        });
        let mut changes: Vec<_> = ours.chain(theirs).collect();
        changes.sort_by_key(|change| change.at_mono_ms);
        let mut recent = DeltaLog::new();
        for change in changes {
            recent.push(change.record, change.action, change.at_mono_ms);
        }
        Self { entries, recent, ..Self::new(self.name.clone()) }
    }

    /// True if neither the registry nor a delta shows it any more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.entries.is_empty() && self.recent.is_empty()
    }

    /// Number of instances whose last change deltas show.
    #[must_use]
    pub fn recent_len(&self) -> usize {
        self.recent.len()
    }

    /// About what the removals take in memory that deltas show.
    #[must_use]
    pub fn removal_bytes(&self) -> usize {
        self.recent.removal_bytes()
    }

    /// When each of these removals was, on the monotonic clock, and what it takes.
    pub fn removals(&self) -> impl Iterator<Item = (u64, usize)> {
        self.recent.removals()
    }

    /// Takes the removals up to this time out of deltas; returns how many these showed.
    pub fn drop_removals(&mut self, up_to_mono_ms: u64) -> usize {
        self.forget_memos();
        self.recent.drop_removals(up_to_mono_ms)
    }

    fn position(&self, id: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|entry| entry.id().cmp(id))
    }

    fn forget_memos(&mut self) {
        self.by_id = Memo::default();
        self.parts = Memo::default();
        self.alone = Memo::default();
    }

    /// Puts an instance in or replaces it; returns the entry it replaces.
    pub fn upsert(&mut self, entry: Arc<Entry>, at_mono_ms: u64) -> Option<Arc<Entry>> {
        self.forget_memos();
        self.recent.push(entry.clone(), entry.action(), at_mono_ms);
        match self.position(entry.id()) {
            Ok(index) => Some(std::mem::replace(&mut self.entries[index], entry)),
            Err(index) => {
                self.entries.insert(index, entry);
                None
            }
        }
    }

    /// Takes an instance out, leaving `last` (marked DELETED) to the deltas; returns the entry that was live.
    pub fn remove(&mut self, last: Arc<Entry>, at_mono_ms: u64) -> Option<Arc<Entry>> {
        self.forget_memos();
        let removed = self.position(last.id()).ok().map(|index| self.entries.remove(index));
        self.recent.push(last.clone(), last.action(), at_mono_ms);
        removed
    }

    /// True if a change is older than what deltas show.
    #[must_use]
    pub fn has_recent_before(&self, mono_ms: u64) -> bool {
        self.recent.may_expire(mono_ms)
    }

    /// Drops the changes that are older than what deltas show.
    pub fn expire_recent(&mut self, before_mono_ms: u64) {
        self.recent.expire(before_mono_ms);
        self.forget_memos();
    }

    /// True if some document part has been made, so that the lease times in it can have become stale.
    #[must_use]
    pub fn is_encoded(&self) -> bool {
        !self.parts.is_empty() || !self.alone.is_empty()
    }

    /// Takes the lease times of this moment into all live instances.
    pub fn refresh_lease_times(&mut self, now: Now) {
        for entry in &mut self.entries {
            *entry = Arc::new(Entry::new(entry.record.clone(), now));
        }
        self.forget_memos();
    }

    /// The instances that a document of this scope shows, or nothing if the document leaves the application out.
    fn shown(&self, scope: Scope) -> Vec<&Entry> {
        match scope {
            Scope::Full => self.entries.iter().map(|entry| &**entry).collect(),
            Scope::Delta => self.recent.entries().map(|change| &*change.record).collect(),
        }
    }

    /// True if documents of this scope show the application.
    #[must_use]
    pub fn is_shown(&self, scope: Scope) -> bool {
        match scope {
            Scope::Full => !self.entries.is_empty(),
            Scope::Delta => !self.recent.is_empty(),
        }
    }

    /// The part of a whole-registry document that stands for this application; made once per change and variant.
    pub fn part(&self, variant: Variant) -> &Part {
        self.parts.get_or_make(variant.index(), || {
            let mut text = write_application(variant.form, &self.name, &self.shown(variant.scope));
            match variant.encoding {
                Encoding::Identity => {
                    text.shrink_to_fit();
                    Part::Plain(text.into())
                }
                Encoding::Gzip => Part::Deflated(Deflated::compress(&text)),
            }
        })
    }

    /// True if the part has been made since the last change.
    pub fn has_part(&self, variant: Variant) -> bool {
        self.parts.get(variant.index()).is_some()
    }

    /// The document of this application alone (`GET /apps/{app}`).
    pub fn document(&self, form: Form, encoding: Encoding) -> Bytes {
        let plain = self.alone.get_or_make(form.index() * 2, || {
            let mut text = Vec::new();
            document::open_application(form, Place::Alone, &self.name, &mut text);
            write_entries(form, Place::InApplication, self.entries.iter().map(|entry| &**entry), &mut text);
            document::close_application(form, Place::Alone, &mut text);
            text.into()
        });
        match encoding {
            Encoding::Identity => plain.clone(),
            Encoding::Gzip => self.alone.get_or_make(form.index() * 2 + 1, || gzip(plain)).clone(),
        }
    }
}

/// An application inside `applications`.
pub fn write_application(form: Form, name: &AppName, entries: &[&Entry]) -> Vec<u8> {
    let mut text = Vec::with_capacity(entries.len() * USUAL_INSTANCE_BYTES + 128);
    document::open_application(form, Place::InApplications, name, &mut text);
    write_entries(form, Place::InApplications, entries.iter().copied(), &mut text);
    document::close_application(form, Place::InApplications, &mut text);
    text
}

fn write_entries<'a>(form: Form, place: Place, entries: impl Iterator<Item = &'a Entry>, text: &mut Vec<u8>) {
    for (index, entry) in entries.enumerate() {
        if index > 0 {
            text.extend_from_slice(document::separator(form));
        }
        entry.write(form, place, text);
    }
}
