//! The sender to one peer under paused time: what leaves, when, and what the answers do (spec `replication.md` 9.3).

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails, also inside its helpers")]

use heureka_actors::metrics::EventCounter;
use heureka_actors::replicator::{Comparison, PeerIdentity, PeerReply, PeerState, PlacedStamps, Probe};
use heureka_protocol::{Instance, Status};
use heureka_registry::replication::Remedy;
use heureka_registry::{ClockReading, Heartbeat, Origin, Stamp};

use crate::replication_support::{Cluster, Plan, pass};
use crate::support::instance;

async fn register(cluster: &Cluster, id: &str, origin: Origin) {
    cluster.handle.register(instance("ORDERS", id), origin).await.unwrap();
}

async fn renew(cluster: &Cluster, id: &str) {
    let beat = Heartbeat { last_dirty: Some(1000), ..Heartbeat::default() };
    cluster.handle.renew("ORDERS", id, beat, Origin::Client).await.unwrap();
}

#[actix::test]
async fn s1_a_registration_reaches_every_peer_at_once() {
    let cluster = Cluster::new(2);
    register(&cluster, "i-1", Origin::Client).await;
    pass(5).await;
    for peer in &cluster.peers {
        let received = peer.received();
        assert_eq!(received.len(), 1);
        assert_eq!(received[0].items, ["Register i-1"]);
        assert!(received[0].at_ms <= 5);
    }
    assert!(cluster.replication.statuses().iter().all(|peer| peer.state == PeerState::Available));
}

#[actix::test]
async fn s69_s70_registrations_with_odd_times_are_applied_and_counted() {
    let cluster = Cluster::new(0);
    let now_ms = cluster.handle.shared().clock.now().wall_ms;
    let register = async |id: &str, dirty: i64, origin: Origin| {
        let instance = Instance { last_dirty_timestamp: dirty, ..instance("ORDERS", id) };
        cluster.handle.register(instance, origin).await.unwrap();
        let counts = &cluster.handle.shared().metrics;
        let shown = |counter: &EventCounter| (counter.all.get(), counter.direct.get());
        (shown(&counts.stale_registrations), shown(&counts.future_registrations))
    };
    assert_eq!(register("i-1", now_ms, Origin::Client).await, ((0, 0), (0, 0)));
    assert_eq!(register("i-1", now_ms, Origin::Client).await, ((0, 0), (0, 0)));
    // The client has restarted with a clock that is an hour behind.
    assert_eq!(register("i-1", now_ms - 3_600_000, Origin::Client).await, ((1, 1), (0, 0)));
    assert_eq!(register("i-1", now_ms - 1, Origin::Peer).await, ((2, 1), (0, 0)));
    assert_eq!(register("i-2", now_ms + 59_000, Origin::Client).await, ((2, 1), (0, 0)));
    assert_eq!(register("i-2", now_ms + 3_600_000, Origin::Client).await, ((2, 1), (1, 1)));
    assert_eq!(register("i-3", now_ms + 3_600_000, Origin::Peer).await, ((2, 1), (2, 1)));
    let kept = cluster.handle.instance("ORDERS", "i-2").await.unwrap().unwrap();
    assert_eq!(kept.instance.last_dirty_timestamp, now_ms + 3_600_000);
}

#[actix::test]
async fn s13_what_peers_and_the_start_brought_is_not_sent_on() {
    let cluster = Cluster::new(2);
    register(&cluster, "i-1", Origin::Peer).await;
    register(&cluster, "i-2", Origin::StartUp).await;
    let beat = Heartbeat::default();
    cluster.handle.renew("ORDERS", "i-1", beat, Origin::Peer).await.unwrap();
    cluster.handle.set_status("ORDERS", "i-1", Status::Down, None, Origin::Peer).await.unwrap();
    cluster.handle.cancel("ORDERS", "i-2", Origin::Peer).await.unwrap();
    pass(60_000).await;
    assert!(cluster.peers.iter().all(|peer| peer.received().is_empty()));
}

