//! Properties over arbitrary input: what is written is read back, and no reader panics.

use heureka_protocol::document::write_instance_document;
use heureka_protocol::{
    ActionType, AppName, DataCenter, Form, Instance, LeaseInfo, Limits, Metadata, Port, ReadError, Status,
    batch, json, xml,
};
use proptest::prelude::*;

/// Text of any kind: control characters, markup, all planes.
fn text() -> impl Strategy<Value = String> {
    let odd = prop_oneof![
        proptest::sample::select("<&>\"'\\\r\n\t_$:@ ".chars().collect::<Vec<_>>()),
        (0..0xA1_u8).prop_map(char::from),
    ];
    prop_oneof![
        "[a-z0-9.:_$@-]{0,12}",
        proptest::collection::vec(any::<char>(), 0..12).prop_map(String::from_iter),
        proptest::collection::vec(odd, 0..12).prop_map(String::from_iter),
    ]
}

fn required() -> impl Strategy<Value = Box<str>> {
    text().prop_filter("must not be empty", |text| !text.is_empty()).prop_map(String::into_boxed_str)
}

fn optional() -> impl Strategy<Value = Option<Box<str>>> {
    proptest::option::of(text().prop_map(String::into_boxed_str))
}

fn status() -> impl Strategy<Value = Status> {
    proptest::sample::select(Status::IN_TEXT_ORDER.to_vec())
}

fn port() -> impl Strategy<Value = Port> {
    (any::<i32>(), any::<bool>()).prop_map(|(number, enabled)| Port { number, enabled })
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let entry = (text(), text()).prop_filter("is Java's marker", |(key, _)| key != "@class");
    proptest::collection::vec(entry, 0..5).prop_map(|entries| entries.into_iter().collect())
}

fn data_center() -> impl Strategy<Value = DataCenter> {
    let amazon = metadata().prop_map(|mut entries| {
        entries.insert("instance-id", "i-1");
        DataCenter::Amazon(Box::new(entries))
    });
    prop_oneof![Just(DataCenter::MyOwn), Just(DataCenter::Netflix), amazon]
}

prop_compose! {
    fn lease()(
        renewal_interval_secs in 1..i32::MAX,
        duration_secs in 1..i32::MAX,
        times in any::<[i64; 4]>(),
    ) -> LeaseInfo {
        LeaseInfo {
            renewal_interval_secs,
            duration_secs,
            registration_timestamp: times[0],
            last_renewal_timestamp: times[1],
            eviction_timestamp: times[2],
            service_up_timestamp: times[3],
        }
    }
}

prop_compose! {
    fn instance()(
        (instance_id, host_name, app, ip_addr) in (required(), required(), required(), required()),
        (status, overridden_status, port, secure_port) in (status(), status(), port(), port()),
        (country_id, data_center, lease, metadata) in (any::<i32>(), data_center(), lease(), metadata()),
        urls in [optional(), optional(), optional(), optional()],
        (vip_address, secure_vip_address, asg_name, sid, group) in (optional(), optional(), optional(), optional(), optional()),
        (coordinating, updated, dirty, action) in (any::<bool>(), any::<i64>(), any::<i64>(), 0..4_usize),
    ) -> Instance {
        let [home_page_url, status_page_url, health_check_url, secure_health_check_url] = urls;
        Instance {
            instance_id: instance_id.into(),
            host_name,
            // Upper-casing is not idempotent for every character of Unicode, but twice is enough.
            app: AppName::new(&AppName::new(&app)),
            ip_addr,
            sid: sid.filter(|sid| !matches!(&**sid, "na" | "unknown")),
            status,
            overridden_status,
            port,
            secure_port,
            country_id,
            data_center,
            lease,
            metadata,
            app_group_name: group.map(|group| group.to_uppercase().to_uppercase().into()),
            home_page_url,
            status_page_url,
            health_check_url,
            secure_health_check_url,
            vip_address,
            secure_vip_address,
            is_coordinating_discovery_server: coordinating,
            last_updated_timestamp: updated,
            last_dirty_timestamp: dirty,
            action_type: [ActionType::Added, ActionType::Modified, ActionType::Deleted].get(action).copied(),
            asg_name,
        }
    }
}

/// What XML can hold of a text.
fn in_xml(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' | '\n' | '\r' => character,
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            _ => character,
        })
        .collect()
}

fn metadata_in_xml(metadata: &Metadata) -> Metadata {
    metadata.iter().filter(|(key, _)| !key.is_empty()).map(|(key, value)| (key, in_xml(value))).collect()
}

/// What XML can hold of an instance.
fn instance_in_xml(mut instance: Instance) -> Instance {
    instance.instance_id = in_xml(&instance.instance_id).into();
    instance.app = AppName::new(&in_xml(&instance.app));
    for text in [&mut instance.host_name, &mut instance.ip_addr] {
        *text = in_xml(text).into();
    }
    let optional = [
        &mut instance.sid,
        &mut instance.app_group_name,
        &mut instance.home_page_url,
        &mut instance.status_page_url,
        &mut instance.health_check_url,
        &mut instance.secure_health_check_url,
        &mut instance.vip_address,
        &mut instance.secure_vip_address,
        &mut instance.asg_name,
    ];
    for slot in optional {
        *slot = slot.as_deref().map(|text| in_xml(text).into());
    }
    instance.metadata = metadata_in_xml(&instance.metadata);
    if let DataCenter::Amazon(entries) = &mut instance.data_center {
        **entries = metadata_in_xml(entries);
    }
    instance
}

fn written(form: Form, instance: &Instance) -> Vec<u8> {
    let mut out = Vec::new();
    write_instance_document(form, instance, &instance.lease, &mut out);
    out
}

