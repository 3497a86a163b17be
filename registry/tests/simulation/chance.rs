//! Everything random in a history comes from here, so that a seed replays exactly.

use std::ops::Range;

use heureka_registry::{Random, SplitMix64};

/// One generator per history.
#[derive(Debug)]
pub struct Chance(SplitMix64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    /// Uniform in a range; its start if the range is empty.
    pub fn range(&mut self, range: Range<u64>) -> u64 {
        range.start + self.0.below(range.end.saturating_sub(range.start))
    }

    /// An index below `len`, which is not 0.
    pub fn index(&mut self, len: usize) -> usize {
        let bound = u64::try_from(len).unwrap();
        usize::try_from(self.0.below(bound)).unwrap()
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// True so many times in a thousand.
    pub fn permille(&mut self, chance: u64) -> bool {
        self.0.below(1000) < chance
    }

    /// The generator itself, for rules that take one.
    pub fn source(&mut self) -> &mut SplitMix64 {
        &mut self.0
    }
}