#[actix::test]
async fn s12_a_cancel_of_an_unknown_instance_is_not_sent() {
    let cluster = Cluster::new(1);
    assert!(!cluster.handle.cancel("ORDERS", "nobody", Origin::Client).await.unwrap());
    pass(5_000).await;
    assert!(cluster.peers[0].received().is_empty());
}

#[actix::test]
async fn s2_heartbeats_are_sent_whether_an_actor_was_asked_or_not() {
    let cluster = Cluster::new(1);
    register(&cluster, "i-1", Origin::Client).await;
    // Not in the published view yet: the application's actor answers.
    renew(&cluster, "i-1").await;
    pass(1_000).await;
    let quick_before = cluster.handle.shared().metrics.quick_renewals.get();
    renew(&cluster, "i-1").await;
    assert_eq!(cluster.handle.shared().metrics.quick_renewals.get(), quick_before + 1);
    pass(1_000).await;
    assert_eq!(cluster.peers[0].items(), ["Register i-1", "Heartbeat i-1", "Heartbeat i-1"]);
}

#[actix::test]
async fn heartbeats_of_half_a_second_share_a_batch_and_are_merged() {
    let cluster = Cluster::new(1);
    for n in 0..5 {
        register(&cluster, &format!("i-{n}"), Origin::Client).await;
    }
    pass(2_000).await;
    let before = cluster.peers[0].received().len();
    for n in 0..5 {
        renew(&cluster, &format!("i-{n}")).await;
        renew(&cluster, &format!("i-{n}")).await;
        pass(20).await;
    }
    pass(1_000).await;
    let received = &cluster.peers[0].received()[before..];
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].items.len(), 5);
}

#[actix::test]
async fn a_heartbeat_that_is_answered_404_is_not_sent() {
    let cluster = Cluster::new(1);
    register(&cluster, "i-1", Origin::Peer).await;
    pass(1_000).await;
    let newer = Heartbeat { last_dirty: Some(2000), ..Heartbeat::default() };
    cluster.handle.renew("ORDERS", "i-1", newer, Origin::Client).await.unwrap();
    cluster.handle.renew("ORDERS", "nobody", Heartbeat::default(), Origin::Client).await.unwrap();
    pass(2_000).await;
    assert!(cluster.peers[0].received().is_empty());
}

#[actix::test]
async fn an_override_that_changes_nothing_is_sent_as_java_does() {
    let cluster = Cluster::new(1);
    register(&cluster, "i-1", Origin::Peer).await;
    cluster.handle.set_status("ORDERS", "i-1", Status::Up, None, Origin::Client).await.unwrap();
    pass(100).await;
    cluster.handle.remove_override("ORDERS", "i-1", None, None, Origin::Client).await.unwrap();
    pass(100).await;
    assert_eq!(cluster.peers[0].items(), ["StatusUpdate i-1", "DeleteStatusOverride i-1"]);
}

#[actix::test]
async fn s18_a_peer_that_lacks_an_instance_gets_it_and_no_other_peer_does() {
    let cluster = Cluster::new(2);
    register(&cluster, "i-1", Origin::Peer).await;
    pass(1_000).await;
    cluster.peers[0].plan([Plan::Codes(&[404])]);
    renew(&cluster, "i-1").await;
    pass(1_000).await;
    assert_eq!(cluster.peers[0].items(), ["Heartbeat i-1", "Register i-1"]);
    assert_eq!(cluster.peers[1].items(), ["Heartbeat i-1"]);
}

fn newer(id: &str, dirty: i64) -> String {
    format!(
        r#"{{"responseList":[{{"statusCode":409,"responseEntity":{{"instanceId":"{id}","hostName":"theirs.example",
        "app":"ORDERS","ipAddr":"192.0.2.9","status":"UP","overriddenStatus":"OUT_OF_SERVICE",
        "dataCenterInfo":{{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}},
        "lastDirtyTimestamp":"{dirty}"}}}}]}}"#
    )
}

