//! Restarts in order: what clients see of them, and what operators are told.

use std::fs;

use super::fleet::Fleet;
use super::node::{Home, Seen};
use crate::waiting::until;

fn path(app: &str, id: &str) -> String {
    format!("/eureka/apps/{app}/{id}")
}

#[test]
fn two_hundred_clients_that_never_pause_notice_nothing_of_restarts() {
    let home = Home::new();
    // Deltas that soon hold nothing: what clients follow is then the hash alone, and a wrong one would show.
    let settings = [
        "--eureka.server.retention-time-in-m-s-in-delta-queue=1000",
        "--eureka.server.delta-retention-timer-interval-in-ms=100",
    ];
    let node = home.start(&settings);
    let fleet = Fleet::start(&node, 200);
    fleet.goes_on();
    node.stop();
    let node = home.start(&settings);
    fleet.moves_to(&node);
    fleet.goes_on();
    // Without a word this time: what was registered long ago is on disk.
    node.kill();
    let node = home.start(&settings);
    fleet.moves_to(&node);
    fleet.goes_on();
    fleet.end();
    let metrics = node.client().send("GET", "/actuator/prometheus", "").expect("an answer").text();
    let registrations = metrics.lines().find(|line| line.starts_with("eureka_registrations_total"));
    assert_eq!(registrations, Some("eureka_registrations_total 0"), "nobody had to register again");
}

#[test]
fn two_hundred_clients_notice_nothing_of_a_restart() {
    let home = Home::new();
    let node = home.start(&[]);
    let mut client = node.client();
    let ids: Vec<String> = (0..200).map(|index| format!("id-{index:03}")).collect();
    for (index, id) in ids.iter().enumerate() {
        client.register(["SHOP", "CART"][index % 2], id, 1_000);
    }
    // The tier that clients read shows a change a little later.
    let before = std::iter::repeat_with(|| node.fetch()).find(|fetched| fetched.0.len() == 200).expect("all");
    let log = node.stop();
    assert!(log.contains("the snapshot is complete"), "{log}");

    let node = home.start(&[]);
    // The very first answer.
    assert_eq!(node.fetch(), before);
    assert!(node.has_said("warm start: 200 instances"), "{}", node.log());
    assert!(node.has_said("the last run stopped clean"), "{}", node.log());
    let mut client = node.client();
    for (index, id) in ids.iter().enumerate() {
        let beat = format!("{}?status=UP&lastDirtyTimestamp=1000", path(["SHOP", "CART"][index % 2], id));
        client.expect("PUT", &beat, "", 200);
        if index % 50 == 0 {
            assert_eq!(node.fetch(), before);
        }
    }
    let delta = client.send("GET", "/eureka/apps/delta", "").expect("an answer").text();
    assert!(delta.contains(r#""application":[]"#) && delta.contains("UP_200_"), "{delta}");
}

#[test]
fn what_was_cancelled_stays_away_and_overrides_stay() {
    let home = Home::new();
    let node = home.start(&[]);
    let mut client = node.client();
    for id in ["a", "b", "c"] {
        client.register("SHOP", id, 7);
    }
    client.expect("PUT", &format!("{}/status?value=OUT_OF_SERVICE", path("SHOP", "b")), "", 200);
    client.expect("DELETE", &path("SHOP", "c"), "", 200);
    node.stop();
    let node = home.start(&[]);
    let seen = node.fetch();
    assert_eq!(seen.ids(), ["a", "b"]);
    let out = Seen { dirty: 7, status: "OUT_OF_SERVICE".into(), overridden: "OUT_OF_SERVICE".into() };
    assert_eq!(seen.0[&("SHOP".to_owned(), "b".to_owned())], out);
    // The instance itself cannot bring itself back into traffic, as before the restart.
    let mut client = node.client();
    client.register("SHOP", "b", 8);
    client.expect("PUT", &format!("{}?lastDirtyTimestamp=7", path("SHOP", "c")), "", 404);
    node.stop();
    let node = home.start(&[]);
    assert_eq!(node.fetch().0[&("SHOP".to_owned(), "b".to_owned())], Seen { dirty: 8, ..out });
}

#[test]
fn a_second_node_on_the_folder_is_refused_and_told_who_is_there() {
    let home = Home::new();
    let node = home.start(&[]);
    let refused = home.output(&["--server.port=0", "--server.address=127.0.0.1"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains(&format!("in use by process {}", node.pid())), "{text}");
    assert!(text.contains("heureka.snapshots.folder"), "{text}");
    let other = home.start(&["--heureka.snapshots.folder=other"]);
    assert_eq!(other.fetch().ids().len(), 0);
}

#[test]
fn snapshots_that_are_switched_off_leave_nothing() {
    let home = Home::new();
    for _ in 0..2 {
        let node = home.start(&["--heureka.snapshots.enabled=false"]);
        assert_eq!(node.fetch().ids().len(), 0);
        node.client().register("SHOP", "a", 1);
        node.stop();
    }
    assert!(!home.data().exists());
}

#[test]
fn a_folder_that_cannot_be_used_costs_the_snapshots_only() {
    let home = Home::new();
    fs::write(home.data(), "a file in the place of the folder").expect("written");
    let node = home.start(&[]);
    assert!(node.has_said("the snapshot cannot be used now"), "{}", node.log());
    // The writer has a thread of its own, which may begin later.
    until("the status page says so", || {
        let status = node.client().send("GET", "/eureka/status", "").expect("an answer").text();
        status.contains(r#""snapshot":"failing: "#)
    });
    let metrics = node.client().send("GET", "/actuator/prometheus", "").expect("an answer").text();
    assert!(metrics.contains(r#"eureka_snapshot_start{outcome="unusable"} 1"#), "{metrics}");
    node.client().register("SHOP", "a", 1);
    node.stop();
}

#[test]
fn a_damaged_snapshot_is_moved_aside_and_the_start_is_cold() {
    let home = Home::new();
    let node = home.start(&[]);
    node.client().register("SHOP", "a", 1);
    node.stop();
    let pointer = home.data().join("CURRENT");
    let text = fs::read_to_string(&pointer).expect("a pointer");
    fs::write(&pointer, text.replace("store-1", "store-2")).expect("written");
    let node = home.start(&[]);
    assert!(node.has_said("cold start: the snapshot was moved to"), "{}", node.log());
    assert_eq!(node.fetch().ids().len(), 0);
    node.client().register("SHOP", "b", 1);
    node.stop();
    assert_eq!(home.start(&[]).fetch().ids(), ["b"]);
}

#[test]
fn every_metric_of_the_snapshots_is_documented() {
    let home = Home::new();
    let node = home.start(&[]);
    let metrics = node.client().send("GET", "/actuator/prometheus", "").expect("an answer").text();
    let manual = include_str!("../../docs/metrics.md");
    let names = metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let names: Vec<_> = names.filter(|name| name.contains("snapshot")).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(manual.contains(&format!("`{name}`")), "{name} is missing in docs/metrics.md");
    }
}
