//! TLS: PEM files and PKCS12 stores serve, client certificates are checked, and settings that cannot be used stop the
//! start; a node never serves plain HTTP instead.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heureka::testing::TestServer;
use heureka::tls::server_config;
use heureka_config::Settings;
use p12_keystore::{Certificate, KeyStore, KeyStoreEntry, PrivateKey, PrivateKeyChain};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, KeyUsagePurpose};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::support::{HEAD_TIMEOUT, KEPT, instance, is_cut_off, node, until_closed};
use crate::golden::http::{Answer, read_answer};
use crate::waiting::until;

/// An authority that signs certificates for `localhost`.
struct Authority {
    certificate: rcgen::Certificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, both as DER.
struct Leaf {
    certificate: CertificateDer<'static>,
    pem: String,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().expect("a key");
        let certificate = params.self_signed(&key).expect("signed");
        Self { certificate, issuer: Issuer::new(params, key) }
    }

    fn sign(&self) -> Leaf {
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        Leaf { pem: certificate.pem(), certificate: certificate.der().clone(), key }
    }
}

impl Leaf {
    fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }

    fn write_store(&self, path: &Path, password: &str) {
        let key = PrivateKey::from_der(&self.key.serialize_der()).expect("a key");
        let certificate = Certificate::from_der(&self.certificate).expect("a certificate");
        let mut store = KeyStore::new();
        store
            .add_entry("node", KeyStoreEntry::PrivateKeyChain(PrivateKeyChain::new("1", key, [certificate])));
        std::fs::write(path, store.writer(password).write().expect("a store")).expect("written");
    }
}

type TlsConnection = StreamOwned<ClientConnection, TcpStream>;

/// GET over TLS; an error if the handshake or the exchange fails.
fn fetch(port: u16, trusted: &Authority, own: Option<&Leaf>) -> Result<Answer, String> {
    let mut stream = connect(port, trusted, own)?;
    let request = b"GET /eureka/apps HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).map_err(|error| error.to_string())?;
    read_answer(&mut BufReader::new(stream), "GET").map_err(|error| error.to_string())
}

/// A connection; its handshake happens with the first bytes.
fn connect(port: u16, trusted: &Authority, own: Option<&Leaf>) -> Result<TlsConnection, String> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.certificate.der().clone()).map_err(|error| error.to_string())?;
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let config = match own {
        Some(leaf) => builder.with_client_auth_cert(vec![leaf.certificate.clone()], leaf.key_der()),
        None => Ok(builder.with_no_client_auth()),
    };
    let config = Arc::new(config.map_err(|error| error.to_string())?);
    let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
    let connection = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
    let socket = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    socket.set_read_timeout(Some(Duration::from_secs(60))).map_err(|error| error.to_string())?;
    Ok(StreamOwned::new(connection, socket))
}

/// Files of a node: `node.pem`, `node.key`, `node.p12` (password `secret`) and the authority as `ca.pem`.
fn files(authority: &Authority) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let leaf = authority.sign();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("node.pem", &leaf.pem);
    write("node.key", &leaf.key.serialize_pem());
    write("ca.pem", &authority.certificate.pem());
    leaf.write_store(&folder.path().join("node.p12"), "secret");
    folder
}

fn file(folder: &tempfile::TempDir, name: &str) -> String {
    format!("file:{}", folder.path().join(name).display())
}

#[test]
fn c64_pem_files_serve_without_any_key_store() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[]);
    assert_eq!(fetch(node.port(), &authority, None).map(|answer| answer.status), Ok(200));
    assert!(fetch(node.port(), &Authority::new(), None).is_err(), "another authority is not believed");
}

/// A node that serves TLS with the files of a folder, and more properties.
fn tls_node(folder: &tempfile::TempDir, more: &[(&str, &str)]) -> TestServer {
    let (certificate, key) = (file(folder, "node.pem"), file(folder, "node.key"));
    let tls = [
        ("server.ssl.certificate", certificate.as_str()),
        ("server.ssl.certificate-private-key", key.as_str()),
    ];
    node(&[&tls[..], more].concat())
}

