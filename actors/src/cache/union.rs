//! This registry and mirrors of other regions, shown as one (spec `registry.md` 7.4, `replication.md` 7.2).
//!
//! Applications that stand in one registry only are shared as they are, with everything that has been encoded of them;
//! those that stand in several are merged, again only if one side has changed. Documents and hash code come from the very
//! same set, other than in the Java server (defect D8), so no client is sent round in circles.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::AppName;
use heureka_protocol::document::Form;

use super::app_view::AppView;
use super::document::Document;
use super::entry::Entry;
use super::memo::{Encoding, Variant};
use super::piece::gzip;
use super::view::View;
use super::vip_view::write_members;

/// Which applications of a region may be shown here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Whitelist {
    /// All of them.
    #[default]
    All,
    /// These.
    Only(BTreeSet<AppName>),
}

impl Whitelist {
    /// True if an application may be shown.
    #[must_use]
    pub fn allows(&self, app: &AppName) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(app),
        }
    }
}

/// What another region had when it was last asked, and what of it may be shown.
#[derive(Clone, Debug)]
pub struct Mirror {
    /// Its registry.
    pub view: Arc<View>,
    /// What of it is shown.
    pub whitelist: Arc<Whitelist>,
}

/// Several registries as one, of one version.
#[derive(Debug)]
pub struct Union {
    /// Everything but the VIP indexes.
    view: View,
    own: Arc<View>,
    mirrors: Vec<Mirror>,
    /// Applications that stand in more than one of them, by name and mirror.
    merged: HashMap<(AppName, usize), Merged>,
}

#[derive(Clone, Debug)]
struct Merged {
    own: Arc<AppView>,
    theirs: Arc<AppView>,
    both: Arc<AppView>,
}

impl Union {
    /// Puts registries together. Of two instances of one id in one application the mirror's is shown, of two mirrors the
    /// later one's. What `previous` has merged already is taken from there.
    #[must_use]
    pub fn new(own: Arc<View>, mirrors: Vec<Mirror>, previous: Option<&Self>) -> Self {
        let mut union = Self { view: own.without_vips(), own, mirrors, merged: HashMap::new() };
        for (index, mirror) in union.mirrors.clone().into_iter().enumerate() {
            for app in mirror.view.all_apps().filter(|app| mirror.whitelist.allows(&app.name)) {
                union.add(index, app, previous);
            }
            union.view.raise_version(mirror.view.version());
        }
        union
    }

    /// True if this is the union of these very versions.
    #[must_use]
    pub fn is_of(&self, own: &Arc<View>, mirrors: &[Mirror]) -> bool {
        let same = |(a, b): (&Mirror, &Mirror)| Arc::ptr_eq(&a.view, &b.view);
        Arc::ptr_eq(&self.own, own)
            && self.is_of_regions(mirrors)
            && self.mirrors.iter().zip(mirrors).all(same)
    }

    /// True if this is a union of some version of these regions. A region is known by its white list, which it keeps.
    #[must_use]
    pub fn is_of_regions(&self, mirrors: &[Mirror]) -> bool {
        let same = |(a, b): (&Mirror, &Mirror)| Arc::ptr_eq(&a.whitelist, &b.whitelist);
        self.mirrors.len() == mirrors.len() && self.mirrors.iter().zip(mirrors).all(same)
    }

    fn add(&mut self, mirror: usize, theirs: &Arc<AppView>, previous: Option<&Self>) {
        let key = (theirs.name.clone(), mirror);
        let Some(own) = self.view.any_app(&theirs.name).cloned() else {
            return self.view.put_app(theirs.clone());
        };
        let known = previous.and_then(|previous| previous.merged.get(&key));
        let known = known.filter(|known| Arc::ptr_eq(&known.own, &own) && Arc::ptr_eq(&known.theirs, theirs));
        let merged = known.cloned().unwrap_or_else(|| Merged {
            both: Arc::new(own.merged_with(theirs)),
            own,
            theirs: theirs.clone(),
        });
        self.view.put_app(merged.both.clone());
        self.merged.insert(key, merged);
    }

    /// Everything but the documents of VIPs.
    #[must_use]
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// A whole-registry document; made once per version.
    pub fn document(&self, variant: Variant) -> &Arc<Document> {
        self.view.document(variant)
    }

    /// The document of one VIP address: as [`View::vip_document`], over all registries.
    #[must_use]
    pub fn vip_document(&self, vip: &str, is_secure: bool, form: Form, encoding: Encoding) -> Bytes {
        let mut members = self.vip_members(|view| view.vip_members(vip, is_secure));
        if members.is_empty() {
            members = self.vip_members(|view| view.vip_members_in_any_case(vip, is_secure));
        }
        members.sort_by(|a, b| (a.app(), a.id()).cmp(&(b.app(), b.id())));
        members.dedup_by(|a, b| (a.app(), a.id()) == (b.app(), b.id()));
        let text = write_members(form, members.into_iter());
        match encoding {
            Encoding::Identity => text,
            Encoding::Gzip => gzip(&text),
        }
    }

    /// Those members that are shown: neither hidden behind an equal id nor kept out by a white list.
    fn vip_members<'a>(&'a self, find: impl Fn(&'a View) -> Vec<&'a Arc<Entry>>) -> Vec<&'a Entry> {
        let views = std::iter::once(&*self.own).chain(self.mirrors.iter().map(|mirror| &*mirror.view));
        let found = views.flat_map(find);
        found.filter(|entry| self.view.shows(entry)).map(|entry| &**entry).collect()
    }
}
