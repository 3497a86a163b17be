//! Requests to peers: batches, and the fetch at the start. One set of rules for TLS, time-outs, headers and limits.

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use heureka_actors::replicator::{
    BatchHead, CLOCK_HEADER, ORDER_HEADER, PEER_HEADER, PeerIdentity, PeerReply, PeerTransport, PlacedStamps,
    STAMPS_HEADER, Sending, TransportError, clock_from_text, clock_to_text, order_to_text,
};
use heureka_config::Settings;
use heureka_config::settings::{ClientTls, Proxy, ServiceUrl};
use heureka_registry::ClockReading;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, USER_AGENT,
};
use reqwest::{Client, Response};
use tokio::time::timeout;

use super::digest::{DIGEST_HEADER, DIGEST_VERSION, DigestRequest, EMPTY_BATCH};
use super::group_words::TellGroup;
use super::tls::client_config;

/// Name in `DiscoveryIdentity-Name`, as Java servers give it: rate limiters let it pass.
const IDENTITY_NAME: &str = "DefaultServer";
const IDENTITY_VERSION: &str = "1.0";
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// Answer to a batch of 250 conflicts at most, with room.
const BATCH_ANSWER_BYTES_MAX: usize = 64 << 20;
/// The rate of a slow line.
const BYTES_PER_MS_MIN: u64 = 32;
/// A registry of some 500,000 instances.
pub const FETCH_BYTES_MAX: usize = 1 << 30;

/// What requests to any peer have in common.
#[derive(Clone, Debug)]
pub struct PeerHttp {
    settings: Arc<HttpSettings>,
    identity: PeerIdentity,
}

#[derive(Clone, Debug)]
struct HttpSettings {
    connect: Duration,
    read: Duration,
    idle: Duration,
    fetch_connect: Duration,
    fetch_read: Duration,
    compress: bool,
    tls: Option<ClientTls>,
    proxy: Option<Proxy>,
    own_address: String,
}

impl PeerHttp {
    /// From the settings. `identity` is this node's own.
    #[must_use]
    pub fn new(settings: &Settings, identity: PeerIdentity) -> Self {
        let (peers, client) = (&settings.registry.peers, &settings.client);
        let settings = HttpSettings {
            connect: Duration::from_millis(peers.connect_timeout_ms),
            read: Duration::from_millis(peers.read_timeout_ms),
            idle: Duration::from_secs(peers.connection_idle_timeout_secs),
            fetch_connect: Duration::from_secs(client.timeouts.connect_secs),
            fetch_read: Duration::from_secs(client.timeouts.read_secs),
            compress: peers.compress_requests,
            tls: client.tls.clone(),
            proxy: client.proxy.clone(),
            own_address: settings.instance.ip_address.clone(),
        };
        Self { settings: Arc::new(settings), identity }
    }

