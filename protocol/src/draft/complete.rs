//! From a draft to a valid instance: the checks of `wire.md` 1.7 in their order, then the defaults.

use crate::draft::{DataCenterClass, DataCenterDraft, DataCenterName, InstanceDraft, LeaseDraft, PortDraft};
use crate::instance::{
    DEFAULT_LEASE_DURATION_SECS, DEFAULT_RENEWAL_INTERVAL_SECS, DataCenter, Instance, LeaseInfo, Port,
};
use crate::metadata::Metadata;
use crate::names::{AppName, InstanceId};
use crate::status::Status;

/// Key of the Amazon metadata entry that can serve as an id.
const AMAZON_INSTANCE_ID: &str = "instance-id";

/// What a registration says besides its body.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'a> {
    /// Application name from the path, or `appName` of a batch item; in any letter case.
    pub path_app: &'a str,
    /// The wall clock, milliseconds since the epoch: the time of a change that the sender does not date.
    pub now_wall_ms: i64,
    /// Whether Amazon instances must name their `instance-id`
    /// (`eureka.experimental.registration.validation.dataCenterInfoId`, off by default).
    pub require_data_center_id: bool,
}

/// Why a registration that could be read is refused. `Display` is the whole text of the 400 answer, as Java gives it
/// (spec `wire.md` 1.7); the last variant is ours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Check 1: neither an id nor anything that could serve as one.
    #[error("Missing instanceId")]
    MissingInstanceId,
    /// Check 2.
    #[error("Missing hostname")]
    MissingHostName,
    /// Check 3.
    #[error("Missing ip address")]
    MissingIpAddress,
    /// Check 4. Java tells an absent name from an empty one; we do not (conformance 47).
    #[error("Missing appName")]
    MissingAppName,
    /// Check 5.
    #[error("Mismatched appName, expecting {expected} but was {found}")]
    MismatchedAppName {
        /// Name in the path.
        expected: AppName,
        /// Name in the body.
        found: AppName,
    },
    /// Check 6.
    #[error("Missing dataCenterInfo")]
    MissingDataCenter,
    /// Check 7.
    #[error("Missing dataCenterInfo Name")]
    MissingDataCenterName,
    /// Check 8.
    #[error("DataCenterInfo of type class com.netflix.appinfo.AmazonInfo must contain a valid id")]
    MissingDataCenterId,
    /// Java accepts this and then cannot write its registry any more (spec `wire.md` Q22).
    #[error("Mismatched dataCenterInfo, name Amazon needs @class com.netflix.appinfo.AmazonInfo")]
    ContradictoryDataCenter,
}

impl InstanceDraft {
    /// Checks a registration and fills in its defaults.
    ///
    /// # Errors
    ///
    /// The first check of `wire.md` 1.7 that fails.
    pub fn into_instance(mut self, registration: &Registration<'_>) -> Result<Instance, Refusal> {
        let instance_id = self.effective_id().ok_or(Refusal::MissingInstanceId)?;
        let host_name = filled(self.host_name.take()).ok_or(Refusal::MissingHostName)?;
        let ip_addr = filled(self.ip_addr.take()).ok_or(Refusal::MissingIpAddress)?;
        let app = AppName::new(&filled(self.app.take()).ok_or(Refusal::MissingAppName)?);
        let expected = AppName::new(registration.path_app);
        if app != expected {
            return Err(Refusal::MismatchedAppName { expected, found: app });
        }
        let data_center = self.data_center.take().ok_or(Refusal::MissingDataCenter)?;
        let data_center = data_center.into_data_center(&instance_id, registration.require_data_center_id)?;
        let required = Required { instance_id, host_name, ip_addr, app, data_center };
        Ok(self.into_complete(required, registration.now_wall_ms))
    }

