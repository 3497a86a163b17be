//! Basic propagation between two nodes, and no loops between three (`replication.md` 10.1, 10.2).

use serde_json::json;

use super::nodes::Cluster;
use crate::waiting::until;

#[test]
fn s1_s3_what_is_registered_and_cancelled_on_one_node_is_so_on_the_other() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster
        .until_shown(1, "ORDERS", "i-1", |i| i["metadata"]["k"] == "v" && i["lastDirtyTimestamp"] == "100");
    cluster.until_equal();
    cluster.cancel(0, "ORDERS", "i-1");
    cluster.until_gone(1, "ORDERS", "i-1");
    let delta = cluster.call(1, "GET", "/eureka/apps/delta", "");
    assert!(String::from_utf8_lossy(&delta.body).contains(r#""actionType":"DELETED""#));
}

#[test]
fn s2_heartbeats_are_told_and_not_told_on() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    let renewals = || cluster.metric(1, "eureka_renewals_total");
    let before = renewals();
    assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
    until("the heartbeat arrives", || renewals() > before);
    assert_eq!(cluster.link(0, 1).items("Heartbeat"), 1);
    assert_eq!(cluster.link(1, 0).batches(), 0);
}

#[test]
fn s4_s5_an_override_is_set_survives_heartbeats_and_is_removed() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.set_status(0, "ORDERS", "i-1", "OUT_OF_SERVICE");
    let is_out =
        |i: &serde_json::Value| i["status"] == "OUT_OF_SERVICE" && i["overriddenStatus"] == "OUT_OF_SERVICE";
    cluster.until_shown(1, "ORDERS", "i-1", is_out);
    for count in 1..=3 {
        assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
        until("the heartbeat leaves", || cluster.link(0, 1).items("Heartbeat") >= count);
    }
    cluster.until_quiet(0);
    cluster.until_shown(1, "ORDERS", "i-1", is_out);
    cluster.remove_override(0, "ORDERS", "i-1", Some("UP"));
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "UP" && i["overriddenStatus"] == "UNKNOWN");
    cluster.until_equal();
}

#[test]
fn s6_an_override_that_is_removed_without_a_value_leaves_the_reported_status_everywhere() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.set_status(0, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    cluster.remove_override(0, "ORDERS", "i-1", None);
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "UP" && i["overriddenStatus"] == "UNKNOWN");
    cluster.until_equal();
}

#[test]
fn s7_metadata_is_told_with_the_dirty_timestamp_it_had() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    assert_eq!(cluster.call(0, "PUT", "/eureka/apps/ORDERS/i-1/metadata?colour=blue", "").status, 200);
    cluster.until_shown(1, "ORDERS", "i-1", |i| {
        i["metadata"]["colour"] == "blue" && i["metadata"]["k"] == "v" && i["lastDirtyTimestamp"] == "100"
    });
}

#[test]
fn s8_a_thousand_registrations_arrive_in_batches() {
    let cluster = Cluster::start(2, &[]);
    for n in 0..1_000 {
        cluster.register(0, "ORDERS", &format!("i-{n}"), 100);
    }
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 1_000);
    assert_eq!(cluster.link(0, 1).items("Register"), 1_000);
}

#[test]
fn s10_register_cancel_register_leaves_the_instance_on_both() {
    let cluster = Cluster::start(2, &[]);
    for n in 0..20 {
        let id = format!("i-{n}");
        cluster.register(0, "ORDERS", &id, 100);
        cluster.cancel(0, "ORDERS", &id);
        cluster.register(0, "ORDERS", &id, 100);
    }
    cluster.until_quiet(0);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 20);
}

#[test]
fn s12_a_cancel_of_an_unknown_instance_is_told_to_nobody() {
    let cluster = Cluster::start(2, &[]);
    assert_eq!(cluster.call(0, "DELETE", "/eureka/apps/ORDERS/nobody", "").status, 404);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    assert_eq!(cluster.link(0, 1).items("Cancel"), 0);
}

