//! Passwords appear nowhere (spec `spring.md` 1.5, item 47), and the status report is complete (spec `wire.md` 1.18, 1.19).

use serde_json::json;

use super::client::Site;
use super::pages::row;

const PEERS: (&str, &str) = (
    "eureka.client.service-url.defaultZone",
    "http://user:p%40ss@peer_1:8761/eureka/,https://other:s3cret@peer2.example/ctx/eureka/",
);

#[test]
fn item_47_credentials_are_shown_nowhere() {
    let site = Site::start(&[
        PEERS,
        ("management.endpoints.web.exposure.include", "*"),
        ("management.endpoint.health.show-details", "always"),
    ]);
    let paths = [
        "/",
        "/lastn",
        "/eureka/status",
        "/actuator",
        "/actuator/health",
        "/actuator/info",
        "/actuator/metrics",
        "/actuator/prometheus",
    ];
    for path in paths {
        for accept in ["*/*", "application/json"] {
            let answer = site.send("GET", path, &[("Accept", accept)], "");
            assert_eq!(answer.status, 200, "{path}");
            for secret in ["p%40ss", "p@ss", "s3cret", "user:", "other:", "@peer"] {
                assert!(!answer.body.contains(secret), "{path}: {secret}");
            }
        }
    }
}

#[test]
fn every_peer_is_listed_by_url_also_with_an_underscore() {
    let site = Site::start(&[PEERS]);
    for path in ["/", "/lastn"] {
        let page = site.page(path);
        assert!(
            page.contains(
                "<a href=\"http://peer_1:8761/\" title=\"http://peer_1:8761/eureka/\">peer_1:8761</a>"
            ),
            "{path}"
        );
        assert!(page.contains("<a href=\"https://peer2.example/ctx/\""), "{path}");
        // Neither of them exists: depending on the moment nothing was tried yet, or it failed and the page says how.
        let states = ["not contacted yet", "failing"].map(|state| page.matches(state).count());
        assert_eq!(states.iter().sum::<usize>(), 2, "{path}");
    }
    let page = site.page("/");
    let urls = "http://peer_1:8761/eureka/, https://peer2.example/ctx/eureka/";
    assert_eq!(row(&page, "registered-replicas"), urls);
    assert_eq!(
        (row(&page, "available-replicas"), row(&page, "unavailable-replicas")),
        (String::new(), format!("{},", urls.replace(", ", ",")))
    );
}

#[test]
fn the_status_report_is_whole_in_json() {
    let site =
        Site::start(&[PEERS, ("eureka.instance.instance-id", "self"), ("spring.application.name", "eureka")]);
    for (minimum, is_healthy) in [("-1", None), ("0", Some(true)), ("1", Some(false))] {
        let key = "eureka.server.min-available-instances-for-peer-replication";
        let site = if minimum == "-1" { &site } else { &Site::start(&[PEERS, (key, minimum)]) };
        let answer = site.send("GET", "/eureka/status", &[("Accept", "application/json")], "");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
        let report = answer.json();
        assert_eq!(report.get("healthy"), is_healthy.map(serde_json::Value::from).as_ref(), "{minimum}");
        for name in ["num-of-cpus", "total-avail-memory", "current-memory-usage", "server-uptime"] {
            assert!(report["generalStats"][name].is_string(), "{name}");
        }
        assert!(
            report["applicationStats"]["unavailable-replicas"]
                .as_str()
                .is_some_and(|urls| urls.ends_with(','))
        );
    }
    let report = site.send("GET", "/eureka/v2/status/", &[("Accept", "application/json")], "").json();
    assert_eq!(report["instanceInfo"]["instanceId"], json!("self"), "not wrapped");
    assert_eq!(report["instanceInfo"]["app"], json!("EUREKA"));
    assert_eq!(report["instanceInfo"]["status"], json!("UP"));
}

#[test]
fn the_status_report_in_xml_has_javas_elements() {
    let minimum = ("eureka.server.min-available-instances-for-peer-replication", "0");
    let site = Site::start(&[PEERS, minimum, ("eureka.instance.instance-id", "<self>")]);
    let answer = site.get("/eureka/status");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/xml")));
    let mut reader = quick_xml::Reader::from_str(&answer.body);
    let mut open = Vec::new();
    let mut paths = Vec::new();
    loop {
        match reader.read_event().expect("well-formed XML") {
            quick_xml::events::Event::Start(tag) => {
                open.push(tag.name().as_ref().to_owned());
                paths.push(open.join("/"));
            }
            quick_xml::events::Event::End(_) => drop(open.pop()),
            quick_xml::events::Event::Eof => break,
            _ => {}
        }
    }
    let root = "com.netflix.eureka.util.StatusInfo";
    for path in [
        "",
        "/generalStats/server-uptime",
        "/applicationStats/registered-replicas",
        "/instanceInfo/instanceId",
        "/isHeathly",
    ] {
        assert!(paths.contains(&format!("{root}{path}")), "{path}: {paths:?}");
    }
    assert!(answer.body.contains("<isHeathly>true</isHeathly>") && answer.body.contains("&lt;self&gt;"));
    assert!(!Site::start(&[]).get("/eureka/status").body.contains("isHeathly"), "left out if unset");
}

#[test]
fn overrides_are_one_flat_object() {
    let site = Site::start(&[]);
    let overrides = |site: &Site| site.get("/eureka/serverinfo/statusoverrides");
    let none = overrides(&site);
    assert_eq!(
        (none.status, none.body.as_str(), none.header("content-type")),
        (200, "{}", Some("application/json"))
    );
    site.register("ORDERS", "o-1", &json!({}));
    site.register("ORDERS", "o\"2", &json!({}));
    assert_eq!(
        site.send("PUT", "/eureka/apps/ORDERS/o%222/status?value=OUT_OF_SERVICE", &[], "").status,
        200
    );
    assert_eq!(overrides(&site).json(), json!({"o\"2": "OUT_OF_SERVICE"}));
    assert_eq!(site.get("/eureka/v2/serverinfo/statusoverrides").status, 200);
}
