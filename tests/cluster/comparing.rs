//! Anti-entropy between nodes of our kind (`replication.md` 9.3.4): what got lost without anybody noticing is mended in two
//! rounds, by whoever it belongs to.

use serde_json::json;

use super::nodes::Cluster;

/// A replica call is told to nobody, so it makes a difference that nothing but a comparison finds.
const REPLICA: [(&str, &str); 1] = [("x-netflix-discovery-replication", "true")];

fn replica(cluster: &Cluster, node: usize, method: &str, path: &str) {
    let answer = cluster.call_with(node, method, path, &REPLICA, "");
    assert!((200..300).contains(&answer.status), "{method} {path}: {}", answer.status);
}

/// Two nodes that have met, with one instance that talks to node 0.
fn pair() -> Cluster {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(1, "OTHER", "o-1", 100);
    cluster.until_equal();
    cluster
}

#[test]
fn an_instance_that_a_peer_lost_is_there_again_after_two_rounds() {
    let cluster = pair();
    replica(&cluster, 1, "DELETE", "/eureka/apps/ORDERS/i-1");
    cluster.compare(0);
    assert!(cluster.instance(1, "ORDERS", "i-1").is_none(), "one round may have met something on its way");
    cluster.compare(0);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 2);
    assert_eq!(cluster.metric(0, "eureka_antientropy_repairs_total{"), 1.0);
}

#[test]
fn d7_an_override_that_a_peer_lost_comes_from_where_it_was_set() {
    let cluster = pair();
    cluster.set_status(1, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    replica(&cluster, 0, "DELETE", "/eureka/apps/ORDERS/i-1/status?value=UP");
    for _ in 0..2 {
        cluster.compare(0);
        cluster.compare(1);
    }
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["overriddenStatus"] == "OUT_OF_SERVICE");
    cluster.until_equal();
}

#[test]
fn d8_an_override_that_was_removed_does_not_come_back_by_comparing() {
    let cluster = pair();
    cluster.set_status(0, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    cluster.remove_override(1, "ORDERS", "i-1", Some("UP"));
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["status"] == "UP");
    replica(&cluster, 0, "PUT", "/eureka/apps/ORDERS/i-1/status?value=OUT_OF_SERVICE");
    for _ in 0..2 {
        cluster.compare(0);
        cluster.compare(1);
    }
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["status"] == "UP" && i["overriddenStatus"] == "UNKNOWN");
    cluster.until_equal();
}

#[test]
fn d11_d12_s21_content_that_differs_under_one_timestamp_comes_from_the_owner() {
    let cluster = pair();
    let body = json!({"instance": {
        "instanceId": "i-1", "app": "ORDERS", "hostName": "elsewhere", "ipAddr": "10.0.0.9", "status": "UP",
        "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
        "lastDirtyTimestamp": "100",
    }});
    let answer = cluster.call_with(1, "POST", "/eureka/apps/ORDERS", &REPLICA, &body.to_string());
    assert_eq!(answer.status, 204);
    for _ in 0..2 {
        cluster.compare(0);
        cluster.compare(1);
    }
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["hostName"] == "host.example");
    assert_eq!(cluster.instance(0, "ORDERS", "i-1").expect("an instance")["hostName"], "host.example");
}

#[test]
fn equal_nodes_send_one_another_nothing() {
    let cluster = pair();
    let before = (cluster.link(0, 1).items("Register"), cluster.link(1, 0).items("Register"));
    for _ in 0..3 {
        cluster.compare(0);
        cluster.compare(1);
    }
    assert_eq!(before, (cluster.link(0, 1).items("Register"), cluster.link(1, 0).items("Register")));
    assert!(cluster.metric(0, "eureka_antientropy_repairs_total{") < 0.5);
}

#[test]
fn a_peer_that_never_said_who_it_is_is_not_compared_with() {
    // Node 1 has never been sent a batch, so node 0 cannot know that it is no Java server.
    let cluster = Cluster::start(2, &[]);
    cluster.call(0, "GET", "/eureka/apps/", "");
    assert!(!cluster.link(0, 1).sent().contains("x-heureka-digest"));
}
