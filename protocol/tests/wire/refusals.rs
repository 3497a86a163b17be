//! Registrations that can be read but not accepted, and bodies that cannot be read.

use heureka_protocol::error::{EXAMPLE_BATCH_JSON, EXAMPLE_INSTANCE_JSON, EXAMPLE_INSTANCE_XML};
use heureka_protocol::{Limits, Registration, batch, batch_error_document, error_document};
use serde_json::{Value, json};

use crate::samples::{TO_ORDERS, body, read_json, read_xml};

fn refusal(changes: Value, removed: &[&str]) -> String {
    let draft = read_json(&body(changes, removed)).unwrap();
    draft.into_instance(&TO_ORDERS).unwrap_err().to_string()
}

fn unreadable(changes: Value) -> String {
    read_json(&body(changes, &[])).unwrap_err().to_string()
}

#[test]
fn w43_missing_id() {
    assert_eq!(refusal(json!({}), &["instanceId", "hostName"]), "Missing instanceId");
    assert_eq!(refusal(json!({"instanceId": "", "hostName": ""}), &[]), "Missing instanceId");
}

#[test]
fn w44_missing_host_name() {
    assert_eq!(refusal(json!({}), &["hostName"]), "Missing hostname");
    assert_eq!(refusal(json!({"hostName": ""}), &[]), "Missing hostname");
    assert_eq!(refusal(json!({"instanceId": " "}), &["hostName"]), "Missing hostname");
}

#[test]
fn w45_missing_ip_address() {
    assert_eq!(refusal(json!({}), &["ipAddr"]), "Missing ip address");
    assert_eq!(refusal(json!({"ipAddr": ""}), &[]), "Missing ip address");
}

#[test]
fn w46_w47_missing_application_name() {
    assert_eq!(refusal(json!({"app": ""}), &[]), "Missing appName");
    assert_eq!(refusal(json!({}), &["app"]), "Missing appName");
    assert_eq!(refusal(json!({"app": null}), &[]), "Missing appName");
}

#[test]
fn w48_mismatched_application_name() {
    let expected = "Mismatched appName, expecting ORDERS but was OTHER";
    assert_eq!(refusal(json!({"app": "OTHER"}), &[]), expected);
    assert_eq!(refusal(json!({"app": "other"}), &[]), expected);
}

#[test]
fn w49_w50_missing_data_center() {
    assert_eq!(refusal(json!({}), &["dataCenterInfo"]), "Missing dataCenterInfo");
    assert_eq!(refusal(json!({"dataCenterInfo": null}), &[]), "Missing dataCenterInfo");
    let class = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo";
    let nameless = json!({"dataCenterInfo": {"@class": class}});
    assert_eq!(refusal(nameless, &[]), "Missing dataCenterInfo Name");
    assert_eq!(refusal(json!({"dataCenterInfo": {}}), &[]), "Missing dataCenterInfo Name");
}

#[test]
fn w54_q22_the_poison_registration_is_refused() {
    let class = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo";
    let text = refusal(json!({"dataCenterInfo": {"@class": class, "name": "Amazon"}}), &[]);
    assert_eq!(text, "Mismatched dataCenterInfo, name Amazon needs @class com.netflix.appinfo.AmazonInfo");
}

#[test]
fn amazon_instance_id_can_be_required() {
    let class = "com.netflix.appinfo.AmazonInfo";
    let strict = Registration { require_data_center_id: true, ..TO_ORDERS };
    for metadata in [json!({}), json!({"instance-id": ""}), json!({"instance-id": " "})] {
        let changes = json!({"dataCenterInfo": {"@class": class, "metadata": metadata}});
        let draft = read_json(&body(changes, &[])).unwrap();
        let text = draft.into_instance(&strict).unwrap_err().to_string();
        assert_eq!(text, format!("DataCenterInfo of type class {class} must contain a valid id"));
    }
}