/// A connection that has had one answer and is kept.
fn kept(port: u16, authority: &Authority) -> TlsConnection {
    let mut stream = connect(port, authority, None).expect("a connection");
    stream.write_all(KEPT).expect("sent");
    assert_eq!(read_answer(&mut BufReader::new(&mut stream), "GET").expect("an answer").status, 200);
    stream
}

#[test]
fn every_head_of_a_tls_connection_has_its_time_and_idle_connections_have_more() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[HEAD_TIMEOUT]);
    let (mut idle, mut slow) = (kept(node.port(), &authority), kept(node.port(), &authority));
    slow.sock.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    assert!(is_cut_off(&mut slow), "a head that never ends holds its connection");
    idle.write_all(KEPT).expect("sent");
    assert_eq!(read_answer(&mut BufReader::new(idle), "GET").expect("an answer").status, 200);
}

#[test]
fn connections_that_never_shake_hands_keep_nobody_out_and_end() {
    let authority = Authority::new();
    let folder = files(&authority);
    let patient = tls_node(&folder, &[("heureka.limits.header-timeout-ms", "600000")]);
    let silent: Vec<TcpStream> =
        (0..400).map(|_| TcpStream::connect(("127.0.0.1", patient.port())).expect("a connection")).collect();
    assert_eq!(fetch(patient.port(), &authority, None).map(|answer| answer.status), Ok(200));
    drop(silent);
    let strict = tls_node(&folder, &[("heureka.limits.header-timeout-ms", "300")]);
    let silent = TcpStream::connect(("127.0.0.1", strict.port())).expect("a connection");
    silent.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    assert_eq!((&silent).read(&mut [0]).expect("the node closes the connection"), 0);
}

#[test]
fn connections_that_shake_hands_count_for_their_address() {
    let authority = Authority::new();
    let folder = files(&authority);
    let limits =
        [("heureka.limits.max-connections-per-address", "3"), ("heureka.limits.header-timeout-ms", "600000")];
    let node = tls_node(&folder, &limits);
    let open = || {
        let stream = TcpStream::connect(("127.0.0.1", node.port())).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        stream
    };
    let mut silent: Vec<TcpStream> = Vec::new();
    let is_open = |mut stream: &TcpStream| matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
    for _ in 0..3 {
        silent.push(open());
    }
    assert!(silent.iter().all(is_open), "three may be silent");
    let mut refused = open();
    refused.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let is_closed =
        refused.read(&mut [0]).map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |n| n == 0);
    assert!(is_closed, "the fourth is one too many");
    assert!(silent.iter().all(is_open), "and the others are not");
    drop(silent);
    until("places of closed connections are free again", || {
        fetch(node.port(), &authority, None).is_ok_and(|answer| answer.status == 200)
    });
}

#[test]
fn every_body_of_a_tls_connection_has_its_time() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[("heureka.limits.body-timeout-ms", "300")]);
    let mut slow = kept(node.port(), &authority);
    let head = "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{";
    slow.write_all(head.as_bytes()).expect("sent");
    assert_eq!(read_answer(&mut BufReader::new(slow), "POST").expect("an answer").status, 408);
}

#[test]
fn links_to_a_tls_listener_say_so() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[]);
    let mut stream = kept(node.port(), &authority);
    stream.write_all(b"GET /actuator HTTP/1.1\r\nHost: r.example:8761\r\n\r\n").expect("sent");
    let links = read_answer(&mut BufReader::new(stream), "GET").expect("an answer").text();
    assert!(links.contains("\"https://r.example:8761/actuator/health\""), "{links}");
}

