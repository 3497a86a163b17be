//! Nodes that are peers of one another, and what tests ask them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use heureka::testing::TestServer;
use serde_json::{Value, json};

use super::network::{Link, Mode};
use crate::golden::http::{Answer, read_answer};
use crate::waiting::until;

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// One instance as two nodes are compared by.
pub(super) type Row = (String, String, String, String, String);

/// The cluster. Node `i` sends to node `j` over the link `(i, j)`.
pub(super) struct Cluster {
    nodes: Vec<Option<TestServer>>,
    pub(super) links: BTreeMap<(usize, usize), Link>,
    properties: Vec<(String, String)>,
}

impl Cluster {
    /// Starts nodes one after the other, all with the same properties besides their names and peers.
    pub(super) fn start(count: usize, properties: &[(&str, &str)]) -> Self {
        let mut cluster = Self::prepare(count, properties);
        for node in 0..count {
            cluster.start_node(node);
        }
        cluster
    }

    /// Links without nodes.
    pub(super) fn prepare(count: usize, properties: &[(&str, &str)]) -> Self {
        let pairs = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let links = pairs.filter(|(from, to)| from != to).map(|pair| (pair, Link::new())).collect();
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Self { nodes: (0..count).map(|_| None).collect(), links, properties }
    }

    /// Starts or restarts one node and waits until it has opened.
    pub(super) fn start_node(&mut self, node: usize) {
        self.start_without_waiting(node);
        until(&format!("node {node} opens"), || self.is_open(node));
    }

    /// The same with properties that this node alone has.
    pub(super) fn start_node_with(&mut self, node: usize, properties: &[(&str, &str)]) {
        self.start_with(node, properties);
        until(&format!("node {node} opens"), || self.is_open(node));
    }

    /// Starts or restarts one node.
    pub(super) fn start_without_waiting(&mut self, node: usize) {
        self.start_with(node, &[]);
    }

