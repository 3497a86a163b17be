//! Peers by a name of DNS: the host of a URL stands for every server that is known under it. A headless service in
//! Kubernetes is such a name, and so is a service of Compose that is scaled.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use heureka_config::settings::{DiscoverySettings, ServiceUrl};

use super::source::{Changed, Listing, PeerSource, SourceError};

/// The addresses of a name on their way.
pub type Addresses = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, SourceError>> + Send>>;

/// Targets and ports of a name's SRV records on their way.
pub type Services = Pin<Box<dyn Future<Output = Result<Vec<(String, u16)>, SourceError>> + Send>>;

/// Asks for the servers behind a name.
pub trait NameLookup: Send + Sync {
    /// All addresses: those of A records, or if there are none those of AAAA records.
    fn addresses(&self, name: &str) -> Addresses;

    /// Targets and ports of all SRV records.
    fn services(&self, name: &str) -> Services;
}

/// The servers behind the host of a URL, asked for anew again and again.
#[derive(Clone)]
pub struct NamedPeers {
    lookup: Arc<dyn NameLookup>,
    url: ServiceUrl,
    interval: Duration,
}

impl NamedPeers {
    /// One source for each URL of the settings: a name that cannot be found takes no other from the list.
    pub fn all(settings: &DiscoverySettings, lookup: &Arc<dyn NameLookup>) -> impl Iterator<Item = Self> {
        let interval = Duration::from_millis(settings.dns_interval_ms);
        settings.dns_urls.iter().map(move |url| Self {
            lookup: Arc::clone(lookup),
            url: url.clone(),
            interval,
        })
    }

    async fn resolve(self) -> Result<Vec<ServiceUrl>, SourceError> {
        let at = |(host, port): (String, u16)| {
            let url = self.url.at(&host, port);
            url.map_err(|reason| SourceError(format!("{host}, found under {}, {reason}", self.url)))
        };
        self.servers().await?.into_iter().map(at).collect()
    }

    /// Hosts and ports behind the URL, in order and each once, so that the same answer is the same list.
    async fn servers(&self) -> Result<BTreeSet<(String, u16)>, SourceError> {
        let name = self.url.host();
        let servers: BTreeSet<_> = if self.url.names_services() {
            self.lookup.services(name).await?.into_iter().collect()
        } else {
            let addresses = self.lookup.addresses(name).await?;
            addresses.into_iter().map(|address| (address.to_string(), self.url.port())).collect()
        };
        if servers.is_empty() { Err(SourceError(format!("{name} has no servers"))) } else { Ok(servers) }
    }
}

impl PeerSource for NamedPeers {
    fn list(&self) -> Listing {
        Box::pin(self.clone().resolve())
    }

    fn changed(&self) -> Changed {
        // DNS does not tell; it may have changed when it is time to ask.
        Box::pin(tokio::time::sleep(self.interval))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Answers what was recorded, one answer after the other; the last one stays.
    #[derive(Default)]
    struct Recorded {
        addresses: Mutex<Vec<(&'static str, Vec<&'static str>)>>,
        services: Vec<(&'static str, &'static str, u16)>,
    }

    impl NameLookup for Recorded {
        fn addresses(&self, name: &str) -> Addresses {
            let mut recorded = self.addresses.lock().expect("no panic");
            let at = recorded.iter().position(|(known, _)| *known == name);
            let answer = at.map(|at| {
                let has_later = recorded[at + 1..].iter().any(|(known, _)| *known == name);
                if has_later { recorded.remove(at).1 } else { recorded[at].1.clone() }
            });
            let answer = answer.ok_or_else(|| SourceError(format!("{name} does not exist")));
            let parsed = answer.map(|all| all.iter().map(|one| one.parse().expect("an address")).collect());
            Box::pin(std::future::ready(parsed))
        }

        fn services(&self, name: &str) -> Services {
            let of_name = self.services.iter().filter(|(known, _, _)| *known == name);
            let found = of_name.map(|(_, target, port)| ((*target).to_owned(), *port)).collect();
            Box::pin(std::future::ready(Ok(found)))
        }
    }

    fn source(url: &str, recorded: Recorded) -> NamedPeers {
        let dns_urls = vec![ServiceUrl::parse(url).expect("a URL")];
        let settings = DiscoverySettings { dns_urls, ..DiscoverySettings::default() };
        let lookup: Arc<dyn NameLookup> = Arc::new(recorded);
        NamedPeers::all(&settings, &lookup).next().expect("one URL")
    }

    async fn listed(source: &NamedPeers) -> Result<Vec<String>, String> {
        let urls = source.list().await.map_err(|error| error.0)?;
        Ok(urls.iter().map(|url| url.expose().to_owned()).collect())
    }

    #[actix_web::test]
    async fn a_name_stands_for_all_its_addresses_and_they_may_change() {
        let name = "eureka.registry.svc";
        let answers = vec![(name, vec!["10.0.0.9", "10.0.0.7"]), (name, vec!["10.0.0.8"])];
        let recorded = Recorded { addresses: Mutex::new(answers), ..Recorded::default() };
        let source = source("http://u:p@eureka.registry.svc:8761/ctx/eureka", recorded);
        let expected = ["10.0.0.7", "10.0.0.9"].map(|host| format!("http://u:p@{host}:8761/ctx/eureka/"));
        assert_eq!(listed(&source).await.expect("a list"), expected);
        assert_eq!(listed(&source).await.expect("a list"), ["http://u:p@10.0.0.8:8761/ctx/eureka/"]);
        assert!(source.known().is_none(), "nothing is known without asking");
    }

    #[actix_web::test]
    async fn srv_records_bring_the_ports_and_each_server_counts_once() {
        let service = "_http._tcp.eureka";
        let services = vec![(service, "b.example", 2), (service, "a.example", 1), (service, "b.example", 2)];
        let source =
            source("https://_http._tcp.eureka/eureka/", Recorded { services, ..Recorded::default() });
        let expected = ["https://a.example:1/eureka/", "https://b.example:2/eureka/"];
        assert_eq!(listed(&source).await.expect("a list"), expected);
    }

    #[actix_web::test]
    async fn addresses_of_the_longer_kind_stand_in_brackets() {
        let addresses = Mutex::new(vec![("six", vec!["fd00::1"])]);
        let source = source("http://six:1/", Recorded { addresses, ..Recorded::default() });
        assert_eq!(listed(&source).await.expect("a list"), ["http://[fd00::1]:1/"]);
    }

    #[actix_web::test]
    async fn a_name_without_servers_makes_no_list() {
        let empty = || Recorded { addresses: Mutex::new(vec![("none", vec![])]), ..Recorded::default() };
        for (url, reason) in [
            ("http://nowhere:1/", "nowhere does not exist"),
            ("http://none:1/", "none has no servers"),
            ("http://_a._tcp.b/", "_a._tcp.b has no servers"),
        ] {
            assert_eq!(listed(&source(url, empty())).await, Err(reason.to_owned()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn dns_is_asked_again_when_its_interval_is_over() {
        let source = source("http://a/", Recorded::default());
        let started = tokio::time::Instant::now();
        source.changed().await;
        assert_eq!(started.elapsed(), Duration::from_secs(10));
    }
}
