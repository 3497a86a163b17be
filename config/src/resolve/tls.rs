//! `server.ssl.*`, `spring.ssl.bundle.*` and `eureka.client.tls.*` (`spec/spring.md` 1.5). Files are named, not read.

use super::reader::{Reader, Sourced};
use crate::key;
use crate::secret::Secret;
use crate::settings::{
    ClientAuth, ClientTls, KeyStore, PemIdentity, ServerTls, StoreKind, TlsIdentity, TlsMaterial, TlsTrust,
    TrustStore,
};
use std::collections::BTreeMap;
use std::path::Path;

const KINDS: &[(&str, StoreKind)] = &[("PKCS12", StoreKind::Pkcs12), ("JKS", StoreKind::Jks)];
const CLIENT_AUTH: &[(&str, ClientAuth)] =
    &[("none", ClientAuth::None), ("want", ClientAuth::Want), ("need", ClientAuth::Need)];

/// The listener's TLS; `None` if it is off or nothing names a certificate.
pub(super) fn server(r: &mut Reader<'_>) -> Option<ServerTls> {
    let explicitly = r.is_set("server.ssl.enabled");
    let enabled = r.flag("server.ssl.enabled", true);
    let client_auth = r.word("server.ssl.client-auth", CLIENT_AUTH).unwrap_or_default();
    let bundle = bundle(r);
    let identity = store_identity(r).or_else(|| pem_identity(r));
    let trust = server_trust(r);
    let (bundle_identity, bundle_trust) = bundle.unwrap_or_default();
    let identity = identity.or(bundle_identity);
    if !enabled {
        return None;
    }
    match identity {
        Some(identity) => Some(ServerTls { identity, trust: trust.or(bundle_trust), client_auth }),
        None => {
            if explicitly {
                let expected = "needs server.ssl.key-store, server.ssl.certificate or server.ssl.bundle";
                r.wrong_as_written("server.ssl.enabled", expected);
            }
            None
        }
    }
}

fn store_identity(r: &mut Reader<'_>) -> Option<TlsIdentity> {
    let path = r.path("server.ssl.key-store");
    let kind = r.word("server.ssl.key-store-type", KINDS);
    let password = r.secret("server.ssl.key-store-password", &Secret::default());
    let alias = r.text("server.ssl.key-alias", "");
    let path = path?;
    let kind = kind.unwrap_or_else(|| kind_of(&path));
    Some(TlsIdentity::Store(KeyStore { path, kind, password, alias }))
}

fn pem_identity(r: &mut Reader<'_>) -> Option<TlsIdentity> {
    let certificate = r.optional("server.ssl.certificate");
    let key = r.optional("server.ssl.certificate-private-key");
    match (certificate, key) {
        (Some(certificate), Some(key)) => Some(TlsIdentity::Pem(PemIdentity {
            certificate: material(r, "server.ssl.certificate", &certificate)?,
            private_key: material(r, "server.ssl.certificate-private-key", &key)?,
            private_key_password: Secret::default(),
        })),
        (Some(found), None) => {
            r.wrong("server.ssl.certificate", &found, "needs server.ssl.certificate-private-key too");
            None
        }
        (None, Some(found)) => {
            let hidden = Sourced { shown: crate::secret::MASK.into(), ..found };
            r.wrong("server.ssl.certificate-private-key", &hidden, "needs server.ssl.certificate too");
            None
        }
        (None, None) => None,
    }
}

fn server_trust(r: &mut Reader<'_>) -> Option<TlsTrust> {
    let store = trust_store(
        r,
        "server.ssl.trust-store",
        "server.ssl.trust-store-type",
        "server.ssl.trust-store-password",
    );
    let pem = r.optional("server.ssl.trust-certificate");
    let pem = pem.and_then(|found| material(r, "server.ssl.trust-certificate", &found)).map(TlsTrust::Pem);
    store.or(pem)
}

fn trust_store(
    r: &mut Reader<'_>,
    store: &'static str,
    kind: &'static str,
    password: &'static str,
) -> Option<TlsTrust> {
    let path = r.path(store);
    let kind = r.word(kind, KINDS);
    let password = r.secret(password, &Secret::default());
    let path = path?;
    let kind = kind.unwrap_or_else(|| kind_of(&path));
    Some(TlsTrust::Store(TrustStore { path, kind, password }))
}

