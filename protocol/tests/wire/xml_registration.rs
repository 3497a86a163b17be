//! Registration bodies in XML: what is taken, what is refused, and how.

use heureka_protocol::{DataCenter, Port, Status};

use crate::samples::{NOW_MS, TO_ORDERS, pairs, read_json, read_xml};

const REQUIRED: &str = "<instanceId>x-1</instanceId><hostName>hx</hostName><app>orders</app><ipAddr>10.0.0.8</ipAddr>\
                        <dataCenterInfo><name>MyOwn</name></dataCenterInfo>";

/// What the required members and some more register.
fn registered(more: &str) -> heureka_protocol::Instance {
    read_xml(&format!("<instance>{REQUIRED}{more}</instance>")).unwrap().into_instance(&TO_ORDERS).unwrap()
}

fn unreadable(body: &str) -> String {
    read_xml(body).unwrap_err().to_string()
}

fn refusal(body: &str) -> String {
    read_xml(body).unwrap().into_instance(&TO_ORDERS).unwrap_err().to_string()
}

#[test]
fn w64_json_is_no_xml() {
    assert_eq!(unreadable(r#"{"instance":{}}"#), "found text in the body, expected an <instance> element");
}

#[test]
fn w65_a_minimal_instance_has_all_defaults() {
    let instance = registered("");
    assert_eq!(&*instance.app, "ORDERS");
    assert_eq!((instance.status, instance.overridden_status), (Status::Up, Status::Unknown));
    assert_eq!((instance.port, instance.secure_port), (Port::DEFAULT_PLAIN, Port::DEFAULT_SECURE));
    assert_eq!(instance.country_id, 1);
    assert_eq!((instance.lease.renewal_interval_secs, instance.lease.duration_secs), (30, 90));
    assert!(instance.metadata.is_empty());
    assert_eq!(instance.last_dirty_timestamp, NOW_MS);
}

#[test]
fn a_full_instance_arrives_as_it_does_from_json() {
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- c -->\n<instance>{REQUIRED}<sid>na</sid>\n\
         <status>STARTING</status><overriddenstatus>DOWN</overriddenstatus><port enabled=\"true\">8080</port>\
         <securePort enabled=\"true\">8443</securePort><countryId>49</countryId>\
         <leaseInfo><renewalIntervalInSecs>10</renewalIntervalInSecs><durationInSecs>20</durationInSecs>\
         <serviceUpTimestamp>4</serviceUpTimestamp><more><x/></more></leaseInfo>\
         <metadata class=\"x\"><zone__id>a</zone__id><c_-d>2</c_-d><e>&lt;&amp;&gt;</e><f><![CDATA[<x>]]></f>\
         <_.0031x>3</_.0031x><g/></metadata>\
         <appGroupName>group</appGroupName><homePageUrl>http://x/?a&amp;b</homePageUrl>\
         <vipAddress>v</vipAddress><secureVipAddress></secureVipAddress>\
         <isCoordinatingDiscoveryServer>true</isCoordinatingDiscoveryServer>\
         <lastUpdatedTimestamp>5</lastUpdatedTimestamp><lastDirtyTimestamp>6</lastDirtyTimestamp>\
         <actionType>ADDED</actionType><asgName>g</asgName></instance>"
    );
    let json =
        br#"{"instance":{"instanceId":"x-1","hostName":"hx","app":"orders","ipAddr":"10.0.0.8","sid":"na",
        "dataCenterInfo":{"name":"MyOwn"},"status":"STARTING","overriddenStatus":"DOWN",
        "port":{"$":8080,"@enabled":"true"},"securePort":{"$":8443,"@enabled":"true"},"countryId":49,
        "leaseInfo":{"renewalIntervalInSecs":10,"durationInSecs":20,"serviceUpTimestamp":4},
        "metadata":{"zone_id":"a","c$d":"2","e":"<&>","f":"<x>","1x":"3","g":""},
        "appGroupName":"group","homePageUrl":"http://x/?a&b","vipAddress":"v","secureVipAddress":"",
        "isCoordinatingDiscoveryServer":"true","lastUpdatedTimestamp":5,"lastDirtyTimestamp":6,
        "actionType":"ADDED","asgName":"g"}}"#;
    assert_eq!(read_xml(&xml).unwrap(), read_json(json).unwrap());
}

