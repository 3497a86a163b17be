//! Documents, byte for byte as the Java server writes them.

use heureka_protocol::document::{
    close_application, close_applications, open_application, open_applications, separator, write_instance,
    write_instance_document,
};
use heureka_protocol::{AppName, Form, Instance, Place, Status};

use crate::samples::{LEASE, complete, minimal_amazon};

fn instance_document(form: Form, instance: &Instance) -> String {
    let mut out = Vec::new();
    write_instance_document(form, instance, &LEASE, &mut out);
    String::from_utf8(out).unwrap()
}

fn application_document(form: Form, name: &str, instances: &[Instance]) -> String {
    let mut out = Vec::new();
    open_application(form, Place::Alone, &AppName::new(name), &mut out);
    push_instances(form, Place::InApplication, instances, &mut out);
    close_application(form, Place::Alone, &mut out);
    String::from_utf8(out).unwrap()
}

fn applications_document(form: Form, hash: &str, applications: &[(&str, &[Instance])]) -> String {
    let mut out = Vec::new();
    open_applications(form, 7, hash, &mut out);
    for (index, (name, instances)) in applications.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator(form));
        }
        open_application(form, Place::InApplications, &AppName::new(name), &mut out);
        push_instances(form, Place::InApplications, instances, &mut out);
        close_application(form, Place::InApplications, &mut out);
    }
    close_applications(form, 7, hash, &mut out);
    String::from_utf8(out).unwrap()
}

fn push_instances(form: Form, place: Place, instances: &[Instance], out: &mut Vec<u8>) {
    for (index, instance) in instances.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator(form));
        }
        write_instance(form, place, instance, &LEASE, out);
    }
}

const COMPLETE_JSON: &str = concat!(
    r#"{"instanceId":"full-1","hostName":"h1.example","app":"ORDERS","ipAddr":"10.0.0.1","sid":"abc","#,
    r#""status":"OUT_OF_SERVICE","overriddenStatus":"OUT_OF_SERVICE","port":{"$":8080,"@enabled":"true"},"#,
    r#""securePort":{"$":8443,"@enabled":"false"},"countryId":49,"#,
    r#""dataCenterInfo":{"@class":"com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo","name":"MyOwn"},"#,
    r#""leaseInfo":{"renewalIntervalInSecs":5,"durationInSecs":15,"registrationTimestamp":1750000000100,"#,
    r#""lastRenewalTimestamp":1750000120100,"evictionTimestamp":0,"serviceUpTimestamp":1750000000200},"#,
    r#""metadata":{"zone":"a","a_b":"<1>","e f":""},"appGroupName":"GROUP-A","#,
    r#""homePageUrl":"http://h1.example/?a&b","statusPageUrl":"http://h1.example/status","#,
    r#""healthCheckUrl":"http://h1.example/health","secureHealthCheckUrl":"https://h1.example/health","#,
    r#""vipAddress":"orders.vip","secureVipAddress":"orders.svip","isCoordinatingDiscoveryServer":"false","#,
    r#""lastUpdatedTimestamp":"1750000000101","lastDirtyTimestamp":"1700000000000","actionType":"ADDED","#,
    r#""asgName":"orders-v001"}"#
);

const COMPLETE_XML: &str = r#"<instance>
  <instanceId>full-1</instanceId>
  <hostName>h1.example</hostName>
  <app>ORDERS</app>
  <ipAddr>10.0.0.1</ipAddr>
  <sid>abc</sid>
  <status>OUT_OF_SERVICE</status>
  <overriddenstatus>OUT_OF_SERVICE</overriddenstatus>
  <port enabled="true">8080</port>
  <securePort enabled="false">8443</securePort>
  <countryId>49</countryId>
  <dataCenterInfo class="com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo">
    <name>MyOwn</name>
  </dataCenterInfo>
  <leaseInfo>
    <renewalIntervalInSecs>5</renewalIntervalInSecs>
    <durationInSecs>15</durationInSecs>
    <registrationTimestamp>1750000000100</registrationTimestamp>
    <lastRenewalTimestamp>1750000120100</lastRenewalTimestamp>
    <evictionTimestamp>0</evictionTimestamp>
    <serviceUpTimestamp>1750000000200</serviceUpTimestamp>
  </leaseInfo>
  <metadata>
    <zone>a</zone>
    <a__b>&lt;1&gt;</a__b>
    <e_.0020f></e_.0020f>
  </metadata>
  <appGroupName>GROUP-A</appGroupName>
  <homePageUrl>http://h1.example/?a&amp;b</homePageUrl>
  <statusPageUrl>http://h1.example/status</statusPageUrl>
  <healthCheckUrl>http://h1.example/health</healthCheckUrl>
  <secureHealthCheckUrl>https://h1.example/health</secureHealthCheckUrl>
  <vipAddress>orders.vip</vipAddress>
  <secureVipAddress>orders.svip</secureVipAddress>
  <isCoordinatingDiscoveryServer>false</isCoordinatingDiscoveryServer>
  <lastUpdatedTimestamp>1750000000101</lastUpdatedTimestamp>
  <lastDirtyTimestamp>1700000000000</lastDirtyTimestamp>
  <actionType>ADDED</actionType>
  <asgName>orders-v001</asgName>
