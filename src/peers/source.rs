//! Where the list of peers comes from (spec `replication.md` 1.1 to 1.3).

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context;
use heureka_config::settings::{ClientSettings, ServiceUrl};

use super::dns::{DnsSource, SystemDns};

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

/// The source that the settings name: DNS if it is switched on, else the service URLs.
///
/// # Errors
/// If the system's resolvers cannot be used.
pub fn source_of(settings: &ClientSettings) -> anyhow::Result<Box<dyn PeerSource>> {
    if settings.dns.is_none() {
        return Ok(Box::new(StaticPeers::of(settings)));
    }
    let lookup = Arc::new(SystemDns::new().context("the system's resolvers (peers come from DNS)")?);
    let source = DnsSource::of(settings, lookup).context("peers come from DNS")?;
    Ok(Box::new(source))
}
