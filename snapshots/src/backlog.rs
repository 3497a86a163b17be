//! Changes that have been taken out of the queue but wait for their turn to be written, in slices.
//!
//! Instances that are gone come first, or a crash would bring them back. The others come in the order of their keys:
//! neighbours lie in one page of the store, and in any other order each of them would read and write that page again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId};
use heureka_registry::Record;

use crate::contents::Owner;
use crate::pending::{Latest, Taken, rough_bytes};

/// Bytes after which a slice ends: a round must not keep the processor, or memory, for long. Plain records reach their number
/// first.
const SLICE_BYTES: usize = 2 * 1024 * 1024;

/// Sorts as the keys of the store do: shorter application names first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    length: usize,
    app: AppName,
    id: InstanceId,
}

impl Place {
    fn of((app, id): &Owner) -> Self {
        Self { length: app.len(), app: app.clone(), id: Arc::clone(id) }
    }
}

/// Changes that wait for their turn.
#[derive(Debug, Default)]
pub struct Backlog {
    gone: HashMap<Owner, Latest, foldhash::quality::RandomState>,
    present: BTreeMap<Place, Latest>,
    /// Gone before the records of the registry were asked for.
    aside: Taken,
}

impl Backlog {
    /// Takes in what is newer than everything that waits here.
    pub fn merge(&mut self, taken: Taken) {
        for (owner, latest) in taken {
            let place = Place::of(&owner);
            if matches!(latest, Latest::Present(_)) {
                self.gone.remove(&owner);
                self.present.insert(place, latest);
            } else {
                self.present.remove(&place);
                self.gone.insert(owner, latest);
            }
        }
    }

    /// Takes back a slice that could not be written, unless something newer waits already.
    pub fn give_back(&mut self, slice: Taken) {
        for (owner, latest) in slice {
            let place = Place::of(&owner);
            if self.gone.contains_key(&owner) || self.present.contains_key(&place) {
                continue;
            }
            if matches!(latest, Latest::Present(_)) {
                self.present.insert(place, latest);
            } else {
                self.gone.insert(owner, latest);
            }
        }
    }

    /// The next changes to write, at most so many, and not much more than two megabytes.
    pub fn next_slice(&mut self, at_most: usize) -> Taken {
        let gone: Vec<Owner> = self.gone.keys().take(at_most).cloned().collect();
        let mut slice: Taken = gone.into_iter().filter_map(|owner| self.gone.remove_entry(&owner)).collect();
        let mut bytes = 0;
        while slice.len() < at_most && bytes < SLICE_BYTES {
            let Some((place, latest)) = self.present.pop_first() else { break };
            if let Latest::Present(record) = &latest {
                bytes += rough_bytes(record);
            }
            slice.push(((place.app, place.id), latest));
        }
        slice
    }

    /// All records of the registry are about to be asked for, since changes were lost: what waits here may be older than a
    /// lost change. What comes in from now on is newer than the records.
    pub fn expect_records(&mut self) {
        self.present.clear();
        self.aside.extend(self.gone.drain());
    }

    /// The records have come. Of what waited before, only those that are really gone are still true.
    pub fn settle_with(&mut self, records: &[Arc<Record>]) {
        let owner = |record: &Arc<Record>| {
            (record.instance.app.clone(), InstanceId::clone(&record.instance.instance_id))
        };
        let living: HashSet<Owner> = records.iter().map(owner).collect();
        let gone = std::mem::take(&mut self.aside).into_iter().filter(|(owner, _)| !living.contains(owner));
        let gone: Taken = gone.collect();
        self.give_back(gone);
    }

    /// Number of instances that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.gone.len() + self.present.len()
    }

    /// True if nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(app: &str, id: &str) -> Owner {
        (AppName::new(app), id.into())
    }

    fn record(app: &str, id: &str) -> Arc<Record> {
        let stored = crate::stored::StoredInstance {
            host_name: "host".into(),
            ip_addr: "192.0.2.1".into(),
            ..crate::stored::StoredInstance::default()
        };
        let now = heureka_registry::Now { mono_ms: 1, wall_ms: 1 };
        Arc::new(stored.into_record(AppName::new(app), id.into(), now).unwrap())
    }

    fn present(app: &str, id: &str) -> (Owner, Latest) {
        (owner(app, id), Latest::Present(record(app, id)))
    }

    fn names(slice: &Taken) -> Vec<String> {
        slice.iter().map(|((app, id), _)| format!("{app}/{id}")).collect()
    }

    #[test]
    fn the_gone_come_first_and_the_others_as_they_lie_in_the_store() {
        let mut backlog = Backlog::default();
        backlog.merge(vec![present("LONGER", "a"), present("B", "z"), present("B", "b"), present("A", "c")]);
        backlog.merge(vec![(owner("Z", "x"), Latest::Evicted)]);
        assert_eq!(names(&backlog.next_slice(3)), ["Z/x", "A/c", "B/b"]);
        assert_eq!(names(&backlog.next_slice(3)), ["B/z", "LONGER/a"]);
        assert!(backlog.is_empty());
    }

    #[test]
    fn a_slice_of_large_records_is_short() {
        let mut backlog = Backlog::default();
        let mut large = Arc::into_inner(record("A", "x")).unwrap();
        large.instance.metadata = [("text", "x".repeat(60_000))].into_iter().collect();
        let large = Arc::new(large);
        backlog.merge(
            (0..100).map(|i| (owner("A", &format!("{i:02}")), Latest::Present(Arc::clone(&large)))).collect(),
        );
        let sizes: Vec<_> = std::iter::repeat_with(|| backlog.next_slice(1_000).len()).take(4).collect();
        assert_eq!(sizes, [35, 35, 30, 0]);
    }

    #[test]
    fn records_replace_what_waited_but_for_the_gone() {
        let mut backlog = Backlog::default();
        let gone = |id| (owner("A", id), Latest::Evicted);
        backlog.merge(vec![present("A", "old"), gone("gone"), gone("back"), gone("back-later")]);
        backlog.expect_records();
        assert!(backlog.is_empty());
        backlog.merge(vec![present("A", "new"), present("A", "back-later")]);
        backlog.settle_with(&[record("A", "back"), record("A", "old")]);
        let slice = backlog.next_slice(9);
        assert_eq!(names(&slice), ["A/gone", "A/back-later", "A/new"]);
    }

    #[test]
    fn what_is_newer_replaces_what_waits_and_is_not_replaced_by_what_comes_back() {
        let mut backlog = Backlog::default();
        backlog.merge(vec![present("A", "a"), (owner("A", "b"), Latest::Evicted)]);
        let slice = backlog.next_slice(9);
        backlog.merge(vec![(owner("A", "a"), Latest::Evicted), present("A", "b")]);
        backlog.give_back(slice);
        assert_eq!(backlog.len(), 2);
        let slice = backlog.next_slice(9);
        assert!(matches!(&slice[0], (owner, Latest::Evicted) if &*owner.1 == "a"));
        assert!(matches!(&slice[1], (owner, Latest::Present(_)) if &*owner.1 == "b"));

        backlog.give_back(slice);
        backlog.merge(vec![present("A", "a"), (owner("A", "b"), Latest::Evicted)]);
        let slice = backlog.next_slice(9);
        assert!(matches!(&slice[0], (owner, Latest::Evicted) if &*owner.1 == "b"));
        assert!(matches!(&slice[1], (owner, Latest::Present(_)) if &*owner.1 == "a"));
    }
}
