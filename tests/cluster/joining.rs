//! Nodes that come, go and come back (`replication.md` 10.7).

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

use heureka::node::start_with_peers;
use heureka::peers::source::{Listing, PeerSource};
use serde_json::json;

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

#[test]
fn s54_s59_a_node_that_starts_copies_its_peer_with_all_statuses_and_overrides() {
    let mut cluster = Cluster::prepare(2, &[]);
    cluster.start_node(0);
    for status in ["UP", "DOWN", "STARTING", "OUT_OF_SERVICE", "UNKNOWN"] {
        cluster.register_with(0, "ORDERS", status, 100, &json!({"status": status}));
    }
    cluster.register(0, "ORDERS", "overridden", 100);
    cluster.set_status(0, "ORDERS", "overridden", "OUT_OF_SERVICE");
    cluster.start_node(1);
    // No heartbeat and no change: everything has come with the start.
    assert_eq!(cluster.rows(1), cluster.rows(0));
    assert_eq!(cluster.rows(1).len(), 6);
    assert!(cluster.link(1, 0).sent().contains("GET /eureka/apps/ HTTP/1.1"));
    assert_eq!(cluster.link(1, 0).batches(), 0, "what was copied is told to nobody");
}

#[test]
fn s54_the_first_list_of_a_node_that_has_copied_its_peer_is_complete() {
    let mut cluster = Cluster::prepare(2, &[]);
    cluster.start_node(0);
    for n in 0..1_500 {
        cluster.register(0, &format!("APP-{}", n % 50), &format!("i-{n}"), 100);
    }
    let slowly_published = [
        ("eureka.server.use-read-only-response-cache", "true"),
        ("eureka.server.response-cache-update-interval-ms", "60000"),
    ];
    cluster.start_with(1, &slowly_published);
    let mut listed = None;
    until("the node is open", || {
        let answer = cluster.call(1, "GET", "/eureka/apps/", "");
        listed = (answer.status == 200)
            .then(|| String::from_utf8_lossy(&answer.body).matches("\"instanceId\":").count());
        listed.is_some()
    });
    assert_eq!(listed, Some(1_500));
}

#[test]
fn s54_a_node_that_restarts_has_the_same_view() {
    let mut cluster = Cluster::start(2, &[]);
    for n in 0..50 {
        cluster.register(n % 2, "ORDERS", &format!("i-{n}"), 100);
    }
    cluster.until_equal();
    cluster.stop_node(1);
    cluster.cancel(0, "ORDERS", "i-0");
    cluster.start_node(1);
    cluster.until_equal();
    assert_eq!(cluster.rows(1).len(), 49);
    cluster.register(1, "ORDERS", "after", 100);
    cluster.until_shown(0, "ORDERS", "after", |_| true);
}

#[test]
fn s57_a_copy_comes_from_whoever_has_one_and_the_newest_record_wins() {
    let mut cluster = Cluster::prepare(3, &[]);
    cluster.start_node(0);
    cluster.start_node(1);
    cluster.set_between(0, 1, Mode::Cut);
    cluster.register(0, "ORDERS", "only-0", 100);
    cluster.register(1, "ORDERS", "only-1", 100);
    cluster.register(0, "ORDERS", "both", 100);
    cluster.register(1, "ORDERS", "both", 200);
    cluster.start_node(2);
    let rows = cluster.rows(2);
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().any(|row| row.1 == "both" && row.4 == "200"));
}

