//! Tests of the raw client: what it sends byte by byte, and every way in which an answer may end.

use std::io::{BufReader, Cursor};
use std::time::Duration;

use super::http::{Answer, encode, gzip, read_answer, send};
use super::recording::Request;
use super::stub;

fn request(method: &str, headers: &[(&str, &str)], body: Option<&str>) -> Request {
    Request {
        method: method.to_owned(),
        path: "/a%2Fb?c=%zz".to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.map(str::to_owned),
        ..Request::default()
    }
}

fn sent(request: &Request) -> String {
    String::from_utf8(encode(1, request).unwrap()).unwrap()
}

fn read(bytes: &[u8], method: &str) -> std::io::Result<Answer> {
    read_answer(&mut BufReader::new(Cursor::new(bytes)), method)
}

#[test]
fn a_request_is_sent_as_recorded() {
    assert_eq!(
        sent(&request("FOO", &[("x-lower", "1"), ("Accept", ""), ("X-UPPER", "2")], None)),
        "FOO /a%2Fb?c=%zz HTTP/1.1\r\nHost: localhost:1\r\nx-lower: 1\r\nAccept: \r\nX-UPPER: 2\r\n\r\n"
    );
    let plain = sent(&request("PUT", &[], Some("é")));
    assert!(plain.ends_with("\r\nContent-Length: 2\r\n\r\né"), "{plain}");
    let empty = sent(&request("PUT", &[], Some("")));
    assert!(empty.ends_with("\r\nContent-Length: 0\r\n\r\n"), "{empty}");
    let own = sent(&request("PUT", &[("content-length", "1"), ("host", "h:2")], Some("x")));
    assert_eq!(own, "PUT /a%2Fb?c=%zz HTTP/1.1\r\ncontent-length: 1\r\nhost: h:2\r\n\r\nx");
    let chunked = sent(&Request { chunked: true, ..request("PUT", &[], Some("xyz")) });
    assert!(chunked.ends_with("Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n"), "{chunked}");
    let own_chunks = sent(&request("PUT", &[("transfer-encoding", "chunked")], None));
    assert!(own_chunks.ends_with("transfer-encoding: chunked\r\n\r\n0\r\n\r\n"), "{own_chunks}");
}

#[test]
fn an_answer_may_end_in_every_way() {
    let body = |bytes: &[u8], method| read(bytes, method).map(|answer| answer.text());
    let head = "HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n";
    let answer = |rest: &str| format!("{head}{rest}").into_bytes();
    assert_eq!(body(&answer("Content-Length: 2\r\n\r\nxyz"), "GET").unwrap(), "xy");
    assert_eq!(
        body(&answer("transfer-encoding: chunked\r\n\r\n2;e=1\r\nxy\r\n0\r\n\r\n"), "GET").unwrap(),
        "xy"
    );
    assert_eq!(body(&answer("\r\nxyz"), "GET").unwrap(), "xyz", "to the end of the connection");
    assert_eq!(body(&answer("Content-Length: 2\r\n\r\n"), "HEAD").unwrap(), "");
    assert_eq!(body(b"HTTP/1.1 204 \r\n\r\n", "POST").unwrap(), "");
    assert_eq!(body(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 \r\n\r\n", "POST").unwrap(), "");
    for broken in [
        "Content-Length: 2\r\n\r\nx",
        "transfer-encoding: chunked\r\n\r\n2\r\nxy\r\n",
        "Content-",
        "x\r\n\r\n",
    ] {
        assert!(body(&answer(broken), "GET").is_err(), "{broken}");
    }
    assert!(body(b"", "GET").is_err());
}

#[test]
fn a_compressed_answer_is_decompressed() {
    let mut bytes = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
    bytes.extend(gzip(b"plain text").unwrap());
    assert_eq!(read(&bytes, "GET").unwrap().text(), "plain text");
    assert!(read(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nplain text", "GET").is_err());
}

#[test]
fn an_answer_comes_over_a_socket() {
    let answer =
        Answer { status: 200, headers: vec![("A".to_owned(), "b".to_owned())], body: b"text".to_vec() };
    let port = stub::start(|_| vec![stub::encode(&answer, false)]);
    let got = send(port, &request("GET", &[], None), Duration::from_secs(5)).unwrap();
    assert_eq!((got.status, got.header("a"), got.text()), (200, Some("b"), "text".to_owned()));
}
