//! Peers that are away, slow or silent, and what happens when they are back (`replication.md` 10.5, 10.6).

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

#[test]
fn s36_s37_what_happened_while_a_peer_was_away_reaches_it() {
    let cluster = Cluster::start(2, &[]);
    for id in ["stays", "goes", "out"] {
        cluster.register(0, "ORDERS", id, 100);
    }
    cluster.until_equal();
    cluster.set_between(0, 1, Mode::Cut);
    cluster.cancel(0, "ORDERS", "goes");
    cluster.set_status(0, "ORDERS", "out", "OUT_OF_SERVICE");
    cluster.register(0, "ORDERS", "new", 100);
    until("the peer is known to be away", || cluster.metric(0, "eureka_replication_backoff_seconds") > 0.0);
    assert_eq!(cluster.rows(1).len(), 3);
    cluster.set_between(0, 1, Mode::Open);
    cluster.until_equal();
    let rows = cluster.rows(1);
    assert!(rows.iter().any(|row| row.1 == "new") && rows.iter().all(|row| row.1 != "goes"));
    assert!(rows.iter().any(|row| row.1 == "out" && row.2 == "OUT_OF_SERVICE"));
}

#[test]
fn s48_instances_cancelled_during_a_split_do_not_come_back() {
    let cluster = Cluster::start(2, &[]);
    for n in 0..100 {
        cluster.register(0, "ORDERS", &format!("i-{n}"), 100);
    }
    cluster.until_equal();
    cluster.set_between(0, 1, Mode::Cut);
    for n in 0..10 {
        cluster.cancel(0, "ORDERS", &format!("i-{n}"));
    }
    // The other side hears from all of them meanwhile.
    for n in 0..100 {
        assert_eq!(cluster.renew(1, "ORDERS", &format!("i-{n}"), 100), 200);
    }
    cluster.set_between(0, 1, Mode::Open);
    cluster.until_quiet(0);
    cluster.until_equal();
    assert_eq!(cluster.rows(0).len(), 90);
}

#[test]
fn s50_the_last_operation_on_an_override_wins_on_both_sides_of_a_split() {
    for is_removed_last in [true, false] {
        let (set_at, removed_at) = if is_removed_last { (0, 1) } else { (1, 0) };
        let cluster = Cluster::start(3, &[]);
        cluster.register(0, "ORDERS", "i-1", 100);
        cluster.until_shown(2, "ORDERS", "i-1", |_| true);
        cluster.set_status(0, "ORDERS", "i-1", "OUT_OF_SERVICE");
        cluster.until_equal();
        cluster.set_between(0, 1, Mode::Cut);
        let set = || cluster.set_status(set_at, "ORDERS", "i-1", "DOWN");
        let remove = || cluster.remove_override(removed_at, "ORDERS", "i-1", Some("UP"));
        let first = if is_removed_last { "DOWN" } else { "UP" };
        if is_removed_last {
            set()
        } else {
            remove()
        }
        cluster.until_shown(2, "ORDERS", "i-1", |instance| instance["status"] == first);
        // Node 1 has not heard of it, but of something that node 2 has done since.
        cluster.register(2, "ORDERS", "witness", 100);
        cluster.until_shown(1, "ORDERS", "witness", |_| true);
        assert_eq!(cluster.instance(1, "ORDERS", "i-1").expect("there")["status"], "OUT_OF_SERVICE");
        if is_removed_last {
            remove()
        } else {
            set()
        }
        // Node 0 did the first one and tells it now, when the last one has been done.
        cluster.link(0, 1).set(Mode::Open);
        cluster.until_quiet(0);
        cluster.link(1, 0).set(Mode::Open);
        (0..3).for_each(|node| cluster.until_quiet(node));
        cluster.until_equal();
        let last = if is_removed_last { "UP" } else { "DOWN" };
        assert_eq!(cluster.instance(0, "ORDERS", "i-1").expect("there")["status"], last);
    }
}

#[test]
fn s51_a_loss_in_one_direction_does_not_touch_the_other() {
    let cluster = Cluster::start(2, &[]);
    cluster.link(0, 1).set(Mode::Cut);
    cluster.register(0, "ORDERS", "from-0", 100);
    cluster.register(1, "ORDERS", "from-1", 100);
    cluster.until_shown(0, "ORDERS", "from-1", |_| true);
    assert!(cluster.instance(1, "ORDERS", "from-0").is_none());
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_equal();
}

