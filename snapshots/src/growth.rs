//! When a store has grown enough to be written anew: a log that is only appended to keeps what was overwritten.

/// Rounds with fewer changes than this leave time for more than following them.
const BUSY_ROUND_CHANGES: usize = 1_000;

/// How large a store may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrowthLimits {
    /// A store is written anew only if it is larger than this, in bytes,
    pub must_from_bytes: u64,
    /// and larger than its live data by this factor.
    pub must_factor: u64,
    /// When there is time it is written anew earlier: if it is larger than this, in bytes,
    pub may_from_bytes: u64,
    /// and larger than so many hundredths of its live data.
    pub may_percent: u64,
}

impl Default for GrowthLimits {
    /// A store that was just written takes 1.6 to 2.1 times its live data.
    fn default() -> Self {
        Self {
            must_from_bytes: 64 * 1024 * 1024,
            must_factor: 8,
            may_from_bytes: 16 * 1024 * 1024,
            may_percent: 250,
        }
    }
}

/// The size of one store over time.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    limits: GrowthLimits,
    /// Size after the last rewrite, or when one was begun that has failed; 0 before the first.
    fresh_bytes: u64,
}

impl Growth {
    /// Of a store that has not been written anew yet.
    pub const fn new(limits: GrowthLimits) -> Self {
        Self { limits, fresh_bytes: 0 }
    }

    /// A store takes so much as it is: it must grow from there before it is written anew.
    pub const fn note_fresh(&mut self, bytes: u64) {
        self.fresh_bytes = bytes;
    }

    /// The store has been written anew and takes so many bytes now. So many of those that were written live; the others were
    /// written over by changes that came meanwhile, and do not belong to a fresh store.
    pub fn note_rewritten(&mut self, disk_bytes: u64, live_bytes: u64, written_bytes: u64) {
        let written = u128::from(written_bytes.max(live_bytes).max(1));
        let fresh = u128::from(disk_bytes) * u128::from(live_bytes) / written;
        self.note_fresh(u64::try_from(fresh).unwrap_or(disk_bytes));
    }

    /// True if it should be written anew now, in a round that writes so many changes. A store that is simply large is not
    /// written anew again and again.
    pub fn is_too_large(&self, disk_bytes: u64, live_bytes: u64, changes: usize) -> bool {
        let GrowthLimits { must_from_bytes, must_factor, may_from_bytes, may_percent } = self.limits;
        let must = must_from_bytes.max(live_bytes.saturating_mul(must_factor)).max(self.fresh_by(200));
        let may = may_from_bytes.max(percent(live_bytes, may_percent)).max(self.fresh_by(125));
        disk_bytes > must || (changes < BUSY_ROUND_CHANGES && disk_bytes > may)
    }

    fn fresh_by(&self, hundredths: u64) -> u64 {
        percent(self.fresh_bytes, hundredths)
    }
}

const fn percent(bytes: u64, hundredths: u64) -> u64 {
    (bytes / 100).saturating_mul(hundredths)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;

    #[test]
    fn a_store_is_written_anew_early_if_there_is_time_and_late_if_there_is_none() {
        let growth = Growth::new(GrowthLimits::default());
        let live = 20 * MB;
        for (disk, quiet, busy) in
            [(49, false, false), (51, true, false), (159, true, false), (161, true, true)]
        {
            assert_eq!(growth.is_too_large(disk * MB, live, 10), quiet, "{disk} MB");
            assert_eq!(growth.is_too_large(disk * MB, live, BUSY_ROUND_CHANGES), busy, "{disk} MB");
        }
    }

    #[test]
    fn small_stores_are_left_alone() {
        let growth = Growth::new(GrowthLimits::default());
        assert!(!growth.is_too_large(16 * MB, MB, 0));
        assert!(growth.is_too_large(16 * MB + 1, MB, 0));
        assert!(!growth.is_too_large(64 * MB, MB, BUSY_ROUND_CHANGES));
    }

    #[test]
    fn what_changes_have_written_over_during_a_rewrite_does_not_make_a_fresh_store_large() {
        let mut growth = Growth::new(GrowthLimits::default());
        let live = 100 * MB;
        growth.note_rewritten(320 * MB, live, 2 * live);
        assert!(growth.is_too_large(251 * MB, live, 0), "a fresh one takes 160 MB, not 320");
        growth.note_rewritten(320 * MB, live, live);
        assert!(!growth.is_too_large(399 * MB, live, 0), "this one was written once and takes 320 MB");
        growth.note_rewritten(320 * MB, live, 0);
        assert!(!growth.is_too_large(399 * MB, live, 0), "one that was opened again has been written before");
    }

    #[test]
    fn a_store_that_is_large_when_it_is_fresh_must_grow_by_a_quarter_first() {
        let mut growth = Growth::new(GrowthLimits::default());
        growth.note_fresh(100 * MB);
        assert!(!growth.is_too_large(125 * MB, MB, 0));
        assert!(growth.is_too_large(126 * MB, MB, 0));
        assert!(!growth.is_too_large(200 * MB, MB, BUSY_ROUND_CHANGES));
        assert!(growth.is_too_large(201 * MB, MB, BUSY_ROUND_CHANGES));
    }
}
