//! A node that is a process of its own, in a folder that outlives it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use crate::golden::http::{Answer, read_answer};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The folder that a node runs in.
pub(crate) struct Home(tempfile::TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the snapshots are, unless a setting says otherwise.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("heureka-data")
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_heureka"));
        command.args(args).current_dir(self.path()).env_clear();
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the binary runs")
    }

    /// Starts a node and waits until it listens.
    pub(crate) fn start(&self, settings: &[&str]) -> Node {
        let args = [&["--server.port=0", "--server.address=127.0.0.1"], settings].concat();
        let child = self.command(&args).stderr(Stdio::piped()).spawn().expect("started");
        let mut node = Node { child, log: None, said: Arc::default(), port: 0 };
        let log = BufReader::new(node.child.stderr.take().expect("a pipe"));
        let (said, (tell, told)) = (Arc::clone(&node.said), channel());
        // Read to its end, whoever looks: a full pipe would stop the node.
        node.log = Some(std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                said.lock().expect("the log").push(line.clone());
                let _ = tell.send(line);
            }
        }));
        let ports = told.iter().filter_map(|line| {
            let (_, rest) = line.split_once("listening on 127.0.0.1:")?;
            rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
        });
        let Some(port) = { ports }.next() else { panic!("the node has ended: {}", node.log()) };
        node.port = port;
        node
    }
}

/// A running node; killed if the test fails.
pub(crate) struct Node {
    child: Child,
    log: Option<JoinHandle<()>>,
    said: Arc<Mutex<Vec<String>>>,
    pub(crate) port: u16,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Node {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// True if the log has a line with this text so far.
    pub(crate) fn has_said(&self, text: &str) -> bool {
        self.said.lock().expect("the log").iter().any(|line| line.contains(text))
    }

    /// What the log says so far.
    pub(crate) fn log(&self) -> String {
        self.said.lock().expect("the log").join("\n")
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
    }

    /// Asks the node to stop, waits for its end and returns its log.
    pub(crate) fn stop(mut self) -> String {
        let killed = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status();
        assert!(killed.expect("kill runs").success());
        self.log.take().expect("a log").join().expect("a reader");
        assert_eq!(self.child.wait().expect("ended").code(), Some(0), "{}", self.log());
        self.log()
    }

    pub(crate) fn client(&self) -> Client {
        Client::to(self.port)
    }

    /// What a client sees that fetches everything.
    pub(crate) fn fetch(&self) -> Fetched {
        self.client().fetch()
    }
}

/// A connection that is kept open.
pub(crate) struct Client(BufReader<TcpStream>);

impl Client {
    pub(crate) fn to(port: u16) -> Self {
        Self::try_to(port).expect("a connection")
    }

    /// An error if nobody listens there.
    pub(crate) fn try_to(port: u16) -> std::io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and reads its answer; an error if the node has gone.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let head = "Host: localhost\r\nAccept: application/json\r\nContent-Type: application/json";
        let length = body.len();
        let text = format!("{method} {path} HTTP/1.1\r\n{head}\r\nContent-Length: {length}\r\n\r\n{body}");
        self.0.get_mut().write_all(text.as_bytes())?;
        read_answer(&mut self.0, method)
    }

    /// What a client sees that fetches everything.
    pub(crate) fn fetch(&mut self) -> Fetched {
        let answer = self.send("GET", "/eureka/apps", "").expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text());
        Fetched::of(&answer.text())
    }

    /// Sends a request that must succeed.
    pub(crate) fn expect(&mut self, method: &str, path: &str, body: &str, status: u16) {
        let answer = self.send(method, path, body).expect("an answer");
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.text());
    }

    pub(crate) fn register(&mut self, app: &str, id: &str, dirty: i64) {
        self.expect("POST", &format!("/eureka/apps/{app}"), &registration(app, id, dirty), 204);
    }
}

/// Body of a registration.
pub(crate) fn registration(app: &str, id: &str, dirty: i64) -> String {
    format!(
        r#"{{"instance":{{"instanceId":"{id}","app":"{app}","hostName":"h1.example","ipAddr":"10.0.0.1","status":"UP","port":{{"$":8080,"@enabled":"true"}},"dataCenterInfo":{{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}},"lastDirtyTimestamp":"{dirty}","vipAddress":"orders.vip"}}}}"#
    )
}

/// An instance as clients see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) dirty: i64,
    pub(crate) status: String,
    pub(crate) overridden: String,
}

/// All instances, with a hash that has been checked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fetched(pub(crate) BTreeMap<(String, String), Seen>);

impl Fetched {
    fn of(text: &str) -> Self {
        let document: Value = serde_json::from_str(text).expect("JSON");
        let applications = &document["applications"];
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut seen = BTreeMap::new();
        let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
        for instance in list(&applications["application"]).iter().flat_map(|app| list(&app["instance"])) {
            let status = word(&instance["status"]);
            *statuses.entry(status.clone()).or_default() += 1;
            let dirty = word(&instance["lastDirtyTimestamp"]).parse().expect("a number");
            let overridden = word(&instance["overriddenStatus"]);
            let key = (word(&instance["app"]), word(&instance["instanceId"]));
            assert!(seen.insert(key, Seen { dirty, status, overridden }).is_none(), "an instance twice");
        }
        let hash: String = statuses.iter().map(|(status, count)| format!("{status}_{count}_")).collect();
        assert_eq!(word(&applications["apps__hashcode"]), hash);
        Self(seen)
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.0.keys().map(|(_, id)| id.as_str()).collect()
    }
}
