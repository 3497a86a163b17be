//! The peers as the pages list them (spec `spring.md` 2.4): one entry for each URL, without credentials.

use heureka_actors::replicator::PeerStatus;

/// A peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Host and port, as far as the URL names them.
    pub name: String,
    /// The URL to which changes are sent.
    pub url: String,
    /// Address of the peer's own start page.
    pub page: String,
    /// What is known of it, in words.
    pub state: String,
}

impl Peer {
    /// From what its sender knows.
    pub fn of(status: &PeerStatus, now_wall_ms: i64) -> Self {
        let url = status.url.clone();
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let name = rest.split(['/', '?', '#']).next().unwrap_or(rest).to_owned();
        Self { name, page: page_of(&url), state: words(status, now_wall_ms), url }
    }
}

/// State, what waits, and the last success and failure: what an operator asks first.
fn words(status: &PeerStatus, now_wall_ms: i64) -> String {
    let ago = |wall_ms: i64| format!("{} s ago", (now_wall_ms - wall_ms).max(0) / 1000);
    let mut parts = vec![status.state.as_str().to_owned()];
    if status.queued_instances > 0 {
        let age_secs = status.oldest_age_ms / 1000;
        parts.push(format!("{} instances wait, the oldest for {age_secs} s", status.queued_instances));
    }
    if let Some(wall_ms) = status.last_success_wall_ms {
        parts.push(format!("last success {}", ago(wall_ms)));
    }
    if let Some(error) = &status.last_error {
        parts.push(format!("last failure {}: {}", ago(error.wall_ms), error.words));
    }
    parts.join("; ")
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
    use heureka_actors::replicator::{PeerError, PeerState};

    #[test]
    fn a_peer_links_to_its_page() {
        let cases = [
            ("http://a:1/eureka/", "a:1", "http://a:1/"),
            ("https://a_b/ctx/eureka/v2/", "a_b", "https://a_b/ctx/"),
            ("http://[::1]:8761/eureka/", "[::1]:8761", "http://[::1]:8761/"),
            ("http://a:1/other/", "a:1", "http://a:1/other/"),
        ];
        for (url, name, page) in cases {
            let status = PeerStatus { url: url.to_owned(), ..PeerStatus::default() };
            let peer = Peer::of(&status, 0);
            assert_eq!((peer.name.as_str(), peer.page.as_str(), peer.url.as_str()), (name, page, url));
        }
    }

    #[test]
    fn a_peer_says_what_waits_and_what_failed() {
        let error = PeerError { words: "connection refused".into(), wall_ms: 7_000 };
        let status = PeerStatus {
            url: "http://a:1/eureka/".into(),
            state: PeerState::Failing,
            queued_instances: 3,
            oldest_age_ms: 4_500,
            last_success_wall_ms: Some(1_000),
            last_error: Some(error),
            ..PeerStatus::default()
        };
        let state = Peer::of(&status, 10_000).state;
        for part in
            ["3 instances wait, the oldest for 4 s", "last success 9 s ago", "3 s ago: connection refused"]
        {
            assert!(state.contains(part), "{part} is missing in {state}");
        }
    }
}
