//! VIP addresses: comma lists and who answers to which (`wire.md` 6.3).
//!
//! A look-up matches exactly first; only if no instance is spelled like that, any letter case counts. Blanks around the
//! pieces of a list and around the text asked for never count.

/// The addresses of a comma list, without blanks around them; empty pieces are left out.
pub fn pieces(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|piece| !piece.is_empty())
}

/// The form in which two addresses that differ in letter case are equal.
#[must_use]
pub fn fold(address: &str) -> Box<str> {
    address.trim().to_uppercase().into_boxed_str()
}
