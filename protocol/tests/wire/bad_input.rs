//! Hostile bodies: every one ends in an error or a value, in bounded time and depth.

use heureka_protocol::{Limits, batch, json, xml};

/// Every reader, on one body.
fn read_with_all(body: &[u8]) {
    let limits = Limits::DEFAULT;
    let _ = json::read_instance(body, &limits);
    let _ = json::read_instance_object(body, &limits);
    let _ = json::read_applications(body, &limits);
    let _ = xml::read_instance(body, &limits);
    let _ = xml::read_applications(body, &limits);
    let _ = batch::read_list(body, &limits);
    let _ = batch::read_responses(body, &limits);
}

#[test]
fn deep_nesting_is_refused_wherever_it_stands() {
    let deep = "[".repeat(200_000);
    let balanced = format!("{deep}{}", "]".repeat(200_000));
    for value in [&deep, &balanced] {
        for member in ["foo", "hostName", "port", "metadata", "leaseInfo", "dataCenterInfo"] {
            let body = format!("{{\"instance\":{{\"{member}\":{value}}}}}");
            let error = json::read_instance(body.as_bytes(), &Limits::DEFAULT).unwrap_err();
            assert!(error.member().starts_with("instance"), "{error}");
            read_with_all(body.as_bytes());
        }
        read_with_all(value.as_bytes());
    }
    let objects = format!("{{\"instance\":{{\"foo\":{}1{}}}}}", "{\"a\":".repeat(65), "}".repeat(65));
    let error = json::read_instance(objects.as_bytes(), &Limits::DEFAULT).unwrap_err();
    assert_eq!(error.to_string(), "found a deeply nested value in instance.foo, expected at most 64 levels");
    let objects = format!("{{\"instance\":{{\"foo\":{}1{}}}}}", "{\"a\":".repeat(64), "}".repeat(64));
    assert!(json::read_instance(objects.as_bytes(), &Limits::DEFAULT).is_ok());
}

#[test]
fn brackets_inside_texts_are_no_nesting() {
    let text = format!("{}\\\"{}", "[".repeat(100), "{".repeat(100));
    let body = format!("{{\"instance\":{{\"foo\":{{\"a\":\"{text}\"}}}}}}");
    assert!(json::read_instance(body.as_bytes(), &Limits::DEFAULT).is_ok());
}

#[test]
fn deep_xml_is_refused() {
    let body = format!("<instance>{}", "<a>".repeat(200_000));
    let error = xml::read_instance(body.as_bytes(), &Limits::DEFAULT).unwrap_err();
    assert!(error.found().starts_with("deeply nested"), "{error}");
    for (depth, is_taken) in [(63, true), (64, false)] {
        let body = format!("<instance>{}{}</instance>", "<a>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(xml::read_instance(body.as_bytes(), &Limits::DEFAULT).is_ok(), is_taken, "{depth}");
    }
    read_with_all(body.as_bytes());
}

#[test]
fn invalid_utf8_and_nul_are_refused() {
    for body in [&b"{\"instance\":{\"hostName\":\"h\xe9\"}}"[..], b"{\"instance\":{\"foo\":\"h\xe9\"}}"] {
        let error = json::read_instance(body, &Limits::DEFAULT).unwrap_err();
        assert!(error.found().starts_with("bytes that are not UTF-8 at "), "{error}");
    }
    let error =
        xml::read_instance(b"<instance><hostName>h\xe9</hostName></instance>", &Limits::DEFAULT).unwrap_err();
    assert_eq!(error.to_string(), "found bytes that are not UTF-8 at 21 in the body, expected UTF-8");
    for body in [
        &b"\0"[..],
        b"\0{\"instance\":{}}",
        b"{\"instance\":{\"a\0b\":1}}",
        b"\xff\xfe{\0}\0",
        b"\xef\xbb\xbf",
    ] {
        assert!(json::read_instance(body, &Limits::DEFAULT).is_err());
        read_with_all(body);
    }
    let half_pair =
        json::read_instance(br#"{"instance":{"hostName":"\ud800"}}"#, &Limits::DEFAULT).unwrap_err();
    assert_eq!(
        half_pair.to_string(),
        "found a text with an invalid escape in instance.hostName, expected a text"
    );
}

#[test]
fn huge_numbers_do_no_harm() {
    let huge = "9".repeat(100_000);
    for member in ["port", "countryId", "lastDirtyTimestamp"] {
        let body = format!("{{\"instance\":{{\"{member}\":{huge}}}}}");
        let error = json::read_instance(body.as_bytes(), &Limits::DEFAULT).unwrap_err().to_string();
        assert!(error.len() < 400, "{error}");
    }
    let body = format!("<instance><port>{huge}</port></instance>");
    assert!(xml::read_instance(body.as_bytes(), &Limits::DEFAULT).is_err());
}

#[test]
fn every_truncation_of_a_right_body_is_refused() {
    let json = heureka_protocol::error::EXAMPLE_INSTANCE_JSON;
    let xml = heureka_protocol::error::EXAMPLE_INSTANCE_XML;
    for end in 0..json.len() {
        assert!(json::read_instance(&json.as_bytes()[..end], &Limits::DEFAULT).is_err(), "{end}");
    }
    for end in 0..xml.len() {
        assert!(xml::read_instance(&xml.as_bytes()[..end], &Limits::DEFAULT).is_err(), "{end}");
    }
}

#[test]
fn many_small_things_are_read_in_linear_time() {
    let attributes: String = (0..50_000).map(|index| format!(" a{index}='1'")).collect();
    let body = format!("<instance><port{attributes}>1</port></instance>");
    assert!(xml::read_instance(body.as_bytes(), &Limits::DEFAULT).is_ok());
    let siblings = format!("<instance>{}</instance>", "<x/>".repeat(200_000));
    assert!(xml::read_instance(siblings.as_bytes(), &Limits::DEFAULT).is_ok());
    let members: Vec<String> = (0..200_000).map(|index| format!("\"m{index}\":{{}}")).collect();
    let body = format!("{{\"instance\":{{{}}}}}", members.join(","));
    assert!(json::read_instance(body.as_bytes(), &Limits::DEFAULT).is_ok());
    let entries: Vec<String> = (0..200_000).map(|index| format!("\"m{index}\":\"\"")).collect();
    let body = format!("{{\"instance\":{{\"metadata\":{{{}}}}}}}", entries.join(","));
    assert!(json::read_instance(body.as_bytes(), &Limits::SERVER_DOCUMENT).is_err());
}
