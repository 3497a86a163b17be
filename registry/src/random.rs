//! Chance as an argument: a trait for whoever brings a generator, and a small seedable one.

/// A source of uniformly distributed bits.
pub trait Random {
    /// The next 64 bits.
    fn next_u64(&mut self) -> u64;

    /// A number below `bound`, each equally likely; 0 if `bound` is 0.
    fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        // The bits beyond the last whole multiple of the bound would favour small numbers: draw again.
        let usable = u64::MAX - u64::MAX % bound;
        loop {
            let bits = self.next_u64();
            if bits < usable {
                return bits % bound;
            }
        }
    }
}

/// Steele, Lea and Flood's `SplitMix64`: tiny, seedable, good enough to spread evictions (defect D40). Not for secrets.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The same seed gives the same numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Random for SplitMix64 {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}
