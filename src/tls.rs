//! TLS of the listener: Spring's `server.ssl.*`, from PEM texts or PKCS12 stores (spec `spring.md` 1.5).

use std::fs;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use heureka_config::Secret;
use heureka_config::settings::{
    ClientAuth, KeyStore, PemIdentity, ServerTls, StoreKind, TlsIdentity, TlsMaterial, TlsTrust, TrustStore,
};
use p12_keystore::{KeyStoreEntry, Pkcs12ImportPolicy};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

/// A certificate chain and its key.
pub type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The listener's TLS, ready to use.
///
/// # Errors
/// If a file cannot be read or holds something else than the settings say. Serving without TLS instead is never an
/// option.
pub fn server_config(settings: &ServerTls) -> anyhow::Result<ServerConfig> {
    let (chain, key) = identity(&settings.identity).context("server.ssl: certificate and key")?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("server.ssl: protocol versions")?;
    let builder = match settings.client_auth {
        ClientAuth::None => builder.with_no_client_auth(),
        ClientAuth::Want | ClientAuth::Need => builder.with_client_cert_verifier(client_verifier(settings)?),
    };
    builder.with_single_cert(chain, key).context("server.ssl: certificate and key do not fit")
}

fn client_verifier(settings: &ServerTls) -> anyhow::Result<Arc<dyn ClientCertVerifier>> {
    let trust = settings.trust.as_ref().ok_or_else(|| {
        anyhow!("server.ssl.client-auth asks for client certificates; server.ssl.trust-store must say whose are good")
    })?;
    let roots = Arc::new(roots(trust).context("server.ssl: trusted certificates")?);
    let builder = WebPkiClientVerifier::builder_with_provider(roots, Arc::new(ring::default_provider()));
    let builder = match settings.client_auth {
        ClientAuth::Need => builder,
        ClientAuth::Want | ClientAuth::None => builder.allow_unauthenticated(),
    };
    builder.build().context("server.ssl: trusted certificates")
}

/// Reads a certificate chain and its key.
///
/// # Errors
/// If it cannot be read, or is of a kind that cannot be used.
pub fn identity(settings: &TlsIdentity) -> anyhow::Result<Identity> {
    match settings {
        TlsIdentity::Pem(pem) => pem_identity(pem),
        TlsIdentity::Store(store) => store_identity(store),
    }
}

fn pem_identity(pem: &PemIdentity) -> anyhow::Result<Identity> {
    if !pem.private_key_password.is_empty() {
        bail!("encrypted PEM keys are not supported; decrypt the key or use a PKCS12 store");
    }
    let chain = certificates(&pem.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&text(&pem.private_key)?)
        .map_err(|error| anyhow!("{:?} holds no private key in PEM: {error}", pem.private_key))?;
    Ok((chain, key))
}

fn store_identity(store: &KeyStore) -> anyhow::Result<Identity> {
    let entries = open_store(&store.path, store.kind, &store.password)?;
    let chain = if store.alias.is_empty() {
        entries.private_key_chain().map(|(_, chain)| chain)
    } else {
        match entries.entry(&store.alias) {
            Some(KeyStoreEntry::PrivateKeyChain(chain)) => Some(chain),
            _ => None,
        }
    };
    let chain = chain.ok_or_else(|| match store.alias.as_str() {
        "" => anyhow!("{} holds no private key", store.path.display()),
        alias => anyhow!("{} holds no private key with the alias {alias:?}", store.path.display()),
    })?;
    let certificates =
        chain.certs().iter().map(|cert| CertificateDer::from(cert.as_der().to_vec())).collect();
    let key = PrivatePkcs8KeyDer::from(chain.key().as_der().to_vec());
    Ok((certificates, key.into()))
}

/// Reads trusted certificates.
///
/// # Errors
/// If they cannot be read, or there are none.
pub fn roots(settings: &TlsTrust) -> anyhow::Result<RootCertStore> {
    let certificates = match settings {
        TlsTrust::Pem(material) => certificates(material)?,
        TlsTrust::Store(store) => store_certificates(store)?,
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        roots.add(certificate)?;
    }
    if roots.is_empty() { Err(anyhow!("no trusted certificate was found")) } else { Ok(roots) }
}

fn store_certificates(store: &TrustStore) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let entries = open_store(&store.path, store.kind, &store.password)?;
    let of_entry = |entry: &KeyStoreEntry| -> Vec<CertificateDer<'static>> {
        match entry {
            KeyStoreEntry::Certificate(certificate) => vec![certificate.as_der().to_vec().into()],
            KeyStoreEntry::PrivateKeyChain(chain) => {
                chain.certs().iter().map(|cert| cert.as_der().to_vec().into()).collect()
            }
            _ => Vec::new(),
        }
    };
    Ok(entries.entries().flat_map(|(_, entry)| of_entry(entry)).collect())
}

fn open_store(
    path: &std::path::Path,
    kind: StoreKind,
    password: &Secret,
) -> anyhow::Result<p12_keystore::KeyStore> {
    let shown = path.display();
    if kind == StoreKind::Jks {
        bail!(
            "{shown} is a JKS store, which is not supported; convert it: keytool -importkeystore -srckeystore {shown} \
             -destkeystore store.p12 -deststoretype PKCS12"
        );
    }
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    p12_keystore::KeyStore::from_pkcs12(&bytes, password.expose(), Pkcs12ImportPolicy::Relaxed)
        .map_err(|error| anyhow!("{shown} is no PKCS12 store, or its password is wrong: {error}"))
}

fn certificates(material: &TlsMaterial) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text(material)?).collect();
    let found = found.map_err(|error| anyhow!("{material:?} is not PEM: {error}"))?;
    if found.is_empty() { Err(anyhow!("{material:?} holds no certificate in PEM")) } else { Ok(found) }
}

fn text(material: &TlsMaterial) -> anyhow::Result<Vec<u8>> {
    match material {
        TlsMaterial::Path(path) => fs::read(path).with_context(|| format!("cannot read {}", path.display())),
        TlsMaterial::Inline(pem) => Ok(pem.expose().as_bytes().to_vec()),
    }
}