#[actix::test]
async fn s19_a_newer_record_is_taken_over_with_its_override_and_told_to_nobody() {
    let cluster = Cluster::new(2);
    register(&cluster, "i-1", Origin::Peer).await;
    pass(1_000).await;
    cluster.peers[0].plan([Plan::Body(newer("i-1", 2000))]);
    renew(&cluster, "i-1").await;
    pass(2_000).await;
    let record = cluster.handle.instance("ORDERS", "i-1").await.unwrap().unwrap();
    assert_eq!(record.instance.last_dirty_timestamp, 2000);
    assert_eq!(record.instance.status, Status::OutOfService);
    assert_eq!(&*record.instance.host_name, "theirs.example");
    assert_eq!(cluster.peers[1].items(), ["Heartbeat i-1"]);
}

#[actix::test]
async fn d5_a_record_that_was_cancelled_here_meanwhile_is_cancelled_at_the_peer_instead() {
    let cluster = Cluster::new(1);
    register(&cluster, "i-1", Origin::Peer).await;
    pass(1_000).await;
    cluster.peers[0]
        .plan([Plan::Slow(std::time::Duration::from_millis(150)), Plan::Body(newer("i-1", 1000))]);
    renew(&cluster, "i-1").await;
    pass(700).await;
    renew(&cluster, "i-1").await;
    pass(600).await;
    assert!(cluster.handle.instance("ORDERS", "i-1").await.unwrap().is_some());
    cluster.handle.cancel("ORDERS", "i-1", Origin::Peer).await.unwrap();
    let before = cluster.peers[0].items().len();
    let key = heureka_registry::replication::Key::new("ORDERS".into(), "i-1".into());
    let outcome = heureka_protocol::batch::read_responses(newer("i-1", 1000).as_bytes(), &Default::default());
    let draft = outcome.unwrap().remove(0).entity.unwrap();
    let adoption = heureka_actors::replicator::Adoption { key, draft: *draft, stamp: None };
    let (replication, link) = (cluster.replication.clone(), cluster.links[0].clone());
    heureka_actors::replicator::adopt_all(cluster.handle.clone(), replication, link, vec![adoption]).await;
    pass(100).await;
    assert!(cluster.handle.instance("ORDERS", "i-1").await.unwrap().is_none());
    assert_eq!(cluster.peers[0].items()[before..], ["Cancel i-1"]);
}

#[actix::test]
async fn stamps_travel_in_headers_both_ways_and_order_what_is_done_to_overrides() {
    let cluster = Cluster::new(1);
    let stamps = &cluster.handle.shared().options.rules.stamps;
    let clock = ClockReading { ms: 1_700_000_000_000, is_in_step: true };
    stamps.hear(clock, cluster.handle.shared().clock.now());
    register(&cluster, "i-1", Origin::Peer).await;
    cluster.handle.set_status("ORDERS", "i-1", Status::Down, None, Origin::Client).await.unwrap();
    pass(1_000).await;
    let sent = cluster.peers[0].received().pop().unwrap();
    let set = sent.head.stamps.get(0).unwrap();
    assert!(sent.head.clock.is_in_step && sent.head.clock.ms >= set.ms());
    // The peer's newer record comes with what was done to the override before that, then with something later.
    for (ms, expected) in [(set.ms() - 1, Status::Down), (set.ms() + 1, Status::OutOfService)] {
        let body = newer("i-1", 2_000 + ms - set.ms()).into();
        let content_type = Some("application/json".to_owned());
        let stamps = PlacedStamps::of([Stamp::new(ms)]);
        let reply = PeerReply { status: 200, content_type, body, identity: None, clock: Some(clock), stamps };
        cluster.peers[0].plan([Plan::Tells(Box::new(reply))]);
        renew(&cluster, "i-1").await;
        pass(2_000).await;
        let record = cluster.handle.instance("ORDERS", "i-1").await.unwrap().unwrap();
        assert_eq!(record.instance.overridden_status, expected);
    }
}