#[test]
fn s55_a_node_that_must_not_open_empty_refuses_lists_until_it_has_asked_often_enough_and_waited() {
    let wait = "eureka.server.wait-time-in-ms-when-sync-empty";
    let mut cluster = Cluster::prepare(
        2,
        &[
            ("eureka.instance.registry.default-open-for-traffic-count", "0"),
            ("eureka.server.registry-sync-retries", "3"),
            ("eureka.server.registry-sync-retry-wait-ms", "200"),
        ],
    );
    // However slow the machine, the wait is not over before it has been looked at; that it ends shows another life.
    for (wait_ms, ends) in [("600000", false), ("400", true)] {
        cluster.start_with(0, &[(wait, wait_ms)]);
        cluster.register(0, "ORDERS", "i-1", 100);
        assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200, "writes are taken all the time");
        if ends {
            until("the wait is over", || cluster.is_open(0));
            assert_eq!(cluster.rows(0).len(), 1);
        } else {
            assert_eq!(cluster.call(0, "GET", "/eureka/apps/", "").status, 403, "not an empty list");
            until("the node has asked often enough", || cluster.metric(0, "eureka_opened") > 0.0);
            assert_eq!(
                cluster.call(0, "GET", "/eureka/apps/", "").status,
                403,
                "clients get time to register"
            );
            let readiness = cluster.call(0, "GET", "/actuator/health/readiness", "").status;
            assert_eq!(readiness, 200, "they register through a service that leads to ready nodes only");
        }
    }
}

#[test]
fn item_66_a_node_that_still_copies_is_alive_and_not_ready() {
    let mut cluster = Cluster::prepare(
        2,
        &[
            ("eureka.instance.registry.default-open-for-traffic-count", "0"),
            ("eureka.server.registry-sync-retries", "5"),
            ("eureka.server.registry-sync-retry-wait-ms", "600000"),
        ],
    );
    cluster.start_with(0, &[]);
    let statuses = ["health/readiness", "health", "health/liveness"]
        .map(|path| cluster.call(0, "GET", &format!("/actuator/{path}"), "").status);
    assert_eq!(statuses, [503, 503, 200]);
    assert_eq!(cluster.call(0, "GET", "/eureka/apps/", "").status, 403);
}

#[test]
fn s55_a_node_whose_peers_are_away_opens_as_a_spring_server_does_and_copies_later() {
    let mut cluster = Cluster::prepare(2, &[("eureka.server.registry-sync-retries", "100")]);
    cluster.start_node(1);
    // The other direction stays cut: what the peer still has to tell would come by itself.
    cluster.set_between(0, 1, Mode::Cut);
    cluster.register(1, "ORDERS", "i-1", 100);
    cluster.start_node(0);
    assert!(cluster.rows(0).is_empty());
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_shown(0, "ORDERS", "i-1", |_| true);
    assert_eq!(cluster.link(0, 1).batches(), 0, "what was copied is told to nobody");
}

#[test]
fn s56_a_node_whose_peers_are_empty_waits_like_one_whose_peers_are_away() {
    let minimum = "eureka.instance.registry.default-open-for-traffic-count";
    let mut cluster = Cluster::prepare(
        2,
        &[
            ("eureka.server.wait-time-in-ms-when-sync-empty", "600000"),
            ("eureka.server.registry-sync-retries", "2"),
            ("eureka.server.registry-sync-retry-wait-ms", "50"),
        ],
    );
    cluster.start_node(1);
    cluster.start_with(0, &[(minimum, "0")]);
    until("the node has asked often enough", || cluster.metric(0, "eureka_opened") > 0.0);
    assert_eq!(cluster.call(0, "GET", "/eureka/apps/", "").status, 403, "clients get time to register");
    cluster.register(0, "ORDERS", "i-1", 100);
    assert_eq!(cluster.renew(0, "ORDERS", "i-1", 100), 200);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
}

#[test]
fn s65_two_nodes_that_start_together_open_both() {
    let mut cluster = Cluster::prepare(2, &[("eureka.server.registry-sync-retries", "2")]);
    cluster.start_without_waiting(0);
    cluster.start_without_waiting(1);
    for node in [0, 1] {
        until("the node opens", || cluster.is_open(node));
    }
}

#[test]
fn s62_a_node_that_stops_tells_first_what_it_still_has_to_tell() {
    let mut cluster = Cluster::start(2, &[]);
    for n in 0..300 {
        cluster.register(0, "ORDERS", &format!("i-{n}"), 100);
    }
    cluster.stop_node(0);
    assert_eq!(cluster.rows(1).len(), 300);
}