#[test]
fn a_body_without_end_ends_its_tls_connection() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[("heureka.limits.body-timeout-ms", "300")]);
    let mut slow = kept(node.port(), &authority);
    let head = "PUT /eureka/apps/ORDERS/i-1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
    slow.write_all(head.as_bytes()).expect("sent");
    let answer = read_answer(&mut BufReader::new(&mut slow), "PUT").expect("an answer");
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    until_closed(&mut slow.sock).expect("the node closes the connection");
}

#[test]
fn offers_and_large_documents_pass_through_tls_as_without() {
    let authority = Authority::new();
    let folder = files(&authority);
    let node = tls_node(&folder, &[("eureka.server.use-read-only-response-cache", "false")]);
    let mut reader = BufReader::new(kept(node.port(), &authority));
    for at in 0..400 {
        let body = instance("ORDERS", &format!("i-{at}"));
        let request = format!(
            "POST /eureka/apps/ORDERS HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        reader.get_mut().write_all(request.as_bytes()).expect("sent");
        let answer = read_answer(&mut reader, "POST").expect("an answer on the same connection");
        assert_eq!((answer.status, answer.header("connection")), (204, None));
    }
    reader.get_mut().write_all(KEPT).expect("sent");
    let answer = read_answer(&mut reader, "GET").expect("an answer");
    assert!(answer.text().contains("i-399") && answer.text().len() > 200_000);
}

#[test]
fn c63_a_store_serves_and_client_certificates_are_checked() {
    let authority = Authority::new();
    let folder = files(&authority);
    let (store, trusted) = (file(&folder, "node.p12"), file(&folder, "ca.pem"));
    let base = [
        ("server.ssl.key-store", store.as_str()),
        ("server.ssl.key-store-password", "secret"),
        ("server.ssl.trust-certificate", trusted.as_str()),
    ];
    let (good, stranger) = (authority.sign(), Authority::new().sign());
    let needs = node(&[&base[..], &[("server.ssl.client-auth", "need")]].concat());
    assert_eq!(fetch(needs.port(), &authority, Some(&good)).map(|answer| answer.status), Ok(200));
    assert!(fetch(needs.port(), &authority, None).is_err(), "no certificate");
    assert!(fetch(needs.port(), &authority, Some(&stranger)).is_err(), "a certificate of somebody else");
    let wants = node(&[&base[..], &[("server.ssl.client-auth", "want")]].concat());
    assert_eq!(fetch(wants.port(), &authority, None).map(|answer| answer.status), Ok(200));
    assert!(
        fetch(wants.port(), &authority, Some(&stranger)).is_err(),
        "a wrong certificate is worse than none"
    );
}

#[test]
fn a_wrong_store_password_is_said_without_saying_the_password() {
    let folder = files(&Authority::new());
    let store = file(&folder, "node.p12");
    let settings =
        settings(&[("server.ssl.key-store", store.as_str()), ("server.ssl.key-store-password", "hunter2")]);
    let error =
        format!("{:#}", server_config(&settings.server.tls.expect("TLS is on")).expect_err("wrong password"));
    assert!(error.contains("password") && !error.contains("hunter2"), "{error}");
}

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::from_properties(pairs).expect("settings that can be read")
}

#[test]
fn a_missing_store_is_named() {
    let settings = settings(&[
        ("server.ssl.key-store", "file:/nowhere/node.p12"),
        ("server.ssl.key-store-password", "hunter2"),
    ]);
    let tls = settings.server.tls.expect("TLS is on as soon as a store is named");
    let error = format!("{:#}", server_config(&tls).expect_err("there is no such file"));
    assert!(error.contains("/nowhere/node.p12"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn a_java_store_is_refused_with_the_way_out() {
    let settings = settings(&[
        ("server.ssl.key-store", "file:/nowhere/node.jks"),
        ("server.ssl.key-store-password", "x"),
    ]);
    let tls = settings.server.tls.expect("TLS is on");
    let error = format!("{:#}", server_config(&tls).expect_err("JKS is not supported"));
    assert!(error.contains("keytool -importkeystore"), "{error}");
}
