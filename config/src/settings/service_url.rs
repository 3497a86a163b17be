//! URL of a peer, possibly with credentials in it.
//!
//! Normalised when read: trimmed, one trailing slash. Prints without its credentials, so it may stand in a log.

use crate::secret::{Secret, mask_credentials};
use std::fmt;

/// The base URL of a Eureka server, such as `http://user:secret@host:8761/eureka/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServiceUrl {
    url: String,
}

impl ServiceUrl {
    /// Reads one URL: `http` or `https`, a host, any path.
    ///
    /// # Errors
    /// Says in words what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let url = text.trim();
        if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err("has a blank or control character in it".into());
        }
        let scheme_end = url.find("://").ok_or("has no http:// or https:// in front")?;
        let scheme = &url[..scheme_end];
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err("is neither http nor https".into());
        }
        let slash = if url.ends_with('/') { "" } else { "/" };
        let parsed = Self { url: format!("{url}{slash}") };
        let (host, port) = split_host_port(parsed.host_and_port());
        if host.is_empty() {
            return Err("names no host".into());
        }
        match port {
            Some(port) if port.parse::<u16>().is_err() => {
                Err("has a port that is not a number up to 65535".into())
            }
            _ => Ok(parsed),
        }
    }

    /// The URL as configured, credentials included, with its trailing slash. Never log this.
    pub fn expose(&self) -> &str {
        &self.url
    }

    /// The URL without user and password: what may be shown, and what a request goes to.
    pub fn without_credentials(&self) -> String {
        let start = self.authority_start();
        let authority = self.authority();
        match authority.rfind('@') {
            Some(at) => format!(
                "{}{}{}",
                &self.url[..start],
                &authority[at + 1..],
                &self.url[start + authority.len()..]
            ),
            None => self.url.clone(),
        }
    }

    /// User and password, percent-decoded. A password may contain `:`; Java then sends none at all (1.5).
    pub fn credentials(&self) -> Option<(String, Secret)> {
        let authority = self.authority();
        let user_info = &authority[..authority.rfind('@')?];
        let (user, password) = user_info.split_once(':')?;
        Some((percent_decode(user), Secret::new(percent_decode(password))))
    }

    /// Host as written, without brackets of an IPv6 address; underscores are fine.
    pub fn host(&self) -> &str {
        split_host_port(self.host_and_port()).0
    }

    /// Port, or that of the scheme.
    pub fn port(&self) -> u16 {
        let default = if self.is_https() { 443 } else { 80 };
        split_host_port(self.host_and_port()).1.and_then(|p| p.parse().ok()).unwrap_or(default)
    }

    /// True if a port is written.
    pub fn has_port(&self) -> bool {
        split_host_port(self.host_and_port()).1.is_some()
    }

    /// True if the host is a name of SRV records, such as `_http._tcp.eureka`.
    pub fn names_services(&self) -> bool {
        self.host().starts_with('_')
    }

    /// The same URL, credentials and path included, of another server.
    ///
    /// # Errors
    /// Says in words what is wrong with the host.
    pub fn at(&self, host: &str, port: u16) -> Result<Self, String> {
        let start = self.authority_start();
        let authority = self.authority();
        let user = authority.rfind('@').map_or("", |at| &authority[..=at]);
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let (scheme, path) = (&self.url[..start], &self.url[start + authority.len()..]);
        Self::parse(&format!("{scheme}{user}{host}:{port}{path}"))
    }

    /// True for `https`.
    pub fn is_https(&self) -> bool {
        self.url.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("https:"))
    }

    fn authority_start(&self) -> usize {
        self.url.find("://").map_or(0, |at| at + 3)
    }

    fn authority(&self) -> &str {
        let after = &self.url[self.authority_start()..];
        &after[..after.find(['/', '?', '#']).unwrap_or(after.len())]
    }

    fn host_and_port(&self) -> &str {
        let authority = self.authority();
        authority.rfind('@').map_or(authority, |at| &authority[at + 1..])
    }
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.without_credentials())
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&mask_credentials(&self.url))
    }
}

fn split_host_port(text: &str) -> (&str, Option<&str>) {
    if let Some(v6) = text.strip_prefix('[')
        && let Some((host, rest)) = v6.split_once(']')
    {
        return (host, rest.strip_prefix(':'));
    }
    match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    }
}

fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| bytes.get(at + offset).and_then(|b| (*b as char).to_digit(16));
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, _, _) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_normalised_and_taken_apart() {
        let url = ServiceUrl::parse("  http://user:p%40s:s@my_host:8761/eureka ").unwrap();
        assert_eq!(url.expose(), "http://user:p%40s:s@my_host:8761/eureka/");
        assert_eq!(url.without_credentials(), "http://my_host:8761/eureka/");
        assert_eq!(url.credentials(), Some(("user".into(), Secret::new("p@s:s"))));
        assert_eq!((url.host(), url.port(), url.is_https()), ("my_host", 8761, false));
    }

    #[test]
    fn it_never_prints_its_password() {
        let url = ServiceUrl::parse("https://user:secret@h/").unwrap();
        assert!(!format!("{url} {url:?}").contains("secret"));
        assert_eq!((url.port(), url.is_https()), (443, true));
    }

    #[test]
    fn ipv6_hosts_have_no_brackets() {
        let url = ServiceUrl::parse("http://[::1]:8761/eureka/").unwrap();
        assert_eq!((url.host(), url.port()), ("::1", 8761));
    }

    #[test]
    fn another_server_has_the_same_credentials_and_path() {
        let url = ServiceUrl::parse("https://u:p%40@_http._tcp.eureka/ctx/eureka").unwrap();
        assert!(url.names_services() && !url.has_port());
        assert_eq!(url.at("10.0.0.7", 1).unwrap().expose(), "https://u:p%40@10.0.0.7:1/ctx/eureka/");
        let url = ServiceUrl::parse("http://eureka:8761/").unwrap();
        assert!(!url.names_services() && url.has_port());
        assert_eq!(url.at("fd00::7", 8761).unwrap().expose(), "http://[fd00::7]:8761/");
        assert!(url.at("a b", 1).is_err());
    }

    #[test]
    fn what_is_no_url_is_refused_in_words() {
        for (text, reason) in [
            ("peer2:8761", "no http://"),
            ("ftp://h/", "neither"),
            ("http:///eureka", "no host"),
            ("http://h:99999/", "port"),
            ("http://a b/", "blank"),
        ] {
            let error = ServiceUrl::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