#[test]
fn s76_a_node_registers_itself_everywhere_and_withdraws_when_it_stops() {
    let mut cluster = Cluster::start(2, &[("eureka.client.register-with-eureka", "true")]);
    for node in [0, 1] {
        for id in ["node-0", "node-1"] {
            cluster.until_shown(node, "EUREKA", id, |i| i["status"] == "UP");
        }
    }
    let is_own = |node: usize, id: &str| {
        cluster.instance(node, "EUREKA", id).expect("an instance")["isCoordinatingDiscoveryServer"] == "true"
    };
    assert!(is_own(0, "node-0") && !is_own(0, "node-1") && !is_own(1, "node-0"));
    cluster.stop_node(0);
    cluster.until_gone(1, "EUREKA", "node-0");
}

#[test]
fn s76_the_status_of_the_own_record_may_be_another() {
    let properties = [
        ("eureka.client.register-with-eureka", "true"),
        ("eureka.instance.initial-status", "OUT_OF_SERVICE"),
    ];
    let cluster = Cluster::start(2, &properties);
    for node in [0, 1] {
        cluster.until_shown(node, "EUREKA", "node-0", |i| i["status"] == "OUT_OF_SERVICE");
    }
}

#[test]
fn what_a_peer_knows_is_not_denied_while_it_is_being_copied() {
    let mut cluster = Cluster::prepare(2, &[]);
    cluster.start_node(0);
    cluster.register(0, "ORDERS", "i-1", 100);
    // A heartbeat waits for the copy, but not for ever: on a machine that stands still it may be answered before.
    let is_known = (0..5).any(|_| {
        cluster.link(1, 0).set(Mode::Held);
        cluster.start_without_waiting(1);
        let answer = std::thread::scope(|scope| {
            let beat = scope.spawn(|| cluster.renew(1, "ORDERS", "i-1", 100));
            until("the copy is asked for", || cluster.link(1, 0).sent().ends_with("\r\n\r\n"));
            assert_eq!(cluster.call(1, "GET", "/eureka/apps/", "").status, 403);
            cluster.link(1, 0).set(Mode::Open);
            beat.join().expect("an answer")
        });
        until("the node opens", || cluster.is_open(1));
        answer == 200
    });
    assert!(is_known);
    assert_eq!(cluster.renew(1, "ORDERS", "i-2", 100), 404);
}

#[test]
fn a_node_that_a_peer_takes_for_its_last_life_is_there_again_at_once() {
    let own = [
        ("eureka.client.register-with-eureka", "true"),
        ("eureka.instance.lease-renewal-interval-in-seconds", "3600"),
    ];
    let cluster = Cluster::start(2, &own);
    cluster.until_shown(1, "EUREKA", "node-0", |_| true);
    let replica = [("x-netflix-discovery-replication", "true")];
    // At node 0 last: as soon as it notices, it tells node 1.
    for node in [1, 0] {
        let answer = cluster.call_with(node, "DELETE", "/eureka/apps/EUREKA/node-0", &replica, "");
        assert_eq!(answer.status, 200);
    }
    for node in [0, 1] {
        cluster.until_shown(node, "EUREKA", "node-0", |i| i["status"] == "UP");
    }
}

#[test]
fn an_operation_on_an_override_that_a_java_server_tells_a_node_that_still_copies_is_not_lost() {
    let mut cluster = Cluster::prepare(2, &[]);
    cluster.start_node(0);
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.link(1, 0).set(Mode::Held);
    cluster.start_without_waiting(1);
    let tell = |cluster: &Cluster, action: &str, status: &str| {
        let item = json!({"appName": "ORDERS", "id": "i-1", "action": action, "status": status,
            "lastDirtyTimestamp": 100});
        let body = json!({"replicationList": [item]}).to_string();
        let headers = [("Content-Type", "application/json")];
        cluster.call_with(1, "POST", "/eureka/peerreplication/batch/", &headers, &body)
    };
    for action in ["StatusUpdate", "DeleteStatusOverride"] {
        let early = tell(&cluster, action, "OUT_OF_SERVICE");
        assert_eq!(early.status, 503, "{action}: Java sends the whole batch again after a second");
        assert!(String::from_utf8_lossy(&early.body).contains("being copied"));
    }
    assert_eq!(
        tell(&cluster, "Heartbeat", "UP").status,
        200,
        "its sender registers it now, or with the next one"
    );
    cluster.link(1, 0).set(Mode::Open);
    until("the copy has ended", || tell(&cluster, "StatusUpdate", "OUT_OF_SERVICE").status == 200);
    cluster.until_shown(1, "ORDERS", "i-1", |i| i["overriddenStatus"] == "OUT_OF_SERVICE");
}

