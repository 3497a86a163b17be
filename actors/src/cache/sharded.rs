//! A map that is cheap to publish again and again: copy-on-write, in shards.
//!
//! Publishing clones one pointer per shard. A change after that copies only the shard it falls into, so its cost grows
//! with the size of the map divided by [`SHARDS`], not with the map. Readers hold a clone and never lock.

use std::borrow::Borrow;
use std::cmp::Ordering;
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

/// One shard: its entries, and the memo made from them.
#[derive(Debug)]
pub struct Shard<K, V, C> {
    /// In the order of their hashes, then of their keys: a search compares numbers that lie side by side, and follows the
    /// pointer of a key once, at its end. Keys whose hashes an attacker has made equal are still found by halving.
    slots: Vec<Slot<K, V>>,
    /// Made from this very content; starts empty whenever the content changes.
    pub memo: C,
}

#[derive(Debug)]
struct Slot<K, V> {
    hash: u64,
    key: K,
    value: Arc<V>,
}

impl<K: Clone, V> Clone for Slot<K, V> {
    fn clone(&self) -> Self {
        Self { hash: self.hash, key: self.key.clone(), value: self.value.clone() }
    }
}

impl<K: Clone, V, C: Default> Clone for Shard<K, V, C> {
    fn clone(&self) -> Self {
        Self { slots: self.slots.clone(), memo: C::default() }
    }
}

impl<K, V, C> Clone for Sharded<K, V, C> {
    fn clone(&self) -> Self {
        Self { shards: self.shards.clone() }
    }
}

impl<K: Ord, V, C: Default> Default for Sharded<K, V, C> {
    fn default() -> Self {
        let empty = || Arc::new(Shard { slots: Vec::new(), memo: C::default() });
        Self { shards: std::iter::repeat_with(empty).take(SHARDS).collect() }
    }
}

impl<K, V, C> Shard<K, V, C> {
    /// Values, in an order that depends on their keys only.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &Arc<V>> {
        self.slots.iter().map(|slot| &slot.value)
    }

    /// Where a key stands, or where it belongs.
    fn position<Q: Ord + ?Sized>(&self, hash: u64, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.slots.binary_search_by(|slot| match slot.hash.cmp(&hash) {
            Ordering::Equal => slot.key.borrow().cmp(key),
            unequal => unequal,
        })
    }
}

fn hash_of<Q: Hash + ?Sized>(key: &Q) -> u64 {
    FixedState::with_seed(SHARD_SEED).hash_one(key)
}

const fn shard_of(hash: u64) -> usize {
    (hash % SHARDS as u64) as usize
}

impl<K: Ord + Hash + Clone, V, C: Default> Sharded<K, V, C> {
    /// The value of a key.
    pub fn get<Q: Ord + Hash + ?Sized>(&self, key: &Q) -> Option<&Arc<V>>
    where
        K: Borrow<Q>,
    {
        let hash = hash_of(key);
        let shard = &self.shards[shard_of(hash)];
        shard.position(hash, key).ok().map(|index| &shard.slots[index].value)
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: K, value: Arc<V>) {
        let slot = self.slot_mut(&key, || value.clone());
        *slot = value;
    }

    /// Takes a key out.
    pub fn remove<Q: Ord + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        let hash = hash_of(key);
        if let Ok(index) = self.shards[shard_of(hash)].position(hash, key) {
            self.shard_mut(shard_of(hash)).slots.remove(index);
        }
    }

    /// The value of a key for changing it. A value that readers still hold is copied first.
    pub fn get_mut<Q: Ord + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        V: Clone,
    {
        let hash = hash_of(key);
        let index = self.shards[shard_of(hash)].position(hash, key).ok()?;
        Some(Arc::make_mut(&mut self.shard_mut(shard_of(hash)).slots[index].value))
    }

    /// The value of a key for changing it, made if missing. A value that readers still hold is copied first.
    pub fn get_mut_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V
    where
        V: Clone,
    {
        Arc::make_mut(self.slot_mut(key, || Arc::new(make())))
    }

    /// The place of a key, filled if it was not there.
    fn slot_mut(&mut self, key: &K, make: impl FnOnce() -> Arc<V>) -> &mut Arc<V> {
        let hash = hash_of(key);
        let shard = self.shard_mut(shard_of(hash));
        let index = shard.position(hash, key).unwrap_or_else(|index| {
            shard.slots.insert(index, Slot { hash, key: key.clone(), value: make() });
            index
        });
        &mut shard.slots[index].value
    }

    /// The shards, in a fixed order.
    pub fn shards(&self) -> &[Arc<Shard<K, V, C>>] {
        &self.shards
    }

    /// All values, shard by shard.
    pub fn values(&self) -> impl Iterator<Item = &Arc<V>> {
        self.shards.iter().flat_map(|shard| shard.values())
    }

    /// All entries, shard by shard.
    pub fn entries(&self) -> impl Iterator<Item = (&K, &Arc<V>)> {
        self.shards.iter().flat_map(|shard| shard.slots.iter().map(|slot| (&slot.key, &slot.value)))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.slots.len()).sum()
    }

    /// True if there is no entry.
    pub fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| shard.slots.is_empty())
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
        *map.get_mut_or_insert_with(&"7".to_owned(), || 0) += 60;
        *map.get_mut("7").unwrap() += 3;
        assert_eq!(map.get_mut("none"), None);
        map.remove("8");
        assert_eq!(published.get("7").map(|v| **v), Some(7));
        assert_eq!(published.get("8").map(|v| **v), Some(8));
        assert_eq!(map.get("7").map(|v| **v), Some(70));
        assert_eq!((map.len(), published.len()), (999, 1000));
        let copied = map.shards().iter().zip(published.shards()).filter(|(a, b)| !Arc::ptr_eq(a, b)).count();
        assert!((1..=2).contains(&copied), "{copied} shards were copied for two changes");
    }
}
