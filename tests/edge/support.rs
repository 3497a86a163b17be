//! A node with properties, and a small client that sends exactly the bytes it is told to.

use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use heureka::testing::TestServer;

use crate::golden::http::{Answer, read_answer};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A node with these properties.
pub(super) fn node(properties: &[(&str, &str)]) -> TestServer {
    let owned: Vec<_> = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    TestServer::start(&owned)
}

/// A node whose reads show what was just written.
pub(super) fn fresh_node() -> TestServer {
    node(&[("eureka.server.use-read-only-response-cache", "false")])
}

/// Sends bytes as they are and reads one answer.
pub(super) fn raw(port: u16, bytes: &[u8], method: &str) -> io::Result<Answer> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // The node may refuse and close before it has read everything: then its answer counts, not the broken pipe.
    let _ = stream.write_all(bytes);
    read_answer(&mut BufReader::new(stream), method)
}

/// A request with a body.
pub(super) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Sends a request and reads the answer.
pub(super) fn call(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    raw(port, &request(method, path, headers, body), method).expect("an answer")
}

/// A GET that wants JSON.
pub(super) fn get(port: u16, path: &str) -> Answer {
    call(port, "GET", path, &[("Accept", "application/json")], b"")
}

/// A registration body that is right.
pub(super) fn instance(app: &str, id: &str) -> String {
    format!(
        r#"{{"instance":{{"instanceId":"{id}","app":"{app}","hostName":"h1.example","ipAddr":"10.0.0.1","status":"UP","port":{{"$":8080,"@enabled":"true"}},"dataCenterInfo":{{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"}},"metadata":{{"k":"v"}},"vipAddress":"orders.vip"}}}}"#
    )
}

/// Registers an instance and expects success.
pub(super) fn register(port: u16, app: &str, id: &str) {
    let body = instance(app, id);
    let answer = post(port, app, body.as_bytes());
    assert_eq!(answer.status, 204, "{}", answer.text());
}

/// Posts a JSON body to an application.
pub(super) fn post(port: u16, app: &str, body: &[u8]) -> Answer {
    call(port, "POST", &format!("/eureka/apps/{app}"), &[("Content-Type", "application/json")], body)
}

/// Asserts that the one instance that was registered first is still there and that documents are whole.
pub(super) fn assert_unharmed(port: u16) {
    let answer = get(port, "/eureka/apps");
    assert_eq!(answer.status, 200);
    let text = answer.text();
    assert!(text.starts_with("{\"applications\":{") && text.ends_with("]}}"), "{text}");
    assert!(
        text.contains("\"apps__hashcode\":\"UP_1_\"") && text.contains("\"instanceId\":\"good\""),
        "{text}"
    );
    let xml = call(port, "GET", "/eureka/apps", &[], b"");
    assert!(xml.text().ends_with("</applications>"), "{}", xml.text());
}

/// A request that keeps its connection.
pub(super) const KEPT: &[u8] = b"GET /eureka/apps HTTP/1.1\r\nHost: x\r\n\r\n";

/// Time for a head in tests where one is too slow and others must not be: they are sent at once, but this process may have
/// to wait for a processor in between.
pub(super) const HEAD_TIMEOUT: (&str, &str) = ("heureka.limits.header-timeout-ms", "3000");

/// Reads what is left of a connection; an error if the node does not close it.
pub(super) fn until_closed(stream: &mut impl Read) -> io::Result<()> {
    match io::copy(stream, &mut io::sink()) {
        // A sender whose last bytes nobody reads may see this instead of the end.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(()),
        result => result.map(drop),
    }
}

/// Sends a head that never ends, drop by drop, until the node has had enough. Reads of the stream must end soon.
pub(super) fn is_cut_off(stream: &mut (impl Read + Write)) -> bool {
    let mut drops = std::iter::once(b'G').chain(std::iter::repeat_n(b'x', 1_000));
    drops.any(|drop| {
        // The node may have closed already when the next one is sent.
        let is_cut = stream.write_all(&[drop]).and_then(|()| stream.flush()).is_err();
        is_cut || !matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    })
}
