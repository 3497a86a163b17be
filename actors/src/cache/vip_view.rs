//! The instances that carry one VIP address, and their documents.

use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::StatusCounts;
use heureka_protocol::document::{self, Form};

use super::app_view::write_application;
use super::entry::Entry;
use super::memo::{Encoding, Memo};
use super::piece::gzip;

/// The version that VIP documents carry (spec `wire.md` 1.14).
const VIP_VERSION: i64 = -1;

/// Members of a VIP in order of application and id. Changing it empties its memo.
#[derive(Clone, Debug, Default)]
pub struct VipView {
    members: Vec<Arc<Entry>>,
    documents: Memo<Bytes, { Form::ALL.len() * 2 }>,
}

impl VipView {
    /// The members, in order of application and id.
    #[must_use]
    pub fn members(&self) -> &[Arc<Entry>] {
        &self.members
    }

    fn position(&self, entry: &Entry) -> Result<usize, usize> {
        let key = (&**entry.app(), entry.id());
        // Whole registries come in this order.
        if self.members.last().is_some_and(|last| (&**last.app(), last.id()) < key) {
            return Err(self.members.len());
        }
        self.members.binary_search_by(|member| (&**member.app(), member.id()).cmp(&key))
    }

    /// Adds a member or replaces the one with the same application and id.
    pub fn upsert(&mut self, entry: Arc<Entry>) {
        self.documents = Memo::default();
        match self.position(&entry) {
            Ok(index) => self.members[index] = entry,
            Err(index) => self.members.insert(index, entry),
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, entry: &Entry) {
        self.documents = Memo::default();
        if let Ok(index) = self.position(entry) {
            self.members.remove(index);
        }
    }

    /// The document of this VIP; made once per change, form and encoding.
    pub fn document(&self, form: Form, encoding: Encoding) -> Bytes {
        let plain = self.documents.get_or_make(form.index() * 2, || {
            write_members(form, self.members.iter().map(|member| &**member))
        });
        match encoding {
            Encoding::Identity => plain.clone(),
            Encoding::Gzip => self.documents.get_or_make(form.index() * 2 + 1, || gzip(plain)).clone(),
        }
    }
}

/// A VIP document of members in order of application: version -1, the hash code of the members alone.
pub fn write_members<'a>(form: Form, members: impl Iterator<Item = &'a Entry>) -> Bytes {
    let members: Vec<&Entry> = members.collect();
    let counts: StatusCounts = members.iter().map(|member| member.record.instance.status).collect();
    let hash = counts.hash_code();
    let mut text = Vec::new();
    document::open_applications(form, VIP_VERSION, &hash, &mut text);
    for (index, group) in members.chunk_by(|a, b| a.app() == b.app()).enumerate() {
        if index > 0 {
            text.extend_from_slice(document::separator(form));
        }
        text.extend_from_slice(&write_application(form, group[0].app(), group));
    }
    document::close_applications(form, VIP_VERSION, &hash, &mut text);
    text.into()
}
