//! Parts of documents: plain text, and text that is already deflated so that it can stand inside a larger gzip member.
//!
//! A document is one gzip member put together from separately compressed parts: each part is raw deflate data that ends
//! with a sync flush, so it ends on a byte boundary and leaves no reference behind, and the CRC of the whole follows from
//! the CRCs of the parts. A change compresses only the parts that it touches (design, idea 4).

use std::cell::RefCell;

use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress};

use super::crc;

/// Compression level of every document. Level 3 of zlib-rs costs little more than 1 on registry text and saves a third
/// of the bytes. Level 2 would save a warm start a tenth of its CPU time, but its documents are 3 % longer, and that costs every
/// fetch of them more.
const LEVEL: u32 = 3;
/// Header of a gzip member without name, time or comment.
pub const GZIP_HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];
/// Empty last deflate block: closes a stream whose parts all ended with a sync flush.
const LAST_BLOCK: [u8; 2] = [0x03, 0x00];
/// Longest text that one stored block holds.
const STORED_MAX: usize = 0xFFFF;

thread_local! {
    /// Its tables take some 300 KB: one per thread that encodes, reused.
    static COMPRESSOR: RefCell<Compress> = RefCell::new(Compress::new(Compression::new(LEVEL), false));
}

/// Deflated text with what is needed to join it to other parts.
#[derive(Clone, Debug, Default)]
pub struct Deflated {
    /// Raw deflate blocks that end on a byte boundary; none of them is a last block.
    pub bytes: Bytes,
    /// Facts about the text they stand for.
    pub sum: Checksum,
}

/// Length and CRC of a text, joinable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checksum {
    /// Length of the text in bytes.
    pub len: u64,
    crc: u32,
    shift: u32,
}

impl Default for Checksum {
    fn default() -> Self {
        Self::of(&[])
    }
}

impl Checksum {
    /// Of a text in hand.
    pub fn of(text: &[u8]) -> Self {
        let len = text.len() as u64;
        Self { len, crc: crc32fast::hash(text), shift: crc::shift_of(len) }
    }

    /// Of this text followed by another.
    pub fn join(self, next: Self) -> Self {
        Self {
            len: self.len + next.len,
            crc: crc::join(self.crc, next.crc, next.shift),
            // Shifts are powers of x, so they join like the empty text does.
            shift: crc::join(self.shift, 0, next.shift),
        }
    }
}

impl Deflated {
    /// Compresses a text.
    pub fn compress(text: &[u8]) -> Self {
        let sum = Checksum::of(text);
        let bytes = COMPRESSOR.with_borrow_mut(|compressor| {
            compressor.reset();
            deflate_all(compressor, text)
        });
        Self { bytes: bytes.into(), sum }
    }

    /// Wraps a text in stored blocks: for texts so short that compressing them would make them longer.
    pub fn store(text: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(text.len() + 5);
        for block in text.chunks(STORED_MAX) {
            // At most STORED_MAX, so the length fits.
            let len = block.len() as u16;
            bytes.push(0);
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(&(!len).to_le_bytes());
            bytes.extend_from_slice(block);
        }
        Self { bytes: bytes.into(), sum: Checksum::of(text) }
    }
}

/// Deflates a whole text, ended by a sync flush.
fn deflate_all(compressor: &mut Compress, text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 8 + 64);
    loop {
        let done = usize::try_from(compressor.total_in()).unwrap_or(usize::MAX).min(text.len());
        let result = compressor.compress_vec(&text[done..], &mut out, FlushCompress::Sync);
        let has_room = out.len() < out.capacity();
        let is_read = compressor.total_in() >= text.len() as u64;
        // `compress_vec` fails only on a misused state; the text then stays as far as it got, and the checksum shows it.
        if result.is_err() || (is_read && has_room) {
            out.shrink_to_fit();
            return out;
        }
        out.reserve(out.capacity().max(64));
    }
}

/// The end of a gzip member: last block, CRC and length of the whole text.
pub fn gzip_trailer(sum: Checksum) -> [u8; 10] {
    let mut trailer = [0; 10];
    trailer[..2].copy_from_slice(&LAST_BLOCK);
    trailer[2..6].copy_from_slice(&sum.crc.to_le_bytes());
    // The length field of gzip is the length modulo 2^32.
    trailer[6..].copy_from_slice(&(sum.len as u32).to_le_bytes());
    trailer
}

/// Gzips a text that stands alone, such as one application or an error body.
pub fn gzip(text: &[u8]) -> Bytes {
    let part = Deflated::compress(text);
    let mut member = Vec::with_capacity(part.bytes.len() + 20);
    member.extend_from_slice(&GZIP_HEADER);
    member.extend_from_slice(&part.bytes);
    member.extend_from_slice(&gzip_trailer(part.sum));
    member.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn gunzip(member: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(member).read_to_end(&mut text).expect("a valid gzip member");
        text
    }

    #[test]
    fn parts_of_any_size_join_to_one_member() {
        let big: Vec<u8> =
            (0..300_000_u32).map(|i| b"instance status"[(i % 15) as usize] ^ (i >> 12) as u8).collect();
        let parts: Vec<&[u8]> = vec![b"{", b"", &big, b",", &big[..70_000], b"}"];
        let mut member = GZIP_HEADER.to_vec();
        let mut sum = Checksum::default();
        for (index, part) in parts.iter().enumerate() {
            let part = if index % 2 == 0 { Deflated::compress(part) } else { Deflated::store(part) };
            member.extend_from_slice(&part.bytes);
            sum = sum.join(part.sum);
        }
        member.extend_from_slice(&gzip_trailer(sum));
        assert_eq!(gunzip(&member), parts.concat());
    }

    #[test]
    fn incompressible_text_survives() {
        let mut state = 1_u64;
        let noise: Vec<u8> = (0..100_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        assert_eq!(gunzip(&gzip(&noise)), noise);
        assert_eq!(gunzip(&gzip(b"")), b"");
    }

    #[test]
    fn stored_text_longer_than_a_block_survives() {
        let text = vec![b'x'; STORED_MAX * 2 + 3];
        let part = Deflated::store(&text);
        let member = [&GZIP_HEADER[..], &part.bytes, &gzip_trailer(part.sum)].concat();
        assert_eq!(gunzip(&member), text);
    }
}
