//! One registered process: the record that clients send, the registry keeps and every document shows.

use crate::metadata::Metadata;
use crate::names::{AppName, InstanceId};
use crate::status::{ActionType, Status};

/// Renewal interval of a client that names none, in seconds.
pub const DEFAULT_RENEWAL_INTERVAL_SECS: i32 = 30;
/// Lease duration of a client that names none (or one of 0 or less), in seconds.
pub const DEFAULT_LEASE_DURATION_SECS: i32 = 90;

/// Country number of an instance that names none.
pub const DEFAULT_COUNTRY_ID: i32 = 1;

/// A complete, valid instance (spec `wire.md` 3.1, `registry.md` 1.2).
///
/// Complete means: every default is filled in and the validation of `wire.md` 1.7 has passed. What a client sent before
/// that is an [`InstanceDraft`](crate::draft::InstanceDraft). Instances are immutable once registered: a change makes a
/// new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Effective id: as sent, else the Amazon `instance-id`, else the host name (`wire.md` 6.1). Never empty.
    pub instance_id: InstanceId,
    /// Host name. Never empty.
    pub host_name: Box<str>,
    /// Application name, upper case. Never empty.
    pub app: AppName,
    /// IP address as text, not checked further. Never empty.
    pub ip_addr: Box<str>,
    /// Historic `sid`; `None` stands for `na` and `unknown`, which are not written.
    pub sid: Option<Box<str>>,
    /// Effective status: what clients see and the hash code counts.
    pub status: Status,
    /// The override in force, `UNKNOWN` if there is none.
    pub overridden_status: Status,
    /// Plain port.
    pub port: Port,
    /// TLS port.
    pub secure_port: Port,
    /// Historic country number, default 1.
    pub country_id: i32,
    /// Where it runs.
    pub data_center: DataCenter,
    /// Lease settings and times.
    pub lease: LeaseInfo,
    /// Free text entries of the client.
    pub metadata: Metadata,
    /// Application group, upper case.
    pub app_group_name: Option<Box<str>>,
    /// Link to the home page.
    pub home_page_url: Option<Box<str>>,
    /// Link to the status page.
    pub status_page_url: Option<Box<str>>,
    /// Link to the health check.
    pub health_check_url: Option<Box<str>>,
    /// Link to the health check over TLS.
    pub secure_health_check_url: Option<Box<str>>,
    /// VIP addresses, comma-separated as sent.
    pub vip_address: Option<Box<str>>,
    /// VIP addresses for TLS, comma-separated as sent.
    pub secure_vip_address: Option<Box<str>>,
    /// True only on the answering server's own instance.
    pub is_coordinating_discovery_server: bool,
    /// When the registry last changed the record; milliseconds since the epoch.
    pub last_updated_timestamp: i64,
    /// When the instance last changed itself; milliseconds since the epoch, kept as received.
    pub last_dirty_timestamp: i64,
    /// What happened last.
    pub action_type: Option<ActionType>,
    /// Auto-scaling group.
    pub asg_name: Option<Box<str>>,
}

impl Instance {
    /// An instance that says no more than it must: status `UP`, every default of the Java codecs, no time.
    #[must_use]
    pub fn with_defaults(app: AppName, instance_id: InstanceId, host_name: &str, ip_addr: &str) -> Self {
        Self {
            instance_id,
            host_name: host_name.into(),
            app,
            ip_addr: ip_addr.into(),
            sid: None,
            status: Status::Up,
            overridden_status: Status::Unknown,
            port: Port::DEFAULT_PLAIN,
            secure_port: Port::DEFAULT_SECURE,
            country_id: DEFAULT_COUNTRY_ID,
            data_center: DataCenter::MyOwn,
            lease: LeaseInfo::default(),
            metadata: Metadata::new(),
            app_group_name: None,
            home_page_url: None,
            status_page_url: None,
            health_check_url: None,
            secure_health_check_url: None,
            vip_address: None,
            secure_vip_address: None,
            is_coordinating_discovery_server: false,
            last_updated_timestamp: 0,
            last_dirty_timestamp: 0,
            action_type: None,
            asg_name: None,
        }
    }

    /// Bytes of all its texts, but for the name of its application, which its neighbours share.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let data_center = match &self.data_center {
            DataCenter::Amazon(metadata) => metadata.text_bytes(),
            DataCenter::MyOwn | DataCenter::Netflix => 0,
        };
        let optional = [
            &self.sid,
            &self.app_group_name,
            &self.home_page_url,
            &self.status_page_url,
            &self.health_check_url,
            &self.secure_health_check_url,
            &self.vip_address,
            &self.secure_vip_address,
            &self.asg_name,
        ];
        let optional: usize = optional.into_iter().flatten().map(|text| text.len()).sum();
        let always = self.instance_id.len() + self.host_name.len() + self.ip_addr.len();
        always + optional + self.metadata.text_bytes() + data_center
    }
}

/// A port and whether it is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Port number as sent; negative and large values are kept (`wire.md` 3.2).
    pub number: i32,
    /// Whether clients should use it.
    pub enabled: bool,
}

impl Port {
    /// Default of the plain port: 7001, enabled.
    pub const DEFAULT_PLAIN: Self = Self { number: 7001, enabled: true };
    /// Default of the TLS port: 7002, disabled.
    pub const DEFAULT_SECURE: Self = Self { number: 7002, enabled: false };
}

/// Data centre of an instance (`wire.md` 3.1.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataCenter {
    /// Own machines; nearly every instance outside Amazon.
    MyOwn,
    /// Netflix' own data centre.
    Netflix,
    /// Amazon, with what the instance says of itself (`instance-id`, `availability-zone`, ...).
    Amazon(Box<Metadata>),
}

impl DataCenter {
    /// The wire name: `MyOwn`, `Netflix` or `Amazon`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::MyOwn => "MyOwn",
            Self::Netflix => "Netflix",
            Self::Amazon(_) => "Amazon",
        }
    }

    /// The Java class that every Java reader expects as `@class`.
    #[must_use]
    pub const fn java_class(&self) -> &'static str {
        match self {
            Self::MyOwn | Self::Netflix => "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo",
            Self::Amazon(_) => "com.netflix.appinfo.AmazonInfo",
        }
    }
}

/// Lease settings of the client and lease times of the server, as published (`registry.md` 1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseInfo {
    /// Seconds between two heartbeats, at least 1.
    pub renewal_interval_secs: i32,
    /// Seconds that a lease lasts, at least 1.
    pub duration_secs: i32,
    /// Time of the last registration; milliseconds since the epoch.
    pub registration_timestamp: i64,
    /// As Java publishes it: registration time, after a heartbeat now plus the duration.
    pub last_renewal_timestamp: i64,
    /// Time of cancellation or eviction, 0 while the lease lives.
    pub eviction_timestamp: i64,
    /// First time with status UP, 0 before.
    pub service_up_timestamp: i64,
}

impl Default for LeaseInfo {
    fn default() -> Self {
        Self {
            renewal_interval_secs: DEFAULT_RENEWAL_INTERVAL_SECS,
            duration_secs: DEFAULT_LEASE_DURATION_SECS,
            registration_timestamp: 0,
            last_renewal_timestamp: 0,
            eviction_timestamp: 0,
            service_up_timestamp: 0,
        }
    }
}
