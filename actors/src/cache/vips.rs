//! The index from VIP addresses to instances (spec `wire.md` 6.3).

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::document::Form;
use heureka_registry::vip::{fold, pieces};

use super::entry::Entry;
use super::memo::Encoding;
use super::sharded::Sharded;
use super::vip_view::{VipView, write_members};

/// One index: of plain or of secure VIP addresses.
#[derive(Clone, Debug, Default)]
pub struct Vips {
    /// By address exactly as written, blanks around it cut off.
    exact: Sharded<Box<str>, VipView>,
    /// By folded address: the spellings in use.
    spellings: Sharded<Box<str>, BTreeSet<Box<str>>>,
}

/// The addresses in a comma list, each once.
fn addresses(list: Option<&str>) -> Vec<&str> {
    let mut addresses: Vec<&str> = list.into_iter().flat_map(pieces).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

impl Vips {
    /// Replaces `old` by `new` under the addresses of each.
    pub fn replace(&mut self, old: Option<(&Entry, Option<&str>)>, new: Option<(&Arc<Entry>, Option<&str>)>) {
        let new_addresses = addresses(new.and_then(|(_, list)| list));
        if let Some((entry, list)) = old {
            for address in addresses(list).into_iter().filter(|address| !new_addresses.contains(address)) {
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
        if let Some(view) = self.exact.get_mut(address) {
            view.upsert(entry.clone());
            return;
        }
        let key: Box<str> = address.into();
        self.spellings.get_mut_or_insert_with(&fold(address), BTreeSet::new).insert(key.clone());
        self.exact.get_mut_or_insert_with(&key, VipView::default).upsert(entry.clone());
    }

    fn remove(&mut self, address: &str, entry: &Entry) {
        let Some(view) = self.exact.get_mut(address) else { return };
        view.remove(entry);
        if view.members().is_empty() {
            self.exact.remove(address);
            self.forget_spelling(address);
        }
    }

    fn forget_spelling(&mut self, address: &str) {
        let folded = fold(address);
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
        let mut views = self.spelled(asked);
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

    /// The addresses that differ from what is asked in letter case only.
    fn spelled(&self, asked: &str) -> impl Iterator<Item = &Arc<VipView>> {
        let spellings = self.spellings.get(&*fold(asked));
        spellings.into_iter().flat_map(|set| set.iter()).filter_map(|name| self.exact.get(name))
    }

    /// The instances that carry an address exactly as asked.
    pub fn members(&self, asked: &str) -> Vec<&Arc<Entry>> {
        self.exact.get(asked.trim()).into_iter().flat_map(|view| view.members()).collect()
    }

    /// The instances that carry an address in any letter case; some more than once.
    pub fn members_in_any_case(&self, asked: &str) -> Vec<&Arc<Entry>> {
        self.spelled(asked.trim()).flat_map(|view| view.members()).collect()
    }

    /// Number of distinct addresses.
    pub fn len(&self) -> usize {
        self.exact.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heureka_protocol::limits::Limits;
    use heureka_protocol::{AppName, Instance, Status, json};
    use heureka_registry::{Lease, Now, Record, StampCell};

    const NOW: Now = Now { mono_ms: 1, wall_ms: 1 };

    fn entry(app: &str, id: &str, vip: &str) -> Arc<Entry> {
        let instance = Instance {
            vip_address: Some(vip.into()),
            ..Instance::with_defaults(AppName::new(app), id.into(), "h", "192.0.2.1")
        };
        let lease = Lease::starting(NOW, 90_000);
        let override_stamp = StampCell::default();
        let record = Record { instance, reported_status: Status::Up, lease, override_stamp };
        Arc::new(Entry::new(Arc::new(record), NOW))
    }

    fn add(vips: &mut Vips, entry: &Arc<Entry>) {
        vips.replace(None, Some((entry, entry.record.instance.vip_address.as_deref())));
    }

    fn remove(vips: &mut Vips, entry: &Arc<Entry>) {
        vips.replace(Some((&**entry, entry.record.instance.vip_address.as_deref())), None);
    }

    fn found(vips: &Vips, asked: &str) -> Vec<String> {
        let body = vips.document(asked, Form::JsonFull, Encoding::Identity);
        let document = json::read_applications(&body, &Limits::SERVER_DOCUMENT).expect("a readable document");
        document.applications.iter().flat_map(|(_, list)| list).map(|i| i.instance_id.to_string()).collect()
    }

    #[test]
    fn q_2_an_address_is_matched_exactly_first_then_in_any_case() {
        let mut vips = Vips::default();
        for entry in [entry("ORDERS", "o", "a.vip,B.vip, c"), entry("MAIL", "m", "b.vip")] {
            add(&mut vips, &entry);
        }
        assert_eq!(found(&vips, "a.vip"), ["o"]);
        assert_eq!(found(&vips, "B.vip"), ["o"]);
        assert_eq!(found(&vips, "b.vip"), ["m"]);
        assert_eq!(found(&vips, "B.VIP"), ["m", "o"]);
        assert_eq!([found(&vips, "c"), found(&vips, " c"), found(&vips, "C ")], [["o"], ["o"], ["o"]]);
        for nothing in ["a.vip,B.vip, c", "", "nope"] {
            assert!(found(&vips, nothing).is_empty(), "{nothing:?}");
        }
    }

    #[test]
    fn q_2_an_index_forgets_what_was_taken_out_and_follows_a_changed_list() {
        let mut vips = Vips::default();
        let (first, second) = (entry("A", "1", "v, v"), entry("A", "2", "V"));
        add(&mut vips, &first);
        add(&mut vips, &second);
        assert_eq!(found(&vips, "v"), ["1"]);
        remove(&mut vips, &first);
        assert_eq!(found(&vips, "v"), ["2"], "the exact spelling is gone, so any case counts");
        let moved = entry("A", "2", "w");
        vips.replace(Some((&*second, Some("V"))), Some((&moved, Some("w"))));
        assert_eq!((found(&vips, "v").len(), found(&vips, "W")), (0, vec!["2".to_owned()]));
        remove(&mut vips, &moved);
        assert_eq!(vips.len(), 0);
        assert!(vips.spellings.is_empty(), "not even the spelling is remembered");
    }
}