    /// Makes an instance of what a server's document says of it: the same checks, except that there is no path to
    /// compare with, `application_name` stands in for an absent `app`, and an absent data centre is `MyOwn`.
    /// An instance without dirty timestamp, as in compact documents, gets 0.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub fn into_listed(mut self, application_name: &str) -> Result<Instance, Refusal> {
        let app = filled(self.app.take()).unwrap_or_else(|| application_name.into());
        self.app = Some(app.clone());
        let my_own = || DataCenterDraft { name: Some(DataCenterName::MyOwn), ..Default::default() };
        self.data_center.get_or_insert_with(my_own);
        self.into_instance(&Registration { path_app: &app, now_wall_ms: 0, require_data_center_id: false })
    }

    /// The id under which the instance is stored (spec `wire.md` 6.1), with Spring's addition: an absent `instanceId` is
    /// made of the host name and the metadata entry `instanceId` (3.2).
    pub(crate) fn effective_id(&self) -> Option<InstanceId> {
        if let Some(id) = not_empty(self.instance_id.as_deref()) {
            return Some(id.into());
        }
        let host_name = not_empty(self.host_name.as_deref());
        if self.instance_id.is_none()
            && let Some(suffix) = self.metadata.get("instanceId").filter(|text| !text.trim().is_empty())
        {
            return Some(match host_name {
                Some(host_name) if !suffix.starts_with(host_name) => format!("{host_name}:{suffix}").into(),
                _ => suffix.into(),
            });
        }
        let amazon_id = self.data_center.as_ref().and_then(DataCenterDraft::unique_id);
        amazon_id.or(host_name).map(InstanceId::from)
    }

    fn into_complete(self, required: Required, now_wall_ms: i64) -> Instance {
        Instance {
            instance_id: required.instance_id,
            host_name: required.host_name,
            app: required.app,
            ip_addr: required.ip_addr,
            sid: self.sid.filter(|sid| !matches!(&**sid, "na" | "unknown")),
            status: self.status.unwrap_or(Status::Up),
            overridden_status: self.overridden_status.unwrap_or(Status::Unknown),
            port: self.port.or(Port::DEFAULT_PLAIN),
            secure_port: self.secure_port.or(Port::DEFAULT_SECURE),
            country_id: self.country_id.unwrap_or(1),
            data_center: required.data_center,
            lease: self.lease.or_default(),
            metadata: self.metadata,
            app_group_name: self.app_group_name.map(upper_case),
            home_page_url: self.home_page_url,
            status_page_url: self.status_page_url,
            health_check_url: self.health_check_url,
            secure_health_check_url: self.secure_health_check_url,
            vip_address: self.vip_address,
            secure_vip_address: self.secure_vip_address,
            is_coordinating_discovery_server: self.is_coordinating_discovery_server.unwrap_or(false),
            last_updated_timestamp: self.last_updated_timestamp.unwrap_or(now_wall_ms),
            last_dirty_timestamp: self.last_dirty_timestamp.unwrap_or(now_wall_ms),
            action_type: self.action_type,
            asg_name: self.asg_name,
        }
    }
}

/// The members that the checks have made sure of.
struct Required {
    instance_id: InstanceId,
    host_name: Box<str>,
    ip_addr: Box<str>,
    app: AppName,
    data_center: DataCenter,
}

/// A text that is there and not empty. A blank counts (`wire.md` 1.7).
fn not_empty(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The same for a text that is kept.
fn filled(text: Option<Box<str>>) -> Option<Box<str>> {
    text.filter(|text| !text.is_empty())
}

fn upper_case(text: Box<str>) -> Box<str> {
    if text.chars().any(char::is_lowercase) { text.to_uppercase().into() } else { text }
}

impl DataCenterDraft {
    /// True if it describes Amazon: the class decides, without a class the name.
    fn is_amazon(&self) -> bool {
        match self.class {
            Some(class) => class == DataCenterClass::Amazon,
            None => self.name == Some(DataCenterName::Amazon),
        }
    }

    fn unique_id(&self) -> Option<&str> {
        let metadata = self.is_amazon().then_some(&self.metadata)?;
        not_empty(metadata.get(AMAZON_INSTANCE_ID))
    }

    /// Checks 7 and 8, and 9: Amazon metadata without the key `instance-id` gets it.
    fn into_data_center(self, instance_id: &str, require_id: bool) -> Result<DataCenter, Refusal> {
        if self.is_amazon() {
            return amazon(self.metadata, instance_id, require_id);
        }
        match self.name {
            None => Err(Refusal::MissingDataCenterName),
            Some(DataCenterName::MyOwn) => Ok(DataCenter::MyOwn),
            Some(DataCenterName::Netflix) => Ok(DataCenter::Netflix),
            Some(DataCenterName::Amazon) => Err(Refusal::ContradictoryDataCenter),
        }
    }
}

fn amazon(mut metadata: Metadata, instance_id: &str, require_id: bool) -> Result<DataCenter, Refusal> {
    let sent_id = metadata.get(AMAZON_INSTANCE_ID);
    if require_id && sent_id.is_none_or(|id| id.trim().is_empty()) {
        return Err(Refusal::MissingDataCenterId);
    }
    if sent_id.is_none() {
        metadata.insert(AMAZON_INSTANCE_ID, instance_id);
        metadata.shrink();
    }
    Ok(DataCenter::Amazon(Box::new(metadata)))
}

impl PortDraft {
    fn or(self, default: Port) -> Port {
        Port {
            number: self.number.unwrap_or(default.number),
            enabled: self.enabled.unwrap_or(default.enabled),
        }
    }
}

impl LeaseDraft {
    /// Settings of 0 or less are taken for absent.
    fn or_default(self) -> LeaseInfo {
        let secs = |sent: Option<i32>, default: i32| sent.filter(|&secs| secs > 0).unwrap_or(default);
        LeaseInfo {
            renewal_interval_secs: secs(self.renewal_interval_secs, DEFAULT_RENEWAL_INTERVAL_SECS),
            duration_secs: secs(self.duration_secs, DEFAULT_LEASE_DURATION_SECS),
            registration_timestamp: self.registration_timestamp.unwrap_or(0),
            last_renewal_timestamp: self.last_renewal_timestamp.unwrap_or(0),
            eviction_timestamp: self.eviction_timestamp.unwrap_or(0),
            service_up_timestamp: self.service_up_timestamp.unwrap_or(0),
        }
    }
}
