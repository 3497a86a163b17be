//! Two nodes that know different things of one instance (`replication.md` 10.3).

use super::network::Mode;
use super::nodes::Cluster;

/// Two nodes of which each has its own copy of one instance: dirty timestamp 100 on node 0, 200 on node 1.
fn apart() -> Cluster {
    let cluster = Cluster::start(2, &[]);
    cluster.set_between(0, 1, Mode::Cut);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(1, "ORDERS", "i-1", 200);
    cluster
}

#[test]
fn s49_the_newer_of_two_registrations_wins_everywhere() {
    let cluster = apart();
    cluster.set_between(0, 1, Mode::Open);
    cluster.until_quiet(0);
    cluster.until_quiet(1);
    cluster.until_equal();
    assert_eq!(cluster.rows(0).iter().next().expect("an instance").4, "200");
}

#[test]
fn s19_a_heartbeat_brings_the_newer_record_of_the_peer_with_its_override() {
    let cluster = Cluster::start(3, &[]);
    cluster.link(1, 0).set(Mode::Cut);
    cluster.link(1, 2).set(Mode::Cut);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    cluster.register(1, "ORDERS", "i-1", 200);
    cluster.set_status(1, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_quiet(0);
    let before = cluster.link(0, 2).items("Register");
    assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
    cluster.until_shown(0, "ORDERS", "i-1", |i| {
        i["lastDirtyTimestamp"] == "200"
            && i["status"] == "OUT_OF_SERVICE"
            && i["overriddenStatus"] == "OUT_OF_SERVICE"
    });
    cluster.until_quiet(0);
    assert_eq!(cluster.link(0, 2).items("Register"), before, "what was taken over is not told on");
}

#[test]
fn s18_s20_a_peer_that_lacks_an_instance_or_has_an_older_one_gets_it() {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "old", 100);
    cluster.until_shown(1, "ORDERS", "old", |_| true);
    cluster.link(0, 1).set(Mode::Swallow);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(0, "ORDERS", "old", 200);
    cluster.until_quiet(0);
    cluster.link(0, 1).set(Mode::Open);
    assert!(cluster.instance(1, "ORDERS", "i-1").is_none());
    assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
    assert_eq!(cluster.renew(0, "ORDERS", "old", 200), 200);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    cluster.until_shown(1, "ORDERS", "old", |i| i["lastDirtyTimestamp"] == "200");
    assert_eq!(cluster.link(1, 0).batches(), 0);
}

#[test]
fn s26_an_instance_that_changes_its_server_is_the_same_everywhere() {
    let cluster = Cluster::start(3, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.until_equal();
    cluster.register(1, "ORDERS", "i-1", 300);
    for node in [0, 2] {
        cluster.until_shown(node, "ORDERS", "i-1", |i| i["lastDirtyTimestamp"] == "300");
    }
    assert_eq!(cluster.renew(2, "ORDERS", "i-1", 300), 200);
    cluster.until_equal();
}
