//! Documents that servers write, read back by clients and by servers that start.

use heureka_protocol::document::{
    close_application, close_applications, open_application, open_applications, separator, write_instance,
};
use heureka_protocol::{
    ActionType, AppName, Applications, DataCenter, Form, Instance, LeaseInfo, Limits, Place, Port, json, xml,
};

use crate::samples::{LEASE, complete, minimal_amazon};

fn read(form: Form, document: &[u8]) -> Applications {
    let limits = Limits::SERVER_DOCUMENT;
    let read = if form.is_json() {
        json::read_applications(document, &limits)
    } else {
        xml::read_applications(document, &limits)
    };
    read.unwrap()
}

fn document(form: Form, instances: &[Instance]) -> Vec<u8> {
    let mut out = Vec::new();
    open_applications(form, 7, "UP_2_", &mut out);
    open_application(form, Place::InApplications, &AppName::new("orders"), &mut out);
    for (index, instance) in instances.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator(form));
        }
        write_instance(form, Place::InApplications, instance, &LEASE, &mut out);
    }
    close_application(form, Place::InApplications, &mut out);
    close_applications(form, 7, "UP_2_", &mut out);
    out
}

#[test]
fn full_documents_are_read_back_whole() {
    let instances = [complete(), minimal_amazon()].map(|instance| Instance { lease: LEASE, ..instance });
    for form in [Form::JsonFull, Form::XmlFull] {
        let read = read(form, &document(form, &instances));
        assert_eq!((read.version, read.hash.as_deref()), (7, Some("UP_2_")));
        assert_eq!(read.applications, [(AppName::new("ORDERS"), instances.to_vec())]);
        assert_eq!((read.skipped, read.first_skipped), (0, None));
    }
}

#[test]
fn compact_documents_are_read_back_with_defaults_for_what_they_drop() {
    let sent = complete();
    let expected = Instance {
        sid: None,
        overridden_status: heureka_protocol::Status::Unknown,
        country_id: 1,
        lease: LeaseInfo::default(),
        metadata: Default::default(),
        app_group_name: None,
        home_page_url: None,
        status_page_url: None,
        health_check_url: None,
        secure_health_check_url: None,
        last_dirty_timestamp: 0,
        ..sent.clone()
    };
    for form in [Form::JsonCompact, Form::XmlCompact] {
        let read = read(form, &document(form, std::slice::from_ref(&sent)));
        assert_eq!((read.version, read.hash.as_deref()), (7, Some("UP_2_")));
        assert_eq!(read.applications, [(AppName::new("ORDERS"), vec![expected.clone()])]);
    }
}

#[test]
fn single_applications_are_read_too() {
    for form in Form::ALL {
        let mut out = Vec::new();
        open_application(form, Place::Alone, &AppName::new("ORDERS"), &mut out);
        write_instance(form, Place::InApplication, &complete(), &LEASE, &mut out);
        close_application(form, Place::Alone, &mut out);
        let read = read(form, &out);
        assert_eq!((read.version, read.hash.as_deref(), read.instance_count()), (-1, None, 1));
        assert_eq!(&*read.applications[0].0, "ORDERS");
    }
}

#[test]
fn an_empty_registry_has_an_empty_hash() {
    let documents = [
        r#"{"applications":{"versions__delta":"1","apps__hashcode":"","application":[]}}"#,
        r#"{"applications":{"versions_delta":1,"apps_hashcode":"","application":null,"x":{}},"y":[]}"#,
        r#"{"applications":{"versions__delta":"1","apps__hashcode":""}}"#,
    ];
    for document in documents {
        let read = read(Form::JsonFull, document.as_bytes());
        let expected = Applications { version: 1, hash: Some("".into()), ..Applications::default() };
        assert_eq!(read, expected, "{document}");
    }
    let xml = "<applications><versions__delta>1</versions__delta><apps__hashcode/></applications>";
    assert_eq!(read(Form::XmlFull, xml.as_bytes()).hash.as_deref(), Some(""));
}

