//! Instances as XML: element order, attributes, indentation and escapes of the Java server (spec `wire.md` 4.1, 4.3).
//!
//! Whatever an instance holds, the result is well-formed: forbidden characters are replaced, metadata keys escaped, an
//! entry with an empty key left out.

use super::json::COMPACT_AMAZON_KEYS;
use crate::instance::{DataCenter, Instance, LeaseInfo, Port};
use crate::metadata::Metadata;
use crate::status::Status;
use crate::text::{push_decimal, push_xml_name, push_xml_text};

/// Line starts by depth; the deepest element is an Amazon metadata entry in an `applications` document.
const LINE_STARTS: [&str; 7] =
    ["\n", "\n  ", "\n    ", "\n      ", "\n        ", "\n          ", "\n            "];

/// Writes elements, each on a line of its own or, in compact documents, all on one.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Depth of the element that is written next; `None` for compact documents.
    depth: Option<usize>,
}

/// Appends a full `instance` element. An element that stands alone starts without a line break.
pub(super) fn write_full(
    instance: &Instance,
    lease: &LeaseInfo,
    status: Status,
    depth: usize,
    out: &mut Vec<u8>,
) {
    let mut writer = Writer { out, depth: Some(depth) };
    if depth > 0 {
        writer.line_start();
    }
    writer.raw("<instance>");
    writer.deeper(|writer| full_members(instance, lease, status, writer));
    writer.close("instance");
}

fn full_members(instance: &Instance, lease: &LeaseInfo, status: Status, writer: &mut Writer<'_>) {
    writer.text("instanceId", &instance.instance_id);
    writer.text("hostName", &instance.host_name);
    writer.text("app", &instance.app);
    writer.text("ipAddr", &instance.ip_addr);
    writer.optional_text("sid", instance.sid.as_deref());
    writer.word("status", status.as_str());
    writer.word("overriddenstatus", instance.overridden_status.as_str());
    writer.port("port", instance.port);
    writer.port("securePort", instance.secure_port);
    writer.number("countryId", instance.country_id);
    writer.data_center(&instance.data_center, |_| true);
    writer.lease_info(lease);
    writer.metadata(&instance.metadata);
    writer.optional_text("appGroupName", instance.app_group_name.as_deref());
    writer.optional_text("homePageUrl", instance.home_page_url.as_deref());
    writer.optional_text("statusPageUrl", instance.status_page_url.as_deref());
    writer.optional_text("healthCheckUrl", instance.health_check_url.as_deref());
    writer.optional_text("secureHealthCheckUrl", instance.secure_health_check_url.as_deref());
    writer.optional_text("vipAddress", instance.vip_address.as_deref());
    writer.optional_text("secureVipAddress", instance.secure_vip_address.as_deref());
    let coordinating = instance.is_coordinating_discovery_server;
    writer.word("isCoordinatingDiscoveryServer", if coordinating { "true" } else { "false" });
    writer.number("lastUpdatedTimestamp", instance.last_updated_timestamp);
    writer.number("lastDirtyTimestamp", instance.last_dirty_timestamp);
    writer.action_and_group(instance);
}

/// Appends a compact `instance` element.
pub(super) fn write_compact(instance: &Instance, out: &mut Vec<u8>) {
    let mut writer = Writer { out, depth: None };
    writer.raw("<instance>");
    writer.text("instanceId", &instance.instance_id);
    writer.text("app", &instance.app);
    writer.text("ipAddr", &instance.ip_addr);
    writer.optional_text("vipAddress", instance.vip_address.as_deref());
    writer.optional_text("secureVipAddress", instance.secure_vip_address.as_deref());
    writer.data_center(&instance.data_center, |key| COMPACT_AMAZON_KEYS.contains(&key));
    writer.text("hostName", &instance.host_name);
    writer.word("status", instance.status.as_str());
    writer.number("lastUpdatedTimestamp", instance.last_updated_timestamp);
    writer.action_and_group(instance);
    writer.port("port", instance.port);
    writer.port("securePort", instance.secure_port);
    writer.raw("</instance>");
}

