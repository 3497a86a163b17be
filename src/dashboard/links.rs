//! What may become a link: addresses come from whoever registers, and a page must not run their code.

/// The text itself if it is an `http` or `https` URL with something behind the scheme. Everything else, `javascript:` above
/// all, stays plain text (spec `spring.md` 2.5, item 50).
pub fn safe(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    // Browsers drop control characters inside URLs; a URL that needs that is not one to click on.
    let is_plain = !rest.is_empty() && !url.chars().any(char::is_control);
    (is_web && is_plain).then_some(url)
}

/// One path segment, percent-encoded: names hold any character.
pub fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_links() {
        for url in ["http://h:1/info", "HTTPS://h", "http://h/?a=<b>&\"c\""] {
            assert_eq!(safe(url), Some(url));
        }
        let others = [
            "javascript:alert(1)",
            "JavaScript://h/%0aalert(1)",
            " http://h",
            "http:h",
            "http://",
            "httpx://h",
            "data:text/html,x",
            "//h/info",
            "http://h/\u{a}x",
            "",
        ];
        for url in others {
            assert_eq!(safe(url), None, "{url}");
        }
    }

    #[test]
    fn names_become_one_segment() {
        assert_eq!(segment("A/B?#%"), "A%2FB%3F%23%25");
    }
}