</instance>"#;

const AMAZON_COMPACT_JSON: &str = concat!(
    r#"{"instanceId":"i-9","app":"ORDERS","ipAddr":"10.9.9.9","#,
    r#""dataCenterInfo":{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon","#,
    r#""metadata":{"instance-id":"i-9","availability-zone":"us-east-1c"}},"hostName":"m1","status":"UP","#,
    r#""lastUpdatedTimestamp":2,"port":{"$":7001,"@enabled":"true"},"securePort":{"$":7002,"@enabled":"false"}}"#
);

const AMAZON_COMPACT_XML: &str = concat!(
    "<instance><instanceId>i-9</instanceId><app>ORDERS</app><ipAddr>10.9.9.9</ipAddr>",
    r#"<dataCenterInfo class="com.netflix.appinfo.AmazonInfo"><name>Amazon</name><metadata>"#,
    "<instance-id>i-9</instance-id><availability-zone>us-east-1c</availability-zone></metadata></dataCenterInfo>",
    "<hostName>m1</hostName><status>UP</status><lastUpdatedTimestamp>2</lastUpdatedTimestamp>",
    r#"<port enabled="true">7001</port><securePort enabled="false">7002</securePort></instance>"#
);

#[test]
fn forms_know_their_index_and_type() {
    for (index, form) in Form::ALL.into_iter().enumerate() {
        assert_eq!(form.index(), index);
        let expected = if form.is_json() { "application/json" } else { "application/xml" };
        assert_eq!(form.content_type(), expected);
    }
}

#[test]
fn w25_instance_in_full_json_has_the_order_and_types_of_java() {
    assert_eq!(instance_document(Form::JsonFull, &complete()), format!("{{\"instance\":{COMPLETE_JSON}}}"));
}

#[test]
fn w26_instance_in_full_xml_has_the_order_and_indentation_of_java() {
    assert_eq!(instance_document(Form::XmlFull, &complete()), COMPLETE_XML);
}

#[test]
fn w120_w121_only_version_1_rewrites_the_status_and_not_the_override() {
    let expected = COMPLETE_XML.replace("<status>OUT_OF_SERVICE</status>", "<status>DOWN</status>");
    assert_eq!(instance_document(Form::XmlFullV1, &complete()), expected);
    assert!(instance_document(Form::XmlCompact, &complete()).contains("<status>OUT_OF_SERVICE</status>"));
    for status in Status::IN_TEXT_ORDER {
        let shown = instance_document(Form::XmlFullV1, &Instance { status, ..complete() });
        let is_kept = matches!(status, Status::Up | Status::Down | Status::Starting);
        let expected = if is_kept { status } else { Status::Down };
        assert!(shown.contains(&format!("<status>{expected}</status>")), "{status}");
    }
}

#[test]
fn w32_w36_compact_json_keeps_few_members_and_five_amazon_keys() {
    let document = application_document(Form::JsonCompact, "ORDERS", &[minimal_amazon()]);
    let expected =
        format!("{{\"application\":{{\"name\":\"ORDERS\",\"instance\":[{AMAZON_COMPACT_JSON}]}}}}");
    assert_eq!(document, expected);
}

#[test]
fn compact_xml_is_one_line_with_the_header_at_the_end() {
    let application = format!("<application><name>ORDERS</name>{AMAZON_COMPACT_XML}</application>");
    assert_eq!(application_document(Form::XmlCompact, "ORDERS", &[minimal_amazon()]), application);
    assert_eq!(
        applications_document(Form::XmlCompact, "UP_1_", &[("ORDERS", &[minimal_amazon()])]),
        format!(
            "<applications>{application}<versions__delta>7</versions__delta>\
             <apps__hashcode>UP_1_</apps__hashcode></applications>"
        )
    );
}