impl Writer<'_> {
    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn line_start(&mut self) {
        if let Some(depth) = self.depth {
            self.raw(LINE_STARTS.get(depth).unwrap_or(&"\n"));
        }
    }

    /// Writes the children of an element that has just been opened.
    fn deeper(&mut self, children: impl FnOnce(&mut Writer<'_>)) {
        children(&mut Writer { out: self.out, depth: self.depth.map(|depth| depth + 1) });
    }

    fn open(&mut self, name: &str) {
        self.line_start();
        self.raw("<");
        self.raw(name);
        self.raw(">");
    }

    /// Closes an element that has child elements: the end tag has a line of its own.
    fn close(&mut self, name: &str) {
        self.line_start();
        self.close_inline(name);
    }

    fn close_inline(&mut self, name: &str) {
        self.raw("</");
        self.raw(name);
        self.raw(">");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.open(name);
        push_xml_text(value, self.out);
        self.close_inline(name);
    }

    fn optional_text(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// A value that needs no escapes.
    fn word(&mut self, name: &str, value: &str) {
        self.open(name);
        self.raw(value);
        self.close_inline(name);
    }

    fn number(&mut self, name: &str, value: impl itoa::Integer) {
        self.open(name);
        push_decimal(value, self.out);
        self.close_inline(name);
    }

    fn port(&mut self, name: &str, port: Port) {
        self.line_start();
        self.raw("<");
        self.raw(name);
        self.raw(if port.enabled { " enabled=\"true\">" } else { " enabled=\"false\">" });
        push_decimal(port.number, self.out);
        self.close_inline(name);
    }

    fn data_center(&mut self, data_center: &DataCenter, keep: impl Fn(&str) -> bool) {
        self.line_start();
        self.raw("<dataCenterInfo class=\"");
        self.raw(data_center.java_class());
        self.raw("\">");
        self.deeper(|writer| {
            writer.word("name", data_center.name());
            if let DataCenter::Amazon(entries) = data_center {
                writer.entries(entries, keep);
            }
        });
        self.close("dataCenterInfo");
    }

    fn lease_info(&mut self, lease: &LeaseInfo) {
        self.open("leaseInfo");
        self.deeper(|writer| {
            writer.number("renewalIntervalInSecs", lease.renewal_interval_secs);
            writer.number("durationInSecs", lease.duration_secs);
            writer.number("registrationTimestamp", lease.registration_timestamp);
            writer.number("lastRenewalTimestamp", lease.last_renewal_timestamp);
            writer.number("evictionTimestamp", lease.eviction_timestamp);
            writer.number("serviceUpTimestamp", lease.service_up_timestamp);
        });
        self.close("leaseInfo");
    }

    fn metadata(&mut self, entries: &Metadata) {
        self.entries(entries, |_| true);
    }

    /// A `metadata` element; the marker of an empty Java map if there is nothing to write.
    fn entries(&mut self, entries: &Metadata, keep: impl Fn(&str) -> bool) {
        // An element must have a name, so an entry with an empty key cannot be shown (Q33).
        let is_written = |key: &str| !key.is_empty() && keep(key);
        if !entries.iter().any(|(key, _)| is_written(key)) {
            self.line_start();
            self.raw("<metadata class=\"java.util.Collections$EmptyMap\"/>");
            return;
        }
        self.open("metadata");
        self.deeper(|writer| {
            for (key, value) in entries.iter().filter(|(key, _)| is_written(key)) {
                writer.entry(key, value);
            }
        });
        self.close("metadata");
    }

    fn entry(&mut self, key: &str, value: &str) {
        self.line_start();
        self.raw("<");
        push_xml_name(key, self.out);
        self.raw(">");
        push_xml_text(value, self.out);
        self.raw("</");
        push_xml_name(key, self.out);
        self.raw(">");
    }

    fn action_and_group(&mut self, instance: &Instance) {
        if let Some(action) = instance.action_type {
            self.word("actionType", action.as_str());
        }
        self.optional_text("asgName", instance.asg_name.as_deref());
    }
}