/// A server that gives one body to whatever it is asked, for ever.
fn server_that_says(body: &'static str) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // What is asked does not matter, but it must be read before the connection may end.
            let mut lines = BufReader::new(&stream).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
            let _ =
                stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    port
}

/// A delta of a registry of nine, one application of it, and nothing.
const OTHER_ANSWERS: [&str; 3] = [
    r#"{"applications":{"versions__delta":"2","apps__hashcode":"UP_9_","application":[{"name":"ORDERS","instance":[
        {"instanceId":"gone","hostName":"h","app":"ORDERS","ipAddr":"10.0.0.1","status":"UP","actionType":"DELETED"}]}]}}"#,
    r#"{"application":{"name":"ORDERS","instance":[
        {"instanceId":"one","hostName":"h","app":"ORDERS","ipAddr":"10.0.0.1","status":"UP","actionType":"ADDED"}]}}"#,
    r#"{"applications":{}}"#,
];

#[test]
fn a_peer_that_answers_another_request_gives_no_registry_and_not_that_there_is_none() {
    for body in OTHER_ANSWERS {
        let peer = format!("http://127.0.0.1:{}/eureka/", server_that_says(body));
        let mut cluster = Cluster::prepare(1, &[]);
        let properties = [
            ("eureka.client.service-url.defaultZone", peer.as_str()),
            ("eureka.instance.registry.default-open-for-traffic-count", "0"),
            ("eureka.server.registry-sync-retries", "1000"),
        ];
        cluster.start_with(0, &properties);
        until("it has been asked twice", || {
            cluster.metric(0, "eureka_peer_copies_total{result=\"not_whole\"}") > 1.0
        });
        assert_eq!(cluster.metric(0, "eureka_opened"), 0.0, "nobody has said that there is nothing: {body}");
        assert_eq!(cluster.metric(0, "eureka_instances"), 0.0, "{body}");
        let page = cluster.page(0, "/");
        assert!(page.contains("nothing was copied from http://127.0.0.1:"), "{page}");
    }
}

#[test]
fn a_region_that_answers_another_request_is_not_copied() {
    for body in OTHER_ANSWERS {
        let region = format!("http://127.0.0.1:{}/eureka/", server_that_says(body));
        let mut cluster =
            Cluster::prepare(1, &[("eureka.server.remote-region-registry-fetch-interval", "1")]);
        cluster.start_with(0, &[("eureka.server.remote-region-urls-with-name.eu", region.as_str())]);
        until("it is refused", || cluster.metric(0, "eureka_region_refused_lists_total") > 0.0);
        assert_eq!(cluster.metric(0, "eureka_region_instances"), 0.0, "{body}");
        assert_eq!(cluster.call(0, "GET", "/eureka/apps/?regions=eu", "").status, 403, "{body}");
        assert!(cluster.page(0, "/").contains("no list of all"), "{body}");
    }
}

/// Peers that nobody can tell.
struct Unknown;

impl PeerSource for Unknown {
    fn list(&self) -> Listing {
        Box::pin(std::future::pending())
    }
}

#[actix_web::test]
async fn s58_what_peers_cancel_is_remembered_from_the_first_request_on() {
    let alone =
        [("server.port", "0"), ("server.address", "127.0.0.1"), ("heureka.snapshots.enabled", "false")];
    let settings = heureka_config::Settings::from_properties(&alone).expect("settings");
    let (running, server) = start_with_peers(settings, Box::new(Unknown)).expect("a node");
    let serving = actix_web::rt::spawn(server);
    assert!(running.node.registry.shared().is_copying(), "before any list has been asked for");
    running.stop().await;
    serving.await.expect("no panic").expect("stopped");
}
