//! Batches that no peer should send: whatever is in them, every item is answered in its place, the others are done, and the
//! registry stays whole.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{call, fresh_node, get, node, register};

pub(super) const JSON: [(&str, &str); 2] =
    [("Content-Type", "application/json"), ("Accept", "application/json")];
pub(super) const BATCH: &str = "/eureka/peerreplication/batch/";
const GOOD: &str = r#"{"appName":"GOOD","id":"good","action":"Heartbeat"}"#;

/// Sends items as they are between two good ones; the codes of theirs.
fn codes(port: u16, items: &[String]) -> Vec<i64> {
    let list: Vec<&str> = [GOOD].into_iter().chain(items.iter().map(String::as_str)).chain([GOOD]).collect();
    let body = format!("{{\"replicationList\":[{}]}}", list.join(","));
    let answer = call(port, "POST", BATCH, &JSON, body.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let value: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let answers = value["responseList"].as_array().expect("a list");
    let codes: Vec<i64> = answers.iter().map(|item| item["statusCode"].as_i64().expect("a code")).collect();
    assert_eq!(codes.len(), list.len());
    assert_eq!((codes[0], codes[codes.len() - 1]), (200, 200), "the good ones");
    codes[1..codes.len() - 1].to_vec()
}

pub(super) fn instance(app: &str, id: &str, dirty: &Value) -> Value {
    json!({
        "instanceId": id, "app": app, "hostName": "h1.example", "ipAddr": "10.0.0.1", "status": "UP",
        "overriddenStatus": "UNKNOWN", "port": {"$": 8080, "@enabled": "true"},
        "securePort": {"$": 443, "@enabled": "false"}, "countryId": 1,
        "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
        "leaseInfo": {"renewalIntervalInSecs": 30, "durationInSecs": 90, "registrationTimestamp": 1},
        "metadata": {"k": "v"}, "homePageUrl": "http://h1.example/", "vipAddress": "orders.vip",
        "secureVipAddress": "orders.vip", "isCoordinatingDiscoveryServer": "false",
        "lastUpdatedTimestamp": "1", "lastDirtyTimestamp": dirty, "actionType": "ADDED",
    })
}

pub(super) fn item(action: &str, id: &str, dirty: &Value) -> Value {
    let mut item =
        json!({"appName": "ODD", "id": id, "action": action, "lastDirtyTimestamp": dirty, "status": "UP"});
    if action == "Register" {
        item["instanceInfo"] = instance("ODD", id, dirty);
    }
    item
}

const ACTIONS: [&str; 5] = ["Register", "Heartbeat", "StatusUpdate", "DeleteStatusOverride", "Cancel"];

/// Documents are whole, the good instance is there, and nothing inside has failed.
pub(super) fn assert_whole(port: u16) -> Value {
    let document: Value = serde_json::from_slice(&get(port, "/eureka/apps").body).expect("JSON");
    let applications = document["applications"]["application"].as_array().expect("applications").clone();
    assert!(applications.iter().any(|app| app["name"] == "GOOD"), "{document}");
    for path in ["/eureka/apps", "/eureka/apps/delta"] {
        let xml = call(port, "GET", path, &[], b"").text();
        let mut reader = quick_xml::Reader::from_str(&xml);
        while !matches!(reader.read_event().expect("XML"), quick_xml::events::Event::Eof) {}
    }
    let metrics = get(port, "/actuator/prometheus").text();
    assert!(metrics.contains("\neureka_actor_panics_total 0"), "{metrics}");
    document
}

#[test]
fn every_member_may_be_of_every_wrong_type() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let wrong = [
        json!(null),
        json!(true),
        json!(7),
        json!(-1.5),
        json!(1e300),
        json!("text"),
        json!(""),
        json!([]),
        json!([1, {"a": []}]),
        json!({}),
        json!({"a": {"b": [1]}}),
    ];
    let mut items = Vec::new();
    for action in ACTIONS {
        let base = item(action, "odd", &json!(100));
        for path in paths(&base) {
            for value in &wrong {
                let mut odd = base.clone();
                *odd.pointer_mut(&path).expect("a member") = value.clone();
                items.push(odd.to_string());
            }
        }
    }
    assert!(items.len() > 500);
    let deep = format!(r#"{{"appName":"ODD","id":"odd","x":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    items.push(deep);
    for code in codes(port, &items) {
        assert!([200, 400, 404, 409].contains(&code), "{code}");
    }
    assert_whole(port);
}

/// Pointers to all members, inner ones too.
fn paths(value: &Value) -> Vec<String> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let inner = |(name, value): (&String, &Value)| {
        let own = format!("/{name}");
        let below = paths(value).into_iter().map(|path| format!("{own}{path}")).collect::<Vec<_>>();
        [own.clone()].into_iter().chain(below)
    };
    object.iter().flat_map(inner).collect()
}