    /// Carries batches to a peer, with connections of its own. No proxy and no redirects, as in Java.
    ///
    /// # Errors
    /// If the TLS settings cannot be used.
    pub fn transport(&self, url: &ServiceUrl) -> anyhow::Result<BatchTransport> {
        let settings = &self.settings;
        let client = self
            .client(url)?
            .connect_timeout(settings.connect)
            .timeout(settings.connect + settings.read)
            .no_proxy()
            .build()
            .context("requests to peers")?;
        let mut headers = self.headers(url);
        headers.insert(CONTENT_TYPE, JSON);
        if settings.compress {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        let target = format!("{}peerreplication/batch/", url.without_credentials());
        Ok(BatchTransport { client, headers, target: target.into(), compress: settings.compress })
    }

    /// Reads a document of a peer, such as `apps/`, with the time-outs and the proxy of a client.
    ///
    /// # Errors
    /// If the peer cannot be asked, or its answer cannot be read.
    pub async fn get(&self, url: &ServiceUrl, path: &str, bytes_max: usize) -> anyhow::Result<PeerReply> {
        let settings = &self.settings;
        let mut builder =
            self.client(url)?.connect_timeout(settings.fetch_connect).read_timeout(settings.fetch_read);
        builder = match &settings.proxy {
            None => builder.no_proxy(),
            Some(proxy) => builder.proxy(proxy_of(proxy)?),
        };
        let client = builder.build().context("requests to peers")?;
        let target = format!("{}{path}", url.without_credentials());
        let sent = client.get(target).headers(self.headers(url)).send().await;
        let response = sent.map_err(|error| transport_error(&error))?;
        Ok(read(response, bytes_max, settings.fetch_read).await?)
    }

    /// Tells a peer the states of auto-scaling groups, with connections of its own (spec `replication.md` 3.3).
    ///
    /// # Errors
    /// If the TLS settings cannot be used.
    pub fn group_calls(&self, url: &ServiceUrl) -> anyhow::Result<GroupCalls> {
        let settings = &self.settings;
        let builder = self.client(url)?.connect_timeout(settings.connect).timeout(settings.fetch_read);
        let client = builder.no_proxy().build().context("requests to peers")?;
        let mut headers = self.headers(url);
        headers.insert("x-netflix-discovery-replication", HeaderValue::from_static("true"));
        Ok(GroupCalls { client, headers, base: url.without_credentials() })
    }

    /// Asks a peer of our kind for a digest, and tells it what our clock shows, as it does in its answer.
    ///
    /// # Errors
    /// If the peer cannot be asked, or answers something else.
    pub async fn digest(
        &self,
        url: &ServiceUrl,
        request: &DigestRequest,
        clock: ClockReading,
        bytes_max: usize,
    ) -> anyhow::Result<PeerReply> {
        let settings = &self.settings;
        let builder =
            self.client(url)?.connect_timeout(settings.fetch_connect).read_timeout(settings.fetch_read);
        let client = builder.no_proxy().build().context("requests to peers")?;
        let mut headers = self.headers(url);
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(HeaderName::from_static(DIGEST_HEADER), HeaderValue::from_str(&request.header())?);
        headers.insert(HeaderName::from_static(CLOCK_HEADER), HeaderValue::from_str(&clock_to_text(clock))?);
        let target = format!("{}peerreplication/batch/", url.without_credentials());
        let sent = client.post(target).headers(headers).body(EMPTY_BATCH).send().await;
        let response = sent.map_err(|error| transport_error(&error))?;
        let is_digest =
            response.headers().get(DIGEST_HEADER).is_some_and(|version| version == DIGEST_VERSION);
        let reply = read(response, bytes_max, settings.fetch_read).await?;
        anyhow::ensure!(reply.status == 200 && is_digest, "it answers {} and no digest", reply.status);
        Ok(reply)
    }

    fn client(&self, url: &ServiceUrl) -> anyhow::Result<reqwest::ClientBuilder> {
        let tls = client_config(self.settings.tls.as_ref(), url.is_https())?;
        Ok(Client::builder()
            .tls_backend_preconfigured(tls)
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .pool_idle_timeout(self.settings.idle))
    }

    /// The headers of every request to a peer (spec `replication.md` 3.3), and ours.
    fn headers(&self, url: &ServiceUrl) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let agent = concat!("Heureka-Replication/", env!("CARGO_PKG_VERSION"));
        headers.insert(ACCEPT, JSON);
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        let mut add = |name: &'static str, value: &str| {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        add("discoveryidentity-name", IDENTITY_NAME);
        add("discoveryidentity-version", IDENTITY_VERSION);
        add("discoveryidentity-id", &self.settings.own_address);
        add(PEER_HEADER, &self.identity.to_string());
        authorise(&mut headers, url);
        headers
    }
}