#[test]
fn checks_are_made_in_the_order_of_the_table() {
    let order = [
        ("hostName", "Missing instanceId"),
        ("ipAddr", "Missing ip address"),
        ("app", "Missing appName"),
        ("dataCenterInfo", "Missing dataCenterInfo"),
    ];
    let mut removed = vec!["instanceId", "dataCenterInfo", "app", "ipAddr", "hostName"];
    for (restored, text) in order {
        assert_eq!(refusal(json!({}), &removed), text);
        removed.retain(|name| *name != restored && *name != "instanceId");
    }
    let text = refusal(json!({"app": "other"}), &["dataCenterInfo"]);
    assert!(text.starts_with("Mismatched appName"), "{text}");
}

#[test]
fn w53_an_unknown_class_or_name_of_a_data_center_is_named() {
    assert_eq!(
        unreadable(json!({"dataCenterInfo": {"@class": "com.example.Foo", "name": "MyOwn"}})),
        "found \"com.example.Foo\" in instance.dataCenterInfo.@class, expected the class name of a data center"
    );
    for name in ["Azure", "myown"] {
        assert_eq!(
            unreadable(json!({"dataCenterInfo": {"name": name}})),
            format!("found \"{name}\" in instance.dataCenterInfo.name, expected MyOwn, Netflix or Amazon")
        );
    }
}

