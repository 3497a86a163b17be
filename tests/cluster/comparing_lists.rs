//! Comparing with a Java server by the lists that it gives to clients (`replication.md` 9.3.4): a stub that has lost what it
//! was told, and says so in its lists.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::nodes::Cluster;
use crate::waiting::until;

/// A server that answers every batch with success, remembers what came, and shows the same instances all the time.
#[derive(Clone)]
struct ForgetfulJava {
    port: u16,
    shown: Arc<Vec<Value>>,
    told: Arc<Mutex<Vec<(String, String)>>>,
}

impl ForgetfulJava {
    fn start(shown: Vec<Value>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let java = Self { port, shown: Arc::new(shown), told: Arc::default() };
        let serving = java.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let java = serving.clone();
                thread::spawn(move || java.serve(stream));
            }
        });
        java
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
            let mut length = 0;
            line.clear();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let header = line.to_ascii_lowercase();
                if let Some(value) = header.strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length");
                }
                line.clear();
            }
            line.clear();
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_err() {
                return;
            }
            let (status, answer) = self.answer(&target, &body);
            let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
            let head = format!("HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n");
            let written = write!(stream, "{head}Content-Length: {}\r\n\r\n{text}", text.len());
            if written.is_err() {
                return;
            }
        }
    }

    fn answer(&self, target: &str, body: &[u8]) -> (u16, Option<Value>) {
        let list = |hash: &str, instances: &[Value]| {
            let application = json!([{"name": "ORDERS", "instance": instances}]);
            json!({"applications": {"versions__delta": "1", "apps__hashcode": hash, "application": application}})
        };
        let path = target.trim_start_matches("/eureka/").trim_end_matches('/');
        if path == "peerreplication/batch" {
            let batch: Value = serde_json::from_slice(body).expect("a batch");
            let items = batch["replicationList"].as_array().expect("items").clone();
            let word = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
            let told = items.iter().map(|item| (word(item, "action"), word(item, "id")));
            self.told.lock().expect("not poisoned").extend(told);
            let answers = vec![json!({"statusCode": 200}); items.len()];
            return (200, Some(json!({"responseList": answers})));
        }
        match path.strip_prefix("apps") {
            Some("") => (200, Some(list(&format!("UP_{}_", self.shown.len()), &self.shown))),
            Some("/delta") => (200, Some(list("UP_999_", &[]))),
            Some(name) => {
                let id = name.rsplit('/').next().unwrap_or_default();
                let found = self.shown.iter().find(|instance| instance["instanceId"] == id);
                (if found.is_some() { 200 } else { 404 }, found.map(|instance| json!({"instance": instance})))
            }
            None => (404, None),
        }
    }

    fn times(&self, action: &str, id: &str) -> usize {
        let told = self.told.lock().expect("not poisoned");
        told.iter().filter(|(a, i)| a == action && i == id).count()
    }
}

fn shown(id: &str, dirty: i64) -> Value {
    json!({
        "instanceId": id, "app": "ORDERS", "hostName": "host.example", "ipAddr": "10.0.0.1", "status": "UP",
        "overriddenstatus": "UNKNOWN", "leaseInfo": {"renewalIntervalInSecs": 1, "lastRenewalTimestamp": 7}, "lastDirtyTimestamp": dirty.to_string(), "metadata": {"k": "other"},
        "dataCenterInfo": {"@class": "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo", "name": "MyOwn"}
    })
}

#[test]
fn s79_what_a_java_server_lost_or_kept_is_mended_within_three_rounds() {
    let java =
        ForgetfulJava::start(vec![shown("zombie.example:1", 100), shown("older", 100), shown("same", 100)]);
    let mut cluster = Cluster::prepare(1, &[]);
    let url = format!("http://127.0.0.1:{}/eureka/", java.port);
    cluster.start_node_with(0, &[("eureka.client.service-url.defaultZone", &url)]);
    cluster.until_shown(0, "ORDERS", "zombie.example:1", |_| true);
    cluster.cancel(0, "ORDERS", "zombie.example:1");
    cluster.register(0, "ORDERS", "missing", 100);
    cluster.register(0, "ORDERS", "older", 200);
    cluster.register(0, "ORDERS", "same", 100);
    cluster.set_status(0, "ORDERS", "same", "OUT_OF_SERVICE");
    cluster.until_quiet(0);
    let all = [("Cancel", "zombie.example:1"), ("Register", "missing"), ("Register", "older")];
    let once: Vec<usize> = all.iter().map(|(action, id)| java.times(action, id)).collect();
    assert_eq!(once, [1, 1, 1], "as it happened");
    let rounds = || cluster.metric(0, "eureka_antientropy_rounds_total{");
    for round in 0..2 {
        assert_eq!(all.map(|(action, id)| java.times(action, id)), [1, 1, 1], "before round {round}");
        let before = rounds();
        cluster.ask_to_compare(0);
        until("the round has ended", || rounds() > before);
    }
    until("what is missing or older is told again", || {
        all[1..].iter().all(|(action, id)| java.times(action, id) == 2)
    });
    assert_eq!(java.times("Cancel", "zombie.example:1"), 1, "it has had no time yet for a heartbeat");
    until("the cancel is told again", || {
        cluster.ask_to_compare(0);
        java.times("Cancel", "zombie.example:1") >= 2
    });
    cluster.until_quiet(0);
    let unsure = (java.times("Register", "same"), java.times("StatusUpdate", "same"));
    assert_eq!(unsure, (1, 1), "nobody knows whose override and content are later");
}
