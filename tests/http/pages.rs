//! Start page and page of the last events: where they are and what they hold (spec `spring.md` 2, items 41 to 44, 48, 49).

use serde_json::json;

use super::client::{Answer, Site};

/// Properties of a node, its page and its page of the last events, and paths that lead nowhere there.
type Place = (&'static [(&'static str, &'static str)], &'static str, &'static str, &'static [&'static str]);

/// What scrapers look for on the start page.
const STATUS_HOOKS: [&str; 9] = [
    "<body id=\"one\">",
    "System Status",
    "DS Replicas",
    "Instances currently registered with Eureka",
    "General Info",
    "Instance Info",
    "id=\"instances\"",
    "id=\"generalInfo\"",
    "id=\"instanceInfo\"",
];

/// The value that a page shows beside a name.
pub(super) fn row(page: &str, name: &str) -> String {
    let start = format!("<tr><td>{name}</td><td>");
    let (_, behind) = page.split_once(&start).unwrap_or_else(|| panic!("no row {name:?}"));
    behind.split_once("</td>").map(|(value, _)| value.to_owned()).expect("an end")
}

/// The row of an application in the table of instances.
pub(super) fn app_row<'a>(page: &'a str, app: &str) -> &'a str {
    let start = format!("<tr><td><b>{app}</b></td>");
    let (_, behind) = page.split_once(start.as_str()).unwrap_or_else(|| panic!("no application {app:?}"));
    behind.split_once("</tr>").map(|(row, _)| row).expect("an end")
}

/// A fragment of HTML without its tags.
pub(super) fn text(html: &str) -> String {
    let mut text = String::new();
    for part in html.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, text)| text));
    }
    text.trim().to_owned()
}

#[test]
fn item_41_an_empty_start_page_has_every_hook() {
    let site = Site::start(&[]);
    let answer = site.browse("/");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html;charset=UTF-8")));
    for hook in STATUS_HOOKS {
        assert!(answer.body.contains(hook), "{hook}");
    }
    assert_eq!(answer.body.matches("id=\"instances\"").count(), 3);
    assert!(answer.body.contains("No instances available"));
    assert!(!answer.body.contains("id=\"uptime\""), "no banner");
    let address = format!("http://localhost:{}/eureka/", site.port());
    assert!(answer.body.contains(&address), "tells where clients register");
}

#[test]
fn pages_are_html_whatever_accept_says_and_refuse_other_methods() {
    let site = Site::start(&[]);
    for accept in ["application/json", "*/*", "application/xml"] {
        let answer = site.send("GET", "/", &[("Accept", accept)], "");
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html;charset=UTF-8")));
    }
    for path in ["/", "/lastn", "/eureka", "/eureka/css/heureka.css"] {
        let head = site.send("HEAD", path, &[("Accept", "text/html")], "");
        assert_eq!(head.status, site.browse(path).status, "{path}");
        for method in ["POST", "PUT", "DELETE", "PATCH"] {
            let answer = site.send(method, path, &[], "");
            assert_eq!((answer.status, answer.body.as_str()), (405, ""), "{method} {path}");
            assert_eq!(answer.header("allow"), Some("GET,HEAD,OPTIONS"));
        }
        let options = site.send("OPTIONS", path, &[], "");
        assert_eq!((options.status, options.header("allow")), (200, Some("GET,HEAD,OPTIONS")));
    }
    let unknown = site.send("POST", "/nosuch", &[], "");
    assert_eq!((unknown.status, unknown.body.as_str()), (404, ""));
}

