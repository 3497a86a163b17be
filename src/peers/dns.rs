//! Peers from DNS, in Java's two steps of TXT records (spec `replication.md` 1.3): the region names its zones, each zone
//! names its servers.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use heureka_config::settings::{ClientSettings, DnsPeers, ServiceUrl};

use super::source::{Listing, PeerSource, SourceError};

/// The texts of a name on their way.
pub type Texts = Pin<Box<dyn Future<Output = Result<Vec<String>, SourceError>> + Send>>;

/// Asks for the TXT records of a name.
pub trait TxtLookup: Send + Sync {
    /// The texts, each record in one piece.
    fn txt(&self, name: &str) -> Texts;
}

/// The peers of a region, asked anew each time.
#[derive(Clone)]
pub struct DnsSource {
    lookup: Arc<dyn TxtLookup>,
    region: String,
    settings: DnsPeers,
}

impl DnsSource {
    /// For the region and domain of the settings; `None` if they do not use DNS.
    #[must_use]
    pub fn of(settings: &ClientSettings, lookup: Arc<dyn TxtLookup>) -> Option<Self> {
        let region = settings.region.trim().to_lowercase();
        Some(Self { lookup, region, settings: settings.dns.clone()? })
    }

    async fn resolve(self) -> Result<Vec<ServiceUrl>, SourceError> {
        let region = format!("txt.{}.{}", self.region, self.settings.domain);
        let zones = self.names(&region).await?;
        if let Some(zone) = zones.iter().find(|zone| zone.starts_with("ec2")) {
            return Err(SourceError(format!("{region} names the server {zone} where a zone belongs")));
        }
        let mut hosts = BTreeSet::new();
        for zone in &zones {
            // Newer clients allow the prefix in the record; Java's peer resolver would look up "txt.txt.".
            let zone = zone.strip_prefix("txt.").unwrap_or(zone);
            hosts.extend(self.names(&format!("txt.{zone}")).await?);
        }
        if hosts.is_empty() {
            return Err(SourceError(format!("the zones of {region} name no server")));
        }
        hosts.iter().map(|host| self.url(host)).collect()
    }

    /// The names in the first record, without one pair of quotes, in order.
    async fn names(&self, name: &str) -> Result<BTreeSet<String>, SourceError> {
        let texts = self.lookup.txt(name).await?;
        let first = texts.first().ok_or_else(|| SourceError(format!("{name} has no TXT record")))?;
        let first = first.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(first);
        let names: BTreeSet<String> = first.split_whitespace().map(str::to_owned).collect();
        if names.is_empty() {
            Err(SourceError(format!("the TXT record of {name} is empty")))
        } else {
            Ok(names)
        }
    }

    fn url(&self, host: &str) -> Result<ServiceUrl, SourceError> {
        let context = self.settings.context.trim_matches('/');
        let slash = if context.is_empty() { "" } else { "/" };
        let text = format!("http://{host}:{}/{context}{slash}", self.settings.port);
        ServiceUrl::parse(&text).map_err(|reason| SourceError(format!("{host} in a TXT record {reason}")))
    }
}

impl PeerSource for DnsSource {
    fn list(&self) -> Listing {
        Box::pin(self.clone().resolve())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Records = [(&'static str, &'static [&'static str])];

    struct Zone(BTreeMap<&'static str, Vec<&'static str>>);

    impl TxtLookup for Zone {
        fn txt(&self, name: &str) -> Texts {
            let found = self.0.get(name).map(|texts| texts.iter().map(|text| (*text).to_owned()).collect());
            let answer = found.ok_or_else(|| SourceError(format!("{name} does not exist")));
            Box::pin(std::future::ready(answer))
        }
    }

    async fn list(records: &Records, context: &str) -> Result<Vec<String>, SourceError> {
        let zone = Zone(records.iter().map(|(name, texts)| (*name, texts.to_vec())).collect());
        let dns = DnsPeers { domain: "example.org".into(), port: 8761, context: context.into() };
        let settings =
            ClientSettings { region: " EU-1 ".into(), dns: Some(dns), ..ClientSettings::default() };
        let source = DnsSource::of(&settings, Arc::new(zone)).expect("DNS is used");
        let urls = source.list().await?;
        Ok(urls.iter().map(ToString::to_string).collect())
    }

    #[actix_web::test]
    async fn zones_of_the_region_name_their_servers() {
        let records: [(&str, &'static [&str]); 3] = [
            ("txt.eu-1.example.org", &["\"eu-1b.example.org eu-1a.example.org\"", "ignored.example.org"]),
            ("txt.eu-1a.example.org", &["a2.example.org  a1.example.org"]),
            ("txt.eu-1b.example.org", &["b1.example.org a1.example.org"]),
        ];
        let urls = list(&records, "eureka").await.expect("a list");
        let expected = ["a1", "a2", "b1"].map(|host| format!("http://{host}.example.org:8761/eureka/"));
        assert_eq!(urls, expected);
    }

    #[actix_web::test]
    async fn a_context_may_be_absent_and_a_zone_may_have_the_prefix() {
        let records: [(&str, &'static [&str]); 2] =
            [("txt.eu-1.example.org", &["txt.z.example.org"]), ("txt.z.example.org", &["h"])];
        assert_eq!(list(&records, "").await.expect("a list"), ["http://h:8761/"]);
    }

    #[actix_web::test]
    async fn what_makes_no_list_says_why() {
        let region = "txt.eu-1.example.org";
        let cases: [(&Records, &str); 6] = [
            (&[], "does not exist"),
            (&[(region, &[])], "no TXT record"),
            (&[(region, &["\"\""])], "is empty"),
            (&[(region, &["ec2-1-2-3-4.compute"])], "where a zone belongs"),
            (&[(region, &["z.example.org"])], "txt.z.example.org does not exist"),
            (&[(region, &["z.example.org"]), ("txt.z.example.org", &["bad:host:1"])], "in a TXT record"),
        ];
        for (records, reason) in cases {
            let error = list(records, "eureka").await.expect_err(reason);
            assert!(error.0.contains(reason), "{error}");
        }
    }
}
