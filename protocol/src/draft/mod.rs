//! Instances as they were sent: every member optional, nothing filled in yet.
//!
//! Readers of both formats produce an [`InstanceDraft`]; [`complete`] checks it and makes an
//! [`Instance`](crate::Instance) of it. A draft knows no format: what a format takes for a value is decided before.

pub mod complete;
mod entries;

use crate::metadata::Metadata;
use crate::status::{ActionType, Status};

pub use complete::{Refusal, Registration};
pub(crate) use entries::Entries;

/// What a body said of an instance (spec `wire.md` 3.2, 4.2). `None` means absent or null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceDraft {
    /// Id as sent; may be empty.
    pub instance_id: Option<Box<str>>,
    /// Host name; never empty.
    pub host_name: Option<Box<str>>,
    /// Application name in any letter case; may be empty.
    pub app: Option<Box<str>>,
    /// IP address; may be empty.
    pub ip_addr: Option<Box<str>>,
    /// Historic `sid`, also `na`.
    pub sid: Option<Box<str>>,
    /// Status; an unknown word has become `UNKNOWN`.
    pub status: Option<Status>,
    /// Override that the sender knows of; an unknown word has become `UNKNOWN`.
    pub overridden_status: Option<Status>,
    /// Plain port.
    pub port: PortDraft,
    /// TLS port.
    pub secure_port: PortDraft,
    /// Country number.
    pub country_id: Option<i32>,
    /// Data centre.
    pub data_center: Option<DataCenterDraft>,
    /// Lease settings and times.
    pub lease: LeaseDraft,
    /// Metadata, within the reader's limits.
    pub metadata: Metadata,
    /// Application group in any letter case.
    pub app_group_name: Option<Box<str>>,
    /// Link to the home page.
    pub home_page_url: Option<Box<str>>,
    /// Link to the status page.
    pub status_page_url: Option<Box<str>>,
    /// Link to the health check.
    pub health_check_url: Option<Box<str>>,
    /// Link to the health check over TLS.
    pub secure_health_check_url: Option<Box<str>>,
    /// VIP addresses.
    pub vip_address: Option<Box<str>>,
    /// VIP addresses for TLS.
    pub secure_vip_address: Option<Box<str>>,
    /// Whether it is the answering server's own instance.
    pub is_coordinating_discovery_server: Option<bool>,
    /// When the sender's registry changed it; milliseconds since the epoch.
    pub last_updated_timestamp: Option<i64>,
    /// When the instance last changed itself; milliseconds since the epoch.
    pub last_dirty_timestamp: Option<i64>,
    /// What happened last.
    pub action_type: Option<ActionType>,
    /// Auto-scaling group.
    pub asg_name: Option<Box<str>>,
}

/// A port as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortDraft {
    /// Number, unchecked.
    pub number: Option<i32>,
    /// Whether it is in use.
    pub enabled: Option<bool>,
}

/// A data centre as sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataCenterDraft {
    /// Kind of Java class; XML has none that counts.
    pub class: Option<DataCenterClass>,
    /// Name.
    pub name: Option<DataCenterName>,
    /// Amazon metadata, within the reader's limits.
    pub metadata: Metadata,
}

/// The two kinds of classes that describe a data centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataCenterClass {
    /// `InstanceInfo$DefaultDataCenterInfo` or `MyDataCenterInfo`.
    Default,
    /// `AmazonInfo`.
    Amazon,
}

impl DataCenterClass {
    /// Reads a Java class name; `None` for one that does not describe a data centre.
    #[must_use]
    pub fn from_java(name: &str) -> Option<Self> {
        match name {
            "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo"
            | "com.netflix.appinfo.MyDataCenterInfo" => Some(Self::Default),
            "com.netflix.appinfo.AmazonInfo" => Some(Self::Amazon),
            _ => None,
        }
    }
}

/// The three names of data centres.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataCenterName {
    /// `MyOwn`.
    MyOwn,
    /// `Netflix`.
    Netflix,
    /// `Amazon`.
    Amazon,
}

impl DataCenterName {
    /// What error messages say of the allowed names.
    pub(crate) const EXPECTED: &str = "MyOwn, Netflix or Amazon";

    /// Reads exactly one of the three names.
    #[must_use]
    pub fn from_exact(text: &str) -> Option<Self> {
        match text {
            "MyOwn" => Some(Self::MyOwn),
            "Netflix" => Some(Self::Netflix),
            "Amazon" => Some(Self::Amazon),
            _ => None,
        }
    }
}

/// Lease settings and times as sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseDraft {
    /// Seconds between two heartbeats; may be 0 or less.
    pub renewal_interval_secs: Option<i32>,
    /// Seconds that a lease lasts; may be 0 or less.
    pub duration_secs: Option<i32>,
    /// Time of registration.
    pub registration_timestamp: Option<i64>,
    /// Time of the last renewal.
    pub last_renewal_timestamp: Option<i64>,
    /// Time of cancellation.
    pub eviction_timestamp: Option<i64>,
    /// First time with status UP.
    pub service_up_timestamp: Option<i64>,
}

impl InstanceDraft {
    /// Takes a host name. Java's builder passes null and an empty one over: what was read before stays.
    pub(crate) fn set_host_name(&mut self, sent: Option<Box<str>>) {
        if sent.as_deref().is_some_and(|name| !name.is_empty()) {
            self.host_name = sent;
        }
    }

    /// The place of a plain text member but the host name; `None` if there is no such text member.
    pub(crate) fn text_member(&mut self, name: &str) -> Option<&mut Option<Box<str>>> {
        Some(match name {
            "instanceId" => &mut self.instance_id,
            "app" => &mut self.app,
            "ipAddr" => &mut self.ip_addr,
            "sid" => &mut self.sid,
            "appGroupName" => &mut self.app_group_name,
            "homePageUrl" => &mut self.home_page_url,
            "statusPageUrl" => &mut self.status_page_url,
            "healthCheckUrl" => &mut self.health_check_url,
            "secureHealthCheckUrl" => &mut self.secure_health_check_url,
            "vipAddress" => &mut self.vip_address,
            "secureVipAddress" => &mut self.secure_vip_address,
            "asgName" => &mut self.asg_name,
            _ => return None,
        })
    }
}

impl LeaseDraft {
    /// The place of a setting in seconds.
    pub(crate) fn secs_member(&mut self, name: &str) -> Option<&mut Option<i32>> {
        match name {
            "renewalIntervalInSecs" => Some(&mut self.renewal_interval_secs),
            "durationInSecs" => Some(&mut self.duration_secs),
            _ => None,
        }
    }

    /// The place of a time. Spring's object mapper calls the renewal time `renewalTimestamp` in old versions; the Java
    /// server does not know that name, and neither do we.
    pub(crate) fn timestamp_member(&mut self, name: &str) -> Option<&mut Option<i64>> {
        match name {
            "registrationTimestamp" => Some(&mut self.registration_timestamp),
            "lastRenewalTimestamp" => Some(&mut self.last_renewal_timestamp),
            "evictionTimestamp" => Some(&mut self.eviction_timestamp),
            "serviceUpTimestamp" => Some(&mut self.service_up_timestamp),
            _ => None,
        }
    }
}
