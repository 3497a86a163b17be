//! The batch end point as peers use it, Java servers among them (`replication.md` 10.4, 10.9). Codes that differ from Java's are
//! in `docs/wire-choices.md`.

use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use super::bad_batches::{BATCH, JSON, assert_whole, instance, item};
use super::support::{call, fresh_node, get, node, raw, register};
use crate::golden::http::{Answer, gzip};

fn post(port: u16, body: &[u8]) -> Answer {
    call(port, "POST", BATCH, &JSON, body)
}

fn list(items: &[Value]) -> String {
    json!({ "replicationList": items }).to_string()
}

/// The codes of an answer.
fn codes(answer: &Answer) -> Vec<i64> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let answers = document["responseList"].as_array().expect("a list");
    answers.iter().map(|item| item["statusCode"].as_i64().expect("a code")).collect()
}

/// Sends items; their codes.
fn send(port: u16, items: &[Value]) -> Vec<i64> {
    codes(&post(port, list(items).as_bytes()))
}

fn of(action: &str, id: &str, dirty: i64) -> Value {
    item(action, id, &json!(dirty))
}

fn status_of(port: u16, id: &str) -> u16 {
    get(port, &format!("/eureka/apps/ODD/{id}")).status
}

#[test]
fn s27_every_item_has_its_own_code_and_the_first_is_applied() {
    let node = fresh_node();
    let port = node.port();
    let mut without_instance = of("Register", "b", 100);
    without_instance.as_object_mut().expect("an object").remove("instanceInfo");
    let mut bad_status = of("StatusUpdate", "a", 100);
    bad_status["status"] = json!("SOMETIMES");
    let mut without_timestamp = of("DeleteStatusOverride", "a", 100);
    without_timestamp.as_object_mut().expect("an object").remove("lastDirtyTimestamp");
    let mut without_action = of("Heartbeat", "a", 100);
    without_action.as_object_mut().expect("an object").remove("action");
    let items = [
        of("Register", "a", 100),
        without_instance,
        of("Cancel", "nobody", 100),
        of("Heartbeat", "nobody", 100),
        bad_status,
        without_timestamp,
        without_action,
    ];
    assert_eq!(send(port, &items), [200, 400, 404, 404, 400, 200, 400]);
    assert_eq!((status_of(port, "a"), status_of(port, "b")), (200, 404));
}

#[test]
fn s28_a_registration_that_validation_refuses_costs_itself_only() {
    let node = fresh_node();
    let port = node.port();
    let mut empty_host = of("Register", "b", 100);
    empty_host["instanceInfo"]["hostName"] = json!("");
    assert_eq!(
        send(port, &[of("Register", "a", 100), empty_host, of("Register", "c", 100)]),
        [200, 400, 200]
    );
    assert_eq!(["a", "b", "c"].map(|id| status_of(port, id)), [200, 404, 200]);
}

