//! The materialised view: everything that a query can show, of one version.

use std::sync::Arc;

use bytes::Bytes;
use heureka_protocol::document::Form;
use heureka_protocol::{AppName, Status, StatusCounts};
use heureka_registry::{Application, Change, Now};

use super::app_view::AppView;
use super::document::{Apps, Document, FULL_VERSION, assemble, make_parts_side_by_side};
use super::entry::Entry;
use super::memo::{Encoding, Memo, Scope, Variant};
use super::vips::Vips;
use crate::side_by_side;

/// Applications, VIP indexes, recent changes, status counts and documents of one version.
///
/// The `CacheActor` owns the only copy that changes. Publishing clones it, which costs a few hundred reference counts,
/// and the clone never changes again: readers share it without locks, and all its documents agree.
#[derive(Clone, Debug, Default)]
pub struct View {
    version: u64,
    apps: Apps,
    vips: Vips,
    secure_vips: Vips,
    counts: StatusCounts,
    /// About what the removals take in memory that deltas show.
    removal_bytes: usize,
    documents: Memo<Arc<Document>, { Variant::COUNT }>,
}

impl View {
    /// The view of a registry that starts with these applications. Its delta is empty: whoever holds an older copy finds
    /// that the hash differs, and fetches everything.
    #[must_use]
    pub fn restored<'a>(applications: impl IntoIterator<Item = &'a Application>, now: Now) -> Self {
        let apps = side_by_side::map(applications.into_iter().collect(), |application: &Application| {
            let records = application.records().cloned();
            let entries = records.map(|record| Arc::new(Entry::new(record, now))).collect();
            (application.name().clone(), entries)
        });
        Self::of_entries(apps)
    }

    /// A view of applications that are not news. Their instances must be in the order of their ids.
    pub(super) fn of_entries(apps: impl IntoIterator<Item = (AppName, Vec<Arc<Entry>>)>) -> Self {
        let apps: Vec<_> = apps.into_iter().filter(|(_, entries)| !entries.is_empty()).collect();
        let entries = || apps.iter().flat_map(|(_, entries)| entries);
        let indexes = side_by_side::map(vec![plain_vips, secure_vips], |vips_of| {
            let mut vips = Vips::default();
            entries().for_each(|entry| vips.replace(None, Some((entry, vips_of(entry)))));
            vips
        });
        let mut view = Self::default();
        if let Ok([vips, secure_vips]) = <[Vips; 2]>::try_from(indexes) {
            (view.vips, view.secure_vips) = (vips, secure_vips);
        }
        entries().for_each(|entry| view.counts.add(entry.record.instance.status));
        for (name, entries) in apps {
            view.apps.insert(name.clone(), Arc::new(AppView::restored(name, entries)));
        }
        view.bump_version();
        view
    }

    /// Grows by one with every publication that shows something new.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Marks the next version.
    pub fn bump_version(&mut self) {
        self.version += 1;
        self.documents = Memo::default();
    }

    /// Number of live instances per status.
    #[must_use]
    pub fn counts(&self) -> StatusCounts {
        self.counts
    }

    /// An application that has live instances.
    #[must_use]
    pub fn app(&self, name: &str) -> Option<&Arc<AppView>> {
        self.apps.get(name).filter(|app| app.is_shown(Scope::Full))
    }

    /// Applications that have live instances, in no particular order.
    pub fn apps(&self) -> impl Iterator<Item = &Arc<AppView>> {
        self.apps.values().filter(|app| app.is_shown(Scope::Full))
    }

    /// All applications, also those that only deltas show.
    pub fn all_apps(&self) -> impl Iterator<Item = &Arc<AppView>> {
        self.apps.values()
    }

    /// An application, also one that only deltas show.
    pub(super) fn any_app(&self, name: &str) -> Option<&Arc<AppView>> {
        self.apps.get(name)
    }

    /// True if this very entry is live here.
    pub(super) fn shows(&self, entry: &Arc<Entry>) -> bool {
        self.apps.get(&**entry.app()).is_some_and(|app| app.has(entry))
    }

    /// The same without VIP indexes and documents.
    pub(super) fn without_vips(&self) -> Self {
        Self { version: self.version, apps: self.apps.clone(), counts: self.counts, ..Self::default() }
    }

    /// Puts a whole application in, in place of the one of that name. VIP indexes do not follow.
    pub(super) fn put_app(&mut self, app: Arc<AppView>) {
        let statuses =
            |app: &AppView| app.entries().iter().map(|entry| entry.record.instance.status).collect();
        let old: Vec<Status> = self.apps.get(&*app.name).map(|app| statuses(app)).unwrap_or_default();
        old.into_iter().for_each(|status| self.counts.remove(status));
        statuses(&app).into_iter().for_each(|status: Status| self.counts.add(status));
        self.apps.insert(app.name.clone(), app);
    }

    /// Adds to the version.
    pub(super) fn raise_version(&mut self, by: u64) {
        self.version += by;
    }

    /// Live instances with an id, in all applications.
    pub fn find_instances(&self, id: &str) -> impl Iterator<Item = &Arc<Entry>> {
        self.apps.values().filter_map(move |app| app.get(id))
    }

    /// Number of instances whose last change deltas show.
    #[must_use]
    pub fn recent_len(&self) -> usize {
        self.apps.values().map(|app| app.recent_len()).sum()
    }

    /// Number of distinct VIP addresses, plain and secure.
    #[must_use]
    pub fn vip_len(&self) -> usize {
        self.vips.len() + self.secure_vips.len()
    }

    /// Takes a change in.
    pub fn apply(&mut self, change: &Change, now: Now) {
        let entry = Arc::new(Entry::new(change.record.clone(), now));
        self.take(entry, change.kind.is_removal(), change.at_mono_ms);
    }

    /// Puts an instance in, or takes it out; deltas show it from then on.
    pub fn take(&mut self, entry: Arc<Entry>, is_removal: bool, at_mono_ms: u64) {
        let name = entry.app().clone();
        let (old, new) = self.change_recent(&name, |app| match is_removal {
            true => (app.remove(entry, at_mono_ms), None),
            false => (app.upsert(entry.clone(), at_mono_ms), Some(entry)),
        });
        self.index(old.as_deref(), new.as_ref());
    }

    /// Changes what deltas show of an application, and keeps the sum in step.
    fn change_recent<R>(&mut self, name: &AppName, change: impl FnOnce(&mut AppView) -> R) -> R {
        let app = self.apps.get_mut_or_insert_with(name, || AppView::new(name.clone()));
        self.removal_bytes -= app.removal_bytes();
        let result = change(app);
        self.removal_bytes += app.removal_bytes();
        result
    }

    /// About what the removals take in memory that deltas show.
    #[must_use]
    pub fn removal_bytes(&self) -> usize {
        self.removal_bytes
    }

    /// If the removals that deltas show take more than this, gives up the oldest, down to three quarters so that it need
    /// not be done for each one. Who has missed one finds that the hash code differs. Returns how many deltas lose.
    pub fn bound_removals(&mut self, max_bytes: usize) -> usize {
        if self.removal_bytes <= max_bytes {
            return 0;
        }
        let mut removals: Vec<_> = self.apps.values().flat_map(|app| app.removals()).collect();
        removals.sort_unstable();
        let mut excess = self.removal_bytes - max_bytes / 4 * 3;
        let last = removals.into_iter().find(|(_, bytes)| {
            excess = excess.saturating_sub(*bytes);
            excess == 0
        });
        let up_to_mono_ms = last.map_or(u64::MAX, |(at_mono_ms, _)| at_mono_ms);
        let has_old = |app: &&Arc<AppView>| app.removals().any(|(at_mono_ms, _)| at_mono_ms <= up_to_mono_ms);
        self.shrink_recent(has_old, |app| app.drop_removals(up_to_mono_ms))
    }

    /// Makes deltas show less of some applications; returns the sum of what the calls return.
    fn shrink_recent(
        &mut self,
        is_one: impl Fn(&&Arc<AppView>) -> bool,
        shrink: impl Fn(&mut AppView) -> usize,
    ) -> usize {
        let names: Vec<_> = self.apps.values().filter(is_one).map(|app| app.name.clone()).collect();
        let mut sum = 0;
        for name in &names {
            let (result, is_gone) = self.change_recent(name, |app| (shrink(app), app.is_gone()));
            sum += result;
            if is_gone {
                self.apps.remove(&**name);
            }
        }
        sum
    }

    /// Keeps status counts and VIP indexes in step with a replacement.
    fn index(&mut self, old: Option<&Entry>, new: Option<&Arc<Entry>>) {
        if let Some(old) = old {
            self.counts.remove(old.record.instance.status);
        }
        if let Some(new) = new {
            self.counts.add(new.record.instance.status);
        }
        self.vips.replace(old.map(|old| (old, plain_vips(old))), new.map(|new| (new, plain_vips(new))));
        self.secure_vips
            .replace(old.map(|old| (old, secure_vips(old))), new.map(|new| (new, secure_vips(new))));
    }

    /// Drops changes older than the retention from the deltas. True if there were any.
    pub fn expire_recent(&mut self, before_mono_ms: u64) -> bool {
        let has_old = |app: &&Arc<AppView>| app.has_recent_before(before_mono_ms);
        let applications = self.shrink_recent(has_old, |app| {
            app.expire_recent(before_mono_ms);
            1
        });
        applications > 0
    }

    /// Takes the lease times of this moment into the applications of one shard that have been encoded. True if there
    /// were any.
    pub fn refresh_lease_times(&mut self, shard: usize, now: Now) -> bool {
        let shards = self.apps.shards();
        let encoded = shards[shard % shards.len()].values().filter(|app| app.is_encoded());
        let names: Vec<_> = encoded.map(|app| app.name.clone()).collect();
        for name in &names {
            let app = self.apps.get_mut_or_insert_with(name, || AppView::new(name.clone()));
            app.refresh_lease_times(now);
            let entries = app.entries().to_vec();
            for entry in &entries {
                self.index(Some(entry), Some(entry));
            }
        }
        !names.is_empty()
    }

    /// Number of shards that [`View::refresh_lease_times`] knows.
    #[must_use]
    pub fn shard_count(&self) -> usize {
        self.apps.shards().len()
    }

    /// A whole-registry document; made once per version.
    pub fn document(&self, variant: Variant) -> &Arc<Document> {
        self.documents.get_or_make(variant.index(), || {
            let version = match variant.scope {
                Scope::Full => FULL_VERSION,
                Scope::Delta => i64::try_from(self.version).unwrap_or(i64::MAX),
            };
            Arc::new(assemble(&self.apps, variant, version, &self.counts.hash_code()))
        })
    }

    /// The same on all cores, for somebody who waits for it.
    pub fn document_at_once(&self, variant: Variant) -> &Arc<Document> {
        if self.ready_document(variant).is_none() {
            make_parts_side_by_side(&self.apps, variant);
        }
        self.document(variant)
    }

    /// A whole-registry document if somebody has made it.
    pub fn ready_document(&self, variant: Variant) -> Option<&Arc<Document>> {
        self.documents.get(variant.index())
    }

    /// The document of one VIP address.
    pub fn vip_document(&self, vip: &str, is_secure: bool, form: Form, encoding: Encoding) -> Bytes {
        let index = if is_secure { &self.secure_vips } else { &self.vips };
        index.document(vip, form, encoding)
    }

    /// The instances that carry a VIP address exactly as written.
    pub(super) fn vip_members(&self, vip: &str, is_secure: bool) -> Vec<&Arc<Entry>> {
        if is_secure { self.secure_vips.members(vip) } else { self.vips.members(vip) }
    }

    /// The instances that carry a VIP address in any letter case; some more than once.
    pub(super) fn vip_members_in_any_case(&self, vip: &str, is_secure: bool) -> Vec<&Arc<Entry>> {
        if is_secure { self.secure_vips.members_in_any_case(vip) } else { self.vips.members_in_any_case(vip) }
    }
}

fn plain_vips(entry: &Entry) -> Option<&str> {
    entry.record.instance.vip_address.as_deref()
}

fn secure_vips(entry: &Entry) -> Option<&str> {
    entry.record.instance.secure_vip_address.as_deref()
}
