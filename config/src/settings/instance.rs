//! The record of this server itself: `eureka.instance.*` (3.7).

use std::collections::BTreeMap;

/// What the server registers about itself, all guesses and derivations already made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceSettings {
    /// `hostname`, or the guessed one, or the address with `prefer-ip-address`.
    pub hostname: String,
    /// `ip-address`, or the guessed one.
    pub ip_address: String,
    /// `prefer-ip-address`: already applied to `hostname`.
    pub prefer_ip_address: bool,
    /// `appname`, else `spring.application.name`, else `unknown`. As written; the registry makes it upper case.
    pub app_name: String,
    /// `app-group-name`.
    pub app_group_name: Option<String>,
    /// `instance-id`, else `vcap.application.instance_id`, else host, application and port joined by colons.
    pub instance_id: String,
    /// `virtual-host-name`, else the application name.
    pub vip_address: String,
    /// `secure-virtual-host-name`, else the application name.
    pub secure_vip_address: String,
    /// `non-secure-port`, else `server.port`; 0 if the system is to choose the port.
    pub port: u16,
    /// `secure-port`: 443, or `server.port` if the secure port is enabled.
    pub secure_port: u16,
    /// `non-secure-port-enabled`.
    pub port_enabled: bool,
    /// `secure-port-enabled`.
    pub secure_port_enabled: bool,
    /// `status-page-url`, or derived from host, port, context path and path.
    pub status_page_url: String,
    /// `health-check-url`, or derived.
    pub health_check_url: String,
    /// `secure-health-check-url`, or derived if the secure port is enabled.
    pub secure_health_check_url: Option<String>,
    /// `home-page-url`, or derived.
    pub home_page_url: String,
    /// `lease-renewal-interval-in-seconds`.
    pub lease_renewal_interval_secs: u32,
    /// `lease-expiration-duration-in-seconds`.
    pub lease_expiration_duration_secs: u32,
    /// `metadata-map.*` without empty values; `management.port` is added as Spring does.
    pub metadata: BTreeMap<String, String>,
    /// `initial-status`.
    pub initial_status: InitialStatus,
}

impl Default for InstanceSettings {
    fn default() -> Self {
        Self {
            hostname: "localhost".into(),
            ip_address: "127.0.0.1".into(),
            prefer_ip_address: false,
            app_name: "unknown".into(),
            app_group_name: None,
            instance_id: "localhost:8761".into(),
            vip_address: "unknown".into(),
            secure_vip_address: "unknown".into(),
            port: 8761,
            secure_port: 443,
            port_enabled: true,
            secure_port_enabled: false,
            status_page_url: "http://localhost:8761/actuator/info".into(),
            health_check_url: "http://localhost:8761/actuator/health".into(),
            secure_health_check_url: None,
            home_page_url: "http://localhost:8761/".into(),
            lease_renewal_interval_secs: 30,
            lease_expiration_duration_secs: 90,
            metadata: BTreeMap::from([("management.port".into(), "8761".into())]),
            initial_status: InitialStatus::Up,
        }
    }
}

/// `eureka.instance.initial-status`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialStatus {
    /// Ready.
    #[default]
    Up,
    /// Not ready.
    Down,
    /// Still starting.
    Starting,
    /// Taken out.
    OutOfService,
    /// No statement.
    Unknown,
}

impl InitialStatus {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Up => "UP",
            Self::Down => "DOWN",
            Self::Starting => "STARTING",
            Self::OutOfService => "OUT_OF_SERVICE",
            Self::Unknown => "UNKNOWN",
        }
    }
}
