//! The peers as the pages list them (spec `spring.md` 2.4): one entry for each URL, without credentials.

/// A peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Host and port, as far as the URL names them.
    pub name: String,
    /// The URL to which changes are sent.
    pub url: String,
    /// Address of the peer's own start page.
    pub page: String,
    /// What is known of it.
    pub state: &'static str,
}

/// What is said of a peer that has not been asked anything.
const NOT_CONTACTED: &str = "not contacted yet";

impl Peer {
    /// From a URL that holds no credentials any more.
    pub fn new(url: String) -> Self {
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let name = rest.split(['/', '?', '#']).next().unwrap_or(rest).to_owned();
        Self { name, page: page_of(&url), url, state: NOT_CONTACTED }
    }
}

/// The page lies where the API's prefix begins: `http://h:8761/ctx/eureka/` belongs to `http://h:8761/ctx/`.
fn page_of(url: &str) -> String {
    let trimmed = url.trim_end_matches('/');
    let trimmed = trimmed.strip_suffix("/v2").unwrap_or(trimmed);
    trimmed.strip_suffix("/eureka").map_or_else(|| url.to_owned(), |base| format!("{base}/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_links_to_its_page() {
        let cases = [
            ("http://a:1/eureka/", "a:1", "http://a:1/"),
            ("https://a_b/ctx/eureka/v2/", "a_b", "https://a_b/ctx/"),
            ("http://[::1]:8761/eureka/", "[::1]:8761", "http://[::1]:8761/"),
            ("http://a:1/other/", "a:1", "http://a:1/other/"),
        ];
        for (url, name, page) in cases {
            let peer = Peer::new(url.to_owned());
            assert_eq!((peer.name.as_str(), peer.page.as_str(), peer.url.as_str()), (name, page, url));
        }
    }
}
