//! The lists in which slots wait: one per weight, one for suspects of a poisonous batch, one for those put off.

use std::collections::BTreeMap;

use super::key::Key;

/// Where a slot stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Lane {
    /// In no list: nothing waits, or something is on its way.
    #[default]
    Nowhere,
    /// Only a heartbeat.
    Heartbeats,
    /// A registration.
    Registers,
    /// An override operation, perhaps with a registration.
    Overrides,
    /// A cancel, perhaps with a registration.
    Cancels,
    /// May be the reason why a batch was refused: travels in small company.
    Suspects,
    /// Not before a certain time.
    Delayed,
}

/// The lists, each in the order of tickets.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    pub(super) heartbeats: BTreeMap<u64, Key>,
    pub(super) registers: BTreeMap<u64, Key>,
    pub(super) overrides: BTreeMap<u64, Key>,
    pub(super) cancels: BTreeMap<u64, Key>,
    pub(super) suspects: BTreeMap<u64, Key>,
    /// Those put off, in the order of the times until which they are.
    delayed: BTreeMap<(u64, u64), Key>,
    /// That time, by ticket.
    delayed_until_ms: BTreeMap<u64, u64>,
}

impl Lanes {
    /// Puts a key into a list in which nothing waits for a time.
    pub(super) fn insert(&mut self, lane: Lane, ticket: u64, key: Key) {
        if let Some(list) = self.list(lane) {
            list.insert(ticket, key);
        }
    }

    /// Puts a key into the list of those that are put off.
    pub(super) fn insert_delayed(&mut self, until_ms: u64, ticket: u64, key: Key) {
        self.delayed_until_ms.insert(ticket, until_ms);
        self.delayed.insert((until_ms, ticket), key);
    }

    /// Takes a key out of a list.
    pub(super) fn remove(&mut self, lane: Lane, ticket: u64) {
        if let Some(list) = self.list(lane) {
            list.remove(&ticket);
        } else if let Some(until_ms) = self.delayed_until_ms.remove(&ticket) {
            self.delayed.remove(&(until_ms, ticket));
        }
    }

    fn list(&mut self, lane: Lane) -> Option<&mut BTreeMap<u64, Key>> {
        match lane {
            Lane::Nowhere | Lane::Delayed => None,
            Lane::Heartbeats => Some(&mut self.heartbeats),
            Lane::Registers => Some(&mut self.registers),
            Lane::Overrides => Some(&mut self.overrides),
            Lane::Cancels => Some(&mut self.cancels),
            Lane::Suspects => Some(&mut self.suspects),
        }
    }

    /// How many keys wait, for checks.
    pub(super) fn len(&self) -> usize {
        self.early_len() + self.heartbeats.len() + self.suspects.len() + self.delayed.len()
    }

    /// The key in a place, for checks.
    pub(super) fn get(&self, lane: Lane, ticket: u64) -> Option<&Key> {
        match lane {
            Lane::Nowhere => None,
            Lane::Delayed => self.delayed.get(&(*self.delayed_until_ms.get(&ticket)?, ticket)),
            Lane::Heartbeats => self.heartbeats.get(&ticket),
            Lane::Registers => self.registers.get(&ticket),
            Lane::Overrides => self.overrides.get(&ticket),
            Lane::Cancels => self.cancels.get(&ticket),
            Lane::Suspects => self.suspects.get(&ticket),
        }
    }

    /// The next key whose time has come.
    pub(super) fn next_due(&mut self, now_ms: u64) -> Option<Key> {
        let entry = self.delayed.first_entry()?;
        (entry.key().0 <= now_ms).then(|| entry.get().clone())
    }

    /// When the next key's time comes.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        self.delayed.first_key_value().map(|((until_ms, _), _)| *until_ms)
    }

    /// The oldest key that does not wait for company.
    pub(super) fn first_early(&self) -> Option<(u64, &Key)> {
        let heads = [&self.registers, &self.overrides, &self.cancels].map(BTreeMap::first_key_value);
        heads.into_iter().flatten().map(|(ticket, key)| (*ticket, key)).min_by_key(|(ticket, _)| *ticket)
    }

    /// How many do not wait for company.
    pub(super) fn early_len(&self) -> usize {
        self.registers.len() + self.overrides.len() + self.cancels.len()
    }
}