#[test]
fn pages_bring_headers_that_keep_them_to_themselves() {
    let site = Site::start(&[]);
    for path in ["/", "/lastn"] {
        let answer = site.browse(path);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(policy.starts_with("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert!(!answer.body.contains("style=") && !answer.body.contains("<script>"), "nothing inline");
    }
}

#[test]
fn files_of_the_pages_are_served_and_others_are_not_found() {
    let site = Site::start(&[("server.servlet.context-path", "/ctx")]);
    let page = site.page("/ctx/");
    let linked = |mark: &str| {
        let (_, behind) = page.split_once(mark).expect("a link");
        behind.split_once('"').map(|(address, _)| address.to_owned()).expect("an end")
    };
    let cases = [
        (linked("stylesheet\" href=\""), "text/css;charset=UTF-8"),
        (linked("script src=\""), "text/javascript;charset=UTF-8"),
        (linked("rel=\"icon\" href=\""), "image/svg+xml"),
    ];
    for (address, content_type) in cases {
        assert!(address.starts_with("/ctx/eureka/"), "{address}");
        let answer = site.get(&address);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(content_type)), "{address}");
        assert!(answer.body.len() > 100 && !answer.body.contains("http://localhost"));
    }
    for path in [
        "/ctx/eureka/css/",
        "/ctx/eureka/css",
        "/ctx/eureka/js/none.js",
        "/ctx/eureka/fonts/x",
        "/eureka/css/heureka.css",
    ] {
        let answer = site.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (404, ""), "{path}");
    }
}

#[test]
fn item_42_the_pages_move_with_path_and_context_path() {
    let cases: [Place; 3] = [
        (&[], "/", "/lastn", &["/dashboard", "/index.html", "/lastn/x"]),
        (
            &[("eureka.dashboard.path", "/dashboard")],
            "/dashboard",
            "/dashboard/lastn",
            &["/", "/lastn", "/dashboard/x"],
        ),
        (
            &[("eureka.dashboard.path", "/a/b/"), ("server.servlet.context-path", "/ctx")],
            "/ctx/a/b",
            "/ctx/a/b/lastn",
            &["/", "/ctx/", "/ctx/a", "/a/b"],
        ),
    ];
    for (properties, home, last_n, missing) in cases {
        let site = Site::start(properties);
        let slash = |path: &str| if path.ends_with('/') { path.to_owned() } else { format!("{path}/") };
        for path in [home.to_owned(), slash(home), last_n.to_owned(), slash(last_n)] {
            let page = site.page(&path);
            assert!(page.contains(&format!("href=\"{home}\"")), "{path} links {home}");
            assert!(page.contains(&format!("href=\"{last_n}\"")), "{path} links {last_n}");
        }
        for path in missing {
            assert_eq!(site.browse(path).status, 404, "{path}");
        }
    }
}

#[test]
fn browsers_are_led_to_the_page_and_clients_are_not() {
    let site = Site::start(&[("server.servlet.context-path", "/ctx"), ("eureka.dashboard.path", "/start")]);
    for path in ["/ctx/eureka", "/ctx/eureka/"] {
        let answer = site.browse(path);
        assert_eq!((answer.status, answer.header("location")), (302, Some("/ctx/start")), "{path}");
        for accept in ["application/json", "*/*"] {
            assert_eq!(site.send("GET", path, &[("Accept", accept)], "").status, 404, "{path} {accept}");
        }
    }
    let answer = site.get("/ctx");
    assert_eq!((answer.status, answer.header("location")), (302, Some("/ctx/")));
    assert_eq!(site.browse("/ctxx").status, 404);
    assert_eq!(site.browse("/").status, 404);
}

#[test]
fn item_43_without_a_page_the_registry_goes_on() {
    let site = Site::start(&[("eureka.dashboard.enabled", "false")]);
    for path in ["/", "/lastn", "/lastn/", "/eureka", "/eureka/"] {
        assert_eq!(site.browse(path).status, 404, "{path}");
    }
    assert_eq!(site.get("/eureka/apps").status, 200);
    assert_eq!(site.get("/actuator/health").status, 200);
}

#[test]
fn item_44_environment_and_data_center_are_shown() {
    let page = Site::start(&[]).page("/");
    assert_eq!(
        (row(&page, "Environment"), row(&page, "Data center")),
        ("test".to_owned(), "default".to_owned())
    );
    let site = Site::start(&[("eureka.environment", "prod"), ("eureka.datacenter", "dc-1")]);
    for path in ["/", "/lastn"] {
        let page = site.page(path);
        assert_eq!(
            (row(&page, "Environment"), row(&page, "Data center")),
            ("prod".to_owned(), "dc-1".to_owned())
        );
    }
}

