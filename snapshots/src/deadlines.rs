//! Keys that are to be removed from the store at some time: tombstones, and overrides that wait for their instance.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

type SharedKey = Arc<[u8]>;

/// Keys with the monotonic time at which they are over. Bounded: beyond the limit the earliest are over at once.
#[derive(Debug)]
pub struct Deadlines {
    by_key: HashMap<SharedKey, u64, foldhash::quality::RandomState>,
    by_time: BTreeSet<(u64, SharedKey)>,
    limit: usize,
}

impl Deadlines {
    /// No keys; at most `limit` ever.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { by_key: HashMap::default(), by_time: BTreeSet::new(), limit }
    }

    /// Sets or moves a deadline.
    pub fn set(&mut self, key: &[u8], at_mono_ms: u64) {
        self.clear(key);
        let key: SharedKey = key.into();
        self.by_key.insert(Arc::clone(&key), at_mono_ms);
        self.by_time.insert((at_mono_ms, key));
    }

    /// Forgets a deadline.
    pub fn clear(&mut self, key: &[u8]) {
        if let Some((key, at_mono_ms)) = self.by_key.remove_entry(key) {
            self.by_time.remove(&(at_mono_ms, key));
        }
    }

    /// Takes out at most so many keys whose time has come, or for which there is no room.
    pub fn take_due(&mut self, mono_ms: u64, at_most: usize) -> Vec<SharedKey> {
        let mut due = Vec::new();
        while due.len() < at_most {
            let is_due =
                |(at_mono_ms, _): &(u64, SharedKey)| *at_mono_ms <= mono_ms || self.by_key.len() > self.limit;
            if !self.by_time.first().is_some_and(is_due) {
                break;
            }
            if let Some((_, key)) = self.by_time.pop_first() {
                self.by_key.remove(&key);
                due.push(key);
            }
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(deadlines: &mut Deadlines, mono_ms: u64, at_most: usize) -> Vec<Vec<u8>> {
        deadlines.take_due(mono_ms, at_most).iter().map(|key| key.to_vec()).collect()
    }

    #[test]
    fn keys_come_out_once_when_their_time_has_come() {
        let mut deadlines = Deadlines::with_limit(10);
        deadlines.set(b"a", 30);
        deadlines.set(b"b", 10);
        deadlines.set(b"c", 20);
        deadlines.set(b"b", 25);
        deadlines.clear(b"c");
        assert!(due(&mut deadlines, 24, 9).is_empty());
        assert_eq!(due(&mut deadlines, 25, 9), [b"b"]);
        assert!(due(&mut deadlines, 25, 9).is_empty());
        assert_eq!(due(&mut deadlines, 99, 9), [b"a"]);
        assert!(due(&mut deadlines, 999, 9).is_empty());
    }

    #[test]
    fn beyond_the_limit_the_earliest_go_first() {
        let mut deadlines = Deadlines::with_limit(2);
        for (key, at) in [(b"a", 40), (b"b", 10), (b"c", 30), (b"d", 20)] {
            deadlines.set(key, at);
        }
        assert_eq!(due(&mut deadlines, 0, 1), [b"b"]);
        assert_eq!(due(&mut deadlines, 0, 9), [b"d"]);
        assert!(due(&mut deadlines, 29, 9).is_empty(), "within the limit all wait for their time");
        assert_eq!(due(&mut deadlines, 40, 9), [b"c", b"a"]);
    }
}
