//! Changes of `differences.rs` that are about what the server says of itself: OPTIONS, status report, pages.

use super::case::Case;
use super::expected::{Body, Expected};
use super::node::{Check, Node, parse_json};
use super::xml::Layout;

/// An OPTIONS request.
pub(crate) fn is_options(case: &Case<'_>, _: &Expected) -> bool {
    case.request().method == "OPTIONS"
}

/// The status and the methods.
pub(crate) fn options(_: &Case<'_>, expected: &mut Expected) {
    expected.empty(200);
}

/// The status report.
pub(crate) fn is_status_report(case: &Case<'_>, _: &Expected) -> bool {
    case.is_at("/eureka/status") && case.request().method == "GET"
}

/// The recorded report with figures of this process; in JSON with a health flag, without passwords.
pub(crate) fn status_report(case: &Case<'_>, expected: &mut Expected) {
    if expected.status == Some(500) {
        *expected = case.elsewhere("27-actuator", "server status json");
        // Java knows its health only with another setting.
        if let Some(report) = expected.node_mut() {
            report.take("healthy");
        }
        return;
    }
    if let Body::Xml(_, layout) = &mut expected.body {
        *layout = Layout::Free;
    }
    let Some(Node::Object(roots)) = expected.node_mut() else { return };
    // JSON has the parts at the top, XML below a root element.
    if let [(_, root @ Node::Object(_))] = roots.as_mut_slice() {
        figures(root);
    } else if let Some(root) = expected.node_mut() {
        figures(root);
    }
}

fn figures(report: &mut Node) {
    if let Some(Node::Object(stats)) = report.get_mut("generalStats") {
        for (_, value) in stats {
            *value = Node::Checked(Box::new(value.recorded().clone()), Check::Figure);
        }
    }
    // Its own instance, seen by itself.
    if let Some(instance) = report.get_mut("instanceInfo") {
        instance.set("isCoordinatingDiscoveryServer", Node::Text("true".to_owned()));
    }
    if let Some(Node::Object(replicas)) = report.get_mut("applicationStats") {
        for (_, value) in replicas {
            if let Node::Text(urls) = value {
                *urls = urls.replace("user:p%40ss@", "");
            }
        }
    }
}

/// A page, or a file that belongs to the Java server's pages.
pub(crate) fn is_page(case: &Case<'_>, expected: &Expected) -> bool {
    let path = case.request().path_only();
    let is_file = ["/css/", "/js/", "/fonts/", "/images/"].iter().any(|folder| path.contains(folder));
    let is_broken_page = case.scenario.scenario == "09-amazon" && expected.status.is_none();
    let is_slash = matches!(path, "/lastn/" | "/dashboard/" | "/dashboard/lastn/");
    let is_html = expected.content_type.as_deref().is_some_and(|value| value.starts_with("text/html"));
    case.request().method == "GET"
        && (is_file || is_broken_page || is_slash || (is_html && expected.status == Some(200)))
}

/// Headings and ids of the status page.
const STATUS_PAGE: &[&str] = &[
    "System Status",
    "DS Replicas",
    "Instances currently registered with Eureka",
    "General Info",
    "Instance Info",
    "id=\"instances\"",
    "id=\"generalInfo\"",
    "id=\"instanceInfo\"",
];

/// Headings and ids of the page of the last changes.
const LAST_N_PAGE: &[&str] =
    &["System Status", "DS Replicas", "id=\"lastNCanceled\"", "id=\"lastNRegistered\""];

/// Text that would show that a page does not escape what clients send.
const UNESCAPED: &[&str] = &["<script>x</script>", "A<B>", "p%40ss", "href=\"javascript:"];

