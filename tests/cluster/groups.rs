//! Auto-scaling groups, where they are switched on (`replication.md` 8.1, `wire.md` 1.16).

use serde_json::json;

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

const ON: [(&str, &str); 2] = [("heureka.asg.enabled", "true"), ("eureka.server.use-aws-asg-api", "false")];

#[test]
fn a_group_that_is_switched_off_takes_its_instances_out_of_service_on_all_nodes() {
    let cluster = Cluster::start(2, &ON);
    cluster.register_with(0, "ORDERS", "i-1", 100, &json!({ "asgName": "orders v1" }));
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "UP");
    let set = |value: &str| {
        cluster.call(0, "PUT", &format!("/eureka/asg/orders%20v1/status?value={value}"), "").status
    };
    assert_eq!((set("disabled"), set("off"), set("")), (200, 500, 500));
    assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    until("the peer knows it too", || {
        assert_eq!(cluster.renew(1, "ORDERS", "i-1", 100), 200);
        cluster.instance(1, "ORDERS", "i-1").is_some_and(|i| i["status"] == "OUT_OF_SERVICE")
    });
    assert_eq!(cluster.renew(0, "ORDERS", "i-2", 100), 200);
    cluster.until_shown(0, "ORDERS", "i-2", |i| i["status"] == "UP");
    assert_eq!(set("ENABLED"), 200);
    until("it is back everywhere", || {
        (0..2).for_each(|node| assert_eq!(cluster.renew(node, "ORDERS", "i-1", 100), 200));
        (0..2).all(|node| cluster.instance(node, "ORDERS", "i-1").is_some_and(|i| i["status"] == "UP"))
    });
}

#[test]
fn a_peer_that_was_away_is_told_the_newest_state_of_a_group() {
    let cluster = Cluster::start(2, &ON);
    let set = |node: usize, value: &str| {
        let path = format!("/eureka/asg/orders/status?value={value}");
        assert_eq!(cluster.call(node, "PUT", &path, "").status, 200);
    };
    cluster.register_with(1, "ORDERS", "i-1", 100, &json!({ "asgName": "orders" }));
    cluster.link(0, 1).set(Mode::Cut);
    let failed = || cluster.metric(0, "eureka_asg_replications_total{result=\"failed\"}");
    for value in ["DISABLED", "ENABLED", "DISABLED"] {
        set(0, value);
    }
    until("it could not be told", || failed() > 1.0);
    assert_eq!(cluster.metric(0, "eureka_asg_replications_waiting"), 1.0);
    cluster.link(0, 1).set(Mode::Open);
    until("the peer knows it", || {
        assert_eq!(cluster.renew(1, "ORDERS", "i-1", 100), 200);
        cluster.instance(1, "ORDERS", "i-1").is_some_and(|i| i["status"] == "OUT_OF_SERVICE")
    });
    until("nothing waits", || cluster.metric(0, "eureka_asg_replications_waiting") == 0.0);
    // What another node says since takes the place of what waits.
    cluster.link(0, 1).set(Mode::Cut);
    set(0, "DISABLED");
    set(1, "ENABLED");
    until("nothing waits any more", || cluster.metric(0, "eureka_asg_replications_waiting") == 0.0);
}

#[test]
fn s83_without_groups_the_call_is_answered_400() {
    let cluster = Cluster::start(1, &[]);
    assert_eq!(cluster.call(0, "PUT", "/eureka/asg/g/status?value=DISABLED", "").status, 400);
}