#[test]
fn old_writers_put_single_objects_in_place_of_lists() {
    let document = r#"{"applications":{"application":{"instance":{"hostName":"h","app":"a","ipAddr":"i",
        "dataCenterInfo":{"@class":"com.netflix.appinfo.AmazonInfo"},"port":{"@enabled":true,"$":"80"},
        "actionType":"DELETED"},"name":"A"},"apps__hashcode":"UP_1_","versions__delta":3}}"#;
    let read = read(Form::JsonFull, document.as_bytes());
    let (name, instances) = &read.applications[0];
    assert_eq!((&**name, read.version, instances.len()), ("A", 3, 1));
    assert_eq!(instances[0].port, Port { number: 80, enabled: true });
    assert_eq!(instances[0].action_type, Some(ActionType::Deleted));
    assert!(matches!(instances[0].data_center, DataCenter::Amazon(_)));
}

#[test]
fn an_application_has_its_own_name_or_else_that_of_its_instances() {
    let instance = r#"{"hostName":"h","ipAddr":"i","app":"inner"}"#;
    for (name, expected) in [(r#""name":"outer","#, "OUTER"), ("", "INNER")] {
        let document = format!(r#"{{"application":{{{name}"instance":[{instance}]}}}}"#);
        let read = read(Form::JsonFull, document.as_bytes());
        assert_eq!((&*read.applications[0].0, &*read.applications[0].1[0].app), (expected, "INNER"));
    }
}

#[test]
fn an_instance_that_cannot_be_used_costs_itself_only() {
    let good = r#"{"instanceId":"g","hostName":"h","ipAddr":"i"}"#;
    let bad = [
        r#"{"instanceId":"b","hostName":"h"}"#,
        r#"{"instanceId":"b","hostName":[1,{"x":"]"}],"ipAddr":"i"}"#,
        r#"{"metadata":{"a":{}},"hostName":"h","ipAddr":"i"}"#,
        r#"{"hostName":"h","ipAddr":"i","dataCenterInfo":{"@class":"Foo"}}"#,
        "null",
        "5",
        "[[]]",
    ];
    let instances = format!("{good},{},{good}", bad.join(","));
    let document = format!(
        r#"{{"applications":{{"application":[7,{{"name":"A","instance":[{instances}]}},{{"name":[]}},
            {{"name":"EMPTY","instance":[]}},{{"instance":[{good}]}},{{"name":"B","instance":[{good}]}}]}}}}"#
    );
    let read = read(Form::JsonFull, document.as_bytes());
    let names: Vec<_> = read.applications.iter().map(|(name, list)| (name.to_string(), list.len())).collect();
    assert_eq!(names, [("A".to_owned(), 2), ("B".to_owned(), 1)]);
    assert_eq!(read.skipped, bad.len() + 3);
    assert_eq!(&*read.applications[0].1[0].app, "A", "the application names its instances");
    assert_eq!(read.applications[0].1[0].data_center, DataCenter::MyOwn);
    let reason = read.first_skipped.unwrap();
    assert_eq!(
        &*reason,
        r#"found 7 in applications.application[0], expected an object with the members "name" and "instance""#
    );
}

#[test]
fn a_bad_instance_in_xml_costs_itself_only() {
    let document = "<applications><application><name>A</name>\
        <instance><hostName>h</hostName><ipAddr>i</ipAddr><port>x</port><app>A</app></instance>\
        <instance><hostName>h</hostName><app>A</app></instance>\
        <instance><hostName>g</hostName><ipAddr>i</ipAddr></instance></application></applications>";
    let read = read(Form::XmlFull, document.as_bytes());
    assert_eq!((read.instance_count(), read.skipped), (1, 2));
    assert_eq!(
        read.first_skipped.as_deref(),
        Some(
            "found \"x\" in applications.application[0].instance[0].port, expected a whole number of 32 bits"
        )
    );
}

#[test]
fn other_documents_are_refused() {
    for body in [
        "{}",
        "[]",
        "null",
        "",
        r#"{"apps":{}}"#,
        r#"{"applications":"x"}"#,
        r#"{"applications":null}"#,
        "<applications/>",
    ] {
        assert!(json::read_applications(body.as_bytes(), &Limits::SERVER_DOCUMENT).is_err(), "{body}");
    }
    for body in ["", "<apps/>", "<applications>", "{}", "<!DOCTYPE x><applications/>"] {
        assert!(xml::read_applications(body.as_bytes(), &Limits::SERVER_DOCUMENT).is_err(), "{body}");
    }
}
