//! Instances and bodies that several tests use.

use heureka_protocol::{
    ActionType, AppName, DataCenter, Instance, InstanceDraft, LeaseInfo, Limits, Metadata, Port, ReadError,
    Registration, Status,
};
use serde_json::{Value, json};

/// Lease times that differ from each other, so that a mix-up shows.
pub(crate) const LEASE: LeaseInfo = LeaseInfo {
    renewal_interval_secs: 5,
    duration_secs: 15,
    registration_timestamp: 1_750_000_000_100,
    last_renewal_timestamp: 1_750_000_120_100,
    eviction_timestamp: 0,
    service_up_timestamp: 1_750_000_000_200,
};

/// An instance with every member set.
pub(crate) fn complete() -> Instance {
    Instance {
        instance_id: "full-1".into(),
        host_name: "h1.example".into(),
        app: AppName::new("orders"),
        ip_addr: "10.0.0.1".into(),
        sid: Some("abc".into()),
        status: Status::OutOfService,
        overridden_status: Status::OutOfService,
        port: Port { number: 8080, enabled: true },
        secure_port: Port { number: 8443, enabled: false },
        country_id: 49,
        data_center: DataCenter::MyOwn,
        lease: LeaseInfo::default(),
        metadata: [("zone", "a"), ("a_b", "<1>"), ("e f", "")].into_iter().collect(),
        app_group_name: Some("GROUP-A".into()),
        home_page_url: Some("http://h1.example/?a&b".into()),
        status_page_url: Some("http://h1.example/status".into()),
        health_check_url: Some("http://h1.example/health".into()),
        secure_health_check_url: Some("https://h1.example/health".into()),
        vip_address: Some("orders.vip".into()),
        secure_vip_address: Some("orders.svip".into()),
        is_coordinating_discovery_server: false,
        last_updated_timestamp: 1_750_000_000_101,
        last_dirty_timestamp: 1_700_000_000_000,
        action_type: Some(ActionType::Added),
        asg_name: Some("orders-v001".into()),
    }
}

/// An instance with nothing but what is required, in Amazon.
pub(crate) fn minimal_amazon() -> Instance {
    Instance {
        instance_id: "i-9".into(),
        host_name: "m1".into(),
        app: AppName::new("ORDERS"),
        ip_addr: "10.9.9.9".into(),
        sid: None,
        status: Status::Up,
        overridden_status: Status::Unknown,
        port: Port::DEFAULT_PLAIN,
        secure_port: Port::DEFAULT_SECURE,
        country_id: 1,
        data_center: DataCenter::Amazon(Box::new(
            [("instance-id", "i-9"), ("ami-id", "ami-2"), ("availability-zone", "us-east-1c")]
                .into_iter()
                .collect(),
        )),
        lease: LeaseInfo::default(),
        metadata: Metadata::new(),
        app_group_name: None,
        home_page_url: None,
        status_page_url: None,
        health_check_url: None,
        secure_health_check_url: None,
        vip_address: None,
        secure_vip_address: None,
        is_coordinating_discovery_server: true,
        last_updated_timestamp: 2,
        last_dirty_timestamp: 3,
        action_type: None,
        asg_name: None,
    }
}

/// The wall clock in tests.
pub(crate) const NOW_MS: i64 = 1_800_000_000_000;

/// A registration to the path of `ORDERS`.
pub(crate) const TO_ORDERS: Registration<'static> =
    Registration { path_app: "ORDERS", now_wall_ms: NOW_MS, require_data_center_id: false };

/// The instance `I()` of the conformance list.
pub(crate) fn fixture() -> Value {
    json!({
        "instanceId": "i-1", "app": "ORDERS", "hostName": "h1.example", "ipAddr": "10.0.0.1", "status": "UP",
        "overriddenStatus": "UNKNOWN", "port": {"$": 8080, "@enabled": "true"},
        "securePort": {"$": 8443, "@enabled": "false"}, "countryId": 1,
        "dataCenterInfo": {
            "@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"
        },
        "leaseInfo": {"renewalIntervalInSecs": 30, "durationInSecs": 90}, "metadata": {"k": "v"},
        "vipAddress": "orders.vip", "secureVipAddress": "orders.svip", "homePageUrl": "http://h1.example/",
        "lastUpdatedTimestamp": "1700000000000", "lastDirtyTimestamp": "1700000000000"
    })
}

/// `I(changes, -removed)`: the fixture with some members set and others left out, as a registration body.
pub(crate) fn body(changes: Value, removed: &[&str]) -> Vec<u8> {
    let mut instance = fixture();
    let members = instance.as_object_mut().unwrap();
    for name in removed {
        members.remove(*name).unwrap();
    }
    members.extend(changes.as_object().unwrap().clone());
    serde_json::to_vec(&json!({ "instance": instance })).unwrap()
}

/// Reads a JSON registration body.
pub(crate) fn read_json(body: &[u8]) -> Result<InstanceDraft, ReadError> {
    heureka_protocol::json::read_instance(body, &Limits::DEFAULT)
}

/// Reads an XML registration body.
pub(crate) fn read_xml(body: &str) -> Result<InstanceDraft, ReadError> {
    heureka_protocol::xml::read_instance(body.as_bytes(), &Limits::DEFAULT)
}

/// What `I(changes)`, posted to `ORDERS`, registers.
pub(crate) fn registered(changes: Value) -> Instance {
    read_json(&body(changes, &[])).unwrap().into_instance(&TO_ORDERS).unwrap()
}

/// What `I(-removed)`, posted to `ORDERS`, registers.
pub(crate) fn registered_without(removed: &[&str]) -> Instance {
    read_json(&body(json!({}), removed)).unwrap().into_instance(&TO_ORDERS).unwrap()
}

/// The metadata as pairs.
pub(crate) fn pairs(metadata: &Metadata) -> Vec<(&str, &str)> {
    metadata.iter().collect()
}