/// TLS towards peers; `None` if it is off.
pub(super) fn client(r: &mut Reader<'_>) -> Option<ClientTls> {
    let enabled = r.flag("eureka.client.tls.enabled", false);
    let path = r.path("eureka.client.tls.key-store");
    let kind = r.word("eureka.client.tls.key-store-type", KINDS);
    let password = r.secret("eureka.client.tls.key-store-password", &Secret::default());
    let trust = trust_store(
        r,
        "eureka.client.tls.trust-store",
        "eureka.client.tls.trust-store-type",
        "eureka.client.tls.trust-store-password",
    );
    let identity = path.map(|path| {
        let kind = kind.unwrap_or_else(|| kind_of(&path));
        TlsIdentity::Store(KeyStore { path, kind, password, alias: String::new() })
    });
    enabled.then_some(ClientTls { identity, trust })
}

/// Who is believed by the mirrors of other regions. The password counts only beside a store.
pub(super) fn region_trust(r: &mut Reader<'_>) -> Option<TlsTrust> {
    let path = r.path("eureka.server.remote-region-trust-store");
    let default = Secret::new("changeit".to_owned());
    let password = r.secret("eureka.server.remote-region-trust-store-password", &default);
    let path = path?;
    Some(TlsTrust::Store(TrustStore { kind: kind_of(&path), path, password }))
}

fn kind_of(path: &Path) -> StoreKind {
    let is_jks = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jks"));
    if is_jks { StoreKind::Jks } else { StoreKind::Pkcs12 }
}

fn material(r: &mut Reader<'_>, key: &str, found: &Sourced) -> Option<TlsMaterial> {
    if found.text.trim_start().starts_with("-----BEGIN") {
        return Some(TlsMaterial::Inline(Secret::new(found.text.clone())));
    }
    r.file_path(key, found).map(TlsMaterial::Path)
}

/// Identity and trust of the bundle that `server.ssl.bundle` names.
fn bundle(r: &mut Reader<'_>) -> Option<(Option<TlsIdentity>, Option<TlsTrust>)> {
    let entries = r.texts("spring.ssl.bundle");
    let name = r.optional("server.ssl.bundle")?;
    let wanted = name.text.trim();
    let of_kind = |kind: &str| -> BTreeMap<String, Sourced> {
        let matching = entries.iter().filter_map(|(entry, found)| {
            let rest =
                entry.strip_prefix(kind)?.strip_prefix('.')?.strip_prefix(wanted)?.strip_prefix('.')?;
            Some((key::canonical(rest), found.clone()))
        });
        matching.collect()
    };
    let (pem, jks) = (of_kind("pem"), of_kind("jks"));
    if pem.is_empty() && jks.is_empty() {
        r.wrong(
            "server.ssl.bundle",
            &name,
            format!("needs spring.ssl.bundle.pem.{wanted}.* or .jks.{wanted}.*"),
        );
        return None;
    }
    Some(if pem.is_empty() { jks_bundle(r, &jks) } else { pem_bundle(r, &pem) })
}

fn pem_bundle(
    r: &mut Reader<'_>,
    entries: &BTreeMap<String, Sourced>,
) -> (Option<TlsIdentity>, Option<TlsTrust>) {
    let mut read = |name: &str| entries.get(name).and_then(|found| material(r, "spring.ssl.bundle", found));
    let certificate = read("keystore.certificate");
    let private_key = read("keystore.privatekey");
    let trust = read("truststore.certificate").map(TlsTrust::Pem);
    let password = secret_of(entries, "keystore.privatekeypassword");
    let identity = certificate.zip(private_key).map(|(certificate, private_key)| {
        TlsIdentity::Pem(PemIdentity { certificate, private_key, private_key_password: password })
    });
    (identity, trust)
}

fn jks_bundle(
    r: &mut Reader<'_>,
    entries: &BTreeMap<String, Sourced>,
) -> (Option<TlsIdentity>, Option<TlsTrust>) {
    let mut store = |prefix: &str| {
        let path = entries
            .get(&format!("{prefix}.location"))
            .and_then(|found| r.file_path("spring.ssl.bundle", found))?;
        let named = entries.get(&format!("{prefix}.type")).map(|found| found.text.trim().to_owned());
        let kind = named.and_then(|named| KINDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(&named)));
        let kind = kind.map_or_else(|| kind_of(&path), |(_, kind)| *kind);
        Some((path, kind, secret_of(entries, &format!("{prefix}.password"))))
    };
    let (own, trusted) = (store("keystore"), store("truststore"));
    let alias = entries.get("key.alias").map(|found| found.text.trim().to_owned()).unwrap_or_default();
    let identity =
        own.map(|(path, kind, password)| TlsIdentity::Store(KeyStore { path, kind, password, alias }));
    (identity, trusted.map(|(path, kind, password)| TlsTrust::Store(TrustStore { path, kind, password })))
}

fn secret_of(entries: &BTreeMap<String, Sourced>, name: &str) -> Secret {
    entries.get(name).map(|found| Secret::new(found.text.clone())).unwrap_or_default()
}
