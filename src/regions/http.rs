//! Requests to one region: read only, with time-outs of their own, over one connection that is kept.

use std::time::Duration;

use anyhow::Context;
use heureka_actors::replicator::PeerReply;
use heureka_config::Settings;
use heureka_config::settings::{ClientTls, ServiceUrl};
use reqwest::Client;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use super::SERVER_IDENTITY;
use crate::peers::http::{authorise, read, transport_error};
use crate::peers::tls::client_config;

/// As Java.
const REDIRECTS_MAX: usize = 10;

/// What all requests to a region have in common.
#[derive(Clone, Debug)]
pub struct RegionHttp {
    client: Client,
    headers: HeaderMap,
    base: String,
}

impl RegionHttp {
    /// For one region.
    ///
    /// # Errors
    /// If the trusted certificates cannot be read.
    pub fn new(settings: &Settings, url: &ServiceUrl) -> anyhow::Result<Self> {
        let regions = &settings.registry.regions;
        let trust = regions.trust.clone();
        let tls = trust.map(|trust| ClientTls { identity: None, trust: Some(trust) });
        let client = Client::builder()
            .tls_backend_preconfigured(client_config(tls.as_ref(), url.is_https())?)
            .http1_only()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::limited(REDIRECTS_MAX))
            .pool_idle_timeout(Duration::from_secs(regions.connection_idle_timeout_secs))
            .connect_timeout(Duration::from_millis(regions.connect_timeout_ms))
            .read_timeout(Duration::from_millis(regions.read_timeout_ms))
            .build()
            .context("requests to regions")?;
        let mut headers = HeaderMap::new();
        let agent = concat!("Heureka-RemoteRegion/", env!("CARGO_PKG_VERSION"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        if regions.gzip {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let name = HeaderName::from_static("discoveryidentity-name");
        headers.insert(name, HeaderValue::from_static(SERVER_IDENTITY));
        if let Ok(address) = HeaderValue::from_str(&settings.instance.ip_address) {
            headers.insert(HeaderName::from_static("discoveryidentity-id"), address);
        }
        authorise(&mut headers, url);
        Ok(Self { client, headers, base: url.without_credentials() })
    }

    /// Reads a document, such as `apps/`.
    ///
    /// # Errors
    /// If the region cannot be asked, or its answer cannot be read within the bound.
    pub async fn get(&self, path: &str, bytes_max: usize) -> anyhow::Result<PeerReply> {
        let target = format!("{}{path}", self.base);
        let sent = self.client.get(target).headers(self.headers.clone()).send().await;
        // Whoever asks gives up after an interval.
        Ok(read(sent.map_err(|error| transport_error(&error))?, bytes_max, Duration::MAX).await?)
    }
}
