//! What a store must hold, in a few bytes per key; and one number that proves that it does.
//!
//! After damage sled may open without a word and show old values among new ones. A checksum per record cannot see that:
//! the old value is whole. So every batch also writes the number of keys and the sum of the fingerprints of all frames
//! (each fingerprint depends on the batch that wrote the frame). A scan that comes to another sum has met a store that
//! never existed, and nothing of it is believed.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use crate::frame;
use crate::key::Kind;

/// Proof of the contents of a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seal {
    /// Number of keys.
    pub keys: u64,
    /// Wrapping sum of fingerprints.
    pub sum: u64,
}

/// Number of keys by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instances.
    pub instances: u64,
    /// Overrides.
    pub overrides: u64,
    /// Tombstones.
    pub tombstones: u64,
}

#[derive(Clone, Copy, Debug)]
struct Value {
    fingerprint: u64,
    bytes: u32,
}

/// All keys of a store but the one of the seal itself, by hash. Two keys with one hash (one pair in 3 * 10^9 registries of
/// 100,000 instances) make the next start cold, nothing worse.
#[derive(Debug, Default)]
pub struct Index {
    values: HashMap<u64, Value, RandomState>,
    hasher: RandomState,
    sum: u64,
    live_bytes: u64,
    counts: Counts,
}

impl Index {
    /// An empty one that finds keys by the same hashes, for a part of the same store.
    #[must_use]
    pub fn for_a_part(&self) -> Self {
        Self { hasher: self.hasher.clone(), ..Self::default() }
    }

    /// Adds a part.
    pub fn append(&mut self, others: Self) {
        self.values.extend(others.values);
        self.sum = self.sum.wrapping_add(others.sum);
        self.live_bytes += others.live_bytes;
        self.counts.add(others.counts);
    }

    /// Takes in that a frame stands under a key.
    pub fn put(&mut self, key: &[u8], framed: &[u8]) {
        self.remove(key);
        let bytes = u32::try_from(key.len() + framed.len()).unwrap_or(u32::MAX);
        let value = Value { fingerprint: frame::fingerprint(framed), bytes };
        self.values.insert(self.hasher.hash_one(key), value);
        self.sum = self.sum.wrapping_add(value.fingerprint);
        self.live_bytes += u64::from(bytes);
        if let Some(count) = self.counts.of(key) {
            *count += 1;
        }
    }

    /// Takes in that nothing stands under a key. True if something did.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let Some(value) = self.values.remove(&self.hasher.hash_one(key)) else { return false };
        self.sum = self.sum.wrapping_sub(value.fingerprint);
        self.live_bytes -= u64::from(value.bytes);
        if let Some(count) = self.counts.of(key) {
            *count -= 1;
        }
        true
    }

    /// True if something stands under a key.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.values.contains_key(&self.hasher.hash_one(key))
    }

    /// The seal of these contents.
    #[must_use]
    pub fn seal(&self) -> Seal {
        Seal { keys: self.values.len() as u64, sum: self.sum }
    }

    /// Bytes of all keys and values.
    #[must_use]
    pub const fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Keys by kind.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

impl Counts {
    const fn add(&mut self, others: Self) {
        self.instances += others.instances;
        self.overrides += others.overrides;
        self.tombstones += others.tombstones;
    }

    fn of(&mut self, key: &[u8]) -> Option<&mut u64> {
        match Kind::of(key)? {
            Kind::Instance => Some(&mut self.instances),
            Kind::Override => Some(&mut self.overrides),
            Kind::Tombstone => Some(&mut self.tombstones),
            Kind::Meta | Kind::Seen => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::wrap;

    fn framed(key: &[u8], generation: u64, payload: &[u8]) -> Vec<u8> {
        wrap(key, generation, payload).unwrap()
    }

    #[test]
    fn the_seal_depends_on_the_contents_not_on_the_way_there() {
        let (mut straight, mut winding) = (Index::default(), Index::default());
        straight.put(b"ia", &framed(b"ia", 1, b"x"));
        straight.put(b"tb", &framed(b"tb", 2, b"y"));
        winding.put(b"ic", &framed(b"ic", 1, b"z"));
        winding.put(b"tb", &framed(b"tb", 1, b"old"));
        winding.put(b"tb", &framed(b"tb", 2, b"y"));
        winding.put(b"ia", &framed(b"ia", 1, b"x"));
        assert!(winding.remove(b"ic") && !winding.remove(b"ic"));
        assert_eq!(straight.seal(), winding.seal());
        assert_eq!(straight.live_bytes(), winding.live_bytes());
        let counts = Counts { instances: 1, overrides: 0, tombstones: 1 };
        assert_eq!((straight.counts(), winding.counts()), (counts, counts));
    }

    #[test]
    fn parts_together_are_the_whole() {
        let mut whole = Index::default();
        let mut parts = [whole.for_a_part(), whole.for_a_part()];
        for (part, key) in [(0, b"ia"), (1, b"ob"), (1, b"tc")] {
            let value = framed(key, 1, key);
            parts[part].put(key, &value);
            whole.put(key, &value);
        }
        let mut joined = whole.for_a_part();
        parts.into_iter().for_each(|part| joined.append(part));
        assert_eq!(joined.seal(), whole.seal());
        assert_eq!((joined.live_bytes(), joined.counts()), (whole.live_bytes(), whole.counts()));
        assert!(joined.remove(b"ob") && !joined.contains(b"ob") && joined.contains(b"ia"));
    }

    #[test]
    fn an_old_value_a_lost_key_and_a_returned_key_break_the_seal() {
        let mut index = Index::default();
        index.put(b"ia", &framed(b"ia", 2, b"same"));
        index.put(b"ib", &framed(b"ib", 2, b"other"));
        let seal = index.seal();
        index.put(b"ia", &framed(b"ia", 1, b"same"));
        assert_ne!(index.seal(), seal, "the same payload of an older batch");
        index.put(b"ia", &framed(b"ia", 2, b"same"));
        assert_eq!(index.seal(), seal);
        index.put(b"ic", &framed(b"ic", 1, b"returned"));
        assert_ne!(index.seal(), seal);
        index.remove(b"ic");
        index.remove(b"ib");
        assert_ne!(index.seal(), seal);
    }
}