#[test]
fn absurd_times_are_stored_or_refused_and_break_nothing() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let stored =
        ["0", "-1", "\"17\"", "9223372036854775807", "-9223372036854775808", "253402300800000", "1.5"];
    let refused = ["9223372036854775808", "1e300", "\"soon\""];
    for (place, dirty) in stored.iter().chain(&refused).enumerate() {
        let is_stored = place < stored.len();
        let id = format!("t-{place}");
        let marked = json!("DIRTY");
        let text = |action: &str| item(action, &id, &marked).to_string().replace("\"DIRTY\"", dirty);
        let all = codes(port, &ACTIONS.map(text));
        let expected = if is_stored { [200; 5] } else { [400; 5] };
        assert_eq!(all, expected, "{dirty}");
        assert_eq!(codes(port, &[text("Register")]), [if is_stored { 200 } else { 400 }], "{dirty}");
    }
    let mut leases = Vec::new();
    for (place, secs) in ["0", "-1", "2147483647", "-2147483648", "99999999999", "1e300"].iter().enumerate() {
        for member in ["durationInSecs", "renewalIntervalInSecs"] {
            let mut odd = item("Register", &format!("l-{place}-{member}"), &json!(100));
            odd["instanceInfo"]["leaseInfo"][member] = json!("SECS");
            leases.push(odd.to_string().replace("\"SECS\"", secs));
        }
    }
    for code in codes(port, &leases) {
        assert!([200, 400].contains(&code), "{code}");
    }
    node.node().registry.evict_now();
    assert_whole(port);
    let hidden =
        ["GET", "DELETE"].map(|method| call(port, method, "/eureka/apps/ODD/t-3", &JSON, b"").status);
    assert_eq!(hidden, [404, 404], "cancelled with the greatest timestamp of all, nothing brings it back");
    register(port, "ODD", "t-3");
    assert_eq!(get(port, "/eureka/apps/ODD/t-3").status, 200, "but the instance itself");
}

#[test]
fn an_instance_of_another_application_or_id_is_stored_under_neither() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let mut other_app = item("Register", "odd", &json!(100));
    other_app["instanceInfo"]["app"] = json!("ELSEWHERE");
    let mut into_good = item("Register", "good", &json!(i64::MAX));
    into_good["instanceInfo"]["app"] = json!("GOOD");
    assert_eq!(codes(port, &[other_app.to_string(), into_good.to_string()]), [400, 400]);
    let document = assert_whole(port);
    let text = document.to_string();
    assert!(!text.contains("ELSEWHERE") && !text.contains("\"ODD\""), "{text}");
    assert_eq!(document["applications"]["apps__hashcode"], "UP_1_");
}

#[test]
fn ten_thousand_items_are_answered_one_by_one_and_more_are_refused() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let items: Vec<String> = (0..9_998)
        .map(|n| format!(r#"{{"appName":"APP-{}","id":"i-{n}","action":"Heartbeat"}}"#, n % 100))
        .collect();
    assert!(codes(port, &items).iter().all(|code| *code == 404));
    let mut body = String::from("{\"replicationList\":[");
    for n in 0..10_001 {
        let _ = write!(body, "{}{GOOD}", if n > 0 { "," } else { "" });
    }
    body.push_str("]}");
    assert_eq!(call(port, "POST", BATCH, &JSON, body.as_bytes()).status, 400);
    let document = assert_whole(port);
    assert_eq!(document["applications"]["apps__hashcode"], "UP_1_", "heartbeats make no applications");
}

#[test]
fn a_batch_that_comes_again_changes_nothing() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let register_then = |dirty: i64, host: &str| {
        let mut items = [item("Register", "i-1", &json!(dirty)), item("Heartbeat", "i-1", &json!(dirty))];
        items[0]["instanceInfo"]["hostName"] = json!(host);
        items.map(|item| item.to_string())
    };
    let (old, new) = (register_then(100, "old.example"), register_then(200, "new.example"));
    let host = || -> Value {
        let document: Value = serde_json::from_slice(&get(port, "/eureka/apps/ODD/i-1").body).expect("JSON");
        document["instance"]["hostName"].clone()
    };
    assert_eq!(codes(port, &old), [200, 200]);
    assert_eq!(codes(port, &new), [200, 200]);
    for _ in 0..3 {
        assert_eq!(codes(port, &new), [200, 200]);
        assert_eq!(codes(port, &old), [200, 409], "what is older is told that it is");
        assert_eq!(host(), "new.example");
    }
    let out = json!({"appName": "ODD", "id": "i-1", "action": "StatusUpdate", "lastDirtyTimestamp": 200,
        "status": "OUT_OF_SERVICE"});
    for _ in 0..3 {
        assert_eq!(codes(port, &[out.to_string()]), [200]);
    }
    assert_eq!(assert_whole(port)["applications"]["apps__hashcode"], "OUT_OF_SERVICE_1_UP_1_");
    let cancel = item("Cancel", "i-1", &json!(200)).to_string();
    assert_eq!(codes(port, &[cancel.clone(), cancel]), [200, 404]);
    assert_eq!(assert_whole(port)["applications"]["apps__hashcode"], "UP_1_");
}