#[test]
fn w01_empty_registry_in_every_form() {
    let expected = [
        r#"{"applications":{"versions__delta":"7","apps__hashcode":"","application":[]}}"#,
        r#"{"applications":{"application":[],"versions__delta":"7","apps__hashcode":""}}"#,
        "<applications>\n  <versions__delta>7</versions__delta>\n  <apps__hashcode></apps__hashcode>\n</applications>",
        "<applications>\n  <versions__delta>7</versions__delta>\n  <apps__hashcode></apps__hashcode>\n</applications>",
        "<applications><versions__delta>7</versions__delta><apps__hashcode></apps__hashcode></applications>",
    ];
    for form in Form::ALL {
        assert_eq!(applications_document(form, "", &[]), expected[form.index()]);
    }
}

#[test]
fn w03_full_json_joins_applications_and_instances() {
    let document = applications_document(
        Form::JsonFull,
        "X_3_",
        &[("A", &[complete(), complete()]), ("b\"", &[complete()])],
    );
    assert_eq!(
        document,
        format!(
            "{{\"applications\":{{\"versions__delta\":\"7\",\"apps__hashcode\":\"X_3_\",\"application\":[\
             {{\"name\":\"A\",\"instance\":[{COMPLETE_JSON},{COMPLETE_JSON}]}},\
             {{\"name\":\"B\\\"\",\"instance\":[{COMPLETE_JSON}]}}]}}}}"
        )
    );
}

/// `text` with every line moved to the right.
fn indented(text: &str, blanks: usize) -> String {
    let margin = " ".repeat(blanks);
    text.lines().map(|line| format!("{margin}{line}")).collect::<Vec<_>>().join("\n")
}

#[test]
fn w22_application_in_full_xml_is_indented_by_its_depth() {
    let instance = indented(COMPLETE_XML, 2);
    assert_eq!(
        application_document(Form::XmlFull, "R&D", &[complete(), complete()]),
        format!("<application>\n  <name>R&amp;D</name>\n{instance}\n{instance}\n</application>")
    );
}

#[test]
fn w05_applications_in_full_xml_are_indented_by_their_depth() {
    let instance = indented(COMPLETE_XML, 4);
    let application = format!("  <application>\n    <name>ORDERS</name>\n{instance}\n  </application>");
    assert_eq!(
        applications_document(
            Form::XmlFull,
            "UP_1_",
            &[("ORDERS", &[complete()]), ("ORDERS", &[complete()])]
        ),
        format!(
            "<applications>\n  <versions__delta>7</versions__delta>\n  <apps__hashcode>UP_1_</apps__hashcode>\n\
             {application}\n{application}\n</applications>"
        )
    );
}

#[test]
fn w79_empty_metadata_is_the_marker_of_java_but_amazon_metadata_is_not() {
    let json = instance_document(Form::JsonFull, &minimal_amazon());
    assert!(json.contains(r#","metadata":{"@class":"java.util.Collections$EmptyMap"},"isCoord"#), "{json}");
    let xml = instance_document(Form::XmlFull, &minimal_amazon());
    assert!(xml.contains("\n  <metadata class=\"java.util.Collections$EmptyMap\"/>\n"), "{xml}");

    let mut bare = minimal_amazon();
    bare.data_center = heureka_protocol::DataCenter::Amazon(Box::default());
    let json = instance_document(Form::JsonFull, &bare);
    assert!(json.contains(r#""name":"Amazon","metadata":{}}"#), "{json}");
}

#[test]
fn absent_members_are_left_out_and_the_id_is_always_written() {
    for form in Form::ALL {
        let document = instance_document(form, &minimal_amazon());
        for name in ["sid", "appGroupName", "vipAddress", "actionType", "asgName", "null", "PageUrl"] {
            assert!(!document.contains(name), "{name} in {document}");
        }
        assert!(document.contains("instanceId"), "{document}");
    }
}

#[test]
fn q33_an_empty_metadata_key_is_left_out_of_xml_only() {
    let mut instance = complete();
    instance.metadata = [("", "x"), ("k", "v")].into_iter().collect();
    let xml = instance_document(Form::XmlFull, &instance);
    assert!(xml.contains("\n  <metadata>\n    <k>v</k>\n  </metadata>\n"), "{xml}");
    assert!(instance_document(Form::JsonFull, &instance).contains(r#""metadata":{"":"x","k":"v"}"#));

    instance.metadata = [("", "x")].into_iter().collect();
    let xml = instance_document(Form::XmlFull, &instance);
    assert!(xml.contains("<metadata class=\"java.util.Collections$EmptyMap\"/>"), "{xml}");
}
