//! Anti-entropy between nodes of our kind (`replication.md` 9.3.4): what got lost without anybody noticing is mended in two
//! rounds, by whoever it belongs to.

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

/// Two nodes that have met, with one instance that talks to node 0.
fn pair() -> Cluster {
    let cluster = Cluster::start(2, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(1, "OTHER", "o-1", 100);
    cluster.until_equal();
    // What is still without an answer would be told once more.
    (0..2).for_each(|node| cluster.until_quiet(node));
    cluster
}

/// Does something of which one node never hears, although the other one believes that it has told it.
fn unheard(cluster: &Cluster, from: usize, to: usize, act: impl FnOnce()) {
    cluster.link(from, to).set(Mode::Swallow);
    act();
    cluster.until_quiet(from);
    cluster.link(from, to).set(Mode::Open);
}

fn compare_twice(cluster: &Cluster) {
    for _ in 0..2 {
        cluster.compare(0);
        cluster.compare(1);
    }
}

#[test]
fn an_instance_that_a_peer_lost_is_there_again_after_two_rounds() {
    let cluster = pair();
    unheard(&cluster, 0, 1, || cluster.register(0, "ORDERS", "i-2", 100));
    cluster.compare(0);
    assert!(cluster.instance(1, "ORDERS", "i-2").is_none(), "one round may have met something on its way");
    cluster.compare(0);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 3);
    let repairs = || cluster.metric(0, "eureka_antientropy_repairs_total{");
    until("the repair is counted", || repairs() > 0.0);
    assert_eq!(repairs(), 1.0);
}

#[test]
fn d1_a_cancel_that_a_peer_missed_reaches_it() {
    let cluster = pair();
    unheard(&cluster, 0, 1, || cluster.cancel(0, "ORDERS", "i-1"));
    assert!(cluster.instance(1, "ORDERS", "i-1").is_some());
    compare_twice(&cluster);
    cluster.until_gone(1, "ORDERS", "i-1");
    cluster.until_equal();
}

#[test]
fn d7_an_override_that_a_peer_lost_comes_from_where_it_was_set() {
    let cluster = pair();
    unheard(&cluster, 1, 0, || cluster.set_status(1, "ORDERS", "i-1", "OUT_OF_SERVICE"));
    compare_twice(&cluster);
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["overriddenStatus"] == "OUT_OF_SERVICE");
    cluster.until_equal();
}

#[test]
fn d8_an_override_that_was_removed_does_not_come_back_by_comparing() {
    let cluster = pair();
    cluster.set_status(0, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    unheard(&cluster, 1, 0, || cluster.remove_override(1, "ORDERS", "i-1", Some("UP")));
    compare_twice(&cluster);
    cluster.until_shown(0, "ORDERS", "i-1", |i| i["status"] == "UP" && i["overriddenStatus"] == "UNKNOWN");
    cluster.until_equal();
}

#[test]
fn d11_d12_s21_content_that_differs_under_one_timestamp_comes_from_where_it_was_written() {
    let cluster = pair();
    unheard(&cluster, 0, 1, || {
        assert_eq!(cluster.call(0, "PUT", "/eureka/apps/ORDERS/i-1/metadata?colour=blue", "").status, 200);
    });
    assert!(cluster.instance(1, "ORDERS", "i-1").expect("an instance")["metadata"]["colour"].is_null());
    compare_twice(&cluster);
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["metadata"]["colour"] == "blue");
    cluster.until_equal();
}

#[test]
fn metadata_named_like_the_class_marker_stays_where_it_was_set_and_is_no_difference() {
    let cluster = pair();
    assert_eq!(
        cluster.call(0, "PUT", "/eureka/apps/ORDERS/i-1/metadata?%40class=x&colour=blue", "").status,
        200
    );
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["metadata"]["colour"] == "blue");
    cluster.compare(0);
    cluster.compare(1);
    for node in 0..2 {
        let page = cluster.page(node, "/actuator/prometheus");
        let mut rounds = page.lines().filter(|line| line.starts_with("eureka_antientropy_rounds_total{"));
        assert!(rounds.all(|line| line.contains("result=\"equal\"")), "node {node} found a difference");
        let shown = cluster.instance(node, "ORDERS", "i-1").expect("an instance");
        assert_eq!(shown["metadata"]["@class"] == "x", node == 0, "{shown}");
    }
}

#[test]
fn what_is_newer_is_not_undone_while_its_word_is_on_its_way() {
    let cluster = Cluster::start(3, &[]);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.register(1, "OTHER", "o-1", 100);
    cluster.register(2, "OTHER", "o-2", 100);
    cluster.until_equal();
    (0..3).for_each(|node| cluster.until_quiet(node));
    cluster.link(2, 0).set(Mode::Cut);
    cluster.set_status(2, "ORDERS", "i-1", "OUT_OF_SERVICE");
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["status"] == "OUT_OF_SERVICE");
    for _ in 0..3 {
        // Node 0 is the one that the instance talks to, and sees the difference each time.
        cluster.compare(0);
    }
    cluster.until_quiet(0);
    assert!(cluster.metric(0, "eureka_antientropy_repairs_total{") < 0.5);
    assert_eq!(cluster.instance(1, "ORDERS", "i-1").expect("an instance")["status"], "OUT_OF_SERVICE");
    cluster.link(2, 0).set(Mode::Open);
    cluster.until_equal();
    assert_eq!(cluster.instance(0, "ORDERS", "i-1").expect("an instance")["status"], "OUT_OF_SERVICE");
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

#[test]
fn a_digest_that_is_nonsense_is_counted_and_shown() {
    let cluster = pair();
    cluster.link(0, 1).set(Mode::Nonsense);
    let unreadable = || {
        let text =
            String::from_utf8_lossy(&cluster.call(0, "GET", "/actuator/prometheus", "").body).into_owned();
        text.lines().any(|line| {
            line.starts_with("eureka_antientropy_rounds_total") && line.contains("result=\"unreadable\"")
        })
    };
    until("the nonsense is counted", || {
        cluster.ask_to_compare(0);
        unreadable()
    });
    let page = String::from_utf8_lossy(&cluster.call(0, "GET", "/", "").body).into_owned();
    assert!(page.contains("its digest cannot be read"), "{page}");
    cluster.link(0, 1).set(Mode::Open);
    cluster.compare(0);
}