#[test]
fn s29_an_empty_list_is_one_and_what_is_none_is_refused() {
    let node = fresh_node();
    let port = node.port();
    assert_eq!(post(port, br#"{"replicationList":[]}"#).text(), r#"{"responseList":[]}"#);
    for body in [r#"{"replicationList":null}"#, "{}", "null", r#"{"replicationList":["#, ""] {
        assert_eq!(post(port, body.as_bytes()).status, 400, "{body}");
    }
    let mut unknown = of("Heartbeat", "a", 100);
    unknown["action"] = json!("Explode");
    assert_eq!(send(port, &[of("Register", "a", 100), unknown, of("Heartbeat", "a", 100)]), [200, 400, 200]);
}

#[test]
fn s30_a_batch_may_come_in_any_form() {
    let node = fresh_node();
    let port = node.port();
    let body_of = |id: &str| {
        let mut odd = of("Register", id, 100);
        odd["instanceInfo"]["metadata"]["name"] = json!("Käthe");
        list(&[odd])
    };
    let (plain, latin) = (JSON[0], ("Content-Type", "application/json;charset=ISO-8859-1"));
    let packed = gzip(body_of("packed").as_bytes()).expect("compressed");
    let assert_stored = |id: &str| {
        let shown: Value =
            serde_json::from_slice(&get(port, &format!("/eureka/apps/ODD/{id}")).body).expect("JSON");
        assert_eq!(shown["instance"]["metadata"]["name"], "Käthe", "{id}");
    };
    let send_as = |id: &str, path: &str, headers: &[(&str, &str)], body: &[u8]| {
        assert_eq!(codes(&call(port, "POST", path, headers, body)), [200], "{id}");
        assert_stored(id);
    };
    send_as("slash", BATCH, &[plain], body_of("slash").as_bytes());
    send_as("no-slash", BATCH.trim_end_matches('/'), &[plain], body_of("no-slash").as_bytes());
    send_as("packed", BATCH, &[plain, ("Content-Encoding", "gzip")], &packed);
    send_as("latin", BATCH, &[latin], body_of("latin").as_bytes());
    let body = body_of("chunked");
    let (first, rest) = body.split_at(100);
    let chunked = format!(
        "POST {BATCH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{first}\r\n{:x}\r\n{rest}\r\n0\r\n\r\n",
        first.len(),
        rest.len()
    );
    assert_eq!(codes(&raw(port, chunked.as_bytes(), "POST").expect("an answer")), [200]);
    assert_stored("chunked");
    let many: Vec<Value> = (0..7_000).map(|n| of("Register", &format!("i-{n}"), 100)).collect();
    let large = list(&many);
    assert!(large.len() > 5_000_000, "{}", large.len());
    assert!(codes(&post(port, large.as_bytes())).iter().all(|code| *code == 200));
}

#[test]
fn s30a_unknown_members_with_inner_parts_cost_nothing_and_are_not_kept() {
    let node = fresh_node();
    let port = node.port();
    let mut odd = of("Register", "a", 100);
    odd["instanceInfo"]["unknownObject"] = json!({"a": [1, {"b": 2}]});
    odd["instanceInfo"]["unknownList"] = json!([[], {}]);
    odd["unknownToo"] = json!({"c": {}});
    assert_eq!(send(port, &[odd, of("Heartbeat", "a", 100)]), [200, 200]);
    assert!(!get(port, "/eureka/apps/ODD/a").text().contains("unknown"));
}

#[test]
fn s32_items_of_one_instance_are_applied_in_their_order() {
    let node = fresh_node();
    let port = node.port();
    assert_eq!(send(port, &[of("Register", "goes", 100), of("Cancel", "goes", 100)]), [200, 200]);
    assert_eq!(status_of(port, "goes"), 404);
    register(port, "ODD", "stays");
    assert_eq!(send(port, &[of("Cancel", "stays", 100), of("Register", "stays", 200)]), [200, 200]);
    assert_eq!(status_of(port, "stays"), 200);
}

#[test]
fn s33_two_senders_may_change_one_instance_ten_thousand_times_at_once() {
    const BATCHES: i64 = 20;
    let node = fresh_node();
    let port = node.port();
    register(port, "GOOD", "good");
    let begin = Barrier::new(2);
    let send_all = &|sender: i64| {
        begin.wait();
        for batch in 0..BATCHES {
            let dirty = |n: i64| 1_000 * batch + 2 * n + sender;
            let one = |n: i64| match n % 5 {
                0 | 1 => of("Register", "i-1", dirty(n)),
                2 => of("StatusUpdate", "i-1", dirty(n)),
                3 => of("Heartbeat", "i-1", dirty(n)),
                _ => of("Cancel", "i-1", dirty(n)),
            };
            let items: Vec<Value> = (0..250).map(one).collect();
            for code in send(port, &items) {
                assert!([200, 404, 409].contains(&code), "{code}");
            }
        }
    };
    thread::scope(|scope| {
        for sender in [0, 1] {
            scope.spawn(move || send_all(sender));
        }
    });
    let newest = 1_000 * BATCHES;
    assert_eq!(send(port, &[of("Register", "i-1", newest)]), [200]);
    let document = assert_whole(port);
    let alone: Value = serde_json::from_slice(&get(port, "/eureka/apps/ODD/i-1").body).expect("JSON");
    let applications = document["applications"]["application"].as_array().expect("applications");
    let odd: Vec<&Value> = applications.iter().filter(|app| app["name"] == "ODD").collect();
    assert_eq!((odd.len(), odd[0]["instance"].as_array().map(Vec::len)), (1, Some(1)));
    // The time of the last renewal is worked out when it is written, from another clock: it may differ by a millisecond.
    let stated = |instance: &Value| {
        let mut instance = instance.clone();
        instance["leaseInfo"]["lastRenewalTimestamp"].take();
        instance
    };
    assert_eq!(stated(&odd[0]["instance"][0]), stated(&alone["instance"]), "one state, wherever it is read");
    assert_eq!(alone["instance"]["lastDirtyTimestamp"], newest.to_string());
}

#[test]
fn s79_a_late_registration_by_a_java_server_does_not_bring_back_what_was_cancelled_here() {
    let node = fresh_node();
    let port = node.port();
    let body = json!({ "instance": instance("ODD", "a", &json!("100")) }).to_string();
    assert_eq!(call(port, "POST", "/eureka/apps/ODD", &JSON, body.as_bytes()).status, 204);
    assert_eq!(call(port, "DELETE", "/eureka/apps/ODD/a", &[], b"").status, 200);
    assert_eq!(
        send(port, &[of("Heartbeat", "a", 100)]),
        [404],
        "the server did not know yet, and sends the instance"
    );
    send(port, &[of("Register", "a", 100)]);
    assert_eq!(status_of(port, "a"), 404);
    assert_eq!(send(port, &[of("Register", "a", 200)]), [200], "another life of it");
    assert_eq!(status_of(port, "a"), 200);
}

#[test]
fn s76a_a_heartbeat_of_an_unknown_instance_is_answered_404_with_nothing_behind_it() {
    let node = fresh_node();
    for accept in ["application/json", "application/xml", "*/*"] {
        let path = "/eureka/apps/EUREKA/java-1?status=UP&lastDirtyTimestamp=1700000000000";
        let answer = call(node.port(), "PUT", path, &[("Accept", accept)], b"");
        assert_eq!(
            (answer.status, answer.body.len(), answer.header("content-type")),
            (404, 0, None),
            "{accept}"
        );
    }
}

#[test]
fn a_batch_that_an_overloaded_node_cannot_apply_is_put_off_whole_for_java_and_item_by_item_for_our_kind() {
    let node = node(&[
        ("eureka.server.use-read-only-response-cache", "false"),
        ("heureka.limits.cache-backlog", "2"),
    ]);
    let port = node.port();
    let backlog = &node.node().registry.shared().cache_backlog;
    backlog.enter();
    backlog.enter();
    let body = list(&[of("Register", "a", 100), of("Cancel", "b", 100)]);
    let answer = post(port, body.as_bytes());
    assert_eq!(answer.status, 503, "Java sends the whole batch again after a second: {}", answer.text());
    assert_eq!(answer.header("retry-after"), Some("1"));
    let ours = [JSON[0], JSON[1], ("x-heureka-peer", "1;node=somebody;epoch=1")];
    let answer = call(port, "POST", BATCH, &ours, body.as_bytes());
    assert_eq!(codes(&answer), [503, 503]);
    backlog.leave();
    backlog.leave();
    assert_eq!(send(port, &[of("Register", "a", 100), of("Cancel", "b", 100)]), [200, 404]);
}
