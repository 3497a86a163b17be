//! TLS of the listener and towards peers. Only names what to load; loading and checking the material is the edge's work.

use crate::secret::Secret;
use std::path::PathBuf;

/// `server.ssl.*` (1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerTls {
    /// The server's certificate and key.
    pub identity: TlsIdentity,
    /// Who is believed when clients show certificates; absent means the system's roots.
    pub trust: Option<TlsTrust>,
    /// Whether clients must show one.
    pub client_auth: ClientAuth,
}

/// `eureka.client.tls.*`, used for registration, fetch **and** replication (1.5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientTls {
    /// The certificate shown to peers, if any.
    pub identity: Option<TlsIdentity>,
    /// Who is believed; absent means the system's roots.
    pub trust: Option<TlsTrust>,
}

/// `server.ssl.client-auth`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// Never asked for.
    #[default]
    None,
    /// Asked for, not required.
    Want,
    /// Required.
    Need,
}

/// A certificate with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsIdentity {
    /// PEM texts.
    Pem(PemIdentity),
    /// A Java key store.
    Store(KeyStore),
}

/// Certificate chain and key as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemIdentity {
    /// The certificate chain.
    pub certificate: TlsMaterial,
    /// Its private key.
    pub private_key: TlsMaterial,
    /// Password of an encrypted key; empty if it is not encrypted.
    pub private_key_password: Secret,
}

/// PEM given as a path or, as Boot allows, in the value itself.
#[derive(Clone, PartialEq, Eq)]
pub enum TlsMaterial {
    /// A file.
    Path(PathBuf),
    /// The text, beginning with `-----BEGIN`.
    Inline(Secret),
}

impl std::fmt::Debug for TlsMaterial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Inline(_) => f.write_str("PEM text in the configuration"),
        }
    }
}

/// A key store file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyStore {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub kind: StoreKind,
    /// Password of the store; may be empty.
    pub password: Secret,
    /// Which entry to use; empty means the first key.
    pub alias: String,
}

/// Who is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsTrust {
    /// PEM certificates.
    Pem(TlsMaterial),
    /// A Java trust store.
    Store(TrustStore),
}

/// A trust store file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub kind: StoreKind,
    /// Password of the store; may be empty.
    pub password: Secret,
}

/// Format of a store: `p12` and `pfx` mean PKCS12, `jks` means JKS, anything else PKCS12 (1.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreKind {
    /// PKCS12.
    #[default]
    Pkcs12,
    /// Java's own old format.
    Jks,
}