#[test]
fn w57_w58_bodies_that_are_no_json() {
    let empty = read_json(b"").unwrap_err().to_string();
    assert_eq!(empty, r#"found nothing in the body, expected an object with the single member "instance""#);
    for text in
        ["{bad", "{'instance':{}}", "/* c */{}", "<instance></instance>", "{\"instance\":{\"port\":{\"$\":80"]
    {
        let error = read_json(text.as_bytes()).unwrap_err();
        assert!(error.found().starts_with("malformed JSON ("), "{text}: {error}");
    }
    let truncated = read_json(b"{\"instance\":{\"port\":{\"$\":80").unwrap_err();
    assert_eq!(truncated.member(), "instance.port", "the place where the text breaks off");
    let truncated = read_json(b"{\"instance\":{\"port\":{\"$\":").unwrap_err();
    assert_eq!(truncated.member(), "instance.port.$");
}

#[test]
fn w59_w60_other_roots_are_refused() {
    let bodies = [
        "{}",
        "[]",
        "\"x\"",
        "5",
        "null",
        "true",
        "1.5",
        r#"{"instance":null}"#,
        r#"{"instance":"x"}"#,
        r#"{"instance":[]}"#,
        r#"{"foo":{}}"#,
        r#"{"hostName":"h","app":"a"}"#,
        r#"{"instance":{},"more":1}"#,
        r#"{"more":1,"instance":{}}"#,
        r#"{"instance":{},"instance":{}}"#,
    ];
    for text in bodies {
        let error = read_json(text.as_bytes()).unwrap_err();
        assert!(!error.found().starts_with("malformed"), "{text}: {error}");
    }
    assert_eq!(
        read_json(br#"{"hostName":"h"}"#).unwrap_err().to_string(),
        r#"found the member "hostName" in the body, expected an object with the single member "instance""#
    );
}

#[test]
fn w82_q20_metadata_must_be_an_object_of_plain_values() {
    assert_eq!(
        unreadable(json!({"metadata": []})),
        "found a list in instance.metadata, expected an object of texts"
    );
    assert_eq!(
        unreadable(json!({"metadata": "x"})),
        "found \"x\" in instance.metadata, expected an object of texts"
    );
    assert_eq!(
        unreadable(json!({"metadata": {"a": {"b": "c"}}})),
        "found an object in instance.metadata.a, expected a text"
    );
    assert_eq!(
        unreadable(json!({"metadata": {"a": ["b"]}})),
        "found a list in instance.metadata.a, expected a text"
    );
}

#[test]
fn every_member_of_a_wrong_type_is_named() {
    let texts = [
        "instanceId",
        "hostName",
        "app",
        "ipAddr",
        "sid",
        "appGroupName",
        "homePageUrl",
        "statusPageUrl",
        "healthCheckUrl",
        "secureHealthCheckUrl",
        "vipAddress",
        "secureVipAddress",
        "asgName",
        "status",
        "overriddenStatus",
        "overriddenstatus",
        "countryId",
        "isCoordinatingDiscoveryServer",
        "lastUpdatedTimestamp",
        "lastDirtyTimestamp",
        "actionType",
    ];
    for name in texts {
        for (value, found) in [(json!({"a": 1}), "an object"), (json!([1]), "a list")] {
            let error = read_json(&body(json!({ name: value }), &[])).unwrap_err();
            assert_eq!((error.member(), error.found()), (format!("instance.{name}").as_str(), found));
        }
    }
    for name in ["port", "securePort", "leaseInfo", "metadata", "dataCenterInfo"] {
        for (value, found) in
            [(json!([]), "a list"), (json!("x"), "\"x\""), (json!(true), "true"), (json!(0.5), "0.5")]
        {
            let error = read_json(&body(json!({ name: value }), &[])).unwrap_err();
            assert_eq!((error.member(), error.found()), (format!("instance.{name}").as_str(), found));
        }
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    assert_eq!(
        unreadable(json!({"port": {"$": 99_999_999_999_i64}})),
        "found 99999999999 in instance.port.$, expected a whole number of 32 bits"
    );
    assert_eq!(
        unreadable(json!({"port": 99_999_999_999_i64})),
        r#"found 99999999999 in instance.port, expected {"$":8080,"@enabled":"true"} or a port number"#
    );
    assert_eq!(
        unreadable(json!({"lastDirtyTimestamp": "99999999999999999999"})),
        "found \"99999999999999999999\" in instance.lastDirtyTimestamp, expected a whole number of 64 bits"
    );
}

#[test]
fn the_first_of_several_faults_is_named() {
    let text = br#"{"instance":{"hostName":[],"ipAddr":{},"port":{"$":[]}}}"#;
    assert_eq!(read_json(text).unwrap_err().member(), "instance.hostName");
}

#[test]
fn examples_are_right_bodies() {
    let checkout = Registration { path_app: "checkout", ..TO_ORDERS };
    let json = read_json(EXAMPLE_INSTANCE_JSON.as_bytes()).unwrap().into_instance(&checkout).unwrap();
    let xml = read_xml(EXAMPLE_INSTANCE_XML).unwrap().into_instance(&checkout).unwrap();
    assert_eq!(json, xml);
    let items = batch::read_list(EXAMPLE_BATCH_JSON.as_bytes(), &Limits::DEFAULT).unwrap();
    assert!(items.iter().all(Result::is_ok));
}

#[test]
fn error_documents_begin_as_those_of_java_and_are_well_formed() {
    let reason = "found \"<&\" in instance.port.$";
    let json = String::from_utf8(error_document(true, &reason)).unwrap();
    assert!(json.starts_with(r#"{"error": "cannot parse request body","#), "{json}");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["reason"], reason);
    assert!(read_json(value["example"].to_string().as_bytes()).is_ok());

    let batch: Value = serde_json::from_slice(&batch_error_document(&reason)).unwrap();
    assert!(batch["example"]["replicationList"].is_array());

    let xml = String::from_utf8(error_document(false, &reason)).unwrap();
    let expected = "<error><message>cannot parse request body</message>\
                    <reason>found &quot;&lt;&amp;&quot; in instance.port.$</reason><example><instance>";
    assert!(xml.starts_with(expected), "{xml}");
    assert!(xml.ends_with("</instance></example></error>"), "{xml}");
}

#[test]
fn messages_never_repeat_long_pieces_of_the_body() {
    let long = "x".repeat(7000);
    let error = read_json(&body(json!({"dataCenterInfo": {"name": long}}), &[])).unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
    let xml = format!("<instance><{long}></instance>");
    let error = read_xml(&xml).unwrap_err().to_string();
    assert!(error.len() < 500, "{error}");
    let json = format!(r#"{{"instance":{{"metadata":{{"{long}":[]}}}}}}"#);
    let error = read_json(json.as_bytes()).unwrap_err().to_string();
    assert!(error.len() < 300, "{error}");
}
