//! Bodies of registrations: JSON as Spring clients write it, XML as Go clients do.

use std::io::Write as _;

use super::Record;

/// Appends a registration in JSON. Values hold no character that needs an escape.
pub fn write_json(record: &Record<'_>, out: &mut Vec<u8>) {
    let Record { app, host, ip, port, id, dirty_ms, .. } = record;
    let upper = app.to_ascii_uppercase();
    // Writing to a vector cannot fail.
    let _ = write!(
        out,
        r#"{{"instance":{{"instanceId":"{id}","app":"{upper}","appGroupName":null,"ipAddr":"{ip}","sid":"na","#
    );
    let _ = write!(
        out,
        r#""homePageUrl":"http://{host}:{port}/","statusPageUrl":"http://{host}:{port}/actuator/info","#
    );
    let _ = write!(
        out,
        r#""healthCheckUrl":"http://{host}:{port}/actuator/health","secureHealthCheckUrl":null,"#
    );
    let _ = write!(out, r#""vipAddress":"{app}","secureVipAddress":"{app}","countryId":1,"dataCenterInfo":"#);
    write_data_center(record, out);
    let _ = write!(out, r#","hostName":"{host}","status":"UP","overriddenStatus":"UNKNOWN","leaseInfo":{{"#);
    out.extend_from_slice(br#""renewalIntervalInSecs":30,"durationInSecs":90,"registrationTimestamp":0,"#);
    out.extend_from_slice(br#""lastRenewalTimestamp":0,"evictionTimestamp":0,"serviceUpTimestamp":0},"#);
    let _ = write!(out, r#""isCoordinatingDiscoveryServer":false,"lastUpdatedTimestamp":{dirty_ms},"#);
    let _ = write!(out, r#""lastDirtyTimestamp":{dirty_ms},"actionType":null,"asgName":null,"#);
    let _ = write!(
        out,
        r#""port":{{"$":{port},"@enabled":"true"}},"securePort":{{"$":443,"@enabled":"false"}},"#
    );
    out.extend_from_slice(br#""metadata":{"#);
    write_members(record.metadata.iter().map(|(key, value)| (*key, value.as_str())), out);
    out.extend_from_slice(b"}}}");
}

fn write_data_center(record: &Record<'_>, out: &mut Vec<u8>) {
    if !record.is_amazon {
        let class = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo";
        let _ = write!(out, r#"{{"@class":"{class}","name":"MyOwn"}}"#);
        return;
    }
    out.extend_from_slice(br#"{"@class":"com.netflix.appinfo.AmazonInfo","name":"Amazon","metadata":{"#);
    write_members(amazon_entries(record).iter().map(|(key, value)| (*key, value.as_str())), out);
    out.extend_from_slice(b"}}");
}

fn amazon_entries(record: &Record<'_>) -> [(&'static str, String); 6] {
    [
        ("instance-id", format!("i-0{:016x}", record.dirty_ms ^ 0x5DEE_CE66)),
        ("availability-zone", record.zone.to_owned()),
        ("instance-type", "m6i.large".to_owned()),
        ("ami-id", "ami-0c55b159cbfafe1f0".to_owned()),
        ("local-ipv4", record.ip.clone()),
        ("local-hostname", record.host.clone()),
    ]
}

fn write_members<'a>(members: impl Iterator<Item = (&'a str, &'a str)>, out: &mut Vec<u8>) {
    for (index, (key, value)) in members.enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, r#"{comma}"{key}":"{value}""#);
    }
}

/// Appends a registration in XML.
pub fn write_xml(record: &Record<'_>, out: &mut Vec<u8>) {
    let Record { app, host, ip, port, id, dirty_ms, .. } = record;
    let upper = app.to_ascii_uppercase();
    let _ =
        write!(out, "<instance><instanceId>{id}</instanceId><hostName>{host}</hostName><app>{upper}</app>");
    let _ = write!(
        out,
        "<ipAddr>{ip}</ipAddr><vipAddress>{app}</vipAddress><secureVipAddress>{app}</secureVipAddress>"
    );
    let _ = write!(
        out,
        r#"<status>UP</status><port enabled="true">{port}</port><securePort enabled="false">443</securePort>"#
    );
    let _ = write!(out, "<homePageUrl>http://{host}:{port}/</homePageUrl>");
    let _ = write!(out, "<statusPageUrl>http://{host}:{port}/actuator/info</statusPageUrl>");
    let _ = write!(out, "<healthCheckUrl>http://{host}:{port}/actuator/health</healthCheckUrl>");
    write_data_center_xml(record, out);
    out.extend_from_slice(b"<leaseInfo><renewalIntervalInSecs>30</renewalIntervalInSecs>");
    out.extend_from_slice(b"<durationInSecs>90</durationInSecs></leaseInfo><metadata>");
    for (key, value) in &record.metadata {
        let _ = write!(out, "<{key}>{value}</{key}>");
    }
    let _ = write!(out, "</metadata><lastUpdatedTimestamp>{dirty_ms}</lastUpdatedTimestamp>");
    let _ = write!(out, "<lastDirtyTimestamp>{dirty_ms}</lastDirtyTimestamp></instance>");
}

fn write_data_center_xml(record: &Record<'_>, out: &mut Vec<u8>) {
    if !record.is_amazon {
        let class = "com.netflix.appinfo.InstanceInfo$DefaultDataCenterInfo";
        let _ = write!(out, r#"<dataCenterInfo class="{class}"><name>MyOwn</name></dataCenterInfo>"#);
        return;
    }
    out.extend_from_slice(
        br#"<dataCenterInfo class="com.netflix.appinfo.AmazonInfo"><name>Amazon</name><metadata>"#,
    );
    for (key, value) in amazon_entries(record) {
        let _ = write!(out, "<{key}>{value}</{key}>");
    }
    out.extend_from_slice(b"</metadata></dataCenterInfo>");
}

#[cfg(test)]
mod tests {
    use super::super::Fleet;
    use super::*;

    #[test]
    fn json_bodies_are_valid_of_the_promised_size_and_repeat() {
        let fleet = Fleet::new(1, 2000);
        let mut total = 0;
        for instance in 0..2000 {
            let mut body = Vec::new();
            write_json(&fleet.record(instance, 0), &mut body);
            assert!((1000..2048).contains(&body.len()), "{} bytes", body.len());
            total += body.len();
            let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(value["instance"]["status"], "UP");
            let mut again = Vec::new();
            write_json(&Fleet::new(1, 2000).record(instance, 0), &mut again);
            assert_eq!(body, again);
        }
        assert!((1100..1700).contains(&(total / 2000)), "mean {}", total / 2000);
    }

    #[test]
    fn a_new_generation_is_newer_and_says_so() {
        let fleet = Fleet::new(1, 100);
        let (old, new) = (fleet.record(5, 0), fleet.record(5, 1));
        assert_eq!(old.id, new.id);
        assert!(new.dirty_ms > old.dirty_ms);
        assert_ne!(old.metadata, new.metadata);
    }

    #[test]
    fn xml_bodies_close_what_they_open() {
        let fleet = Fleet::new(1, 500);
        for instance in 0..500 {
            let mut body = Vec::new();
            write_xml(&fleet.record(instance, 0), &mut body);
            let text = String::from_utf8(body).unwrap();
            assert_eq!(text.matches("</").count() * 2, text.matches('<').count(), "{text}");
        }
    }
}
