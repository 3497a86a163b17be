//! Where the list of peers comes from (spec `replication.md` 1.1 to 1.3).

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context;
use heureka_config::Settings;
use heureka_config::settings::{ClientSettings, ServiceUrl};

use super::combined::{CombinedPeers, Origin};
use super::dns::DnsSource;
use super::file::FilePeers;
use super::names::{NameLookup, NamedPeers};
use super::system_dns::SystemDns;

/// A list on its way.
pub type Listing = Pin<Box<dyn Future<Output = Result<Vec<ServiceUrl>, SourceError>> + Send>>;

/// A change of the list, to come.
pub type Changed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Knows the peers of this node. This node itself may be among them.
pub trait PeerSource: Send + Sync {
    /// The peers now. An empty list is taken for a mistake, not for the wish to be alone: the last peers stay.
    fn list(&self) -> Listing;

    /// The peers, if they can be told without asking anybody: then a node without peers opens at once.
    fn known(&self) -> Option<Vec<ServiceUrl>> {
        None
    }

    /// Why a part of the last list is an old one, if it was put together from several.
    fn failure(&self) -> Option<SourceError> {
        None
    }

    /// Completes when the list may have changed, for sources that notice. It is asked for anew after each time.
    fn changed(&self) -> Changed {
        Box::pin(std::future::pending())
    }
}

/// The list could not be made. The last one stays in force; the next refresh tries again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(pub String);

/// A list that never changes: from the settings, or from whoever embeds a node.
#[derive(Clone, Debug)]
pub struct StaticPeers(Vec<ServiceUrl>);

impl StaticPeers {
    /// These peers.
    #[must_use]
    pub const fn new(urls: Vec<ServiceUrl>) -> Self {
        Self(urls)
    }

    /// The peers of all zones (spec `replication.md` 1.2).
    #[must_use]
    pub fn of(settings: &ClientSettings) -> Self {
        Self(settings.peer_urls())
    }
}

impl PeerSource for StaticPeers {
    fn list(&self) -> Listing {
        let listed: Ready<_> = ready(Ok(self.0.clone()));
        Box::pin(listed)
    }

    fn known(&self) -> Option<Vec<ServiceUrl>> {
        Some(self.0.clone())
    }
}

/// All sources that the settings name: the service URLs or TXT records, as in Java, then a file and other names of DNS.
///
/// # Errors
/// If the system's resolvers cannot be used, or there is no thread to read a file on.
pub fn source_of(settings: &Settings) -> anyhow::Result<CombinedPeers> {
    let (client, discovery) = (&settings.client, &settings.discovery);
    let resolvers = || SystemDns::new().context("the system's resolvers (peers come from DNS)");
    let mut sources: Vec<(Origin, Box<dyn PeerSource>)> = Vec::new();
    if client.dns.is_some() {
        let source = DnsSource::of(client, Arc::new(resolvers()?)).context("peers come from DNS")?;
        sources.push((Origin::TxtRecords(client.region.clone(), client.dns.clone()), Box::new(source)));
    } else {
        sources.push((Origin::ServiceUrls(client.peer_urls()), Box::new(StaticPeers::of(client))));
    }
    if let Some(file) = &discovery.file {
        let source = FilePeers::new(file).context("a thread that reads heureka.peers.file")?;
        sources.push((Origin::File(file.clone()), Box::new(source)));
    }
    if !discovery.dns_urls.is_empty() {
        let lookup: Arc<dyn NameLookup> = Arc::new(resolvers()?);
        let named = discovery.dns_urls.iter().zip(NamedPeers::all(discovery, &lookup));
        sources.extend(
            named.map(|(url, named)| (Origin::Name(url.clone()), Box::new(named) as Box<dyn PeerSource>)),
        );
    }
    Ok(CombinedPeers::new(sources))
}
