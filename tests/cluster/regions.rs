//! Other regions are shown beside the own one, and harm nothing (`replication.md` 7).

use std::collections::BTreeSet;

use serde_json::Value;

use super::network::Mode;
use super::nodes::Cluster;
use crate::waiting::until;

const URLS: &str = "eureka.server.remote-region-urls-with-name";

/// Two lone nodes; the second one is region `EU-1` of the first, and with `mutual` the first one is `us` of the second.
fn regions(mutual: bool, first: &[(&str, &str)]) -> Cluster {
    let lone = [
        ("eureka.client.service-url.defaultZone", ""),
        ("eureka.server.remote-region-registry-fetch-interval", "1"),
    ];
    let mut cluster = Cluster::prepare(2, &lone);
    let to_us = format!("http://127.0.0.1:{}/eureka/", cluster.link(1, 0).port());
    let to_eu = format!("http://127.0.0.1:{}/eureka", cluster.link(0, 1).port());
    let us = format!("{URLS}.us");
    let back = [(us.as_str(), to_us.as_str())];
    cluster.start_node_with(1, if mutual { &back } else { &[] });
    let eu = format!("{URLS}.EU-1");
    let mut own = vec![(eu.as_str(), to_eu.as_str())];
    own.extend_from_slice(first);
    cluster.start_node_with(0, &own);
    cluster
}

