//! Auto-scaling groups, where they are switched on (`replication.md` 8.1, `wire.md` 1.16).

use serde_json::json;

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
fn s83_without_groups_the_call_is_answered_400() {
    let cluster = Cluster::start(1, &[]);
    assert_eq!(cluster.call(0, "PUT", "/eureka/asg/g/status?value=DISABLED", "").status, 400);
}
