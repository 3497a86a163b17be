//! Characters that nobody would see, or that turn round what stands beside them, are shown on pages.
//!
//! The template engine has escaped the values of a page by then; its own text has none of these characters.

use std::borrow::Cow;

/// A page with a replacement character for each of them.
pub fn visible(page: &str) -> Cow<'_, str> {
    match page.contains(is_hidden) {
        true => page.replace(is_hidden, "\u{fffd}").into(),
        false => page.into(),
    }
}

/// Control characters but for white space, and the marks, embeddings, overrides and isolates of bidirectional text.
fn is_hidden(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\t');
    let is_direction = matches!(c,
        '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    is_control || is_direction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_all_others_stay() {
        let page = "a\0b\u{1b}[2J\u{202e}c\u{2066}d\r\u{85}é\n\t";
        assert_eq!(visible(page), "a\u{fffd}b\u{fffd}[2J\u{fffd}c\u{fffd}d\u{fffd}\u{fffd}é\n\t");
        assert!(matches!(visible("é\n"), Cow::Borrowed(_)));
    }
}
