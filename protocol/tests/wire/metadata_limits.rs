//! Bounds that hold for what clients send.

use heureka_protocol::{Limits, json, xml};

fn json_entries(count: usize, value: &str) -> String {
    let entries: Vec<String> = (0..count).map(|index| format!("\"k{index}\":\"{value}\"")).collect();
    format!("{{\"instance\":{{\"metadata\":{{{}}}}}}}", entries.join(","))
}

fn xml_entries(count: usize, value: &str) -> String {
    let entries: String = (0..count).map(|index| format!("<k{index}>{value}</k{index}>")).collect();
    format!("<instance><metadata>{entries}</metadata></instance>")
}

fn both(count: usize, value: &str, limits: &Limits) -> [Result<usize, String>; 2] {
    let from_json = json::read_instance(json_entries(count, value).as_bytes(), limits);
    let from_xml = xml::read_instance(xml_entries(count, value).as_bytes(), limits);
    [from_json, from_xml]
        .map(|read| read.map(|draft| draft.metadata.len()).map_err(|error| error.to_string()))
}

#[test]
fn sixty_four_entries_are_taken_and_one_more_is_named() {
    assert_eq!(both(64, "v", &Limits::DEFAULT), [Ok(64), Ok(64)]);
    let text = "found one entry too many in instance.metadata.k64, expected at most 64 metadata entries";
    assert_eq!(both(65, "v", &Limits::DEFAULT), [Err(text.into()), Err(text.into())]);
}

#[test]
fn sixteen_kilobytes_are_taken_and_more_is_named() {
    let fits = "v".repeat(16 * 1024 - 2);
    assert_eq!(both(1, &fits, &Limits::DEFAULT), [Ok(1), Ok(1)]);
    let text = "found one entry too many in instance.metadata.k0, expected at most 16384 bytes of metadata";
    assert_eq!(both(1, &format!("{fits}v"), &Limits::DEFAULT), [Err(text.into()), Err(text.into())]);
}

#[test]
fn limits_are_settings_and_documents_of_servers_have_wider_ones() {
    let narrow = Limits { metadata_entries: 1, ..Limits::DEFAULT };
    assert!(both(2, "v", &narrow).iter().all(Result::is_err));
    assert_eq!(both(1000, "v", &Limits::SERVER_DOCUMENT), [Ok(1000), Ok(1000)]);
}

#[test]
fn an_entry_that_comes_twice_is_one_entry() {
    let narrow = Limits { metadata_entries: 1, ..Limits::DEFAULT };
    let draft = json::read_instance(br#"{"instance":{"metadata":{"a":"1","a":"2"}}}"#, &narrow).unwrap();
    assert_eq!(draft.metadata.get("a"), Some("2"));
}

#[test]
fn texts_of_more_than_8_kilobytes_are_refused() {
    for (length, is_taken) in [(8192, true), (8193, false), (10_000, false)] {
        let text = "x".repeat(length);
        let body = format!(r#"{{"instance":{{"app":"{text}"}}}}"#);
        let from_json = json::read_instance(body.as_bytes(), &Limits::DEFAULT);
        let from_xml = xml::read_instance(
            format!("<instance><app>{text}</app></instance>").as_bytes(),
            &Limits::DEFAULT,
        );
        for read in [from_json, from_xml] {
            assert_eq!(read.is_ok(), is_taken, "{length}");
            if let Err(error) = read {
                let expected =
                    format!("found a text of {length} bytes in instance.app, expected at most 8192 bytes");
                assert_eq!(error.to_string(), expected);
            }
        }
    }
}
