//! Lists of peers that change while nodes run: a file, settings that are read again. Who stays loses nothing.

use std::path::Path;

use heureka::testing::TestServer;
use serde_json::{Value, json};

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

/// Written beside and moved to its place, as deployments do it: nobody reads half a file.
fn write(path: &Path, text: &str) {
    let beside = path.with_extension("new");
    std::fs::write(&beside, text).expect("written");
    std::fs::rename(&beside, path).expect("moved");
}

/// A cluster of three whose first node takes its settings from a folder.
fn cluster_with_folder(files: &[(&str, &str)], args: &[&str]) -> (Cluster, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cluster = Cluster::prepare(3, &[]);
    for node in [1, 2] {
        cluster.start_node(node);
    }
    for (name, text) in files {
        let text = text.replace("{1}", &cluster.url(0, 1)).replace("{2}", &cluster.url(0, 2));
        write(&folder.path().join(name), &text);
    }
    let more = [
        "--eureka.server.use-read-only-response-cache=false",
        "--eureka.server.peer-node-read-timeout-ms=5000",
        "--eureka.client.register-with-eureka=false",
    ];
    cluster.place(0, TestServer::start_in(folder.path(), &[&more[..], args].concat()));
    (cluster, folder)
}

fn lists(cluster: &Cluster, peer: usize) -> bool {
    cluster.page(0, "/eureka/status").contains(&cluster.url(0, peer))
}

#[test]
fn a_file_of_peers_may_change_and_who_stays_gets_what_waits() {
    let (cluster, folder) =
        cluster_with_folder(&[("peers", "{1} # the first\n")], &["--heureka.peers.file=peers"]);
    let file = folder.path().join("peers");
    let (first, both) = (cluster.url(0, 1), format!("{},\n{}", cluster.url(0, 1), cluster.url(0, 2)));
    cluster.register(0, "ORDERS", "i-1", 100);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    assert_eq!(cluster.metric(0, "eureka_peers "), 1.0);

    cluster.link(0, 1).set(Mode::Cut);
    cluster.register(0, "ORDERS", "i-2", 100);
    write(&file, &both);
    until("the second is a peer", || lists(&cluster, 2));
    cluster.register(0, "ORDERS", "i-3", 100);
    cluster.until_shown(2, "ORDERS", "i-3", |_| true);
    write(&file, "no URL");
    until("the file could not be read", || {
        cluster.metric(0, "eureka_peer_lists_total{result=\"partial\"}") > 0.0
    });
    assert!(cluster.page(0, "/").contains("an old one, wholly or in part: a URL in "));
    write(&file, &first);
    until("the second is no peer", || !lists(&cluster, 2));
    assert!(!cluster.page(0, "/").contains("an old one"));
    cluster.register(0, "ORDERS", "i-4", 100);

    cluster.link(0, 1).set(Mode::Open);
    for id in ["i-2", "i-3", "i-4"] {
        cluster.until_shown(1, "ORDERS", id, |_| true);
    }
    assert!(cluster.instance(2, "ORDERS", "i-4").is_none());
}

#[test]
fn a_list_that_comes_late_is_copied_from_as_soon_as_it_is_there() {
    let (cluster, folder) = cluster_with_folder(&[], &["--heureka.peers.file=peers"]);
    // Node 1 tells node 0 nothing by itself.
    cluster.link(1, 0).set(Mode::Cut);
    cluster.register(1, "ORDERS", "i-1", 100);
    until("the node opens without a list", || cluster.is_open(0));
    assert!(cluster.instance(0, "ORDERS", "i-1").is_none());
    write(&folder.path().join("peers"), &cluster.url(0, 1));
    cluster.until_shown(0, "ORDERS", "i-1", |_| true);
    assert_eq!(cluster.link(0, 1).batches(), 0, "what was copied is told to nobody");
}

#[test]
fn a_node_whose_service_url_is_its_own_copies_from_the_file_that_comes_later() {
    let me = "http://me.test:1/eureka/";
    let args = [
        "--heureka.peers.file=peers",
        &format!("--eureka.server.my-url={me}"),
        &format!("--eureka.client.service-url.defaultZone={me}"),
    ];
    let (cluster, folder) = cluster_with_folder(&[], &args);
    // Node 1 tells node 0 nothing by itself.
    cluster.link(1, 0).set(Mode::Cut);
    cluster.register(1, "ORDERS", "i-1", 100);
    until("the list is known to be a part", || {
        cluster.metric(0, "eureka_peer_lists_total{result=\"partial\"}") > 0.0
    });
    until("the node opens", || cluster.is_open(0));
    assert!(cluster.instance(0, "ORDERS", "i-1").is_none());
    write(&folder.path().join("peers"), &cluster.url(0, 1));
    cluster.until_shown(0, "ORDERS", "i-1", |_| true);
    assert_eq!(cluster.link(0, 1).batches(), 0, "what was copied is told to nobody");
}

