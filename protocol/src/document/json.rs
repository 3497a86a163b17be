//! Instances as JSON: member order, `$`, `@enabled`, `@class` and the mix of texts and numbers of the Java server (spec
//! `wire.md` 3.1, 3.4). Strict readers depend on all of it, so nothing is ever added.

use crate::instance::{DataCenter, Instance, LeaseInfo, Port};
use crate::metadata::Metadata;
use crate::text::{push_decimal, push_json_string};

/// The entries of Amazon metadata that stay in compact documents.
pub(super) const COMPACT_AMAZON_KEYS: [&str; 5] =
    ["instance-id", "public-ipv4", "public-hostname", "local-ipv4", "availability-zone"];

/// Appends a full instance object.
pub(super) fn write_full(instance: &Instance, lease: &LeaseInfo, out: &mut Vec<u8>) {
    text(b"{\"instanceId\":", &instance.instance_id, out);
    text(b",\"hostName\":", &instance.host_name, out);
    text(b",\"app\":", &instance.app, out);
    text(b",\"ipAddr\":", &instance.ip_addr, out);
    optional_text(b",\"sid\":", instance.sid.as_deref(), out);
    word(b",\"status\":\"", instance.status.as_str(), out);
    word(b",\"overriddenStatus\":\"", instance.overridden_status.as_str(), out);
    port(b",\"port\":{\"$\":", instance.port, out);
    port(b",\"securePort\":{\"$\":", instance.secure_port, out);
    number(b",\"countryId\":", instance.country_id, out);
    data_center(&instance.data_center, |_| true, out);
    lease_info(lease, out);
    metadata(&instance.metadata, out);
    optional_text(b",\"appGroupName\":", instance.app_group_name.as_deref(), out);
    optional_text(b",\"homePageUrl\":", instance.home_page_url.as_deref(), out);
    optional_text(b",\"statusPageUrl\":", instance.status_page_url.as_deref(), out);
    optional_text(b",\"healthCheckUrl\":", instance.health_check_url.as_deref(), out);
    optional_text(b",\"secureHealthCheckUrl\":", instance.secure_health_check_url.as_deref(), out);
    optional_text(b",\"vipAddress\":", instance.vip_address.as_deref(), out);
    optional_text(b",\"secureVipAddress\":", instance.secure_vip_address.as_deref(), out);
    word(b",\"isCoordinatingDiscoveryServer\":\"", flag(instance.is_coordinating_discovery_server), out);
    number(b",\"lastUpdatedTimestamp\":\"", instance.last_updated_timestamp, out);
    number(b"\",\"lastDirtyTimestamp\":\"", instance.last_dirty_timestamp, out);
    out.push(b'"');
    action_and_group(instance, out);
    out.push(b'}');
}

/// Appends a compact instance object; here `lastUpdatedTimestamp` is a number.
pub(super) fn write_compact(instance: &Instance, out: &mut Vec<u8>) {
    text(b"{\"instanceId\":", &instance.instance_id, out);
    text(b",\"app\":", &instance.app, out);
    text(b",\"ipAddr\":", &instance.ip_addr, out);
    optional_text(b",\"vipAddress\":", instance.vip_address.as_deref(), out);
    optional_text(b",\"secureVipAddress\":", instance.secure_vip_address.as_deref(), out);
    data_center(&instance.data_center, |key| COMPACT_AMAZON_KEYS.contains(&key), out);
    text(b",\"hostName\":", &instance.host_name, out);
    word(b",\"status\":\"", instance.status.as_str(), out);
    number(b",\"lastUpdatedTimestamp\":", instance.last_updated_timestamp, out);
    action_and_group(instance, out);
    port(b",\"port\":{\"$\":", instance.port, out);
    port(b",\"securePort\":{\"$\":", instance.secure_port, out);
    out.push(b'}');
}

fn text(before: &[u8], value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    push_json_string(value, out);
}

fn optional_text(before: &[u8], value: Option<&str>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        text(before, value, out);
    }
}

/// A value that needs no escapes; `before` ends with the opening quote.
fn word(before: &[u8], value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
}

fn number(before: &[u8], value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    push_decimal(value, out);
}

const fn flag(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

fn port(before: &[u8], port: Port, out: &mut Vec<u8>) {
    number(before, port.number, out);
    out.extend_from_slice(if port.enabled {
        b",\"@enabled\":\"true\"}"
    } else {
        b",\"@enabled\":\"false\"}"
    });
}

/// `@class` comes first and Amazon metadata last, as the Java readers need it; Amazon metadata has no `EmptyMap` marker.
fn data_center(data_center: &DataCenter, keep: impl Fn(&str) -> bool, out: &mut Vec<u8>) {
    word(b",\"dataCenterInfo\":{\"@class\":\"", data_center.java_class(), out);
    word(b",\"name\":\"", data_center.name(), out);
    if let DataCenter::Amazon(entries) = data_center {
        out.extend_from_slice(b",\"metadata\":{");
        push_entries(entries.iter().filter(|(key, _)| keep(key)), out);
        out.push(b'}');
    }
    out.push(b'}');
}

fn lease_info(lease: &LeaseInfo, out: &mut Vec<u8>) {
    number(b",\"leaseInfo\":{\"renewalIntervalInSecs\":", lease.renewal_interval_secs, out);
    number(b",\"durationInSecs\":", lease.duration_secs, out);
    number(b",\"registrationTimestamp\":", lease.registration_timestamp, out);
    number(b",\"lastRenewalTimestamp\":", lease.last_renewal_timestamp, out);
    number(b",\"evictionTimestamp\":", lease.eviction_timestamp, out);
    number(b",\"serviceUpTimestamp\":", lease.service_up_timestamp, out);
    out.push(b'}');
}

fn metadata(entries: &Metadata, out: &mut Vec<u8>) {
    if entries.is_empty() {
        out.extend_from_slice(b",\"metadata\":{\"@class\":\"java.util.Collections$EmptyMap\"}");
        return;
    }
    out.extend_from_slice(b",\"metadata\":{");
    push_entries(entries.iter(), out);
    out.push(b'}');
}

fn push_entries<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    for (index, (key, value)) in entries.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_json_string(key, out);
        out.push(b':');
        push_json_string(value, out);
    }
}

fn action_and_group(instance: &Instance, out: &mut Vec<u8>) {
    if let Some(action) = instance.action_type {
        word(b",\"actionType\":\"", action.as_str(), out);
    }
    optional_text(b",\"asgName\":", instance.asg_name.as_deref(), out);
}
