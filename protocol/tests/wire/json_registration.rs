//! Registration bodies in JSON that must be taken, and what becomes of their members.

use heureka_protocol::{ActionType, DataCenter, Metadata, Port, Registration, Status};
use serde_json::json;

use crate::samples::{NOW_MS, TO_ORDERS, body, pairs, read_json, registered, registered_without};

fn port(number: i32, enabled: bool) -> Port {
    Port { number, enabled }
}

#[test]
fn w39_the_fixture_registers_as_it_is() {
    let instance = registered(json!({}));
    assert_eq!(&*instance.instance_id, "i-1");
    assert_eq!(&*instance.host_name, "h1.example");
    assert_eq!(&*instance.app, "ORDERS");
    assert_eq!(&*instance.ip_addr, "10.0.0.1");
    assert_eq!(instance.sid, None);
    assert_eq!(instance.status, Status::Up);
    assert_eq!(instance.overridden_status, Status::Unknown);
    assert_eq!(instance.port, port(8080, true));
    assert_eq!(instance.secure_port, port(8443, false));
    assert_eq!(instance.country_id, 1);
    assert_eq!(instance.data_center, DataCenter::MyOwn);
    assert_eq!((instance.lease.renewal_interval_secs, instance.lease.duration_secs), (30, 90));
    assert_eq!(pairs(&instance.metadata), [("k", "v")]);
    assert_eq!(instance.app_group_name, None);
    assert_eq!(instance.home_page_url.as_deref(), Some("http://h1.example/"));
    assert_eq!(instance.vip_address.as_deref(), Some("orders.vip"));
    assert_eq!(instance.secure_vip_address.as_deref(), Some("orders.svip"));
    assert_eq!(instance.last_updated_timestamp, 1_700_000_000_000);
    assert_eq!(instance.last_dirty_timestamp, 1_700_000_000_000);
    assert_eq!(instance.action_type, None);
    assert!(!instance.is_coordinating_discovery_server);
}

#[test]
fn every_text_member_arrives_in_its_place() {
    let instance = registered(json!({
        "appGroupName": "group-a", "statusPageUrl": "s", "healthCheckUrl": "h", "secureHealthCheckUrl": "sh",
        "asgName": "g-1", "actionType": "DELETED", "isCoordinatingDiscoveryServer": "true"
    }));
    assert_eq!(instance.app_group_name.as_deref(), Some("GROUP-A"), "upper case, Q31");
    assert_eq!(instance.status_page_url.as_deref(), Some("s"));
    assert_eq!(instance.health_check_url.as_deref(), Some("h"));
    assert_eq!(instance.secure_health_check_url.as_deref(), Some("sh"));
    assert_eq!(instance.asg_name.as_deref(), Some("g-1"));
    assert_eq!(instance.action_type, Some(ActionType::Deleted));
    assert!(instance.is_coordinating_discovery_server);
}

#[test]
fn w40_application_names_are_upper_cased() {
    assert_eq!(&*registered(json!({"app": "orders"})).app, "ORDERS");
    let draft = read_json(&body(json!({"app": "öl straße"}), &[])).unwrap();
    let instance = draft.into_instance(&Registration { path_app: "Öl Straße", ..TO_ORDERS }).unwrap();
    assert_eq!(&*instance.app, "ÖL STRASSE");
}

#[test]
fn w42_without_an_id_the_host_name_is_the_id() {
    assert_eq!(&*registered_without(&["instanceId"]).instance_id, "h1.example");
    assert_eq!(&*registered(json!({"instanceId": ""})).instance_id, "h1.example");
    assert_eq!(&*registered(json!({"instanceId": " "})).instance_id, " ", "a blank is an id");
}

#[test]
fn spring_makes_an_absent_id_of_host_name_and_metadata() {
    let id = |suffix: &str| {
        let changes = json!({"metadata": {"instanceId": suffix}});
        let draft = read_json(&body(changes, &["instanceId"])).unwrap();
        draft.into_instance(&TO_ORDERS).unwrap().instance_id.to_string()
    };
    assert_eq!(id("8080"), "h1.example:8080");
    assert_eq!(id("h1.example:x"), "h1.example:x");
    assert_eq!(id("  "), "h1.example");
    let empty = registered(json!({"instanceId": "", "metadata": {"instanceId": "8080"}}));
    assert_eq!(&*empty.instance_id, "h1.example", "an empty id is not an absent one");
}