#[test]
fn s13_three_nodes_tell_everything_once_and_nothing_on() {
    let cluster = Cluster::start(3, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    // An operation on an override that leaves with the registration is told once more afterwards.
    for node in [1, 2] {
        cluster.until_shown(node, "ORDERS", "i-1", |_| true);
    }
    cluster.set_status(0, "ORDERS", "i-1", "DOWN");
    for node in [1, 2] {
        cluster.until_shown(node, "ORDERS", "i-1", |i| i["status"] == "DOWN");
    }
    cluster.cancel(0, "ORDERS", "i-1");
    for node in [1, 2] {
        cluster.until_gone(node, "ORDERS", "i-1");
    }
    // Something that goes the other way, so that silence is proven by what comes after it.
    cluster.register(1, "ORDERS", "i-2", 100);
    cluster.register(2, "ORDERS", "i-3", 100);
    cluster.until_equal();
    for (from, to) in [(0, 1), (0, 2)] {
        for action in ["StatusUpdate", "Cancel"] {
            assert_eq!(cluster.link(from, to).items(action), 1, "{action} from {from} to {to}");
        }
    }
    for (from, to) in [(1, 0), (1, 2), (2, 0), (2, 1)] {
        assert_eq!(
            (cluster.link(from, to).items("Register"), cluster.link(from, to).items("Cancel")),
            (1, 0)
        );
    }
}

#[test]
fn s14_single_calls_count_as_replication_with_exactly_the_header_of_java() {
    let cluster = Cluster::start(2, &[]);
    let body = json!({"instance": {
        "instanceId": "i-1", "app": "ORDERS", "hostName": "h", "ipAddr": "10.0.0.1", "status": "UP",
        "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
        "lastDirtyTimestamp": "100",
    }});
    let post = |value: &str| {
        cluster.call_with(
            0,
            "POST",
            "/eureka/apps/ORDERS",
            &[("x-netflix-discovery-replication", value)],
            &body.to_string(),
        )
    };
    assert_eq!(post("true").status, 204);
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.until_shown(1, "ORDERS", "i-2", |_| true);
    assert!(cluster.instance(1, "ORDERS", "i-1").is_none(), "a replica call was told on");
    for value in ["TRUE", "1", ""] {
        assert_eq!(post(value).status, 204);
        cluster.until_shown(1, "ORDERS", "i-1", |_| true);
        cluster.cancel(0, "ORDERS", "i-1");
        cluster.until_gone(1, "ORDERS", "i-1");
    }
}

#[test]
fn s15_a_batch_without_the_header_of_single_calls_is_applied_and_not_told_on() {
    let cluster = Cluster::start(2, &[]);
    let batch = json!({"replicationList": [{
        "appName": "ORDERS", "id": "i-1", "action": "Register", "lastDirtyTimestamp": 100, "status": "UP",
        "instanceInfo": {
            "instanceId": "i-1", "app": "ORDERS", "hostName": "h", "ipAddr": "10.0.0.1", "status": "UP",
            "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
            "lastDirtyTimestamp": "100",
        },
    }]});
    let answer = cluster.call(0, "POST", "/eureka/peerreplication/batch/", &batch.to_string());
    assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"responseList":[{"statusCode":200}]}"#));
    assert!(cluster.instance(0, "ORDERS", "i-1").is_some());
    // What a client does is told, so silence about the other is proven by it.
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.until_shown(1, "ORDERS", "i-2", |_| true);
    cluster.until_quiet(0);
    assert!(cluster.instance(1, "ORDERS", "i-1").is_none());
    assert_eq!(cluster.link(0, 1).items("Register"), 1);
}

#[test]
fn s16_in_a_chain_the_far_end_lacks_what_it_is_not_told_and_the_middle_says_so() {
    let mut cluster = Cluster::prepare(3, &[]);
    let urls = "eureka.client.service-url.defaultZone";
    let middle = format!("{},{}", cluster.url(1, 0), cluster.url(1, 2));
    for (node, peers) in [(0, cluster.url(0, 1)), (1, middle), (2, cluster.url(2, 1))] {
        cluster.start_node_with(node, &[(urls, &peers)]);
    }
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(1, "OTHER", "o-1", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    cluster.until_shown(0, "OTHER", "o-1", |_| true);
    cluster.until_shown(2, "OTHER", "o-1", |_| true);
    // Who has answered nothing yet is not compared with.
    cluster.until_quiet(1);
    for _ in 0..3 {
        cluster.compare(1);
    }
    assert!(cluster.instance(2, "ORDERS", "i-1").is_none());
    let rounds = |peer: usize, result: &str| {
        let url = cluster.url(1, peer);
        cluster.metric(1, &format!("eureka_antientropy_rounds_total{{peer=\"{url}\",result=\"{result}\"}}"))
    };
    assert_eq!((rounds(0, "equal"), rounds(2, "different")), (3.0, 3.0), "the missing edge shows");
}

#[test]
fn s17_a_node_that_meets_itself_under_another_name_stops_telling_itself() {
    // Node 0's only peer is a proxy that leads back to it: no comparison of names can see that.
    let mut cluster = Cluster::prepare(2, &[("eureka.server.peer-eureka-nodes-update-interval-ms", "50")]);
    cluster.start_node(0);
    cluster.link(0, 1).lead_to(cluster.port_of(0));
    let url = format!("127.0.0.1:{}", cluster.link(0, 1).port());
    assert!(cluster.page(0, "/eureka/status").contains(&url));
    let renewals_before = cluster.metric(0, "eureka_registrations_total");
    cluster.register(0, "ORDERS", "i-1", 100);
    until("the node recognises itself", || cluster.metric(0, "eureka_replication_queue_items{") < 0.5);
    until("the first batch is answered", || cluster.link(0, 1).batches() >= 1);
    until("it is no peer any more", || !cluster.page(0, "/eureka/status").contains(&url));
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.cancel(0, "ORDERS", "i-1");
    assert_eq!(
        cluster.metric(0, "eureka_registrations_total") - renewals_before,
        2.0,
        "nothing was applied twice"
    );
    assert_eq!(cluster.link(0, 1).items("Register"), 1);
    // The proxy leads to another node from now on.
    cluster.start_node(1);
    until("it is a peer", || cluster.page(0, "/eureka/status").contains(&url));
    cluster.register(0, "ORDERS", "i-3", 100);
    cluster.until_shown(1, "ORDERS", "i-3", |_| true);
}
