//! A map that is cheap to publish again and again: copy-on-write, in shards.
//!
//! Publishing clones one pointer per shard. A change after that copies only the shard it falls into, so its cost grows
//! with the size of the map divided by [`SHARDS`], not with the map. Readers hold a clone and never lock.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use foldhash::quality::FixedState;

/// Number of shards. A clone costs one reference count each; a change copies one shard's pointers and, in documents, the
/// compressed bytes of its applications. 32 keeps both small up to registries of a hundred thousand applications.
pub const SHARDS: usize = 32;
/// Keys are spread the same way in every process, so document order does not change with a restart.
const SHARD_SEED: u64 = 8761;

/// The map. `C` is a per-shard memo that readers may fill and every change of the shard empties.
#[derive(Debug)]
pub struct Sharded<K, V, C = ()> {
    shards: Vec<Arc<Shard<K, V, C>>>,
}

/// One shard: its entries in key order, and the memo made from them.
#[derive(Debug)]
pub struct Shard<K, V, C> {
    map: BTreeMap<K, Arc<V>>,
    /// Made from this very content; starts empty whenever the content changes.
    pub memo: C,
}

impl<K: Clone, V, C: Default> Clone for Shard<K, V, C> {
    fn clone(&self) -> Self {
        Self { map: self.map.clone(), memo: C::default() }
    }
}

impl<K, V, C> Clone for Sharded<K, V, C> {
    fn clone(&self) -> Self {
        Self { shards: self.shards.clone() }
    }
}

impl<K: Ord, V, C: Default> Default for Sharded<K, V, C> {
    fn default() -> Self {
        let empty = || Arc::new(Shard { map: BTreeMap::new(), memo: C::default() });
        Self { shards: std::iter::repeat_with(empty).take(SHARDS).collect() }
    }
}

impl<K, V, C> Shard<K, V, C> {
    /// Values in key order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Arc<V>> {
        self.map.values()
    }
}

fn shard_of<Q: Hash + ?Sized>(key: &Q) -> usize {
    let hash = FixedState::with_seed(SHARD_SEED).hash_one(key);
    (hash % SHARDS as u64) as usize
}

impl<K: Ord + Hash + Clone, V, C: Default> Sharded<K, V, C> {
    /// The value of a key.
    pub fn get<Q: Ord + Hash + ?Sized>(&self, key: &Q) -> Option<&Arc<V>>
    where
        K: Borrow<Q>,
    {
        self.shards[shard_of(key)].map.get(key)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: Arc<V>) {
        self.shard_mut(shard_of(&key)).map.insert(key, value);
    }

    /// Takes a key out.
    pub fn remove<Q: Ord + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if self.get(key).is_some() {
            self.shard_mut(shard_of(key)).map.remove(key);
        }
    }

    /// The value of a key for changing it, made if missing. A value that readers still hold is copied first.
    pub fn get_mut_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V
    where
        V: Clone,
    {
        let slot = self.shard_mut(shard_of(key)).map.entry(key.clone()).or_insert_with(|| Arc::new(make()));
        Arc::make_mut(slot)
    }

    /// The shards, in a fixed order.
    pub fn shards(&self) -> &[Arc<Shard<K, V, C>>] {
        &self.shards
    }

    /// All values, shard by shard, in key order inside a shard.
    pub fn values(&self) -> impl Iterator<Item = &Arc<V>> {
        self.shards.iter().flat_map(|shard| shard.map.values())
    }

    /// All entries, shard by shard, in key order inside a shard.
    pub fn entries(&self) -> impl Iterator<Item = (&K, &Arc<V>)> {
        self.shards.iter().flat_map(|shard| shard.map.iter())
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.map.len()).sum()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.map.is_empty())
    }

    /// The shard for changing it: copied if readers hold it, and its memo emptied in any case.
    fn shard_mut(&mut self, index: usize) -> &mut Shard<K, V, C> {
        let shard = Arc::make_mut(&mut self.shards[index]);
        shard.memo = C::default();
        shard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_clone_keeps_its_content_and_shares_untouched_shards() {
        let mut map: Sharded<String, u32> = Sharded::default();
        for i in 0..1000 {
            map.insert(i.to_string(), Arc::new(i));
        }
        let published = map.clone();
        *map.get_mut_or_insert_with(&"7".to_owned(), || 0) = 70;
        map.remove("8");
        assert_eq!(published.get("7").map(|v| **v), Some(7));
        assert_eq!(published.get("8").map(|v| **v), Some(8));
        assert_eq!(map.get("7").map(|v| **v), Some(70));
        assert_eq!((map.len(), published.len()), (999, 1000));
        let copied = map.shards().iter().zip(published.shards()).filter(|(a, b)| !Arc::ptr_eq(a, b)).count();
        assert!((1..=2).contains(&copied), "{copied} shards were copied for two changes");
    }
}
