//! Last signs of life, apart from the instances: renewals are frequent and small, instances rare and large.
//!
//! An instance belongs to one of [`SEEN_PARTS`] parts; each part is one value that lists hashes of keys with the second of
//! their last known renewal. A hash that two instances share costs nothing worse than a wrong second.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of parts. With 100,000 instances a part has about 1.5 KB; it fits a frame up to four million.
pub const SEEN_PARTS: u16 = 1024;

/// One part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSeen {
    /// Hash of the instance's key ([`seen_hash`]) to whole seconds since the epoch.
    pub seconds: BTreeMap<u64, u32>,
}

/// Hash of an instance's key: 64-bit FNV-1a with a finaliser. Part of the format, so it never changes.
#[must_use]
pub fn seen_hash(key: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = key.iter().fold(0xCBF2_9CE4_8422_2325, step);
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The part that a hash belongs to.
#[must_use]
pub fn seen_part(hash: u64) -> u16 {
    // The highest bits: a product mixes them best.
    u16::try_from(hash >> 54).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_format() {
        // Computed apart from this code. Another value makes old stores unreadable.
        assert_eq!(seen_hash(b""), 0x8570_E254_D5CB_36D5);
        assert_eq!(seen_hash(b"i\0\x04SHOPhost:8080"), 0x49CE_A966_B6E1_D39A);
        assert_eq!(seen_part(seen_hash(b"")), 533);
    }

    #[test]
    fn every_part_gets_its_share() {
        let mut counts = vec![0_u32; usize::from(SEEN_PARTS)];
        for index in 0..100_000 {
            let key = format!("i\0\x04SHOP10.0.{}.{}:shop:8080", index / 250, index % 250);
            counts[usize::from(seen_part(seen_hash(key.as_bytes())))] += 1;
        }
        assert!(counts.iter().all(|count| (40..200).contains(count)), "{counts:?}");
    }
}
