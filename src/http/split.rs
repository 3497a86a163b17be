//! Splitting a text at a byte, many bytes at a time: paths and queries are split on every heartbeat, where the standard
//! library's search by `char` is a tenth of the work.

use memchr::memchr_iter;

/// The parts between the separators, which must be ASCII; one more than there are separators.
pub fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    debug_assert!(separator.is_ascii(), "a part must not begin inside a character");
    let ends = memchr_iter(separator, text.as_bytes()).chain([text.len()]);
    ends.scan(0, |start, end| Some(&text[std::mem::replace(start, end + 1)..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_those_of_the_standard_library() {
        for text in ["", "/", "a", "a/b", "/a//b/", "я/ж", "//"] {
            assert!(split(text, b'/').eq(text.split('/')), "{text}");
        }
    }
}
