//! What the node runs with: resolved, validated, immutable.
//!
//! Plain nested structs, one file per concern. Nothing in here knows where a value came from; that is the business of
//! [`crate::Report`]. No field is an `Option` that means "the default": an `Option` here means that the thing is absent.
//! Sections named in the docs are those of `spec/spring.md`.

pub mod asg;
pub mod client;
pub mod discovery;
pub mod instance;
pub mod limits;
pub mod logging;
pub mod management;
pub mod peers;
pub mod regions;
pub mod registry;
pub mod security;
pub mod server;
pub mod service_url;
pub mod snapshots;
pub mod tls;

pub use asg::AsgSettings;
pub use client::{ClientSettings, ClientTimeouts, DnsPeers, Proxy};
pub use discovery::DiscoverySettings;
pub use instance::{InitialStatus, InstanceSettings};
pub use limits::{LimitSettings, PlacementSettings};
pub use logging::{LogFormat, LogLevel, LoggingSettings};
pub use management::{Exposure, HealthSettings, ManagementListener, ManagementSettings, ShowDetails};
pub use peers::PeerSettings;
pub use regions::{RegionSettings, RemoteRegion};
pub use registry::{
    CacheSettings, DeltaSettings, ExpectedRenewals, ExperimentalSettings, LeaseExpiry, RateLimiterSettings,
    RegistrySettings, SelfPreservationSettings, SyncSettings,
};
pub use security::{BasicAuth, PasswordForm, SecuritySettings};
pub use server::{CompressionSettings, DashboardSettings, ForwardHeaders, ServerSettings};
pub use service_url::ServiceUrl;
pub use snapshots::SnapshotSettings;
pub use tls::{
    ClientAuth, ClientTls, KeyStore, PemIdentity, ServerTls, StoreKind, TlsIdentity, TlsMaterial, TlsTrust,
    TrustStore,
};

/// Everything a node needs to know, from whatever source.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Listener, TLS, connections, shutdown (1.1, 1.5, 3.3).
    pub server: ServerSettings,
    /// `spring.application.name`; `unknown` if none was given, as Java then registers `UNKNOWN` (3.3).
    pub application_name: String,
    /// Start page (3.4).
    pub dashboard: DashboardSettings,
    /// `eureka.environment`: text on the start page, nothing else (3.4).
    pub environment: String,
    /// `eureka.datacenter`: text on the start page, nothing else (3.4).
    pub datacenter: String,
    /// The rules of the registry: `eureka.server.*` (3.5).
    pub registry: RegistrySettings,
    /// Peers, own registration and fetch: `eureka.client.*` (3.6).
    pub client: ClientSettings,
    /// Peers from a file or by the names of DNS: `heureka.peers.*`.
    pub discovery: DiscoverySettings,
    /// The record of this server itself: `eureka.instance.*` (3.7).
    pub instance: InstanceSettings,
    /// Who may ask: `spring.security.user.*` (1.5).
    pub security: SecuritySettings,
    /// Actuator end points: `management.*` (1.6).
    pub management: ManagementSettings,
    /// `logging.*` and `heureka.log.*` (3.3).
    pub logging: LoggingSettings,
    /// `heureka.limits.*`: what a caller may send and how much is kept.
    pub limits: LimitSettings,
    /// `heureka.placement.*`: threads.
    pub placement: PlacementSettings,
    /// `heureka.snapshots.*`: warm restart.
    pub snapshots: SnapshotSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            server: ServerSettings::default(),
            application_name: "unknown".into(),
            dashboard: DashboardSettings::default(),
            environment: "test".into(),
            datacenter: "default".into(),
            registry: RegistrySettings::default(),
            client: ClientSettings::default(),
            discovery: DiscoverySettings::default(),
            instance: InstanceSettings::default(),
            security: SecuritySettings::default(),
            management: ManagementSettings::default(),
            logging: LoggingSettings::default(),
            limits: LimitSettings::default(),
            placement: PlacementSettings::default(),
            snapshots: SnapshotSettings::default(),
        }
    }
}