#[test]
fn system_status_and_the_info_tables_have_springs_rows() {
    let site = Site::start(&[("eureka.instance.ip-address", "10.9.8.7")]);
    site.register("ORDERS", "o-1", &json!({}));
    let page = site.page("/");
    let pattern =
        |value: &str| value.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect::<String>();
    let time = pattern(&row(&page, "Current time")).replace("-0000", "+0000");
    assert_eq!(time, "0000-00-00T00:00:00 +0000");
    assert_eq!(row(&page, "Uptime"), "00:00");
    assert_eq!(row(&page, "Lease expiration enabled"), "false");
    // One client that renews twice a minute, times 0.85.
    assert_eq!(
        (row(&page, "Renews threshold"), row(&page, "Renews (last min)")),
        ("1".to_owned(), "0".to_owned())
    );
    for name in ["total-avail-memory", "num-of-cpus", "current-memory-usage", "server-uptime"] {
        assert_ne!(row(&page, name), "", "{name}");
    }
    assert!(row(&page, "total-avail-memory").ends_with("mb"));
    assert!(row(&page, "current-memory-usage").ends_with("%)"));
    for name in ["registered-replicas", "available-replicas", "unavailable-replicas"] {
        assert_eq!(row(&page, name), "", "{name}");
    }
    assert_eq!((row(&page, "ipAddr"), row(&page, "status")), ("10.9.8.7".to_owned(), "UP".to_owned()));
}

#[test]
fn item_48_instances_are_grouped_by_status_and_linked_if_they_have_a_page() {
    let site = Site::start(&[]);
    site.register("ORDERS", "o-1", &json!({"statusPageUrl": "http://o1:8080/actuator/info"}));
    site.register("ORDERS", "o-2", &json!({"status": "DOWN"}));
    site.register(
        "ORDERS",
        "o-3",
        &json!({"statusPageUrl": "https://o3/info", "metadata": {"zone": "zone-b"}}),
    );
    site.register("BILLING", "b-1", &json!({}));
    assert_eq!(site.send("PUT", "/eureka/apps/BILLING/b-1/status?value=OUT_OF_SERVICE", &[], "").status, 200);
    let page = site.page("/");
    let orders = app_row(&page, "ORDERS");
    assert!(
        orders
            .contains("<a href=\"http://o1:8080/actuator/info\" target=\"_blank\" rel=\"noopener\">o-1</a>"),
        "{orders}"
    );
    assert!(orders.contains("<a href=\"https://o3/info\""), "{orders}");
    assert!(orders.contains("<b class=\"s DOWN\">DOWN (1)</b>") && !orders.contains(">o-2</a>"), "{orders}");
    let cells: Vec<String> = orders.split("</td>").map(text).collect();
    assert_eq!(cells[..2], ["n/a (3)", "zone-b (1), \u{2013} (2)"]);
    let groups: Vec<String> = cells[2].lines().map(str::to_owned).collect();
    assert_eq!(groups, ["DOWN (1) - o-2", "UP (2) - o-1, o-3"]);
    assert!(text(app_row(&page, "BILLING")).ends_with("OUT_OF_SERVICE (1) - b-1 overridden"));
    assert!(page.find("<b>BILLING</b>") < page.find("<b>ORDERS</b>"), "sorted by name");
}

#[test]
fn amazon_instances_show_image_and_zone_or_a_dash() {
    let site = Site::start(&[]);
    let amazon = |metadata: serde_json::Value| json!({"dataCenterInfo": {"@class": "com.netflix.appinfo.AmazonInfo", "name": "Amazon", "metadata": metadata}});
    site.register(
        "CLOUD",
        "a-1",
        &amazon(json!({"ami-id": "ami-1", "availability-zone": "eu-1a", "instance-id": "i-1"})),
    );
    site.register("CLOUD", "a-2", &amazon(json!({"instance-id": "i-2"})));
    let page = site.page("/");
    let cells: Vec<String> = app_row(&page, "CLOUD").split("</td>").map(text).collect();
    assert_eq!(cells[..2], ["ami-1 (1), \u{2013} (1)", "eu-1a (1), \u{2013} (1)"]);
}