#[test]
fn w66_status_in_any_letter_case_but_without_blanks() {
    assert_eq!(registered("<status>down</status>").status, Status::Down);
    assert_eq!(registered("<status>BOGUS</status>").status, Status::Unknown);
    assert_eq!(registered("<status> DOWN </status>").status, Status::Unknown);
    let both = registered("<overriddenStatus>OUT_OF_SERVICE</overriddenStatus>");
    assert_eq!(both.overridden_status, Status::OutOfService);
}

#[test]
fn port_flags_differ_for_the_two_ports() {
    let ports = |attribute: &str| {
        let more = format!("<port{attribute}>81</port><securePort{attribute}>82</securePort>");
        let instance = registered(&more);
        (instance.port.enabled, instance.secure_port.enabled)
    };
    assert_eq!(ports(""), (true, false));
    assert_eq!(ports(" enabled=\"true\""), (true, true));
    assert_eq!(ports(" x='1' enabled='false'"), (false, false));
    assert_eq!(ports(" enabled=\"TRUE\""), (true, false));
    assert_eq!(ports(" enabled"), (true, false));
}

#[test]
fn class_attributes_and_the_class_name_root_do_not_matter() {
    let root = "com.netflix.appinfo.InstanceInfo";
    let body = format!(
        "<{root}>{}</{root}>",
        REQUIRED.replace("<dataCenterInfo>", "<dataCenterInfo class=\"Foo\">")
    );
    let instance = read_xml(&body).unwrap().into_instance(&TO_ORDERS).unwrap();
    assert_eq!(instance.data_center, DataCenter::MyOwn);
}

#[test]
fn amazon_is_known_by_its_name_in_any_case_and_order() {
    let read = |inner: &str| {
        let body = format!("<instance>{REQUIRED}<dataCenterInfo>{inner}</dataCenterInfo></instance>");
        let instance = read_xml(&body).unwrap().into_instance(&TO_ORDERS).unwrap();
        let DataCenter::Amazon(entries) = instance.data_center else { panic!("not Amazon: {inner}") };
        entries.get("instance-id").map(str::to_owned)
    };
    let metadata = "<metadata><instance-id>i-16</instance-id></metadata>";
    assert_eq!(read(&format!("<name>Amazon</name>{metadata}")).as_deref(), Some("i-16"));
    assert_eq!(read(&format!("{metadata}<name>amazon</name>")).as_deref(), Some("i-16"));
    assert_eq!(read("<name>Amazon</name>").as_deref(), Some("x-1"));
}

#[test]
fn unknown_elements_are_passed_over_with_their_children() {
    let instance = registered("<foo a='b'><bar>1</bar>&amp;<!-- x --><?pi?></foo><status>DOWN</status>");
    assert_eq!(instance.status, Status::Down);
}

#[test]
fn a_metadata_child_with_children_has_an_empty_value() {
    let instance = registered("<metadata><a>x<b>1</b></a><c>2</c></metadata>");
    assert_eq!(pairs(&instance.metadata), [("a", ""), ("c", "2")]);
}

#[test]
fn lease_children_that_are_no_numbers_count_as_absent() {
    let lease = registered(
        "<leaseInfo><renewalIntervalInSecs>0</renewalIntervalInSecs><durationInSecs>abc</durationInSecs></leaseInfo>",
    )
    .lease;
    assert_eq!((lease.renewal_interval_secs, lease.duration_secs), (30, 90));
}

#[test]
fn a_bad_timestamp_is_ignored() {
    let instance = registered("<lastDirtyTimestamp>abc</lastDirtyTimestamp><actionType>x</actionType>");
    assert_eq!((instance.last_dirty_timestamp, instance.action_type), (NOW_MS, None));
}

#[test]
fn text_is_kept_as_it_is_with_line_ends_as_xml_has_them() {
    let instance = registered("<vipAddress> a\r\nb&#xd;&#10;&#x1;c<!-- x -->d </vipAddress>");
    assert_eq!(instance.vip_address.as_deref(), Some(" a\nb\r\n\u{1}cd "));
}

