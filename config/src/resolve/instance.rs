//! `eureka.instance.*`: guesses and derivations of the own record (`spec/spring.md` 3.7).

use super::reader::Reader;
use crate::settings::{
    InitialStatus, InstanceSettings, ManagementListener, ManagementSettings, ServerSettings,
};
use std::collections::BTreeMap;

const STATUS: &[(&str, InitialStatus)] = &[
    ("UP", InitialStatus::Up),
    ("DOWN", InitialStatus::Down),
    ("STARTING", InitialStatus::Starting),
    ("OUT_OF_SERVICE", InitialStatus::OutOfService),
    ("UNKNOWN", InitialStatus::Unknown),
];

/// What the record is derived from.
pub(super) struct Surroundings<'a> {
    pub server: &'a ServerSettings,
    pub management: &'a ManagementSettings,
    /// `spring.application.name`, if it was given.
    pub application_name: Option<&'a str>,
}

pub(super) fn instance(r: &mut Reader<'_>, around: &Surroundings<'_>) -> InstanceSettings {
    let d = InstanceSettings::default();
    let given_name =
        r.text_or("eureka.instance.hostname", "guessed: the name of the machine", |r| r.machine_hostname());
    let ip_address = r.text_or("eureka.instance.ip-address", "guessed: the address of the machine", |r| {
        r.machine_address()
    });
    let prefer_ip_address = r.flag("eureka.instance.prefer-ip-address", d.prefer_ip_address);
    let hostname = if prefer_ip_address { ip_address.clone() } else { given_name.clone() };
    let name = around.application_name.unwrap_or("unknown");
    let app_name =
        r.text_or("eureka.instance.appname", "default: spring.application.name", |_| name.to_owned());
    let last = r.optional_text("spring.application.instance_id");
    let last = last.unwrap_or_else(|| around.server.port.to_string());
    let instance_id = r.text_or("eureka.instance.instance-id", "default: host, application and port", |r| {
        default_instance_id(r, &given_name, around.application_name, &last)
    });
    let port_enabled = r.flag("eureka.instance.non-secure-port-enabled", d.port_enabled);
    let secure_port_enabled = r.flag("eureka.instance.secure-port-enabled", d.secure_port_enabled);
    let own_port = around.server.port;
    let port = r.optional_number("eureka.instance.non-secure-port").unwrap_or(own_port);
    let secure_port = r.optional_number("eureka.instance.secure-port").unwrap_or(if secure_port_enabled {
        own_port
    } else {
        443
    });
    let urls = Urls { hostname: &hostname, port, secure_port, port_enabled, secure_port_enabled, around };
    let management_port = urls.management_port();
    let (status_page_url, health_check_url, secure_health_check_url, home_page_url) = urls.read(r);
    InstanceSettings {
        vip_address: r.text("eureka.instance.virtual-host-name", name),
        secure_vip_address: r.text("eureka.instance.secure-virtual-host-name", name),
        app_group_name: r.optional_text("eureka.instance.app-group-name"),
        lease_renewal_interval_secs: r
            .number("eureka.instance.lease-renewal-interval-in-seconds", d.lease_renewal_interval_secs),
        lease_expiration_duration_secs: r
            .number("eureka.instance.lease-expiration-duration-in-seconds", d.lease_expiration_duration_secs),
        metadata: metadata(r, management_port),
        initial_status: r.word("eureka.instance.initial-status", STATUS).unwrap_or_default(),
        ip_address,
        prefer_ip_address,
        app_name,
        instance_id,
        port,
        secure_port,
        port_enabled,
        secure_port_enabled,
        status_page_url,
        health_check_url,
        secure_health_check_url,
        home_page_url,
        hostname,
    }
}

/// Cloud Foundry's id, else host, application (if it has a name) and the last part, joined by colons.
fn default_instance_id(r: &Reader<'_>, hostname: &str, application_name: Option<&str>, last: &str) -> String {
    if let Some(id) = r.foreign("vcap.application.instance_id") {
        return id;
    }
    let parts = [Some(hostname), application_name, Some(last)];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(":")
}

/// Entries without a value are not sent; `management.port` is added as Spring does.
fn metadata(r: &mut Reader<'_>, management_port: u16) -> BTreeMap<String, String> {
    let entries = r.texts("eureka.instance.metadata-map").into_iter();
    let mut metadata: BTreeMap<String, String> =
        entries.map(|(key, found)| (key, found.text)).filter(|(_, value)| !value.is_empty()).collect();
    metadata.entry("management.port".into()).or_insert_with(|| management_port.to_string());
    metadata
}

/// The parts of the derived URLs.
struct Urls<'a> {
    hostname: &'a str,
    port: u16,
    secure_port: u16,
    port_enabled: bool,
    secure_port_enabled: bool,
    around: &'a Surroundings<'a>,
}

impl Urls<'_> {
    /// Status page, health check, secure health check, home page.
    fn read(&self, r: &mut Reader<'_>) -> (String, String, Option<String>, String) {
        let actuator = &self.around.management.base_path;
        let status_path = r.text("eureka.instance.status-page-url-path", &format!("{actuator}/info"));
        let health_path = r.text("eureka.instance.health-check-url-path", &format!("{actuator}/health"));
        let home_path = r.text("eureka.instance.home-page-url-path", "/");
        let status_url = format!("{}{}", self.management_base(), slashed(&status_path));
        let health_url = format!("{}{}", self.management_base(), slashed(&health_path));
        let secure = format!("https://{}:{}{}", self.host(), self.secure_port, slashed(&health_path));
        let home_url = format!("{}{}", self.base(), slashed(&home_path));
        let how = "derived from host, port and path";
        let status_page = self.named(r.text_or("eureka.instance.status-page-url", how, |_| status_url));
        let health_check = self.named(r.text_or("eureka.instance.health-check-url", how, |_| health_url));
        let secure_health =
            r.optional_text("eureka.instance.secure-health-check-url").map(|url| self.named(url));
        let secure_health = secure_health.or_else(|| self.secure_port_enabled.then_some(secure));
        let home_page = self.named(r.text_or("eureka.instance.home-page-url", how, |_| home_url));
        (status_page, health_check, secure_health, home_page)
    }

    /// The placeholder is resolved before; a literal one, from an escaped text, is what Netflix' code replaces.
    fn named(&self, url: String) -> String {
        url.replace("${eureka.hostname}", self.hostname)
    }

    /// IPv6 addresses stand in brackets.
    fn host(&self) -> String {
        if self.hostname.contains(':') { format!("[{}]", self.hostname) } else { self.hostname.to_owned() }
    }

    fn base(&self) -> String {
        if self.secure_port_enabled && !self.port_enabled {
            format!("https://{}:{}", self.host(), self.secure_port)
        } else {
            format!("http://{}:{}", self.host(), self.port)
        }
    }

    fn management_base(&self) -> String {
        match &self.around.management.listener {
            ManagementListener::Separate { port, context_path, .. } => {
                format!("http://{}:{port}{context_path}", self.host())
            }
            ManagementListener::Shared | ManagementListener::Off => {
                format!("{}{}", self.base(), self.around.server.context_path)
            }
        }
    }

    fn management_port(&self) -> u16 {
        match self.around.management.listener {
            ManagementListener::Separate { port, .. } => port,
            ManagementListener::Shared | ManagementListener::Off => self.around.server.port,
        }
    }
}

fn slashed(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}