/// Every reader on one body; the verdicts do not matter.
fn read_with_all(body: &[u8]) {
    let limits =
        Limits { metadata_entries: 4, metadata_bytes: 100, text_bytes: 50, depth: 5, batch_items: 3 };
    for limits in [limits, Limits::DEFAULT] {
        let drafts = [json::read_instance(body, &limits), json::read_instance_object(body, &limits)];
        for draft in drafts.into_iter().chain([xml::read_instance(body, &limits)]) {
            check(draft.map(|draft| drop(draft.into_listed("A"))));
        }
        check(json::read_applications(body, &limits).map(drop));
        check(xml::read_applications(body, &limits).map(drop));
        check(batch::read_list(body, &limits).map(drop));
        check(batch::read_responses(body, &limits).map(drop));
    }
}

/// An error always says something bounded.
fn check(read: Result<(), ReadError>) {
    if let Err(error) = read {
        let length = error.to_string().len();
        assert!((10..2000).contains(&length), "{error}");
    }
}

/// A right body of every kind, small enough to be torn apart.
fn right_bodies() -> Vec<Vec<u8>> {
    let mut instance = crate::samples::minimal_amazon();
    instance.metadata = [("a_b", "<1>"), ("k", "\u{e9}\u{1f600}")].into_iter().collect();
    let mut bodies: Vec<_> = Form::ALL.map(|form| written(form, &instance)).into_iter().collect();
    let app = AppName::new("A");
    let item = batch::OutgoingItem {
        app: &app,
        id: "i",
        action: batch::Action::Register,
        last_dirty_timestamp: Some(1),
        overridden_status: Some(Status::Down),
        status: Some(Status::Up),
        instance: Some((&instance, &instance.lease)),
    };
    let mut list = Vec::new();
    batch::write_list(&[item], &mut list);
    let mut answers = Vec::new();
    let answer = batch::OutgoingResponse { status_code: 409, entity: item.instance };
    batch::write_responses([answer], &mut answers);
    bodies.extend([list, answers]);
    bodies
}

/// Cuts, repeats or overwrites a piece of a body.
fn mutated(mut body: Vec<u8>, at: prop::sample::Index, kind: usize, piece: &[u8]) -> Vec<u8> {
    let at = at.index(body.len().max(1)).min(body.len());
    let end = (at + piece.len().max(1)).min(body.len());
    match kind {
        0 => drop(body.splice(at..end, piece.iter().copied())),
        1 => drop(body.splice(at..at, piece.iter().copied())),
        2 => drop(body.drain(at..end)),
        3 => body.truncate(at),
        _ => {
            let copy = body[..at].to_vec();
            drop(body.splice(at..at, copy));
        }
    }
    body
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..4),
        proptest::sample::select(vec![
            &b"null"[..],
            b"[]",
            b"{}",
            b"[[[[[[[[",
            b"{\"a\":",
            b"\"",
            b"\\u",
            b"\\ud800",
            b"1e999",
            b"-",
            b",",
            b":",
            b"\xff",
            b"\0",
            b"<a>",
            b"</",
            b"<!DOCTYPE x>",
            b"<![CDATA[",
            b"]]>",
            b"<!--",
            b"&x;",
            b"&#0;",
            b"&",
            b"<?",
            b"_.",
            b"_.d83d",
            b" enabled='",
            b"<a:b xmlns='",
        ])
        .prop_map(<[u8]>::to_vec),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_written_as_json_is_read_back(instance in instance()) {
        let read = json::read_instance(&written(Form::JsonFull, &instance), &Limits::DEFAULT).unwrap();
        prop_assert_eq!(read.into_listed("X").unwrap(), instance);
    }

    #[test]
    fn what_is_written_as_xml_is_read_back_as_far_as_xml_can_hold_it(instance in instance()) {
        let read = xml::read_instance(&written(Form::XmlFull, &instance), &Limits::DEFAULT).unwrap();
        prop_assert_eq!(read.into_listed("X").unwrap(), instance_in_xml(instance));
    }

    #[test]
    fn json_documents_are_json_for_every_parser(instance in instance()) {
        for form in [Form::JsonFull, Form::JsonCompact] {
            let document: serde_json::Value = serde_json::from_slice(&written(form, &instance)).unwrap();
            prop_assert_eq!(document["instance"]["instanceId"].as_str(), Some(&*instance.instance_id));
        }
    }

    #[test]
    fn xml_documents_hold_no_forbidden_character(instance in instance()) {
        for form in [Form::XmlFull, Form::XmlFullV1, Form::XmlCompact] {
            let document = String::from_utf8(written(form, &instance)).unwrap();
            prop_assert_eq!(in_xml(&document), document.clone());
            for number in ["&#x1;", "&#x0;", "&#xfffe;", "<>", "</>"] {
                prop_assert!(!document.contains(number), "{}", document);
            }
            xml::read_instance(document.as_bytes(), &Limits::DEFAULT).unwrap();
        }
    }

    #[test]
    fn no_reader_panics_on_arbitrary_bytes(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        read_with_all(&body);
    }

    #[test]
    fn no_reader_panics_on_arbitrary_text(body in "[\\[\\]{}\":,a-c0-9<>/=&;#x! \\\\-]{0,60}") {
        read_with_all(body.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_reader_panics_on_damaged_bodies(
        which in any::<prop::sample::Index>(),
        damages in proptest::collection::vec((any::<prop::sample::Index>(), 0..5_usize, pieces()), 1..4),
    ) {
        let bodies = right_bodies();
        let mut body = which.get(&bodies).clone();
        for (at, kind, piece) in damages {
            body = mutated(body, at, kind, &piece);
        }
        read_with_all(&body);
    }
}
