//! CRC-32 of a concatenation from the CRCs of its parts, as gzip needs it.
//!
//! The CRC of `a` followed by `b` is `crc(a) * x^(8 * len(b)) + crc(b)` over polynomials modulo the CRC polynomial. The
//! power depends on the length alone, so it is worked out once per part ([`shift_of`]) and joining costs one
//! multiplication.

/// The CRC-32 polynomial of gzip, bit-reversed, without its highest term.
const POLYNOMIAL: u32 = 0xEDB8_8320;
/// The polynomial `1` in the bit-reversed form: the neutral element of [`multiply`].
const ONE: u32 = 1 << 31;

/// Product of two polynomials modulo the CRC polynomial.
const fn multiply(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = ONE;
    while bit != 0 {
        if a & bit != 0 {
            product ^= b;
        }
        let carry = b & 1;
        b >>= 1;
        if carry != 0 {
            b ^= POLYNOMIAL;
        }
        bit >>= 1;
    }
    product
}

/// `x^(8 * 2^k)` for every `k` that a 64-bit length can need.
const POWERS: [u32; 64] = {
    let mut powers = [0; 64];
    let mut power = ONE >> 8; // x^8: one byte
    let mut k = 0;
    while k < 64 {
        powers[k] = power;
        power = multiply(power, power);
        k += 1;
    }
    powers
};

/// The factor by which `len` following bytes move a CRC: `x^(8 * len)`.
pub fn shift_of(len: u64) -> u32 {
    (0..64).filter(|k| len >> k & 1 == 1).fold(ONE, |product, k| multiply(product, POWERS[k]))
}

/// CRC of the concatenation of a part with CRC `first` and a part with CRC `second` and shift `second_shift`.
pub fn join(first: u32, second: u32, second_shift: u32) -> u32 {
    multiply(first, second_shift) ^ second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crc32fast::hash as crc;

    #[test]
    fn joined_crc_equals_the_crc_of_the_whole_for_every_cut() {
        let text: Vec<u8> = (0..2000_u32).map(|i| ((i * i) >> 3) as u8).collect();
        for cut in 0..=text.len() {
            let (a, b) = text.split_at(cut);
            assert_eq!(join(crc(a), crc(b), shift_of(b.len() as u64)), crc(&text), "cut at {cut}");
        }
    }
}