#[test]
fn item_49_the_last_events_are_newest_first_with_repeated_and_failed_ones() {
    let site = Site::start(&[]);
    let empty = site.page("/lastn");
    for hook in [
        "<body id=\"three\">",
        "id=\"lastNRegistered\"",
        "id=\"lastNCanceled\"",
        "System Status",
        "DS Replicas",
    ] {
        assert!(empty.contains(hook), "{hook}");
    }
    assert!(empty.contains("No registrations") && empty.contains("No cancellations"));
    for id in ["o-1", "o-2", "o-1"] {
        site.register("ORDERS", id, &json!({}));
    }
    assert_eq!(site.send("DELETE", "/eureka/apps/ORDERS/o-2", &[], "").status, 200);
    assert_eq!(site.send("DELETE", "/eureka/apps/NOPE/none", &[], "").status, 404);
    let page = site.page("/lastn");
    let leases = |table: &str| {
        let (_, behind) = page.split_once(&format!("id=\"{table}\"")).expect("a table");
        let (rows, _) = behind.split_once("</table>").expect("an end");
        let leases = rows.split("</tr>").filter_map(|row| row.split_once("</td><td>"));
        leases.map(|(_, lease)| text(lease)).collect::<Vec<_>>()
    };
    assert_eq!(leases("lastNRegistered"), ["ORDERS(o-1)", "ORDERS(o-2)", "ORDERS(o-1)"]);
    assert_eq!(leases("lastNCanceled"), ["NOPE(none)", "ORDERS(o-2)"]);
}

#[test]
fn pages_are_compressed_only_if_the_node_is_told_to() {
    let gzip = [("Accept-Encoding", "gzip")];
    let plain = Site::start(&[]).send("GET", "/", &gzip, "");
    assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
    let site = Site::start(&[("server.compression.enabled", "true")]);
    let packed = site.send("GET", "/", &gzip, "");
    assert_eq!((packed.status, packed.header("content-encoding")), (200, Some("gzip")));
    assert_eq!(site.get("/").header("content-encoding"), None);
}

#[test]
fn whatever_is_long_is_compressed_if_the_node_is_told_to_and_says_what_it_depends_on() {
    let gzip = [("Accept-Encoding", "gzip")];
    let site = Site::start(&[("server.compression.enabled", "true")]);
    site.register("LONG", "long-1", &json!({"vipAddress": "long", "metadata": {"k": "v".repeat(4_000)}}));
    site.register("SHORT", "short-1", &json!({}));
    for path in [
        "/",
        "/lastn",
        "/eureka/js/heureka.js",
        "/actuator/prometheus",
        "/eureka/apps/LONG",
        "/eureka/apps/LONG/long-1",
        "/eureka/instances/long-1",
        "/eureka/vips/long",
    ] {
        let (packed, plain) = (site.send("GET", path, &gzip, ""), site.get(path));
        let seen = |answer: &Answer| {
            let header = |name| answer.header(name).map(str::to_owned);
            (answer.status, header("content-encoding"), header("vary").map(|vary| vary.to_ascii_lowercase()))
        };
        let vary = Some("accept-encoding".to_owned());
        assert_eq!(seen(&packed), (200, Some("gzip".to_owned()), vary.clone()), "{path}");
        assert_eq!(seen(&plain), (200, None, vary), "{path}");
    }
    let short = site.send("GET", "/eureka/apps/SHORT/short-1", &gzip, "");
    assert_eq!((short.header("content-encoding"), short.header("vary")), (None, None));
    let site = Site::start(&[]);
    let plain = site.send("GET", "/actuator/prometheus", &gzip, "");
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), (None, None));
}
