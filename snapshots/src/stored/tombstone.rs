//! A cancelled instance that must not come back (`replication.md` 9.3.3).

use heureka_registry::{Now, Record, Stamp, Tombstone};
use serde::{Deserialize, Serialize};

/// A tombstone on the wall clock, since no other clock survives a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredTombstone {
    /// Highest dirty timestamp of the instance that is known to be cancelled.
    pub last_dirty_timestamp: i64,
    /// When it was cancelled.
    pub cancelled_timestamp: i64,
    /// Until when it counts.
    pub until_timestamp: i64,
    /// When it was cancelled, as an operation on the override, on the clock of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub override_stamp: Option<i64>,
}

/// How long tombstones live; the same figures as in the rules of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TombstoneLife {
    /// Shortest life, milliseconds.
    pub ttl_ms: u64,
    /// Period of the eviction run, milliseconds.
    pub eviction_interval_ms: u64,
}

impl TombstoneLife {
    /// Life of the tombstone of a lease: until no peer can hold that lease any more.
    #[must_use]
    pub const fn of_lease(self, duration_ms: u64) -> u64 {
        let lease_end_ms = duration_ms.saturating_mul(2).saturating_add(self.eviction_interval_ms);
        if lease_end_ms > self.ttl_ms { lease_end_ms } else { self.ttl_ms }
    }
}

impl StoredTombstone {
    /// The tombstone of a record that was cancelled at a certain time. What the registry remembers of the cancel says more
    /// than the record: the cancel may have named a newer one.
    #[must_use]
    pub fn of(
        cancelled: &Record,
        known: Option<&Tombstone>,
        cancelled_mono_ms: u64,
        now: Now,
        life: TombstoneLife,
    ) -> Self {
        let cancelled_timestamp = now.wall_of(cancelled_mono_ms);
        let life_ms = life.of_lease(cancelled.lease.duration_ms);
        let own = cancelled.instance.last_dirty_timestamp;
        Self {
            last_dirty_timestamp: known.map_or(own, |known| known.last_dirty_timestamp.max(own)),
            cancelled_timestamp,
            until_timestamp: cancelled_timestamp.saturating_add_unsigned(life_ms),
            override_stamp: known.and_then(|known| known.override_stamp).map(Stamp::ms),
        }
    }

    /// What the registry remembers of a cancel, without the record that it ended.
    #[must_use]
    pub fn of_known(known: &Tombstone, now: Now) -> Self {
        let left_ms = known.until_mono_ms.saturating_sub(now.mono_ms);
        Self {
            last_dirty_timestamp: known.last_dirty_timestamp,
            cancelled_timestamp: now.wall_of(known.cancelled_mono_ms),
            until_timestamp: now.wall_ms.saturating_add_unsigned(left_ms),
            override_stamp: known.override_stamp.map(Stamp::ms),
        }
    }

    /// The tombstone for the rules of this run; `None` once it is over.
    ///
    /// The wall clock may have been set meanwhile: a cancel in the future counts from now, and none lives longer than it
    /// was meant to.
    #[must_use]
    pub fn restored(self, now: Now) -> Option<Tombstone> {
        let whole_ms = self.until_timestamp.saturating_sub(self.cancelled_timestamp);
        let left_ms = self.until_timestamp.saturating_sub(now.wall_ms).min(whole_ms);
        let left_ms = u64::try_from(left_ms).ok().filter(|left_ms| *left_ms > 0)?;
        let age_ms = u64::try_from(now.wall_ms.saturating_sub(self.cancelled_timestamp)).unwrap_or(0);
        let (cancelled_mono_ms, until_mono_ms) =
            (now.mono_ms.saturating_sub(age_ms), now.mono_ms.saturating_add(left_ms));
        let restored = Tombstone::restored(self.last_dirty_timestamp, cancelled_mono_ms, until_mono_ms);
        Some(Tombstone { override_stamp: self.override_stamp.and_then(Stamp::new), ..restored })
    }
}

#[cfg(test)]
mod tests {
    use heureka_protocol::{Instance, Status};
    use heureka_registry::{Lease, StampCell};

    use super::*;

    const NOW: Now = Now { mono_ms: 1_000_000_000, wall_ms: 1_750_000_000_000 };

    fn tombstone(cancelled_ago_ms: i64, life_ms: i64) -> StoredTombstone {
        let cancelled_timestamp = NOW.wall_ms - cancelled_ago_ms;
        let until_timestamp = cancelled_timestamp + life_ms;
        StoredTombstone {
            last_dirty_timestamp: 7,
            cancelled_timestamp,
            until_timestamp,
            override_stamp: Some(9),
        }
    }

    #[test]
    fn a_tombstone_goes_on_where_it_stopped() {
        let restored = tombstone(100, 300).restored(NOW).unwrap();
        assert_eq!(restored.cancelled_mono_ms, NOW.mono_ms - 100);
        assert_eq!(restored.until_mono_ms, NOW.mono_ms + 200);
        assert_eq!(restored.last_dirty_timestamp, 7);
        assert_eq!(restored.override_stamp, Stamp::new(9));
    }

    #[test]
    fn what_a_cancel_has_named_is_kept_if_it_is_newer_than_the_record() {
        let cancelled = Record {
            instance: Instance {
                last_dirty_timestamp: 100,
                ..Instance::with_defaults("SHOP".into(), "i-1".into(), "h", "192.0.2.1")
            },
            reported_status: Status::Up,
            lease: Lease::starting(NOW, 90_000),
            override_stamp: StampCell::default(),
        };
        let life = TombstoneLife { ttl_ms: 300_000, eviction_interval_ms: 60_000 };
        let stored =
            |known: Option<&Tombstone>| StoredTombstone::of(&cancelled, known, NOW.mono_ms, NOW, life);
        assert_eq!((stored(None).last_dirty_timestamp, stored(None).override_stamp), (100, None));
        for (named, kept) in [(50, 100), (200, 200)] {
            let known = Tombstone { override_stamp: Stamp::new(7), ..Tombstone::restored(named, 1, 2) };
            assert_eq!(stored(Some(&known)).last_dirty_timestamp, kept);
            assert_eq!(stored(Some(&known)).override_stamp, Some(7));
        }
    }

    #[test]
    fn what_the_registry_remembers_comes_back_as_it_was() {
        let known = Tombstone {
            override_stamp: Stamp::new(7),
            ..Tombstone::restored(5, NOW.mono_ms - 10, NOW.mono_ms + 20)
        };
        assert_eq!(StoredTombstone::of_known(&known, NOW).restored(NOW), Some(known));
    }

    #[test]
    fn a_tombstone_that_is_over_is_gone() {
        assert_eq!(tombstone(300, 300).restored(NOW), None);
        assert_eq!(tombstone(i64::MAX / 2, 300).restored(NOW), None);
        assert!(tombstone(299, 300).restored(NOW).is_some());
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_tombstone_immortal() {
        let restored = tombstone(-1_000_000, 300).restored(NOW).unwrap();
        assert_eq!(restored.cancelled_mono_ms, NOW.mono_ms);
        assert_eq!(restored.until_mono_ms, NOW.mono_ms + 300);
    }

    #[test]
    fn a_tombstone_outlives_the_lease_at_a_peer() {
        let life = TombstoneLife { ttl_ms: 300_000, eviction_interval_ms: 60_000 };
        assert_eq!(life.of_lease(90_000), 300_000);
        assert_eq!(life.of_lease(200_000), 460_000);
        assert_eq!(life.of_lease(u64::MAX), u64::MAX);
    }
}