#[test]
fn bodies_that_are_no_list_are_refused_whole() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let cut = format!(r#"{{"replicationList":[{GOOD}"#);
    let bodies: [&[u8]; 6] = [
        b"",
        b"\xff\xfe\x00\x00",
        b"{\"replicationList\":[\"\xc3\x28\"]}",
        b"<list/>",
        b"{\"replicationList\":{\"0\":1}}",
        cut.as_bytes(),
    ];
    for body in bodies {
        let answer = call(port, "POST", BATCH, &JSON, body);
        assert_eq!(
            answer.status,
            400,
            "{}: {}",
            String::from_utf8_lossy(&body[..body.len().min(60)]),
            answer.text()
        );
    }
    assert_eq!(assert_whole(port)["applications"]["apps__hashcode"], "UP_1_");
}

#[test]
fn nobody_is_taken_for_a_node_of_our_kind_by_a_nonsense_header_and_the_node_knows_its_own() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let cancel = br#"{"replicationList":[{"appName":"GOOD","id":"good","action":"Cancel"}]}"#;
    let empty = call(port, "POST", BATCH, &JSON, b"{\"replicationList\":[]}");
    let own = empty.header("x-heureka-peer").expect("it says who it is").to_owned();
    let post = |name: &str, value: &str, body: &[u8]| {
        let headers = [JSON[0], JSON[1], (name, value)];
        call(port, "POST", BATCH, &headers, body)
    };
    assert_eq!(post("x-heureka-peer", &own, cancel).text(), r#"{"responseList":[{"statusCode":200}]}"#);
    assert_eq!(
        assert_whole(port)["applications"]["apps__hashcode"],
        "UP_1_",
        "it does nothing that it said itself"
    );
    let long = "9".repeat(8_000);
    for value in ["", "1", "1;node=", "2;node=abc", ";;;", "1;node=a;epoch=-9223372036854775809", &long] {
        let heartbeat = format!("{{\"replicationList\":[{GOOD}]}}");
        assert_eq!(post("x-heureka-peer", value, heartbeat.as_bytes()).status, 200, "{value}");
        assert_eq!(post("x-heureka-digest", value, heartbeat.as_bytes()).status, 200, "{value}");
    }
    assert_whole(port);
}

#[test]
fn items_that_are_refused_are_counted_by_what_is_wrong_with_them() {
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let dirty = json!(100);
    let mut unknown_action = item("Heartbeat", "a", &dirty);
    unknown_action["action"] = json!("Dance");
    let mut without_id = item("Heartbeat", "a", &dirty);
    without_id.as_object_mut().expect("an object").remove("id");
    let mut wrong_type = item("Heartbeat", "a", &dirty);
    wrong_type["lastDirtyTimestamp"] = json!({"a": 1});
    let mut empty_host = item("Register", "a", &dirty);
    empty_host["instanceInfo"]["hostName"] = json!("");
    let items = [unknown_action, without_id, wrong_type, empty_host].map(|item| item.to_string());
    assert_eq!(codes(port, &items), [400; 4]);
    let metrics = get(port, "/actuator/prometheus").text();
    for (reason, count) in [("unreadable", 3), ("invalid", 1)] {
        let line = format!(
            "\neureka_replication_refused_items_total{{sender=\"other\",reason=\"{reason}\"}} {count}\n"
        );
        assert!(metrics.contains(&line), "{line} in {metrics}");
    }
}

#[test]
fn a_registration_for_which_there_is_no_room_is_counted() {
    let node = node(&[("heureka.limits.max-instances-per-application", "1")]);
    let port = node.port();
    register(port, "GOOD", "good");
    let items = ["a", "b"].map(|id| item("Register", id, &json!(100)).to_string());
    assert_eq!(codes(port, &items), [200, 503]);
    let metrics = get(port, "/actuator/prometheus").text();
    let line = "\neureka_replication_refused_items_total{sender=\"other\",reason=\"not_applied\"} 1\n";
    assert!(metrics.contains(line), "{metrics}");
}
