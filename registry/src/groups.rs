//! What is known of auto-scaling groups (spec `replication.md` 8.1): a bounded table, filled by whoever asks the cloud or by
//! operators. A group that nobody has said anything of counts as enabled.

use std::collections::HashMap;

use foldhash::quality::RandomState;

/// The table.
#[derive(Debug)]
pub struct GroupTable {
    groups: HashMap<Box<str>, Group, RandomState>,
    /// How long a group that nobody asks for is remembered, milliseconds.
    expiry_ms: u64,
    /// Groups that are remembered at most; names come from outside.
    groups_max: usize,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    /// `None` until somebody has said it.
    is_enabled: Option<bool>,
    used_mono_ms: u64,
}

impl GroupTable {
    /// An empty table.
    #[must_use]
    pub fn new(expiry_ms: u64, groups_max: usize) -> Self {
        Self { groups: HashMap::default(), expiry_ms, groups_max }
    }

    /// Whether a group takes traffic, as far as is known. From now on it is among those that must be asked for.
    pub fn look_up(&mut self, name: &str, mono_ms: u64) -> bool {
        if let Some(group) = self.groups.get_mut(name) {
            group.used_mono_ms = mono_ms;
            return group.is_enabled.unwrap_or(true);
        }
        self.insert(name, None, mono_ms);
        true
    }

    /// Notes what an operator or the cloud says. False if there is no room for another group.
    pub fn set(&mut self, name: &str, is_enabled: bool, mono_ms: u64) -> bool {
        match self.groups.get_mut(name) {
            Some(group) => group.is_enabled = Some(is_enabled),
            // An unknown group is enabled anyway.
            None => return self.insert(name, Some(is_enabled), mono_ms) || is_enabled,
        }
        true
    }

    fn insert(&mut self, name: &str, is_enabled: Option<bool>, mono_ms: u64) -> bool {
        if self.groups.len() >= self.groups_max {
            self.expire(mono_ms);
        }
        let has_room = self.groups.len() < self.groups_max;
        if has_room {
            self.groups.insert(name.into(), Group { is_enabled, used_mono_ms: mono_ms });
        }
        has_room
    }

    /// Forgets the groups that nobody has asked for.
    pub fn expire(&mut self, mono_ms: u64) {
        let expiry_ms = self.expiry_ms;
        self.groups.retain(|_, group| mono_ms.saturating_sub(group.used_mono_ms) < expiry_ms);
    }

    /// The groups in use, to be asked for again.
    #[must_use]
    pub fn names(&self) -> Vec<Box<str>> {
        self.groups.keys().cloned().collect()
    }

    /// The groups in use that nobody has said anything of.
    #[must_use]
    pub fn unknown(&self) -> Vec<Box<str>> {
        let unknown = self.groups.iter().filter(|(_, group)| group.is_enabled.is_none());
        unknown.map(|(name, _)| name.clone()).collect()
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_group_is_enabled_and_asked_for_until_it_is_known() {
        let mut table = GroupTable::new(100, 10);
        assert!(table.look_up("web", 0));
        assert_eq!(table.unknown(), ["web".into()]);
        assert!(table.set("web", false, 0));
        assert!(!table.look_up("web", 1) && table.unknown().is_empty());
        assert!(table.set("web", true, 2) && table.look_up("web", 2));
    }

    #[test]
    fn a_group_that_is_not_used_is_forgotten_and_the_table_stays_small() {
        let mut table = GroupTable::new(100, 2);
        table.set("a", false, 0);
        table.set("b", false, 50);
        assert!(!table.set("c", false, 60), "no room");
        assert!(table.set("c", true, 60), "which it is anyway");
        assert!(table.look_up("c", 60), "so it counts as enabled");
        assert!(!table.look_up("a", 90));
        assert!(table.set("c", false, 160), "b is forgotten");
        assert_eq!((table.len(), table.look_up("a", 160)), (2, false));
    }
}