#[test]
fn a_node_whose_first_peer_is_gone_copies_from_one_that_is_listed_after_all_attempts() {
    let args = ["--heureka.peers.file=peers", "--eureka.server.registry-sync-retries=0"];
    // Port 9 takes no connections.
    let (cluster, folder) = cluster_with_folder(&[("peers", "http://127.0.0.1:9/eureka/")], &args);
    cluster.link(1, 0).set(Mode::Cut);
    cluster.register(1, "ORDERS", "i-1", 100);
    until("the only attempt is over", || cluster.is_open(0));
    assert!(cluster.instance(0, "ORDERS", "i-1").is_none());
    write(&folder.path().join("peers"), &cluster.url(0, 1));
    cluster.until_shown(0, "ORDERS", "i-1", |_| true);
}

fn refresh(cluster: &Cluster) -> (u16, Value) {
    let answer = cluster.call(0, "POST", "/actuator/refresh", "");
    (answer.status, serde_json::from_slice(&answer.body).unwrap_or_default())
}

const EXPOSED: &str = "management.endpoints.web.exposure.include: health,prometheus,refresh\n";

#[test]
fn c58_settings_that_are_read_again_change_the_peers_in_any_spelling() {
    let lone = format!("{EXPOSED}eureka.client.serviceUrl.defaultZone:\n");
    let (cluster, folder) = cluster_with_folder(&[("application.yml", &lone)], &[]);
    let file = folder.path().join("application.yml");
    assert_eq!(refresh(&cluster), (200, json!([])));
    // A lone node gets a peer.
    write(&file, &format!("{EXPOSED}eureka.client.serviceUrl.defaultZone: {}\n", cluster.url(0, 1)));
    assert_eq!(refresh(&cluster), (200, json!(["eureka.client.serviceUrl.defaultZone"])));
    until("the first is a peer", || lists(&cluster, 1));
    cluster.link(0, 1).set(Mode::Cut);
    cluster.register(0, "ORDERS", "i-1", 100);
    // Another one, and a key that waits for the next start.
    let urls = format!("{},{}", cluster.url(0, 2), cluster.url(0, 1));
    write(&file, &format!("{EXPOSED}eureka.client.service-url.defaultZone: {urls}\neureka.environment: e\n"));
    assert_eq!(
        refresh(&cluster),
        (200, json!(["eureka.client.service-url.defaultZone", "eureka.environment"]))
    );
    until("the second is a peer", || lists(&cluster, 2));
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
    // What cannot be read changes nothing.
    write(&file, "eureka: [\n");
    let refused = cluster.call(0, "POST", "/actuator/refresh", "");
    assert_eq!(refused.status, 500);
    assert!(refused.text().contains("application.yml, line"), "{}", refused.text());
    assert!(lists(&cluster, 1) && lists(&cluster, 2));
    cluster.register(0, "ORDERS", "i-2", 100);
    cluster.until_shown(2, "ORDERS", "i-2", |_| true);
}

#[test]
fn a_peer_of_a_source_that_fails_while_settings_are_read_again_keeps_its_queue() {
    let args = ["--heureka.peers.file=peers"];
    let (cluster, folder) = cluster_with_folder(&[("application.yml", EXPOSED), ("peers", "{1}")], &args);
    until("the first is a peer", || lists(&cluster, 1));
    cluster.link(0, 1).set(Mode::Cut);
    cluster.register(0, "ORDERS", "i-1", 100);
    std::fs::remove_file(folder.path().join("peers")).expect("removed");
    let urls = format!("{EXPOSED}eureka.client.service-url.defaultZone: {}\n", cluster.url(0, 2));
    write(&folder.path().join("application.yml"), &urls);
    assert_eq!(refresh(&cluster), (200, json!(["eureka.client.service-url.defaultZone"])));
    until("the second is a peer", || lists(&cluster, 2));
    assert!(lists(&cluster, 1));
    cluster.link(0, 1).set(Mode::Open);
    cluster.until_shown(1, "ORDERS", "i-1", |_| true);
}

#[test]
fn a_lone_node_that_gets_peers_registers_itself_with_them() {
    let text = format!("{EXPOSED}eureka.client.register-with-eureka: true\nspring.application.name: reg\n");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("application.yml");
    write(&file, &text);
    let mut cluster = Cluster::prepare(2, &[]);
    cluster.start_node(1);
    cluster.place(0, TestServer::start_in(folder.path(), &["--eureka.instance.instance-id=me"]));
    assert!(cluster.instance(0, "REG", "me").is_none(), "a lone node is nobody's peer");
    write(&file, &format!("{text}eureka.client.service-url.defaultZone: {}\n", cluster.url(0, 1)));
    assert_eq!(refresh(&cluster).0, 200);
    cluster.until_shown(1, "REG", "me", |i| i["status"] == "UP");
    cluster.stop_node(0);
    cluster.until_gone(1, "REG", "me");
}

#[test]
fn refresh_is_there_only_if_it_is_exposed_and_only_for_post() {
    let cluster = Cluster::start(1, &[]);
    assert_eq!(refresh(&cluster).0, 404);
    let exposed = Cluster::start(1, &[("management.endpoints.web.exposure.include", "*")]);
    assert_eq!(refresh(&exposed), (200, json!([])), "a node that was given its settings has nothing to read");
    let got = exposed.call(0, "GET", "/actuator/refresh", "");
    assert_eq!((got.status, got.header("allow")), (405, Some("POST,OPTIONS")));
    assert!(exposed.page(0, "/actuator").contains("/actuator/refresh\""));
}