/// Ids in the answer to a list query.
fn ids(cluster: &Cluster, node: usize, path: &str) -> BTreeSet<String> {
    let answer = cluster.call(node, "GET", path, "");
    assert_eq!(answer.status, 200, "{path}");
    let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let apps = match document.get("application") {
        Some(app) => vec![app.clone()],
        None => document["applications"]["application"].as_array().cloned().unwrap_or_default(),
    };
    let instances = apps.iter().flat_map(|app| app["instance"].as_array().cloned().unwrap_or_default());
    instances.filter_map(|i| i["instanceId"].as_str().map(str::to_owned)).collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn s86_s88_a_region_is_shown_in_every_list_and_followed_by_deltas() {
    let cluster = regions(false, &[]);
    cluster.register(1, "ORDERS", "eu-1", 100);
    cluster.register(0, "ORDERS", "us-1", 100);
    cluster.register(1, "MAIL", "eu-2", 100);
    until("the region is copied", || ids(&cluster, 0, "/eureka/apps/") == set(&["eu-1", "eu-2", "us-1"]));
    assert_eq!(ids(&cluster, 0, "/eureka/apps/MAIL"), set(&["eu-2"]));
    assert_eq!(
        ids(&cluster, 0, "/eureka/apps/ORDERS"),
        set(&["us-1"]),
        "what is here is not looked for there"
    );
    assert_eq!(ids(&cluster, 0, "/eureka/apps/?regions=eu-1"), set(&["eu-1", "eu-2", "us-1"]));
    assert_eq!(ids(&cluster, 0, "/eureka/apps/?regions=Nowhere"), set(&["us-1"]));
    for path in ["/eureka/apps/MAIL/eu-2", "/eureka/instances/eu-2"] {
        assert_eq!(cluster.call(0, "GET", path, "").status, 200, "{path}");
    }
    cluster.register(1, "MAIL", "eu-3", 100);
    cluster.cancel(1, "MAIL", "eu-2");
    until("the changes arrive", || ids(&cluster, 0, "/eureka/apps/") == set(&["eu-1", "eu-3", "us-1"]));
    let delta = cluster.call(0, "GET", "/eureka/apps/delta", "");
    let text = String::from_utf8_lossy(&delta.body).into_owned();
    assert!(text.contains(r#""apps__hashcode":"UP_3_""#) && text.contains("eu-3"), "{text}");
    assert!(cluster.metric(0, "eureka_region_delta_successes_total") >= 1.0);
    assert_eq!(cluster.metric(0, "eureka_region_instances"), 2.0);
    assert_eq!(cluster.renew(0, "MAIL", "eu-3", 100), 404, "nothing of another region is registered here");
}

#[test]
fn s87_without_fallback_only_requests_that_name_a_region_see_it() {
    let off = ("eureka.server.disable-transparent-fallback-to-other-region", "true");
    let white = ("eureka.server.remote-region-app-whitelist.global", "orders");
    let cluster = regions(false, &[off, white]);
    cluster.register(1, "ORDERS", "eu-1", 100);
    cluster.register(1, "MAIL", "eu-2", 100);
    cluster.register(0, "MAIL", "us-1", 100);
    let named = "/eureka/apps/?regions=eu-1";
    until("the region is copied", || {
        cluster.call(0, "GET", named, "").status == 200 && ids(&cluster, 0, named) == set(&["eu-1", "us-1"])
    });
    assert_eq!(ids(&cluster, 0, "/eureka/apps/"), set(&["us-1"]));
    assert_eq!(cluster.call(0, "GET", "/eureka/apps/ORDERS", "").status, 404);
    assert_eq!(cluster.call(0, "GET", "/eureka/apps/MAIL/eu-2", "").status, 200);
}

#[test]
fn s85_a_dead_region_harms_nothing_and_keeps_its_last_copy() {
    let cluster = regions(false, &[]);
    cluster.register(1, "ORDERS", "eu-1", 100);
    cluster.register(0, "MAIL", "us-1", 100);
    until("the region is copied", || ids(&cluster, 0, "/eureka/apps/") == set(&["eu-1", "us-1"]));
    cluster.link(0, 1).set(Mode::Cut);
    until("that is noticed", || cluster.metric(0, "eureka_region_up") == 0.0);
    assert_eq!(ids(&cluster, 0, "/eureka/apps/"), set(&["eu-1", "us-1"]));
    let page = cluster.page(0, "/");
    assert!(page.contains("eu-1"), "the page names the region and its trouble: {page}");
    cluster.cancel(1, "ORDERS", "eu-1");
    cluster.link(0, 1).set(Mode::Open);
    until("it is copied again", || ids(&cluster, 0, "/eureka/apps/") == set(&["us-1"]));
}

#[test]
fn s84_a_region_that_was_never_reached_closes_only_what_names_it() {
    let mut cluster = Cluster::prepare(2, &[("eureka.client.service-url.defaultZone", "")]);
    cluster.link(0, 1).set(Mode::Cut);
    let url = format!("http://127.0.0.1:{}/eureka/", cluster.link(0, 1).port());
    cluster.start_node_with(0, &[(&format!("{URLS}.eu"), &url)]);
    cluster.register(0, "MAIL", "us-1", 100);
    assert_eq!(ids(&cluster, 0, "/eureka/apps/"), set(&["us-1"]));
    for path in ["/eureka/apps/?regions=eu", "/eureka/apps/delta?regions=eu", "/eureka/vips/v?regions=eu"] {
        assert_eq!(cluster.call(0, "GET", path, "").status, 403, "{path}");
    }
}

#[test]
fn s89_regions_that_mirror_each_other_keep_nothing_alive() {
    let cluster = regions(true, &[]);
    cluster.register(0, "ORDERS", "us-1", 100);
    cluster.register(1, "ORDERS", "eu-1", 100);
    let both = set(&["eu-1", "us-1"]);
    until("both see both", || (0..2).all(|node| ids(&cluster, node, "/eureka/apps/") == both));
    cluster.cancel(0, "ORDERS", "us-1");
    until("it is gone from both", || {
        (0..2).all(|node| ids(&cluster, node, "/eureka/apps/") == set(&["eu-1"]))
    });
}

#[test]
fn s66_a_node_that_copies_a_peer_takes_nothing_of_the_peers_other_regions() {
    let mut cluster = Cluster::prepare(3, &[("eureka.server.remote-region-registry-fetch-interval", "1")]);
    let peers = "eureka.client.service-url.defaultZone";
    let (to_region, to_one, to_nought) = (cluster.url(0, 2), cluster.url(0, 1), cluster.url(1, 0));
    cluster.start_node_with(2, &[(peers, "")]);
    cluster.start_node_with(0, &[(peers, &to_one), (&format!("{URLS}.eu"), &to_region)]);
    cluster.register(2, "ORDERS", "eu-1", 100);
    cluster.register(0, "ORDERS", "us-1", 100);
    until("the region is copied", || ids(&cluster, 0, "/eureka/apps/") == set(&["eu-1", "us-1"]));
    cluster.start_node_with(1, &[(peers, &to_nought)]);
    cluster.until_shown(1, "ORDERS", "us-1", |_| true);
    cluster.until_quiet(0);
    assert_eq!(ids(&cluster, 1, "/eureka/apps/"), set(&["us-1"]));
}