/// Headings and ids in the place of mark-up; files of the Java server's pages are not there.
pub(crate) fn own_page(case: &Case<'_>, expected: &mut Expected) {
    let path = case.request().path_only();
    if ["/css/", "/js/", "/fonts/", "/images/"].iter().any(|folder| path.contains(folder)) {
        expected.empty(404);
        return;
    }
    let mut has = if case.is_at("/lastn") { LAST_N_PAGE } else { STATUS_PAGE }.to_vec();
    let name = case.name();
    match (case.scenario.scenario.as_str(), name) {
        ("23-expiry", _) => has.push("ORDERS(i-1)"),
        ("26-pages", "dashboard with instances") => {
            has.extend(["ORDERS", "MAIL", "CLOUD", "<script>x</script>", "OUT_OF_SERVICE", "DOWN"]);
        }
        ("26-pages", "lastn with instances") => has.extend(["ORDERS(i-1)", "NOPE(none)", "MAIL(m-2)"]),
        ("28-dashboard-path", _) => has.extend(["prod", "dc-1"]),
        ("31-emergency", _) => has.push("EMERGENCY"),
        _ => {}
    }
    expected.status = Some(200);
    expected.content_type = Some("text/html;charset=utf-8".to_owned());
    expected.body = Body::Page { has, lacks: UNESCAPED.to_vec() };
}

/// What an operator looks at, in Boot's form, and what is not there.
pub(crate) fn actuator(case: &Case<'_>, expected: &mut Expected) {
    match (case.scenario.scenario.as_str(), case.name()) {
        (scenario, "actuator") => {
            let names: &[&str] = if scenario == "26-pages" {
                &["health", "health-path", "info", "prometheus"]
            } else {
                &[
                    "health",
                    "health-path",
                    "info",
                    "metrics",
                    "metrics-requiredMetricName",
                    "prometheus",
                    "refresh",
                ]
            };
            expected.body = Body::Json(links(names, case.port));
        }
        (_, "info") => {
            let has = vec!["\"app\":{", "\"instanceId\":\"eureka-server\"", "\"build\":{", "\"uptime\":{"];
            ours("application/json", has, expected);
        }
        (_, "prometheus") => {
            let has = vec!["eureka_server_instances{application=\"ORDERS\",status=\"DOWN\"} 1"];
            ours("text/plain;version=0.0.4;charset=utf-8", has, expected);
        }
        (_, "metrics") => {
            ours("application/json", vec!["\"names\":[", "\"eureka.server.instances\""], expected)
        }
        (_, "http metric uris") => {
            let has = vec![
                "\"name\":\"http.server.requests\"",
                "\"baseUnit\":\"seconds\"",
                "\"statistic\":\"COUNT\"",
                "\"statistic\":\"TOTAL_TIME\"",
            ];
            ours("application/json", has, expected);
        }
        (_, "metric after override") => {
            expected.status = Some(200);
            expected.content_type = Some("application/json".to_owned());
            expected.body = Body::Json(
                parse_json(
                    "{\"availableTags\":[{\"tag\":\"application\",\"values\":[\"ORDERS\"]}],\"description\":\"\",\
                     \"measurements\":[{\"statistic\":\"VALUE\",\"value\":1.0}],\"name\":\"eureka.server.instances\"}",
                )
                .expect("JSON of our own"),
            );
            describe(expected);
        }
        (_, "metric" | "metric tag" | "metric after cancel") => describe(expected),
        _ => expected.empty(404),
    }
}

/// The description is our own.
fn describe(expected: &mut Expected) {
    if let Body::Json(node) = &mut expected.body {
        let sample = Box::new(Node::Text("words".to_owned()));
        node.set("description", Node::Checked(sample, Check::AnyText));
    }
}

/// A text of our own.
fn ours(content_type: &str, has: Vec<&'static str>, expected: &mut Expected) {
    expected.empty(200);
    expected.content_type = Some(content_type.to_owned());
    expected.body = Body::Page { has, lacks: Vec::new() };
}

fn links(names: &[&str], port: u16) -> Node {
    let link = |path: &str, is_template: bool| {
        let address = format!("http://localhost:{port}/actuator{path}");
        let members = [("href", Node::Text(address)), ("templated", Node::Bool(is_template))];
        Node::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let mut members = vec![("self".to_owned(), link("", false))];
    for name in names {
        let (path, is_template) = match *name {
            "health-path" => ("/health/{*path}".to_owned(), true),
            "metrics-requiredMetricName" => ("/metrics/{requiredMetricName}".to_owned(), true),
            name => (format!("/{name}"), false),
        };
        members.push(((*name).to_owned(), link(&path, is_template)));
    }
    Node::Object(vec![("_links".to_owned(), Node::Object(members))])
}
