//! One instance with its lease.

use heureka_protocol::instance::{DEFAULT_LEASE_DURATION_SECS, DEFAULT_RENEWAL_INTERVAL_SECS};
use heureka_protocol::{AppName, Instance, InstanceId, LeaseInfo, Port};
use heureka_registry::{Lease, Now, Record, Stamp, StampCell};
use serde::{Deserialize, Serialize};

use super::text::{Text, entries_of, metadata_of};
use super::{PayloadError, StoredAction, StoredDataCenter, StoredStatus, is_default};

/// Everything of a record but its names, which are in the key, and the running lease clock, which no restart survives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredInstance<'a> {
    /// Host name; never empty.
    #[serde(borrow)]
    pub host_name: Text<'a>,
    /// Address; never empty.
    #[serde(borrow)]
    pub ip_addr: Text<'a>,
    /// Historic `sid`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub sid: Option<Text<'a>>,
    /// Effective status.
    pub status: StoredStatus,
    /// Override in force.
    #[serde(skip_serializing_if = "is_default")]
    pub overridden_status: StoredStatus,
    /// What the instance itself last said.
    pub reported_status: StoredStatus,
    /// Plain port.
    pub port: StoredPort,
    /// TLS port.
    pub secure_port: StoredPort,
    /// Historic country number.
    pub country_id: i32,
    /// Where it runs.
    #[serde(borrow, skip_serializing_if = "is_default")]
    pub data_center: StoredDataCenter<'a>,
    /// Seconds between two heartbeats.
    pub renewal_interval_secs: i32,
    /// Seconds that a lease lasts, as the instance says.
    pub duration_secs: i32,
    /// Milliseconds that this lease lasts.
    pub lease_duration_ms: u64,
    /// Wall clock of the last registration.
    pub registration_timestamp: i64,
    /// Wall clock of the first time with status UP, 0 before.
    #[serde(skip_serializing_if = "is_default")]
    pub service_up_timestamp: i64,
    /// Wall clock of cancellation or eviction. Never written but 0; a record with another value is never restored.
    #[serde(skip_serializing_if = "is_default")]
    pub eviction_timestamp: i64,
    /// Wall clock of the last known sign of life when this was written.
    pub seen_timestamp: i64,
    /// Free text entries in their order.
    #[serde(borrow, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<(Text<'a>, Text<'a>)>,
    /// Application group.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub app_group_name: Option<Text<'a>>,
    /// Link.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub home_page_url: Option<Text<'a>>,
    /// Link.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub status_page_url: Option<Text<'a>>,
    /// Link.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub health_check_url: Option<Text<'a>>,
    /// Link.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub secure_health_check_url: Option<Text<'a>>,
    /// VIP addresses.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub vip_address: Option<Text<'a>>,
    /// VIP addresses for TLS.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub secure_vip_address: Option<Text<'a>>,
    /// True on the server's own instance.
    #[serde(skip_serializing_if = "is_default")]
    pub is_coordinating_discovery_server: bool,
    /// When the registry last changed the record.
    pub last_updated_timestamp: i64,
    /// When the instance last changed itself.
    pub last_dirty_timestamp: i64,
    /// What happened last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_type: Option<StoredAction>,
    /// Auto-scaling group.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub asg_name: Option<Text<'a>>,
    /// When the override was last set or removed, on the clock of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub override_stamp: Option<i64>,
}

/// A port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredPort {
    /// Number.
    pub number: i32,
    /// Whether it is in use.
    pub enabled: bool,
}

impl Default for StoredInstance<'_> {
    fn default() -> Self {
        Self {
            host_name: Text::default(),
            ip_addr: Text::default(),
            sid: None,
            status: StoredStatus::Unknown,
            overridden_status: StoredStatus::Unknown,
            reported_status: StoredStatus::Unknown,
            port: Port::DEFAULT_PLAIN.into(),
            secure_port: Port::DEFAULT_SECURE.into(),
            country_id: 1,
            data_center: StoredDataCenter::MyOwn,
            renewal_interval_secs: DEFAULT_RENEWAL_INTERVAL_SECS,
            duration_secs: DEFAULT_LEASE_DURATION_SECS,
            lease_duration_ms: u64::from(DEFAULT_LEASE_DURATION_SECS.unsigned_abs()) * 1000,
            registration_timestamp: 0,
            service_up_timestamp: 0,
            eviction_timestamp: 0,
            seen_timestamp: 0,
            metadata: Vec::new(),
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
            override_stamp: None,
        }
    }
}

impl From<Port> for StoredPort {
    fn from(port: Port) -> Self {
        Self { number: port.number, enabled: port.enabled }
    }
}

impl From<StoredPort> for Port {
    fn from(port: StoredPort) -> Self {
        Self { number: port.number, enabled: port.enabled }
    }
}

fn borrowed(text: &Option<Box<str>>) -> Option<Text<'_>> {
    text.as_deref().map(Text::from)
}