#[actix::test]
async fn a_record_of_another_instance_is_not_taken_over() {
    let cluster = Cluster::new(1);
    register(&cluster, "i-1", Origin::Peer).await;
    pass(1_000).await;
    cluster.peers[0].plan([Plan::Body(newer("i-2", 2000))]);
    renew(&cluster, "i-1").await;
    pass(2_000).await;
    assert!(cluster.handle.instance("ORDERS", "i-2").await.unwrap().is_none());
    let text = metrics(&cluster);
    assert!(!text.contains("replication_409_imports_total{"), "nothing was taken over: {text}");
    assert!(text.contains(r#"replication_409_refused_total{peer="http://peer-0/eureka/"} 1"#), "{text}");
    let status = cluster.replication.statuses().remove(0);
    assert_eq!(
        status.last_error.unwrap().words,
        r#"1 newer records cannot be taken over, the first, of ORDERS/i-1: it is the record of "i-2""#
    );
    let ours = cluster.handle.instance("ORDERS", "i-1").await.unwrap().unwrap();
    assert_eq!(ours.instance.last_dirty_timestamp, 1000);
}

#[actix::test]
async fn s34_a_peer_that_is_overloaded_is_asked_about_once_a_second_and_loses_nothing() {
    let cluster = Cluster::new(1);
    cluster.peers[0].plan(vec![Plan::Status(503); 3]);
    register(&cluster, "i-1", Origin::Client).await;
    cluster.handle.cancel("ORDERS", "i-1", Origin::Client).await.unwrap();
    pass(20_000).await;
    let received = cluster.peers[0].received();
    assert_eq!(received.len(), 4);
    assert!(received[1].at_ms - received[0].at_ms >= 800);
    assert_eq!(received.last().unwrap().items, ["Cancel i-1"]);
    let status = &cluster.replication.statuses()[0];
    assert_eq!((status.state, status.queued_instances), (PeerState::Available, 0));
    assert!(status.last_error.as_ref().unwrap().words.contains("503"));
}

#[actix::test]
async fn s41_a_slow_peer_does_not_delay_another() {
    let cluster = Cluster::new(2);
    cluster.peers[0].plan(vec![Plan::Slow(std::time::Duration::from_secs(2)); 100]);
    for n in 0..20 {
        register(&cluster, &format!("i-{n}"), Origin::Client).await;
        pass(50).await;
    }
    let fast = cluster.peers[1].received();
    assert_eq!(fast.len(), 20);
    assert!(fast.iter().zip(0..).all(|(batch, n)| batch.at_ms <= n * 51 + 5));
    pass(10_000).await;
    assert_eq!(cluster.peers[0].items().len(), 20);
}

#[actix::test]
async fn s44_a_sender_that_panics_goes_on() {
    let cluster = Cluster::new(1);
    cluster.peers[0].plan([Plan::Panic]);
    register(&cluster, "i-1", Origin::Client).await;
    pass(2_000).await;
    assert_eq!(cluster.peers[0].items(), ["Register i-1", "Register i-1"]);
}

#[actix::test]
async fn s17_a_peer_that_is_the_node_itself_is_left_alone_after_the_first_batch() {
    let cluster = Cluster::new(2);
    cluster.peers[0].plan([Plan::Says(PeerIdentity { node: "me".to_owned(), epoch: 1 })]);
    cluster.peers[1].plan(vec![Plan::Says(PeerIdentity { node: "other".to_owned(), epoch: 1 }); 2]);
    register(&cluster, "i-1", Origin::Client).await;
    pass(1_000).await;
    register(&cluster, "i-2", Origin::Client).await;
    pass(60_000).await;
    assert_eq!(cluster.peers[0].items(), ["Register i-1"]);
    assert_eq!(cluster.peers[1].items(), ["Register i-1", "Register i-2"]);
    let statuses = cluster.replication.statuses();
    assert_eq!((statuses[0].state, statuses[0].queued_instances), (PeerState::Itself, 0));
    assert!(statuses[1].is_heureka);
}

#[actix::test]
async fn s17_what_was_the_node_itself_is_a_peer_as_soon_as_somebody_else_answers_there() {
    let cluster = Cluster::new(1);
    let is = |node: &str| Plan::Says(PeerIdentity { node: node.to_owned(), epoch: 1 });
    cluster.peers[0].plan([
        is("me"),
        is("me"),
        Plan::Status(503),
        Plan::Unreachable,
        Plan::Panic,
        is("other"),
    ]);
    register(&cluster, "i-1", Origin::Client).await;
    pass(60_000).await;
    register(&cluster, "i-2", Origin::Client).await;
    // Each time the list of peers is made: itself, a balancer without anybody behind it, nobody, a fault.
    for asked in 2..=5 {
        cluster.senders[0].do_send(Probe);
        pass(60_000).await;
        assert_eq!(cluster.peers[0].received().len(), asked);
        assert_eq!(cluster.replication.statuses()[0].state, PeerState::Itself);
    }
    cluster.senders[0].do_send(Probe);
    pass(1_000).await;
    assert_ne!(cluster.replication.statuses()[0].state, PeerState::Itself);
    register(&cluster, "i-3", Origin::Client).await;
    pass(1_000).await;
    cluster.senders[0].do_send(Probe);
    pass(1_000).await;
    assert_eq!(cluster.peers[0].items(), ["Register i-1", "Register i-3"]);
    let received = cluster.peers[0].received();
    assert!(received[1..6].iter().all(|probe| probe.body == r#"{"replicationList":[]}"#));
    let numbers: Vec<u64> = received.iter().map(|batch| batch.head.order.number).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert_eq!(received.len(), 7, "who is a peer is not asked who it is");
    // It may be the node itself again.
    cluster.peers[0].plan([is("me")]);
    register(&cluster, "i-4", Origin::Client).await;
    pass(1_000).await;
    assert_eq!(cluster.replication.statuses()[0].state, PeerState::Itself);
}

#[actix::test]
async fn s36_a_peer_that_is_away_gets_everything_when_it_is_back() {
    let cluster = Cluster::new(1);
    cluster.peers[0].plan(vec![Plan::Unreachable; 12]);
    register(&cluster, "i-1", Origin::Client).await;
    register(&cluster, "i-2", Origin::Client).await;
    pass(1_000).await;
    cluster.handle.cancel("ORDERS", "i-1", Origin::Client).await.unwrap();
    cluster.handle.set_status("ORDERS", "i-2", Status::OutOfService, None, Origin::Client).await.unwrap();
    pass(60_000).await;
    let last = cluster.peers[0].received().pop().unwrap();
    assert_eq!(last.items, ["Cancel i-1", "StatusUpdate i-2", "Register i-2"]);
    assert_eq!(cluster.replication.statuses()[0].queued_instances, 0);
}

#[actix::test]
async fn s62_a_stop_sends_what_waits_and_does_not_wait_for_ever() {
    let cluster = Cluster::new(2);
    cluster.peers[1].plan(vec![Plan::TimedOut; 100]);
    cluster.peers[0].plan([Plan::Slow(std::time::Duration::from_millis(100))]);
    register(&cluster, "i-1", Origin::Client).await;
    pass(10).await;
    register(&cluster, "i-2", Origin::Client).await;
    let left = cluster.replication.drain(std::time::Duration::from_secs(2)).await;
    assert_eq!(left, 2, "one instance each for the peer that does not answer");
    assert_eq!(cluster.peers[0].items(), ["Register i-1", "Register i-2"]);
}

#[actix::test]
async fn a_peer_that_leaves_the_list_gets_nothing_more_and_the_others_lose_nothing() {
    let cluster = Cluster::new(2);
    cluster.peers[1].plan([Plan::Unreachable]);
    register(&cluster, "i-1", Origin::Client).await;
    pass(10).await;
    cluster.replication.set_links(vec![cluster.links[1].clone()]);
    cluster.links[0].close();
    register(&cluster, "i-2", Origin::Client).await;
    pass(5_000).await;
    assert_eq!(cluster.peers[0].items(), ["Register i-1"]);
    let got = cluster.peers[1].items();
    assert!(got.ends_with(&["Register i-1".to_owned(), "Register i-2".to_owned()]), "{got:?}");
}

/// What is shown of replication.
fn metrics(cluster: &Cluster) -> String {
    let mut registry = prometheus_client::registry::Registry::default();
    cluster.replication.register_metrics(&mut registry);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    text
}

#[actix::test]
async fn items_that_a_peer_does_not_take_are_shown_though_the_batch_was_answered() {
    let cluster = Cluster::new(1);
    cluster.peers[0].plan([Plan::Codes(&[200]), Plan::Codes(&[400])]);
    for n in 0..4 {
        register(&cluster, &format!("i-{n}"), Origin::Client).await;
    }
    pass(1_000).await;
    let status = cluster.replication.statuses().remove(0);
    assert_eq!(status.state, PeerState::Available);
    let words = status.last_error.unwrap().words;
    assert_eq!(words, "did not take 3 items; the first, Register of ORDERS/i-1, was answered 400");
}

#[actix::test]
async fn nothing_is_shown_of_a_peer_that_has_left_also_if_it_answers_later() {
    let cluster = Cluster::new(2);
    let link = cluster.links[0].clone();
    cluster.peers[0].plan([
        Plan::Codes(&[500]),
        Plan::Status(500),
        Plan::Status(503),
        Plan::Unreachable,
        Plan::Status(302),
        Plan::Codes(&[404]),
        Plan::Body(newer("i-1", 2000)),
    ]);
    register(&cluster, "i-1", Origin::Client).await;
    for _ in 0..30 {
        pass(1_000).await;
        renew(&cluster, "i-1").await;
    }
    cluster.peers[0].plan([Plan::Slow(std::time::Duration::from_millis(100))]);
    register(&cluster, "i-2", Origin::Client).await;
    pass(20).await;
    let (counters, repairs) = (cluster.replication.metrics(), Remedy::ALL);
    for comparison in Comparison::ALL {
        counters.count_comparison(&link, comparison);
    }
    counters.show_differences(&link, &[]);
    repairs.iter().for_each(|remedy| counters.count_repair(&link, *remedy));
    let families = |text: &str| -> std::collections::BTreeSet<String> {
        let lines = text.lines().filter(|line| line.contains("peer-0"));
        lines.filter_map(|line| Some(line.split_once('{')?.0.to_owned())).collect()
    };
    let before = metrics(&cluster);
    assert!(families(&before).len() > 25, "{:?}", families(&before));
    cluster.replication.set_links(vec![cluster.links[1].clone()]);
    cluster.replication.retire(&link);
    pass(1_000).await;
    counters.count_comparison(&link, Comparison::Failed);
    let after = metrics(&cluster);
    assert_eq!(families(&after), <_>::default());
    assert!(after.contains("peer-1"));
}

#[actix::test]
async fn the_metrics_name_peers_and_no_instance() {
    let cluster = Cluster::new(2);
    cluster.peers[1].plan(vec![Plan::Unreachable; 3]);
    register(&cluster, "secret-id", Origin::Client).await;
    pass(100).await;
    let text = metrics(&cluster);
    for expected in [
        r#"replication_peer_available{peer="http://peer-0/eureka/"} 1"#,
        r#"replication_peer_available{peer="http://peer-1/eureka/"} 0"#,
        r#"replication_queue_items{peer="http://peer-1/eureka/"} 1"#,
        r#"replication_batches_total{peer="http://peer-0/eureka/",result="ok"} 1"#,
        r#"replication_items_total{peer="http://peer-0/eureka/",action="Register",code="2xx"} 1"#,
        r#"replication_dropped_total{peer="http://peer-0/eureka/",action="Cancel",reason="expired"} 0"#,
        r#"replication_propagation_seconds_count{peer="http://peer-0/eureka/"} 1"#,
        r#"replication_accepted_total{peer="http://peer-1/eureka/"} 1"#,
        r#"replication_batch_items_sum{peer="http://peer-0/eureka/"} 1.0"#,
        r#"replication_wait_seconds_count{peer="http://peer-0/eureka/"} 1"#,
        r#"replication_retried_total{peer="http://peer-1/eureka/"} "#,
        r#"replication_bisected_total{peer="http://peer-1/eureka/"} 0"#,
    ] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    assert!(!text.contains(r#"replication_retried_total{peer="http://peer-0/eureka/"}"#), "nothing failed");
    assert!(!text.contains("secret-id"));
}
