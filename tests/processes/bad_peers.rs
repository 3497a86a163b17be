//! Peers that answer as no peer should. Each is counted and named in log and page, none costs anybody else anything, and as
//! soon as it behaves it has everything.

use std::collections::BTreeMap;

use heureka::testing::TestServer;
use serde_json::Value;

use super::bad_peer::{BadPeer, Manner};
use crate::restart::node::{Client, Home, Node, Seen};
use crate::waiting::until;

const INSTANCES: usize = 6;

/// A node with bad peers and a good one.
struct World {
    good: TestServer,
    bad: Vec<(BadPeer, Expected)>,
    node: Node,
    _home: Home,
}

/// What is to be said of a peer.
struct Expected {
    result: &'static str,
    words: &'static str,
}

impl World {
    fn start(manners: Vec<(Manner, &'static str, &'static str)>) -> Self {
        let properties = [
            ("eureka.client.register-with-eureka", "false"),
            ("eureka.server.use-read-only-response-cache", "false"),
        ];
        let owned: Vec<_> = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let good = TestServer::start(&owned);
        let bad: Vec<_> = manners
            .into_iter()
            .map(|(manner, result, words)| (BadPeer::start(manner), Expected { result, words }))
            .collect();
        let ports = bad.iter().map(|(peer, _)| peer.port).chain([good.port()]);
        let urls: Vec<String> = ports.map(|port| format!("http://127.0.0.1:{port}/eureka/")).collect();
        let peers = format!("--eureka.client.service-url.defaultZone={}", urls.join(","));
        let home = Home::new();
        let node = home.start(&[
            &peers,
            "--eureka.client.register-with-eureka=false",
            "--eureka.client.eureka-server-connect-timeout-seconds=1",
            "--eureka.client.eureka-server-read-timeout-seconds=1",
            "--eureka.server.use-read-only-response-cache=false",
        ]);
        Self { good, bad, node, _home: home }
    }

    fn text(&self, path: &str) -> String {
        let answer = self.node.client().send("GET", path, "").expect("an answer");
        assert_eq!(answer.status, 200, "{path}");
        answer.text()
    }

    fn metric(&self, line: &str) -> f64 {
        let text = self.text("/actuator/prometheus");
        let value = text.lines().find_map(|found| found.strip_prefix(line)?.trim().parse().ok());
        value.unwrap_or(0.0)
    }

    /// What is told of a peer on the start page.
    fn on_page(&self, peer: &BadPeer) -> String {
        let page = self.text("/");
        let place = page.find(&format!("127.0.0.1:{}", peer.port)).expect("the page lists the peer");
        page[place..].split_once("</tr>").map_or("", |(row, _)| row).to_owned()
    }

    /// Registers, overrides and cancels.
    fn make_changes(&self) {
        let mut client = self.node.client();
        for n in 0..INSTANCES {
            client.register("SHOP", &format!("i-{n}"), 100);
        }
        client.expect("PUT", "/eureka/apps/SHOP/i-1/status?value=OUT_OF_SERVICE", "", 200);
        client.expect("DELETE", "/eureka/apps/SHOP/i-0", "", 200);
    }

    fn until_good_peer_has_all(&self) {
        let wanted: BTreeMap<String, String> = (1..INSTANCES)
            .map(|n| (format!("i-{n}"), if n == 1 { "OUT_OF_SERVICE" } else { "UP" }.to_owned()))
            .collect();
        until("the good peer has everything", || {
            let fetched = Client::to(self.good.port()).fetch();
            let named = |((_, id), seen): (&(String, String), &Seen)| (id.clone(), seen.status.clone());
            fetched.0.iter().map(named).collect::<BTreeMap<_, _>>() == wanted
        });
    }

    /// Waits until a lasting fault of a peer is counted, and is told on the page and in the log.
    fn until_named(&self, peer: &BadPeer, expected: &Expected) {
        self.until_counted(peer, expected);
        until(&format!("the page says of {:?} {:?}", peer.manner(), expected.words), || {
            self.on_page(peer).contains(expected.words)
        });
        self.until_logged(peer, expected);
    }