#[test]
fn w51_w52_a_data_center_needs_no_class_and_may_have_the_other_default_class() {
    let data_center = |value| registered(json!({"dataCenterInfo": value})).data_center;
    assert_eq!(data_center(json!({"name": "MyOwn"})), DataCenter::MyOwn);
    assert_eq!(
        data_center(json!({"name": "MyOwn", "@class": "com.netflix.appinfo.MyDataCenterInfo"})),
        DataCenter::MyOwn
    );
    let class = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo";
    assert_eq!(data_center(json!({"@class": class, "name": "Netflix"})), DataCenter::Netflix);
    assert_eq!(data_center(json!({"@class": class, "name": "MyOwn", "x": [1]})), DataCenter::MyOwn);
}

fn amazon(value: serde_json::Value) -> (String, Vec<(String, String)>) {
    let draft = read_json(&body(json!({"dataCenterInfo": value}), &["instanceId"])).unwrap();
    let instance = draft.into_instance(&TO_ORDERS).unwrap();
    let DataCenter::Amazon(entries) = instance.data_center else { panic!("not Amazon") };
    let entries = entries.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    (instance.instance_id.to_string(), entries)
}

#[test]
fn w55_amazon_instance_id_serves_as_id() {
    let (id, entries) = amazon(json!({
        "@class": "com.netflix.appinfo.AmazonInfo", "name": "Amazon",
        "metadata": {"instance-id": "i-aws", "own-key": "x", "n": 5, "gone": null}
    }));
    assert_eq!(id, "i-aws");
    let expected = [("instance-id", "i-aws"), ("n", "5"), ("own-key", "x")];
    let mut found = entries;
    found.sort();
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

#[test]
fn w56_amazon_instance_id_is_filled_in_but_an_empty_one_stays() {
    let class = "com.netflix.appinfo.AmazonInfo";
    let (_, entries) = amazon(json!({"@class": class, "metadata": {"ami-id": "a"}}));
    assert!(entries.contains(&("instance-id".into(), "h1.example".into())), "{entries:?}");
    let (id, entries) = amazon(json!({"@class": class, "metadata": {"instance-id": ""}}));
    assert_eq!((id.as_str(), entries), ("h1.example", vec![("instance-id".into(), String::new())]));
}

#[test]
fn q21_amazon_members_come_in_any_order_and_metadata_may_be_missing() {
    let class = "com.netflix.appinfo.AmazonInfo";
    let body = |data_center: &str| {
        let text = String::from_utf8(body(json!({"dataCenterInfo": 0}), &["instanceId"])).unwrap();
        text.replace("\"dataCenterInfo\":0", &format!("\"dataCenterInfo\":{data_center}"))
    };
    let orders = [
        format!(r#"{{"metadata":{{"instance-id":"i-5"}},"name":"Amazon","@class":"{class}"}}"#),
        format!(r#"{{"@class":"{class}","metadata":{{"instance-id":"i-5"}},"name":"MyOwn","x":{{"y":1}}}}"#),
        r#"{"name":"Amazon","metadata":{"instance-id":"i-5"}}"#.to_owned(),
    ];
    for data_center in orders {
        let draft = read_json(body(&data_center).as_bytes()).unwrap();
        assert_eq!(&*draft.into_instance(&TO_ORDERS).unwrap().instance_id, "i-5", "{data_center}");
    }
    let (id, _) = amazon(json!({"@class": class, "name": "Amazon"}));
    assert_eq!(id, "h1.example");
}

#[test]
fn w67_w68_w69_status_words() {
    let status = |value| registered(json!({"status": value})).status;
    assert_eq!(status(json!("up")), Status::Up);
    assert_eq!(status(json!("Out_Of_Service")), Status::OutOfService);
    assert_eq!(status(json!("BOGUS")), Status::Unknown);
    assert_eq!(status(json!(" UP")), Status::Unknown);
    assert_eq!(status(json!(3)), Status::Unknown);
    assert_eq!(status(json!(true)), Status::Unknown);
    assert_eq!(status(json!(null)), Status::Up);
    assert_eq!(registered_without(&["status"]).status, Status::Up);
}

#[test]
fn w70_port_as_text_and_flag() {
    let instance = registered(json!({"port": {"$": "81", "@enabled": false}}));
    assert_eq!(instance.port, port(81, false));
}

#[test]
fn w71_port_without_flag_keeps_the_default_flag() {
    let instance = registered(json!({"port": {"$": 81}, "securePort": {"$": 82}}));
    assert_eq!((instance.port, instance.secure_port), (port(81, true), port(82, false)));
}

#[test]
fn w72_a_bare_port_number_is_a_port() {
    let instance = registered(json!({"port": 8080, "securePort": "8443"}));
    assert_eq!((instance.port, instance.secure_port), (port(8080, true), port(8443, false)));
}

#[test]
fn w73_without_ports_the_defaults_hold() {
    let instance = registered_without(&["port", "securePort"]);
    assert_eq!((instance.port, instance.secure_port), (port(7001, true), port(7002, false)));
    let instance = registered(json!({"port": null, "securePort": {}}));
    assert_eq!((instance.port, instance.secure_port), (port(7001, true), port(7002, false)));
}

#[test]
fn port_members_are_as_lenient_as_in_java() {
    let cases = [
        (json!({"$": "abc", "@enabled": "yes"}), port(0, false)),
        (json!({"@enabled": " true ", "$": 99}), port(99, true)),
        (json!({"$": 99, "@enabled": 1}), port(99, true)),
        (json!({"$": 99, "@enabled": 0}), port(99, false)),
        (json!({"$": 99, "@enabled": "TRUE"}), port(99, false)),
        (json!({"$": -5, "@enabled": "true"}), port(-5, true)),
        (json!({"$": 70000, "@enabled": true}), port(70_000, true)),
        (json!({"$": 80.7, "@enabled": null}), port(80, false)),
        (json!({"$": null, "enabled": {"x": []}}), port(0, true)),
    ];
    for (value, expected) in cases {
        assert_eq!(registered(json!({"port": value})).port, expected, "{value}");
    }
}

#[test]
fn w74_both_spellings_of_the_override_are_read_and_the_later_one_wins() {
    let instance = registered(json!({"overriddenStatus": "OUT_OF_SERVICE"}));
    assert_eq!(instance.overridden_status, Status::OutOfService);
    let draft = read_json(&body(json!({"overriddenstatus": "DOWN"}), &["overriddenStatus"])).unwrap();
    assert_eq!(draft.overridden_status, Some(Status::Down));
    let both = br#"{"instance":{"overriddenstatus":"DOWN","overriddenStatus":"STARTING"}}"#;
    assert_eq!(read_json(both).unwrap().overridden_status, Some(Status::Starting));
}

#[test]
fn w75_spring_style_body() {
    let text = concat!(
        r#"{"instance":{"instanceId":"w:c:9090","app":"CHECKOUT","appGroupName":null,"ipAddr":"192.0.2.17","#,
        r#""sid":"na","homePageUrl":"http://w:9090/","statusPageUrl":null,"healthCheckUrl":null,"#,
        r#""secureHealthCheckUrl":null,"vipAddress":"checkout","secureVipAddress":"checkout","countryId":1,"#,
        r#""dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},"#,
        r#""hostName":"w","status":"UP","overriddenStatus":"UNKNOWN","leaseInfo":{"renewalIntervalInSecs":30,"#,
        r#""durationInSecs":90,"registrationTimestamp":0,"lastRenewalTimestamp":0,"evictionTimestamp":0,"#,
        r#""serviceUpTimestamp":0},"isCoordinatingDiscoveryServer":false,"lastUpdatedTimestamp":1750000000000,"#,
        r#""lastDirtyTimestamp":1750000000001,"actionType":null,"asgName":null,"#,
        r#""port":{"$":9090,"@enabled":"true"},"securePort":{"$":443,"@enabled":"false"},"#,
        r#""metadata":{"management.port":"9091"}}}"#
    );
    let draft = read_json(text.as_bytes()).unwrap();
    let instance = draft.into_instance(&Registration { path_app: "checkout", ..TO_ORDERS }).unwrap();
    assert_eq!(&*instance.instance_id, "w:c:9090");
    assert_eq!((instance.app_group_name, instance.sid, instance.asg_name), (None, None, None));
    assert_eq!(instance.last_dirty_timestamp, 1_750_000_000_001);
    assert_eq!(instance.last_updated_timestamp, 1_750_000_000_000);
    assert_eq!(pairs(&instance.metadata), [("management.port", "9091")]);
}

#[test]
fn xstream_style_body() {
    let text = concat!(
        r#"{"instance":{"hostName":"old-1","app":"ORDERS","ipAddr":"10.1.1.1","sid":"na","status":"UP","#,
        r#""overriddenstatus":"UNKNOWN","port":{"@enabled":true,"$":"9090"},"#,
        r#""securePort":{"@enabled":false,"$":443},"countryId":1,"#,
        r#""dataCenterInfo":{"@class":"com.netflix.appinfo.MyDataCenterInfo","name":"MyOwn"},"#,
        r#""metadata":{"@class":"java.util.Collections$EmptyMap","a__b":1},"vipAddress":"legacy","#,
        r#""isCoordinatingDiscoveryServer":false,"lastUpdatedTimestamp":1750000000000,"#,
        r#""lastDirtyTimestamp":1750000000001}}"#
    );
    let instance = read_json(text.as_bytes()).unwrap().into_instance(&TO_ORDERS).unwrap();
    assert_eq!(&*instance.instance_id, "old-1");
    assert_eq!((instance.port, instance.secure_port), (port(9090, true), port(443, false)));
    assert_eq!(pairs(&instance.metadata), [("a__b", "1")], "doubled underscores are not undone");
}

#[test]
fn w76_w77_w78_lease_settings() {
    let lease = |value| {
        let lease = registered(json!({"leaseInfo": value})).lease;
        (lease.renewal_interval_secs, lease.duration_secs)
    };
    assert_eq!(registered_without(&["leaseInfo"]).lease.duration_secs, 90);
    assert_eq!(lease(json!(null)), (30, 90));
    assert_eq!(lease(json!({})), (30, 90));
    assert_eq!(lease(json!({"renewalIntervalInSecs": "10", "durationInSecs": "20"})), (10, 20));
    assert_eq!(lease(json!({"renewalIntervalInSecs": 0, "durationInSecs": -1})), (30, 90));
    assert_eq!(lease(json!({"renewalIntervalInSecs": "abc", "durationInSecs": null})), (30, 90));
    assert_eq!(lease(json!({"durationInSecs": 22, "foo": {"a": 1}, "renewalTimestamp": 5})), (30, 22));
}

#[test]
fn lease_times_are_read_for_replicas() {
    let lease = registered(json!({"leaseInfo": {
        "registrationTimestamp": 1, "lastRenewalTimestamp": "2", "evictionTimestamp": 3, "serviceUpTimestamp": 4
    }}))
    .lease;
    assert_eq!((lease.registration_timestamp, lease.last_renewal_timestamp), (1, 2));
    assert_eq!((lease.eviction_timestamp, lease.service_up_timestamp), (3, 4));
}

#[test]
fn w79_w80_w81_q32_metadata_values() {
    let metadata = |value| registered(json!({"metadata": value})).metadata;
    assert_eq!(metadata(json!({})), Metadata::new());
    assert_eq!(metadata(json!(null)), Metadata::new());
    assert_eq!(registered_without(&["metadata"]).metadata, Metadata::new());
    assert_eq!(metadata(json!({"@class": "java.util.Collections$EmptyMap"})), Metadata::new());
    assert_eq!(pairs(&metadata(json!({"@class": "x", "a": "b"}))), [("a", "b")]);
    let text = br#"{"instance":{"metadata":{"n":5,"t":true,"f":1.10,"z":null,"big":1e999,"":"e"}}}"#;
    let draft = read_json(text).unwrap();
    let expected = [("n", "5"), ("t", "true"), ("f", "1.10"), ("big", "1e999"), ("", "e")];
    assert_eq!(pairs(&draft.metadata), expected, "numbers keep their spelling, null is dropped");
}

#[test]
fn w83_w84_unknown_members_of_any_type_are_passed_over() {
    let text =
        String::from_utf8(body(json!({"foo": "bar", "foo2": 1, "foo3": null, "foo4": true}), &[])).unwrap();
    let first = r#"{"instance":{"foo":{"a":[{"b":"}]\"{"}]},"huge":1e999,"list":[1,2],"#;
    let text = text.replace(r#"{"instance":{"#, first);
    let instance = read_json(text.as_bytes()).unwrap().into_instance(&TO_ORDERS).unwrap();
    assert_eq!(&*instance.instance_id, "i-1");
    assert_eq!(pairs(&instance.metadata), [("k", "v")]);
}

#[test]
fn w85_sid_is_kept_unless_it_says_nothing() {
    assert_eq!(registered(json!({"sid": "abc"})).sid.as_deref(), Some("abc"));
    assert_eq!(registered(json!({"sid": "na"})).sid, None);
    assert_eq!(registered(json!({"sid": "unknown"})).sid, None);
}

#[test]
fn w91_text_of_any_script_arrives_unchanged() {
    let instance = registered(json!({"metadata": {"ключ": "знач😀"}, "homePageUrl": "http://x/é"}));
    assert_eq!(pairs(&instance.metadata), [("ключ", "знач😀")]);
    assert_eq!(instance.home_page_url.as_deref(), Some("http://x/é"));
    let escaped = br#"{"instance":{"\u0068ostName":"\u043a\ud83d\ude00\n\u0000"}}"#;
    assert_eq!(read_json(escaped).unwrap().host_name.as_deref(), Some("к😀\n\0"));
}

#[test]
fn numbers_and_flags_are_taken_for_texts() {
    let instance = registered(json!({"hostName": 17, "ipAddr": 5.50, "vipAddress": true}));
    assert_eq!((&*instance.host_name, &*instance.ip_addr), ("17", "5.5"));
    assert_eq!(instance.vip_address.as_deref(), Some("true"));
    assert_eq!(registered(json!({"vipAddress": ""})).vip_address.as_deref(), Some(""));
}

#[test]
fn numbers_of_the_instance_are_read_from_texts_too() {
    let country = |value| registered(json!({"countryId": value})).country_id;
    assert_eq!(country(json!("7")), 7);
    assert_eq!(country(json!("xx")), 0);
    assert_eq!(country(json!(null)), 1);
    let dirty = |value| registered(json!({"lastDirtyTimestamp": value})).last_dirty_timestamp;
    assert_eq!(dirty(json!(1_700_000_000_005_i64)), 1_700_000_000_005);
    assert_eq!(dirty(json!("abc")), 0);
    assert_eq!(dirty(json!(null)), NOW_MS);
    assert_eq!(registered_without(&["lastDirtyTimestamp"]).last_dirty_timestamp, NOW_MS);
    assert_eq!(registered(json!({"lastUpdatedTimestamp": "abc"})).last_updated_timestamp, NOW_MS);
}

#[test]
fn of_repeated_members_the_last_one_wins() {
    let text =
        br#"{"instance":{"ipAddr":"1","ipAddr":"2","metadata":{"a":"1","a":"2"},"port":{"$":1},"port":{}}}"#;
    let draft = read_json(text).unwrap();
    assert_eq!(draft.ip_addr.as_deref(), Some("2"));
    assert_eq!(pairs(&draft.metadata), [("a", "2")]);
    assert_eq!(draft.port.number, None);
}

/// As Java's reader, which passes over every member that is null, and its builder, which wants no empty host name.
#[test]
fn a_later_null_or_empty_host_name_leaves_what_was_read() {
    let texts = ["instanceId", "hostName", "app", "ipAddr", "sid", "vipAddress", "homePageUrl", "asgName"];
    for name in texts {
        let text = format!(r#"{{"instance":{{"{name}":"a","{name}":null}}}}"#);
        let once = read_json(format!(r#"{{"instance":{{"{name}":"a"}}}}"#).as_bytes()).unwrap();
        assert_eq!(read_json(text.as_bytes()).unwrap(), once, "{name}");
    }
    let rest = r#""status":null,"overriddenStatus":null,"port":null,"securePort":null,"countryId":null,"dataCenterInfo":null,
        "leaseInfo":null,"metadata":null,"isCoordinatingDiscoveryServer":null,"lastUpdatedTimestamp":null,
        "lastDirtyTimestamp":null,"actionType":null"#;
    let inner = String::from_utf8(body(json!({"status": "DOWN", "actionType": "ADDED"}), &[])).unwrap();
    let with_nulls = format!("{},{rest}}}}}", inner.trim_end().strip_suffix("}}").unwrap());
    assert_eq!(read_json(with_nulls.as_bytes()).unwrap(), read_json(inner.as_bytes()).unwrap());
    let empty = read_json(br#"{"instance":{"hostName":"a","hostName":""}}"#).unwrap();
    assert_eq!(empty.host_name.as_deref(), Some("a"));
    assert_eq!(read_json(br#"{"instance":{"hostName":""}}"#).unwrap().host_name, None);
}

#[test]
fn byte_order_mark_white_space_and_trailing_text_do_not_matter() {
    let inner = String::from_utf8(body(json!({}), &[])).unwrap();
    for text in [format!("\u{feff}{inner}"), format!(" \r\n\t{inner}"), format!("{inner} trailing }}")] {
        assert!(read_json(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn instances_without_wrapper_are_read_for_batches() {
    let draft = heureka_protocol::json::read_instance_object(br#"{"hostName":"h"}"#, &Default::default());
    assert_eq!(draft.unwrap().host_name.as_deref(), Some("h"));
}