    /// The same with properties that this node alone has.
    pub(super) fn start_with(&mut self, node: usize, properties: &[(&str, &str)]) {
        let peers = self.links.iter().filter(|((from, _), _)| *from == node);
        let urls: Vec<String> =
            peers.map(|(_, link)| format!("http://127.0.0.1:{}/eureka/", link.port())).collect();
        let own = [
            ("spring.application.name", "eureka".to_owned()),
            ("eureka.client.service-url.defaultZone", urls.join(",")),
            ("eureka.client.register-with-eureka", "false".to_owned()),
            ("eureka.instance.hostname", format!("node-{node}.test")),
            ("eureka.instance.instance-id", format!("node-{node}")),
            ("eureka.server.use-read-only-response-cache", "false".to_owned()),
            // Tests count what was sent: on a busy machine too nothing is to be sent again because an answer is late.
            ("eureka.server.peer-node-read-timeout-ms", "60000".to_owned()),
            ("eureka.server.registry-sync-retry-wait-ms", "100".to_owned()),
        ];
        let mut all: BTreeMap<String, String> = own.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        all.extend(self.properties.iter().cloned());
        all.extend(properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
        let server = TestServer::start_unopened(&all.into_iter().collect::<Vec<_>>());
        self.place(node, server);
    }

    /// A server that was started in another way becomes a node.
    pub(super) fn place(&mut self, node: usize, server: TestServer) {
        for ((_, to), link) in &self.links {
            if *to == node {
                link.lead_to(server.port());
            }
        }
        self.nodes[node] = Some(server);
    }

    /// The URL under which one node knows another.
    pub(super) fn url(&self, from: usize, to: usize) -> String {
        format!("http://127.0.0.1:{}/eureka/", self.link(from, to).port())
    }

    /// Stops a node in order.
    pub(super) fn stop_node(&mut self, node: usize) {
        if let Some(server) = self.nodes[node].take() {
            server.stop();
        }
    }

    pub(super) fn link(&self, from: usize, to: usize) -> &Link {
        &self.links[&(from, to)]
    }

    /// Sets both directions between two nodes.
    pub(super) fn set_between(&self, one: usize, two: usize, mode: Mode) {
        self.link(one, two).set(mode);
        self.link(two, one).set(mode);
    }

    pub(super) fn port_of(&self, node: usize) -> u16 {
        self.nodes[node].as_ref().expect("the node runs").port()
    }

    pub(super) fn is_open(&self, node: usize) -> bool {
        self.call(node, "GET", "/eureka/apps/", "").status == 200
    }

    /// A call of a client.
    pub(super) fn call(&self, node: usize, method: &str, path: &str, body: &str) -> Answer {
        self.call_with(node, method, path, &[], body)
    }

    /// A call with more headers.
    pub(super) fn call_with(
        &self,
        node: usize,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port_of(node))).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let more: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json\r\n\
             Content-Type: application/json\r\n{more}Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).expect("the request is sent");
        read_answer(&mut BufReader::new(stream), method).expect("an answer")
    }

    fn must(&self, node: usize, method: &str, path: &str, body: &str, status: u16) {
        let answer = self.call(node, method, path, body);
        assert_eq!(answer.status, status, "{method} {path}: {}", String::from_utf8_lossy(&answer.body));
    }

    pub(super) fn register(&self, node: usize, app: &str, id: &str, dirty: i64) {
        self.register_with(node, app, id, dirty, &json!({}));
    }

    pub(super) fn register_with(&self, node: usize, app: &str, id: &str, dirty: i64, members: &Value) {
        let mut instance = json!({
            "instanceId": id, "app": app, "hostName": "host.example", "ipAddr": "10.0.0.1", "status": "UP",
            "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"},
            "metadata": {"k": "v"}, "lastDirtyTimestamp": dirty.to_string(),
        });
        for (name, value) in members.as_object().expect("an object") {
            instance[name] = value.clone();
        }
        let body = json!({ "instance": instance }).to_string();
        self.must(node, "POST", &format!("/eureka/apps/{app}"), &body, 204);
    }

    /// A heartbeat; the status of its answer.
    pub(super) fn renew(&self, node: usize, app: &str, id: &str, dirty: i64) -> u16 {
        let path = format!("/eureka/apps/{app}/{id}?status=UP&lastDirtyTimestamp={dirty}");
        self.call(node, "PUT", &path, "").status
    }

    pub(super) fn cancel(&self, node: usize, app: &str, id: &str) {
        self.must(node, "DELETE", &format!("/eureka/apps/{app}/{id}"), "", 200);
    }

    pub(super) fn set_status(&self, node: usize, app: &str, id: &str, status: &str) {
        self.must(node, "PUT", &format!("/eureka/apps/{app}/{id}/status?value={status}"), "", 200);
    }

    pub(super) fn remove_override(&self, node: usize, app: &str, id: &str, value: Option<&str>) {
        let query = value.map_or_else(String::new, |value| format!("?value={value}"));
        self.must(node, "DELETE", &format!("/eureka/apps/{app}/{id}/status{query}"), "", 200);
    }

    /// An instance as a node shows it.
    pub(super) fn instance(&self, node: usize, app: &str, id: &str) -> Option<Value> {
        let answer = self.call(node, "GET", &format!("/eureka/apps/{app}/{id}"), "");
        (answer.status == 200).then(|| {
            let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
            document["instance"].clone()
        })
    }

    /// Everything that a node holds, in the form in which nodes are compared.
    pub(super) fn rows(&self, node: usize) -> BTreeSet<Row> {
        let answer = self.call(node, "GET", "/eureka/apps/", "");
        assert_eq!(answer.status, 200);
        let document: Value = serde_json::from_slice(&answer.body).expect("JSON");
        let applications = document["applications"]["application"].as_array().cloned().unwrap_or_default();
        let instances =
            applications.iter().flat_map(|app| app["instance"].as_array().cloned().unwrap_or_default());
        let text = |instance: &Value, name: &str| instance[name].as_str().unwrap_or_default().to_owned();
        instances
            .map(|i| {
                let names = ["app", "instanceId", "status", "overriddenStatus", "lastDirtyTimestamp"];
                let [app, id, status, overridden, dirty] = names.map(|name| text(&i, name));
                (app, id, status, overridden, dirty)
            })
            .collect()
    }

    /// Lets a node compare itself with its peers, and waits until it has done so with all of them. It has told them
    /// everything before: who has answered nothing yet is not compared with.
    pub(super) fn compare(&self, node: usize) {
        self.until_quiet(node);
        let urls: Vec<String> = self
            .links
            .keys()
            .filter(|(from, _)| *from == node)
            .map(|(from, to)| self.url(*from, *to))
            .collect();
        let count = |url: &str, results: &[&str]| -> f64 {
            let start = format!("eureka_antientropy_rounds_total{{peer=\"{url}\",result=");
            results.iter().map(|result| self.metric(node, &format!("{start}\"{result}\"}}"))).sum()
        };
        let done = |url: &str| count(url, &["equal", "different", "too_many"]);
        let failed = || urls.iter().map(|url| count(url, &["failed"])).sum::<f64>();
        let before: Vec<f64> = urls.iter().map(|url| done(url)).collect();
        let ask = || self.ask_to_compare(node);
        let mut failed_before = failed();
        ask();
        until("a comparison", || {
            // A connection that the link has closed may cost one attempt.
            if failed() > failed_before {
                failed_before = failed();
                ask();
            }
            urls.iter().zip(&before).all(|(url, before)| done(url) > *before)
        });
    }

    pub(super) fn ask_to_compare(&self, node: usize) {
        self.nodes[node].as_ref().expect("the node runs").node().compare_now();
    }

    /// Waits until a node shows an instance that passes a test.
    pub(super) fn until_shown(&self, node: usize, app: &str, id: &str, test: impl Fn(&Value) -> bool) {
        until(&format!("{app}/{id} on node {node}"), || {
            self.instance(node, app, id).is_some_and(|i| test(&i))
        });
    }

    pub(super) fn until_gone(&self, node: usize, app: &str, id: &str) {
        until(&format!("no {app}/{id} on node {node}"), || self.instance(node, app, id).is_none());
    }

    /// Waits until all nodes hold the same.
    pub(super) fn until_equal(&self) {
        let nodes = (0..self.nodes.len()).filter(|node| self.nodes[*node].is_some());
        let nodes: Vec<usize> = nodes.collect();
        until("all nodes hold the same", || {
            let first = self.rows(nodes[0]);
            nodes[1..].iter().all(|node| self.rows(*node) == first)
        });
    }

    /// The text of a page.
    pub(super) fn page(&self, node: usize, path: &str) -> String {
        let answer = self.call(node, "GET", path, "");
        assert_eq!(answer.status, 200, "{path}");
        String::from_utf8_lossy(&answer.body).into_owned()
    }

    /// A line of the metrics, as a number; 0 if there is none.
    pub(super) fn metric(&self, node: usize, start: &str) -> f64 {
        let answer = self.call(node, "GET", "/actuator/prometheus", "");
        assert_eq!(answer.status, 200);
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let values = text.lines().filter(|line| line.starts_with(start));
        values.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Waits until a node has nothing more to tell anybody.
    pub(super) fn until_quiet(&self, node: usize) {
        until(&format!("node {node} has told everything"), || {
            self.metric(node, "eureka_replication_queue_items") < 0.5
        });
    }
}