#[test]
fn s35_a_peer_that_does_not_answer_gets_everything_when_it_does() {
    let cluster = Cluster::start(2, &[("eureka.server.peer-node-read-timeout-ms", "50")]);
    cluster.link(0, 1).set(Mode::Silent);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.cancel(0, "ORDERS", "i-1");
    let congested = || cluster.metric(0, r#"eureka_replication_batches_total{peer="http://127.0.0.1"#);
    until("two attempts have failed", || congested() >= 2.0);
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 1);
}

#[test]
fn s43_what_a_peer_has_done_and_could_not_say_is_sent_again_and_changes_nothing() {
    let cluster = Cluster::start(2, &[]);
    for id in ["stays", "goes", "out"] {
        cluster.register(0, "ORDERS", id, 100);
    }
    cluster.until_equal();
    cluster.link(0, 1).set(Mode::Torn);
    cluster.cancel(0, "ORDERS", "goes");
    cluster.set_status(0, "ORDERS", "out", "OUT_OF_SERVICE");
    cluster.register(0, "ORDERS", "new", 100);
    cluster.until_gone(1, "ORDERS", "goes");
    until("it was sent again", || cluster.link(0, 1).items("Cancel") >= 2);
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_quiet(0);
    cluster.until_equal();
    let rows = cluster.rows(1);
    assert!(rows.iter().any(|row| row.1 == "out" && row.2 == "OUT_OF_SERVICE"));
    assert!(rows.len() == 3 && rows.iter().all(|row| row.1 != "goes"), "{rows:?}");
}

#[test]
fn s41_s52_an_isolated_node_does_not_disturb_the_others_and_catches_up() {
    let cluster = Cluster::start(3, &[]);
    for n in 0..20 {
        cluster.register(2, "ORDERS", &format!("i-{n}"), 100);
    }
    cluster.until_equal();
    cluster.set_between(0, 2, Mode::Cut);
    cluster.set_between(1, 2, Mode::Cut);
    // Clients of node 2 go to node 0; some leave, some arrive.
    for n in 0..20 {
        assert_eq!(cluster.renew(0, "ORDERS", &format!("i-{n}"), 100), 200);
    }
    cluster.cancel(0, "ORDERS", "i-0");
    cluster.register(0, "ORDERS", "new", 100);
    cluster.until_shown(1, "ORDERS", "new", |_| true);
    cluster.until_gone(1, "ORDERS", "i-0");
    cluster.set_between(0, 2, Mode::Open);
    cluster.set_between(1, 2, Mode::Open);
    cluster.until_equal();
    assert_eq!(cluster.rows(2).len(), 20);
}

#[test]
fn s53_a_flapping_link_loses_nothing() {
    let cluster = Cluster::start(2, &[]);
    for round in 0..10 {
        cluster.set_between(0, 1, if round % 2 == 0 { Mode::Cut } else { Mode::Open });
        for n in 0..5 {
            cluster.register(0, "ORDERS", &format!("i-{round}-{n}"), 100);
        }
        if round > 0 {
            cluster.cancel(0, "ORDERS", &format!("i-{}-0", round - 1));
        }
    }
    cluster.set_between(0, 1, Mode::Open);
    cluster.until_quiet(0);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 41);
}

#[test]
fn a_restarted_server_that_registers_elsewhere_is_told_of_no_override_that_it_never_had() {
    let cluster = Cluster::start(2, &[]);
    let told = || {
        let page = cluster.page(0, "/actuator/prometheus");
        let is_told = |line: &&str| line.starts_with("eureka_replication_items_total{");
        page.lines().filter(is_told).filter(|line| line.contains("DeleteStatusOverride")).count()
    };
    cluster.register(0, "SERVERS", "plain", 1_000);
    cluster.register(0, "SERVERS", "overridden", 1_000);
    cluster.set_status(0, "SERVERS", "overridden", "OUT_OF_SERVICE");
    cluster.until_shown(1, "SERVERS", "overridden", |i| i["overriddenStatus"] == "OUT_OF_SERVICE");
    cluster.until_shown(1, "SERVERS", "plain", |_| true);
    for (id, expected) in [("plain", 0), ("overridden", 1)] {
        cluster.link(0, 1).set(Mode::Cut);
        cluster.cancel(0, "SERVERS", id);
        cluster.register(1, "SERVERS", id, 2_000);
        cluster.until_shown(0, "SERVERS", id, |i| i["lastDirtyTimestamp"] == "2000");
        cluster.link(0, 1).set(Mode::Open);
        cluster.until_quiet(0);
        // What the instance reports the override has hidden from the other node; the next heartbeat says it.
        assert_eq!(cluster.renew(1, "SERVERS", id, 2_000), 200);
        cluster.until_equal();
        assert_eq!(told(), expected, "{id}");
    }
}
