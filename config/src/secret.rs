//! Values that must not be shown.
//!
//! A [`Secret`] prints as stars in `Debug` and `Display`, so that a `{:?}` of the settings can never leak a password.
//! It never compares in constant time: that is the business of whoever checks credentials.

use std::fmt;

/// What is shown instead of a secret.
pub const MASK: &str = "******";

/// A password or key. Reading it is always an explicit call of [`Secret::expose`].
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// True if there is no value, which several key stores allow as a password.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// Replaces the user part of every URL in a text by stars: `http://u:p@h/` becomes `http://******@h/`.
///
/// The user part ends at the last `@` before the path, as the URL rules say, so a password with an unescaped `@` does
/// not leak its tail. Several URLs may be joined by commas or blanks.
pub fn mask_credentials(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(scheme_end) = rest.find("://") {
        let (before, after) = rest.split_at(scheme_end + 3);
        shown.push_str(before);
        let authority_end = authority_end(after);
        let (authority, tail) = after.split_at(authority_end);
        match authority.rfind('@') {
            Some(at) => {
                shown.push_str(MASK);
                shown.push_str(&authority[at..]);
            }
            None => shown.push_str(authority),
        }
        rest = tail;
    }
    shown.push_str(rest);
    shown
}

/// Where the authority of a URL ends. A comma ends it only if another URL follows: it may stand in a password.
fn authority_end(text: &str) -> usize {
    let ends = |(index, found): &(usize, char)| match found {
        '/' | '?' | '#' | ' ' | '\t' | '"' => true,
        ',' => begins_with_scheme(&text[index + 1..]),
        _ => false,
    };
    text.char_indices().find(ends).map_or(text.len(), |(index, _)| index)
}

fn begins_with_scheme(text: &str) -> bool {
    let scheme = text.trim_start().split("://").next().unwrap_or_default();
    scheme.len() < text.trim_start().len()
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// A text that should have been a URL and is none, as it may be shown: not at all if it may hold a password, wherever that
/// stands in it.
pub fn mask_mistyped_url(text: &str) -> String {
    let rest = match text.trim_start().split_once(':') {
        Some((scheme, rest))
            if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") =>
        {
            rest
        }
        _ => text,
    };
    let is_port = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let may_tell =
        text.contains('@') || text.contains("%40") || rest.split(':').skip(1).any(|part| !is_port(part));
    if may_tell { MASK.to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_never_prints() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret} {secret:?}"), "****** ******");
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn credentials_of_every_url_are_masked() {
        assert_eq!(
            mask_credentials("http://u:p@a:1/eureka/,https://v:p@q@b/x"),
            "http://******@a:1/eureka/,https://******@b/x"
        );
        assert_eq!(mask_credentials("http://a:1/x?m=u@v"), "http://a:1/x?m=u@v");
        assert_eq!(mask_credentials("plain u:p@a"), "plain u:p@a");
        assert_eq!(mask_credentials("http://u:p,x@h/,http://v:q@h"), "http://******@h/,http://******@h");
        assert_eq!(mask_credentials("http://a:1,http://u:p@b"), "http://a:1,http://******@b");
    }

    #[test]
    fn a_mistyped_url_is_shown_only_if_it_can_hold_no_password() {
        for told in [
            "u:HUSH@h:8761/eureka/",
            "http:/u:HUSH@h/",
            "http//u:HUSH@h",
            "//u:HUSH@h/",
            "http:u:HUSH@h",
            "http:\\\\u:HUSH@h",
            "http://u:HU SH@h/",
            "http://u:HU/SH@h",
            "http://u:HUSH%40h/",
            "http://u:HUSH",
            "htp//x:HUSH@127.0.0.1",
        ] {
            assert_eq!(mask_mistyped_url(told), MASK, "{told}");
        }
        for harmless in ["peer2:8761/eureka/", "ftp//peer2", "http://", "http://h:99999/", "localhost"] {
            assert_eq!(mask_mistyped_url(harmless), harmless);
        }
    }
}