#[test]
fn refusals_have_the_texts_of_java() {
    let without = |name: &str| {
        let start = REQUIRED.find(&format!("<{name}>")).unwrap();
        let end_tag = format!("</{name}>");
        let end = REQUIRED.find(&end_tag).unwrap() + end_tag.len();
        format!("<instance>{}{}</instance>", &REQUIRED[..start], &REQUIRED[end..])
    };
    assert_eq!(refusal(&without("hostName")), "Missing hostname");
    assert_eq!(refusal(&without("ipAddr")), "Missing ip address");
    assert_eq!(refusal(&without("app")), "Missing appName");
    assert_eq!(refusal(&without("dataCenterInfo")), "Missing dataCenterInfo");
    let nameless = format!("<instance>{}</instance>", REQUIRED.replace("<name>MyOwn</name>", ""));
    assert_eq!(refusal(&nameless), "Missing dataCenterInfo");
    let empty = format!("<instance>{}</instance>", REQUIRED.replace("orders", ""));
    assert_eq!(refusal(&empty), "Missing appName");
    let other = format!("<instance>{}</instance>", REQUIRED.replace("orders", "other"));
    assert_eq!(refusal(&other), "Mismatched appName, expecting ORDERS but was OTHER");
}

#[test]
fn wrong_values_are_named() {
    let wrong = |more: &str| unreadable(&format!("<instance>{REQUIRED}{more}</instance>"));
    assert_eq!(
        wrong("<port enabled=\"true\">abc</port>"),
        "found \"abc\" in instance.port, expected a whole number of 32 bits"
    );
    assert_eq!(wrong("<port/>"), "found \"\" in instance.port, expected a whole number of 32 bits");
    assert_eq!(
        wrong("<securePort> 1</securePort>"),
        "found \" 1\" in instance.securePort, expected a whole number of 32 bits"
    );
    assert_eq!(
        wrong("<countryId>x</countryId>"),
        "found \"x\" in instance.countryId, expected a whole number of 32 bits"
    );
    assert_eq!(
        wrong("<dataCenterInfo><name>Azure</name></dataCenterInfo>"),
        "found \"Azure\" in instance.dataCenterInfo.name, expected MyOwn, Netflix or Amazon"
    );
    assert_eq!(wrong("<hostName>a<b/></hostName>"), "found elements in instance.hostName, expected a text");
}

#[test]
fn w40_q40_documents_of_another_kind_are_refused() {
    assert_eq!(unreadable(""), "found nothing in the body, expected an <instance> element");
    assert_eq!(unreadable(" <!-- c --> "), "found nothing in the body, expected an <instance> element");
    assert_eq!(unreadable("<foo/>"), "found the element \"foo\" in the body, expected an <instance> element");
    assert_eq!(
        unreadable("<application><name>X</name></application>"),
        "found the element \"application\" in the body, expected an <instance> element"
    );
}

#[test]
fn malformed_xml_is_named_with_its_place() {
    assert_eq!(
        unreadable("<instance><hostName>"),
        "found the end of the text in instance.hostName, expected an end tag"
    );
    for body in [
        "<instance><hostName>h</instance>",
        "<instance",
        "<instance><a b=\"</instance>",
        "<instance>&x</instance>",
    ] {
        assert!(unreadable(body).starts_with("found malformed XML ("), "{body}");
    }
}

#[test]
fn document_types_and_entities_are_refused() {
    let bomb =
        "<!DOCTYPE instance [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><instance><app>&b;</app></instance>";
    assert_eq!(unreadable(bomb), "found a document type declaration in the body, expected none");
    assert_eq!(
        unreadable("<instance><app>&b;</app></instance>"),
        "found the entity \"b\" in instance.app, expected one of lt, gt, amp, quot, apos or a character number"
    );
    assert!(unreadable("<instance>&b;</instance>").starts_with("found the entity \"b\" in instance,"));
    assert!(unreadable("<instance><app>&#xD800;</app></instance>").starts_with("found the entity"));
}

#[test]
fn what_follows_the_root_is_not_looked_at() {
    assert!(read_xml(&format!("\u{feff}<instance>{REQUIRED}</instance><more")).is_ok());
}
