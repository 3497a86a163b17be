//! The address and name of this machine, guessed as Spring guesses them (spec `spring.md` 3.3).

use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc;
use std::time::Duration;

use heureka_config::{HostFacts, InetSettings};
use if_addrs::{IfAddr, Interface};
use regex_lite::Regex;

/// Asks the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemHostFacts;

impl HostFacts for SystemHostFacts {
    fn ip_address(&self, settings: &InetSettings) -> String {
        own_address(settings)
            .map_or_else(|| settings.default_ip_address.clone(), |address| address.to_string())
    }

    /// The name that the address resolves to, the address in text if it has none, the default if the look-up hangs.
    fn hostname(&self, settings: &InetSettings) -> String {
        let Some(address) = own_address(settings) else { return settings.default_hostname.clone() };
        let (answer, answered) = mpsc::channel();
        std::thread::spawn(move || {
            let name = dns_lookup::lookup_addr(&IpAddr::V4(address)).unwrap_or_else(|_| address.to_string());
            // Nobody listens any more if the time is up.
            let _ = answer.send(name);
        });
        let patience = Duration::from_secs(settings.timeout_secs.max(1));
        answered.recv_timeout(patience).unwrap_or_else(|_| settings.default_hostname.clone())
    }
}

/// The first usable IPv4 address: of an interface that is up, no loopback, not ignored, in a preferred network; the one
/// with the lowest index wins.
fn own_address(settings: &InetSettings) -> Option<Ipv4Addr> {
    let mut interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    interfaces.sort_by_key(|interface| interface.index.unwrap_or(u32::MAX));
    interfaces.iter().find_map(|interface| usable(interface, settings))
}

fn usable(interface: &Interface, settings: &InetSettings) -> Option<Ipv4Addr> {
    let IfAddr::V4(address) = &interface.addr else { return None };
    let address = address.ip;
    let is_ignored =
        settings.ignored_interfaces.iter().any(|pattern| matches_whole(pattern, &interface.name));
    let is_preferred = settings.preferred_networks.is_empty()
        || settings.preferred_networks.iter().any(|network| is_in(network, &address.to_string()));
    let is_allowed = !settings.only_site_local || address.is_private();
    (!interface.is_loopback() && !is_ignored && is_preferred && is_allowed).then_some(address)
}

fn matches_whole(pattern: &str, text: &str) -> bool {
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(text))
}

/// A preferred network is a regular expression of whole addresses or the beginning of one.
fn is_in(network: &str, address: &str) -> bool {
    address.starts_with(network) || matches_whole(network, address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_prefixes_or_patterns() {
        assert!(is_in("10.0", "10.0.3.4") && is_in("192\\.168\\..*", "192.168.1.1"));
        assert!(!is_in("10.1", "10.0.3.4") && !is_in("192", "10.192.0.1"));
        assert!(matches_whole("docker.*", "docker0") && !matches_whole("veth", "veth0"));
        assert!(!matches_whole("(", "x"), "a broken pattern matches nothing");
    }

    #[test]
    fn there_is_always_an_answer() {
        let settings = InetSettings { ignored_interfaces: vec![".*".into()], ..InetSettings::default() };
        assert_eq!(SystemHostFacts.ip_address(&settings), "127.0.0.1");
        assert_eq!(SystemHostFacts.hostname(&settings), "localhost");
        assert!(SystemHostFacts.ip_address(&InetSettings::default()).parse::<Ipv4Addr>().is_ok());
    }
}