/// Adds the credentials of a URL, if it has any.
pub(crate) fn authorise(headers: &mut HeaderMap, url: &ServiceUrl) {
    let Some((user, password)) = url.credentials() else { return };
    let credentials = BASE64.encode(format!("{user}:{}", password.expose()));
    if let Ok(mut value) = HeaderValue::from_str(&format!("Basic {credentials}")) {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
}

fn proxy_of(proxy: &Proxy) -> anyhow::Result<reqwest::Proxy> {
    let built = reqwest::Proxy::all(format!("http://{}:{}", proxy.host, proxy.port)).context("the proxy")?;
    let has_user = !proxy.user.is_empty();
    Ok(if has_user { built.basic_auth(&proxy.user, proxy.password.expose()) } else { built })
}

/// Carries batches to one peer.
#[derive(Clone, Debug)]
pub struct BatchTransport {
    client: Client,
    headers: HeaderMap,
    target: Arc<str>,
    compress: bool,
}

impl PeerTransport for BatchTransport {
    fn send(&self, body: Bytes, head: BatchHead) -> Sending {
        let this = self.clone();
        Box::pin(async move {
            let body = if this.compress { gzip(&body) } else { body };
            let request = this.client.post(&*this.target).headers(this.headers).body(body);
            let mut request = request
                .header(ORDER_HEADER, order_to_text(head.order))
                .header(CLOCK_HEADER, clock_to_text(head.clock));
            if let Some(stamps) = head.stamps.to_text(head.clock) {
                request = request.header(STAMPS_HEADER, stamps);
            }
            let response = request.send().await.map_err(|error| transport_error(&error))?;
            // The client has a time-out for the whole.
            read(response, BATCH_ANSWER_BYTES_MAX, Duration::MAX).await
        })
    }
}

/// Tells one peer of auto-scaling groups.
#[derive(Clone, Debug)]
pub struct GroupCalls {
    client: Client,
    headers: HeaderMap,
    base: String,
}

impl TellGroup for GroupCalls {
    async fn tell(&self, asg: &str, is_enabled: bool) -> Result<u16, TransportError> {
        let value = if is_enabled { "ENABLED" } else { "DISABLED" };
        let asg = utf8_percent_encode(asg, NON_ALPHANUMERIC);
        let target = format!("{}asg/{asg}/status?value={value}", self.base);
        let sent = self.client.put(target).headers(self.headers.clone()).send().await;
        Ok(sent.map_err(|error| transport_error(&error))?.status().as_u16())
    }
}

fn gzip(body: &Bytes) -> Bytes {
    let mut compressed = Vec::with_capacity(body.len() / 4);
    match GzEncoder::new(&body[..], Compression::fast()).read_to_end(&mut compressed) {
        Ok(_) => compressed.into(),
        // Reading from memory does not fail; if it did, the peer would say so.
        Err(_) => body.clone(),
    }
}

/// A connect time-out is a matter of the network; a time-out later means that the peer may have taken the request.
pub(crate) fn transport_error(error: &reqwest::Error) -> TransportError {
    let words = words(error);
    if error.is_timeout() && !error.is_connect() {
        TransportError::TimedOut(words)
    } else {
        TransportError::Unreachable(words)
    }
}

/// The innermost cause: the outer ones repeat the URL.
fn words(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// Reads an answer to its end, within a bound, and decompresses it. Besides `patience` it may take the time that a slow line
/// needs: whoever sends byte by byte would be read for ever.
pub(crate) async fn read(
    mut response: Response,
    bytes_max: usize,
    patience: Duration,
) -> Result<PeerReply, TransportError> {
    let started = Instant::now();
    let status = response.status().as_u16();
    let text = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let content_type = text("content-type");
    let identity = text(PEER_HEADER).as_deref().and_then(PeerIdentity::parse);
    let clock = text(CLOCK_HEADER).filter(|_| identity.is_some()).as_deref().and_then(clock_from_text);
    let stamps = text(STAMPS_HEADER).zip(clock);
    let stamps = stamps.map(|(text, clock)| PlacedStamps::from_text(&text, clock)).unwrap_or_default();
    let is_gzip = text("content-encoding").is_some_and(|encoding| encoding.eq_ignore_ascii_case("gzip"));
    let mut body = Vec::new();
    loop {
        let allowed = patience.saturating_add(Duration::from_millis(body.len() as u64 / BYTES_PER_MS_MIN));
        let chunk = timeout(allowed.saturating_sub(started.elapsed()), response.chunk()).await;
        let too_slow = |_| TransportError::TimedOut(format!("only {} bytes in {allowed:?}", body.len()));
        let Some(chunk) = chunk.map_err(too_slow)?.map_err(|error| transport_error(&error))? else { break };
        if body.len() + chunk.len() > bytes_max {
            return Err(TransportError::Unreadable(format!("more than {bytes_max} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    let body = if is_gzip { gunzip(&body, bytes_max)? } else { body.into() };
    Ok(PeerReply { status, content_type, body, identity, clock, stamps })
}

/// A registry shrinks to a tenth or a twentieth. What grows a hundred times is meant to fill memory.
fn unpacked_max(packed: usize) -> usize {
    const ALWAYS: usize = 16 << 20;
    const FACTOR: usize = 100;
    packed.saturating_mul(FACTOR).max(ALWAYS)
}

fn gunzip(body: &[u8], bytes_max: usize) -> Result<Bytes, TransportError> {
    let bytes_max = bytes_max.min(unpacked_max(body.len()));
    let unreadable = |words: String| TransportError::Unreadable(words);
    let limit = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let mut plain = Vec::with_capacity(body.len().saturating_mul(4).min(bytes_max));
    let mut decoder = GzDecoder::new(body).take(limit.saturating_add(1));
    decoder.read_to_end(&mut plain).map_err(|error| unreadable(format!("broken gzip: {error}")))?;
    if plain.len() > bytes_max {
        return Err(unreadable(format!("more than {bytes_max} bytes")));
    }
    Ok(plain.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_unpacks_to_far_too_much_is_refused() {
        let bomb = gzip(&Bytes::from(vec![b'a'; 40 << 20]));
        assert!(bomb.len() * 100 < 40 << 20, "{}", bomb.len());
        let refused = gunzip(&bomb, FETCH_BYTES_MAX).expect_err("a bomb");
        assert!(refused.to_string().contains("more than"), "{refused}");
        let usual = Bytes::from("some text ".repeat(1 << 17));
        assert_eq!(gunzip(&gzip(&usual), FETCH_BYTES_MAX).expect("readable"), usual);
    }
}
