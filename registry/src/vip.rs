//! VIP addresses: comma lists and who answers to which (`wire.md` 6.3).
//!
//! A look-up matches exactly first; only if no instance is spelled like that, any letter case counts. Blanks around the
//! pieces of a list and around the text asked for never count.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::quality::RandomState;
use heureka_protocol::AppName;

/// The addresses of a comma list, without blanks around them; empty pieces are left out.
pub fn pieces(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|piece| !piece.is_empty())
}

/// The form in which two addresses that differ in letter case are equal.
#[must_use]
pub fn fold(address: &str) -> Box<str> {
    address.trim().to_uppercase().into_boxed_str()
}

/// Which applications have instances with which address. One index for plain, one for secure addresses.
#[derive(Clone, Debug, Default)]
pub struct VipIndex {
    /// Number of list pieces per address as spelled and application.
    by_spelling: HashMap<Box<str>, BTreeMap<AppName, u64>, RandomState>,
    /// Spellings that differ in letter case only.
    by_fold: HashMap<Box<str>, BTreeSet<Box<str>>, RandomState>,
}

/// Answer of an index: which applications to look into, and which spellings of the address to look for there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VipMatch {
    /// Spellings that answer: the one asked for, or all that differ from it in letter case.
    pub spellings: BTreeSet<Box<str>>,
    /// Applications with at least one such instance, in order of their names.
    pub apps: BTreeSet<AppName>,
}

impl VipMatch {
    /// True if an instance with this comma list belongs to the answer.
    #[must_use]
    pub fn selects(&self, list: Option<&str>) -> bool {
        list.is_some_and(|list| pieces(list).any(|piece| self.spellings.contains(piece)))
    }
}

impl VipIndex {
    /// Adds the addresses of one instance.
    pub fn add(&mut self, app: &AppName, list: Option<&str>) {
        for piece in list.into_iter().flat_map(pieces) {
            let apps = self.by_spelling.entry(Box::from(piece)).or_default();
            if apps.is_empty() {
                self.by_fold.entry(fold(piece)).or_default().insert(Box::from(piece));
            }
            *apps.entry(app.clone()).or_default() += 1;
        }
    }

    /// Takes the addresses of one instance out again; it must have been added with the same list.
    pub fn remove(&mut self, app: &AppName, list: Option<&str>) {
        for piece in list.into_iter().flat_map(pieces) {
            self.remove_piece(app, piece);
        }
    }

    fn remove_piece(&mut self, app: &AppName, piece: &str) {
        let Some(apps) = self.by_spelling.get_mut(piece) else { return };
        if let Some(count) = apps.get_mut(app) {
            *count -= 1;
            if *count == 0 {
                apps.remove(app);
            }
        }
        if apps.is_empty() {
            self.by_spelling.remove(piece);
            self.forget_spelling(piece);
        }
    }

    fn forget_spelling(&mut self, piece: &str) {
        let folded = fold(piece);
        if let Some(spellings) = self.by_fold.get_mut(&folded) {
            spellings.remove(piece);
            if spellings.is_empty() {
                self.by_fold.remove(&folded);
            }
        }
    }

    /// Who answers to an address. An unknown one matches nothing.
    #[must_use]
    pub fn look_up(&self, wanted: &str) -> VipMatch {
        let wanted = wanted.trim();
        let spellings = if self.by_spelling.contains_key(wanted) {
            BTreeSet::from([Box::from(wanted)])
        } else {
            self.by_fold.get(&fold(wanted)).cloned().unwrap_or_default()
        };
        let apps = spellings.iter().filter_map(|spelling| self.by_spelling.get(spelling));
        let apps = apps.flat_map(BTreeMap::keys).cloned().collect();
        VipMatch { spellings, apps }
    }

    /// Number of different addresses, as spelled.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_spelling.len()
    }

    /// True if no instance has an address.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_spelling.is_empty()
    }
}