fn owned(text: Option<Text<'_>>) -> Option<Box<str>> {
    text.map(Text::into_box)
}

/// Milliseconds of a lease that no restored lease goes below: one that never was is no lease.
const SHORTEST_LEASE_MS: u64 = 1_000;

impl<'a> StoredInstance<'a> {
    /// What is to be kept of a record whose last sign of life was at `seen_timestamp`.
    #[must_use]
    pub fn of(record: &'a Record, seen_timestamp: i64) -> Self {
        let Record { instance, reported_status, lease, override_stamp } = record;
        Self {
            host_name: Text::from(&*instance.host_name),
            ip_addr: Text::from(&*instance.ip_addr),
            sid: borrowed(&instance.sid),
            status: instance.status.into(),
            overridden_status: instance.overridden_status.into(),
            reported_status: (*reported_status).into(),
            port: instance.port.into(),
            secure_port: instance.secure_port.into(),
            country_id: instance.country_id,
            data_center: (&instance.data_center).into(),
            renewal_interval_secs: instance.lease.renewal_interval_secs,
            duration_secs: instance.lease.duration_secs,
            lease_duration_ms: lease.duration_ms,
            registration_timestamp: lease.registration_timestamp,
            service_up_timestamp: lease.service_up_timestamp,
            eviction_timestamp: lease.eviction_timestamp,
            seen_timestamp,
            metadata: entries_of(&instance.metadata),
            app_group_name: borrowed(&instance.app_group_name),
            home_page_url: borrowed(&instance.home_page_url),
            status_page_url: borrowed(&instance.status_page_url),
            health_check_url: borrowed(&instance.health_check_url),
            secure_health_check_url: borrowed(&instance.secure_health_check_url),
            vip_address: borrowed(&instance.vip_address),
            secure_vip_address: borrowed(&instance.secure_vip_address),
            is_coordinating_discovery_server: instance.is_coordinating_discovery_server,
            last_updated_timestamp: instance.last_updated_timestamp,
            last_dirty_timestamp: instance.last_dirty_timestamp,
            action_type: instance.action_type.map(Into::into),
            asg_name: borrowed(&instance.asg_name),
            override_stamp: override_stamp.get().map(Stamp::ms),
        }
    }

    /// The record, with a lease that counts from now: a fresh grace of one lease duration.
    ///
    /// # Errors
    /// If host name or address are missing: no registration was ever accepted without.
    pub fn into_record(self, app: AppName, id: InstanceId, now: Now) -> Result<Record, PayloadError> {
        let missing = [
            ("id", id.is_empty()),
            ("host name", self.host_name.is_empty()),
            ("address", self.ip_addr.is_empty()),
        ];
        if let Some((what, _)) = missing.into_iter().find(|(_, is_missing)| *is_missing) {
            return Err(PayloadError::Missing(what));
        }
        let mut lease = Lease::starting(now, self.lease_duration_ms.max(SHORTEST_LEASE_MS));
        lease.registration_timestamp = self.registration_timestamp;
        lease.service_up_timestamp = self.service_up_timestamp;
        let reported_status = self.reported_status.into();
        let override_stamp = StampCell::new(self.override_stamp.and_then(Stamp::new));
        Ok(Record { instance: self.into_instance(app, id), reported_status, lease, override_stamp })
    }

    fn into_instance(self, app: AppName, instance_id: InstanceId) -> Instance {
        Instance {
            instance_id,
            app,
            host_name: self.host_name.into_box(),
            ip_addr: self.ip_addr.into_box(),
            sid: owned(self.sid),
            status: self.status.into(),
            overridden_status: self.overridden_status.into(),
            port: self.port.into(),
            secure_port: self.secure_port.into(),
            country_id: self.country_id,
            data_center: self.data_center.into(),
            lease: LeaseInfo {
                renewal_interval_secs: self.renewal_interval_secs,
                duration_secs: self.duration_secs,
                ..LeaseInfo::default()
            },
            metadata: metadata_of(&self.metadata),
            app_group_name: owned(self.app_group_name),
            home_page_url: owned(self.home_page_url),
            status_page_url: owned(self.status_page_url),
            health_check_url: owned(self.health_check_url),
            secure_health_check_url: owned(self.secure_health_check_url),
            vip_address: owned(self.vip_address),
            secure_vip_address: owned(self.secure_vip_address),
            is_coordinating_discovery_server: self.is_coordinating_discovery_server,
            last_updated_timestamp: self.last_updated_timestamp,
            last_dirty_timestamp: self.last_dirty_timestamp,
            action_type: self.action_type.map(Into::into),
            asg_name: owned(self.asg_name),
        }
    }
}

/// The last known sign of life of a lease. A clock in the future is a renewal by Java's rule, which counts from the end of
/// the duration; it was seen now at the latest.
#[must_use]
pub fn seen_wall_ms(lease: &Lease, now: Now) -> i64 {
    let since_ms = lease.clock.get().unwrap_or(now.mono_ms);
    now.wall_of(since_ms.min(now.mono_ms))
}
