//! The envelope of every value in a store: says by itself whether it is whole, and what it was written by.
//!
//! The store below may hand back old, torn or foreign bytes without an error (seen with sled), so nothing is believed that
//! does not carry its own proof. The checksum covers the key too: a value that has slipped under another key is bad.
//! The layout of the header never changes; the format number says how keys and payloads are to be read.
//!
//! | bytes | content (little endian) |
//! |---|---|
//! | 0..2 | format number, [`FORMAT`] when written by this version |
//! | 2..10 | generation: number of the batch that wrote it |
//! | 10..14 | length of the payload |
//! | 14..18 | CRC-32 of the key, the fourteen bytes before, and the payload |
//! | 18.. | payload: named MessagePack |

use thiserror::Error;

/// Format that this version writes. A higher one is refused, a lower one is read by the rule of that number.
pub const FORMAT: u16 = 1;
/// First format that was ever written.
pub const OLDEST_FORMAT: u16 = 1;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 18;
/// Longest payload. sled writes values beyond this as files of their own and never removes them.
pub const MAX_PAYLOAD_BYTES: usize = 64 * 1024;

const CHECKED_HEADER_BYTES: usize = 14;

/// Why a frame cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Shorter than a header, or not as long as its header says.
    #[error("the record is cut off")]
    CutOff,
    /// The checksum does not fit: damaged, or under a foreign key.
    #[error("the record is damaged")]
    Damaged,
    /// Whole, but written by a later version. Never guessed at.
    #[error("the record has format {0}, this version reads up to {FORMAT}")]
    NewerFormat(u16),
}

/// A frame that has passed its checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Format of key and payload.
    pub format: u16,
    /// Number of the batch that wrote it.
    pub generation: u64,
    /// Stands for key, header and payload in the seal of a store.
    pub fingerprint: u64,
    /// Named MessagePack.
    pub payload: &'a [u8],
}

/// Puts a payload into a frame. `None` if the payload is longer than [`MAX_PAYLOAD_BYTES`].
#[must_use]
pub fn wrap(key: &[u8], generation: u64, payload: &[u8]) -> Option<Vec<u8>> {
    wrap_as(FORMAT, key, generation, payload)
}

/// The same with any format number, to test what a version does with frames of another one.
#[must_use]
pub fn wrap_as(format: u16, key: &[u8], generation: u64, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= MAX_PAYLOAD_BYTES)?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
    bytes.extend_from_slice(&format.to_le_bytes());
    bytes.extend_from_slice(&generation.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    let checksum = checksum(key, &bytes, payload);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(payload);
    Some(bytes)
}

/// Checks a frame.
///
/// # Errors
/// If it is not exactly what was once written under this key, or if a later version wrote it.
pub fn unwrap<'a>(key: &[u8], bytes: &'a [u8]) -> Result<Frame<'a>, FrameError> {
    let (header, rest) = bytes.split_first_chunk::<CHECKED_HEADER_BYTES>().ok_or(FrameError::CutOff)?;
    let (stored, payload) = rest.split_first_chunk::<4>().ok_or(FrameError::CutOff)?;
    let stored = u32::from_le_bytes(*stored);
    let [f0, f1, g0, g1, g2, g3, g4, g5, g6, g7, l0, l1, l2, l3] = *header;
    if u32::from_le_bytes([l0, l1, l2, l3]) as usize != payload.len() {
        return Err(FrameError::CutOff);
    }
    if checksum(key, header, payload) != stored {
        return Err(FrameError::Damaged);
    }
    let format = u16::from_le_bytes([f0, f1]);
    if format > FORMAT {
        return Err(FrameError::NewerFormat(format));
    }
    if format < OLDEST_FORMAT {
        return Err(FrameError::Damaged);
    }
    let generation = u64::from_le_bytes([g0, g1, g2, g3, g4, g5, g6, g7]);
    Ok(Frame { format, generation, fingerprint: mix(generation, stored), payload })
}

/// The fingerprint of a frame that [`wrap`] has just made.
#[must_use]
pub fn fingerprint(frame: &[u8]) -> u64 {
    let number = |from: usize, to: usize| {
        let bytes = frame.get(from..to).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    let checksum = u32::try_from(number(CHECKED_HEADER_BYTES, HEADER_BYTES)).unwrap_or_default();
    mix(number(2, 10), checksum)
}

fn checksum(key: &[u8], header: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(header);
    hasher.update(payload);
    hasher.finalize()
}

/// Spreads generation and checksum over 64 bits, so that sums of fingerprints hide nothing. The steps are those of the
/// finaliser of splitmix64; they are part of the format and never change.
const fn mix(generation: u64, checksum: u32) -> u64 {
    let mut z = generation.rotate_left(32) ^ (checksum as u64) ^ 0x9E37_79B9_7F4A_7C15;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_wrapped_comes_back() {
        for payload in [&b""[..], b"x", &[7; MAX_PAYLOAD_BYTES]] {
            let bytes = wrap(b"key", 42, payload).unwrap();
            let frame = unwrap(b"key", &bytes).unwrap();
            assert_eq!((frame.format, frame.generation, frame.payload), (FORMAT, 42, payload));
            assert_eq!(frame.fingerprint, fingerprint(&bytes));
        }
    }

    #[test]
    fn fingerprints_are_those_of_the_format() {
        // Computed apart from this code. Another value breaks the seals of old stores.
        assert_eq!(mix(42, 0xDEAD_BEEF), 0x883F_CE0C_A83F_6F0E);
    }

    #[test]
    fn a_payload_that_is_too_long_is_refused() {
        assert_eq!(wrap(b"key", 1, &[7; MAX_PAYLOAD_BYTES + 1]), None);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let bytes = wrap(b"key", 42, b"some payload").unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(unwrap(b"key", &damaged).is_err(), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(unwrap(b"key", &bytes[..length]).is_err(), "cut to {length}");
        }
        assert_eq!(unwrap(b"kez", &bytes), Err(FrameError::Damaged), "a foreign key");
    }

    #[test]
    fn a_newer_format_is_named_and_none_is_no_format() {
        let newer = wrap_as(FORMAT + 1, b"key", 1, b"?").unwrap();
        assert_eq!(unwrap(b"key", &newer), Err(FrameError::NewerFormat(FORMAT + 1)));
        let none = wrap_as(0, b"key", 1, b"?").unwrap();
        assert_eq!(unwrap(b"key", &none), Err(FrameError::Damaged));
        for format in OLDEST_FORMAT..=FORMAT {
            let older = wrap_as(format, b"key", 1, b"?").unwrap();
            assert_eq!(unwrap(b"key", &older).unwrap().format, format);
        }
    }

    #[test]
    fn a_damaged_format_number_is_damage_not_a_newer_format() {
        let mut bytes = wrap(b"key", 1, b"?").unwrap();
        bytes[0] = 9;
        assert_eq!(unwrap(b"key", &bytes), Err(FrameError::Damaged));
    }
}
