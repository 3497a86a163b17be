//! Which of the listed URLs is this node itself (spec `replication.md` 1.4).
//!
//! Java compares host names only, so two servers on one machine exclude each other. Here the port counts too. What no
//! comparison can see, a proxy or an alias, shows when the node meets itself: see `PeerIdentity` in `heureka-actors`.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use heureka_config::Settings;
use heureka_config::settings::ServiceUrl;

/// Longest wait for a name to be resolved. A name that takes longer is not recognised by its address.
const PATIENCE: Duration = Duration::from_secs(2);

/// What this node knows of itself.
#[derive(Clone, Debug)]
pub struct Own {
    my_url: Option<ServiceUrl>,
    names: Vec<String>,
    ports: Vec<u16>,
    addresses: Vec<IpAddr>,
}

impl Own {
    /// From the settings, the ports that the node really listens on, and the addresses of the machine.
    #[must_use]
    pub fn new(settings: &Settings, listening: &[u16]) -> Self {
        let instance = &settings.instance;
        let mut ports = listening.to_vec();
        ports.extend(instance.port_enabled.then_some(instance.port));
        ports.extend(instance.secure_port_enabled.then_some(instance.secure_port));
        let mut addresses = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(std::net::Ipv6Addr::LOCALHOST)];
        addresses.extend(if_addrs::get_if_addrs().unwrap_or_default().iter().map(if_addrs::Interface::ip));
        Self {
            my_url: settings.registry.peers.my_url.clone(),
            names: vec![instance.hostname.clone(), instance.ip_address.clone(), "localhost".to_owned()],
            ports,
            addresses,
        }
    }

    /// True if a URL is this node's own, as far as names and literal addresses can tell. With `my-url` only that counts.
    #[must_use]
    pub fn is_named(&self, url: &ServiceUrl) -> bool {
        if let Some(mine) = &self.my_url {
            return mine == url;
        }
        let is_address = || url.host().parse().is_ok_and(|address: IpAddr| self.addresses.contains(&address));
        self.ports.contains(&url.port())
            && (self.names.iter().any(|name| name.eq_ignore_ascii_case(url.host())) || is_address())
    }

    /// The same, and true also if the host of the URL resolves to addresses of this machine only.
    pub async fn is_own(&self, url: &ServiceUrl) -> bool {
        if self.my_url.is_some() || !self.ports.contains(&url.port()) {
            return self.is_named(url);
        }
        self.is_named(url) || self.resolves_here(url).await
    }

    async fn resolves_here(&self, url: &ServiceUrl) -> bool {
        let found = tokio::time::timeout(PATIENCE, tokio::net::lookup_host((url.host(), url.port()))).await;
        let Ok(Ok(found)) = found else { return false };
        self.are_all_own(found.map(|address| address.ip()))
    }

    /// A name that also leads to others is not this node.
    fn are_all_own(&self, found: impl Iterator<Item = IpAddr>) -> bool {
        let mut found = found.peekable();
        found.peek().is_some() && found.all(|address| self.addresses.contains(&address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> ServiceUrl {
        ServiceUrl::parse(text).expect("a URL")
    }

    fn own(change: impl FnOnce(&mut Settings)) -> Own {
        let mut settings = Settings::default();
        settings.instance.hostname = "eureka-a".into();
        settings.instance.ip_address = "192.0.2.7".into();
        settings.instance.port = 8761;
        change(&mut settings);
        Own::new(&settings, &[8761, 9999])
    }

    #[actix_web::test]
    async fn name_address_and_this_machine_are_own_with_the_right_port_only() {
        let own = own(|_| {});
        let mine = [
            "http://eureka-a:8761/eureka/",
            "http://EUREKA-A:8761/",
            "http://user:secret@eureka-a:8761/eureka/",
            "http://192.0.2.7:8761/eureka/",
            "http://localhost:9999/eureka/",
            "http://127.0.0.1:8761/eureka/",
            "http://[::1]:8761/eureka/",
        ];
        for text in mine {
            assert!(own.is_own(&url(text)).await, "{text}");
        }
        for text in ["http://eureka-a:8762/eureka/", "http://192.0.2.8:8761/", "http://127.0.0.1:80/"] {
            assert!(!own.is_own(&url(text)).await, "{text}");
        }
    }

    #[test]
    fn a_name_is_own_if_it_leads_nowhere_else() {
        let own = own(|_| {});
        let leads = |addresses: &[&str]| {
            own.are_all_own(addresses.iter().map(|address| address.parse().expect("an address")))
        };
        assert!(leads(&["127.0.0.1"]) && leads(&["::1", "127.0.0.1"]));
        assert!(!leads(&["127.0.0.1", "192.0.2.200"]) && !leads(&["192.0.2.200"]) && !leads(&[]));
    }

    #[actix_web::test]
    async fn with_my_url_nothing_else_counts() {
        let own = own(|settings| settings.registry.peers.my_url = Some(url("http://outside:1/eureka/")));
        assert!(own.is_own(&url("http://outside:1/eureka")).await, "a missing slash does not matter");
        assert!(!own.is_own(&url("http://eureka-a:8761/eureka/")).await);
    }
}