    fn until_counted(&self, peer: &BadPeer, expected: &Expected) {
        let url = format!("http://127.0.0.1:{}/eureka/", peer.port);
        let counted =
            format!(r#"eureka_replication_batches_total{{peer="{url}",result="{}"}}"#, expected.result);
        let what = format!("{:?} is counted as {}", peer.manner(), expected.result);
        until(&what, || self.metric(&counted) > 0.0);
    }

    fn until_logged(&self, peer: &BadPeer, expected: &Expected) {
        let url = format!("http://127.0.0.1:{}/eureka/", peer.port);
        let is_told = |line: &str| line.contains(&url) && line.contains(expected.words);
        until(&format!("the log says of {:?} {:?}", peer.manner(), expected.words), || {
            self.node.log().lines().any(is_told)
        });
    }
}

#[test]
fn peers_that_do_not_answer_properly_hurt_nobody_and_lose_nothing() {
    let world = World::start(vec![
        (Manner::Status("307 Temporary Redirect"), "rejected", "answers 307"),
        (Manner::Status("401 Unauthorized"), "rejected", "answers 401"),
        (Manner::Status("404 Not Found"), "rejected", "answers 404"),
        (Manner::Status("502 Bad Gateway"), "rejected", "answers 502"),
        (Manner::Body("text/html", "<html>log in</html>"), "rejected", "a body (text/html) that is no list"),
        (Manner::Body("application/json", ""), "rejected", "answers 200 without a body"),
        (Manner::Body("application/json", r#"{"applications":{}}"#), "rejected", "that is no list"),
        (Manner::Body("application/json", r#"{"responseList":[]}"#), "rejected", "gives 0 answers to"),
        (Manner::TooManyAnswers, "rejected", "answers to"),
        (Manner::BrokenGzip, "rejected", "broken gzip"),
        (Manner::Status("503 Service Unavailable"), "congestion", "answers 503"),
        (Manner::Garbage, "network", "not reachable"),
        (Manner::Closes, "network", "not reachable"),
        (Manner::Truncates, "network", "not reachable"),
        (Manner::NeverEndingHead, "network", "not reachable"),
        (Manner::Never, "congestion", "no answer in time"),
        (Manner::DribblesHead, "congestion", "no answer in time"),
        (Manner::DribblesBody, "congestion", "no answer in time"),
    ]);
    until("the node opens", || {
        world.node.client().send("GET", "/eureka/apps", "").is_ok_and(|answer| answer.status == 200)
    });
    world.make_changes();
    world.until_good_peer_has_all();
    assert_eq!(world.node.fetch().ids().len(), INSTANCES - 1, "the node itself is as it was");
    for (peer, expected) in &world.bad {
        world.until_named(peer, expected);
        assert!(!peer.was_followed(), "a redirect was followed");
        peer.behave();
    }
    for (peer, _) in &world.bad {
        until(&format!("{:?} has everything", peer.manner()), || has_everything(peer));
        until("the page calls it available", || world.on_page(peer).contains("available"));
    }
}

/// True if a peer, since it behaves, has been told what was true at the end, in an order that leaves it true.
fn has_everything(peer: &BadPeer) -> bool {
    let items = peer.items();
    let last = |id: &str| items.iter().rev().find(|item| item["id"] == id);
    let is_there =
        |n: usize| items.iter().any(|item| item["id"] == format!("i-{n}") && item["action"] == "Register");
    let status = |item: &Value| item["status"].as_str().unwrap_or_default().to_owned();
    (1..INSTANCES).all(is_there)
        && last("i-1").is_some_and(|item| status(item) == "OUT_OF_SERVICE")
        && last("i-0").is_none_or(|item| item["action"] == "Cancel")
}

#[test]
fn s39_a_peer_that_refuses_whatever_holds_one_instance_gets_all_others() {
    let world = World::start(vec![(Manner::RefusesWith("i-3"), "ok", "refuses a batch of")]);
    world.make_changes();
    world.until_good_peer_has_all();
    let (peer, expected) = &world.bad[0];
    until("everything else is there", || {
        let items = peer.items();
        [1, 2, 4, 5].iter().all(|n| items.iter().any(|item| item["id"] == format!("i-{n}")))
    });
    // Not on the page: that shows what is now, and the next batch may have got through already.
    world.until_counted(peer, expected);
    world.until_logged(peer, expected);
    let url = format!("http://127.0.0.1:{}/eureka/", peer.port);
    let dropped = |action: &str| {
        format!(r#"eureka_replication_dropped_total{{peer="{url}",action="{action}",reason="poison"}}"#)
    };
    until("the item is given up", || world.metric(&dropped("Register")) > 0.0);
    until("the log names it", || {
        world
            .node
            .log()
            .lines()
            .any(|line| line.contains("ERROR") && line.contains("i-3") && line.contains(&url))
    });
    assert!(peer.items().iter().all(|item| item["id"] != "i-3"));
}

#[test]
fn a_peer_that_fails_in_another_way_is_named_again() {
    let world = World::start(vec![(Manner::Closes, "network", "not reachable")]);
    world.make_changes();
    let (peer, expected) = &world.bad[0];
    world.until_named(peer, expected);
    peer.set(Manner::Status("401 Unauthorized"));
    world.until_named(peer, &Expected { result: "rejected", words: "answers 401" });
    peer.behave();
    until("it has everything", || has_everything(peer));
    until("the log says so", || world.node.has_said("replication works again"));
}
