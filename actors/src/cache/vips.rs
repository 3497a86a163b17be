//! The index from VIP addresses to instances (spec `wire.md` 6.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::document::Form;

use super::entry::Entry;
use super::memo::Encoding;
use super::sharded::Sharded;
use super::vip_view::{VipView, write_members};

/// One index: of plain or of secure VIP addresses.
#[derive(Clone, Debug, Default)]
pub struct Vips {
    /// By address exactly as written, blanks around it cut off.
    exact: Sharded<Box<str>, VipView>,
    /// By lower-case address: the spellings in use.
    spellings: Sharded<Box<str>, BTreeSet<Box<str>>>,
}

/// The addresses in a comma list: trimmed, without empty and repeated ones.
fn addresses(list: Option<&str>) -> BTreeSet<&str> {
    list.unwrap_or("").split(',').map(str::trim).filter(|address| !address.is_empty()).collect()
}

impl Vips {
    /// Replaces `old` by `new` under the addresses of each.
    pub fn replace(&mut self, old: Option<(&Entry, Option<&str>)>, new: Option<(&Arc<Entry>, Option<&str>)>) {
        let new_addresses = addresses(new.and_then(|(_, list)| list));
        if let Some((entry, list)) = old {
            for address in addresses(list).difference(&new_addresses) {
                self.remove(address, entry);
            }
        }
        if let Some((entry, _)) = new {
            for address in new_addresses {
                self.add(address, entry);
            }
        }
    }

    fn add(&mut self, address: &str, entry: &Arc<Entry>) {
        let key: Box<str> = address.into();
        if self.exact.get(address).is_none() {
            let folded: Box<str> = address.to_lowercase().into();
            self.spellings.get_mut_or_insert_with(&folded, BTreeSet::new).insert(key.clone());
        }
        self.exact.get_mut_or_insert_with(&key, VipView::default).upsert(entry.clone());
    }

    fn remove(&mut self, address: &str, entry: &Entry) {
        let key: Box<str> = address.into();
        let view = self.exact.get_mut_or_insert_with(&key, VipView::default);
        view.remove(entry);
        if view.members().is_empty() {
            self.exact.remove(address);
            self.forget_spelling(&key);
        }
    }

    fn forget_spelling(&mut self, address: &str) {
        let folded: Box<str> = address.to_lowercase().into();
        let spellings = self.spellings.get_mut_or_insert_with(&folded, BTreeSet::new);
        spellings.remove(address);
        if spellings.is_empty() {
            self.spellings.remove(&*folded);
        }
    }

    /// The document of a VIP: instances that carry it exactly as asked, else those that carry it in any letter case;
    /// an unknown VIP gives a document without applications.
    pub fn document(&self, asked: &str, form: Form, encoding: Encoding) -> Bytes {
        let asked = asked.trim();
        if let Some(view) = self.exact.get(asked) {
            return view.document(form, encoding);
        }
        let spellings = self.spellings.get(&*asked.to_lowercase());
        let mut views =
            spellings.into_iter().flat_map(|set| set.iter()).filter_map(|name| self.exact.get(name));
        match (views.next(), views.next()) {
            (None, _) => VipView::default().document(form, encoding),
            (Some(view), None) => view.document(form, encoding),
            (Some(first), Some(second)) => {
                let mut members: Vec<&Entry> = [first, second]
                    .into_iter()
                    .chain(views)
                    .flat_map(|view| view.members().iter().map(|member| &**member))
                    .collect();
                members
                    .sort_by_key(|member| (member.app().clone(), member.record.instance.instance_id.clone()));
                members.dedup_by_key(|member| {
                    (member.app().clone(), member.record.instance.instance_id.clone())
                });
                let text = write_members(form, members.into_iter());
                match encoding {
                    Encoding::Identity => text,
                    Encoding::Gzip => super::piece::gzip(&text),
                }
            }
        }
    }

    /// Number of distinct addresses.
    pub fn len(&self) -> usize {
        self.exact.len()
    }
}
