//! Feeds recorded bodies to the readers of `heureka_protocol`: what is required to be accepted is read, what is required to
//! be refused is not. No server is needed for it.

use heureka_protocol::draft::Registration;
use heureka_protocol::{Instance, Limits, batch, json, xml};

use super::case::Case;
use super::clients::{ClientExchange, load};
use super::compare::instance_id;
use super::expected::{Body, Expected, readable_body};
use super::node::Node;
use super::recording::{Request, folder, json_files, scenarios};

/// Reads a registration as the server does: format by content type, application by path.
fn read_registration(request: &Request) -> Result<Instance, String> {
    let body = request.body_bytes().unwrap_or_default();
    let is_json = request.header("Content-Type").is_none_or(|value| value.to_lowercase().contains("json"));
    let read = if is_json { json::read_instance } else { xml::read_instance };
    let draft = read(&body, &Limits::DEFAULT).map_err(|error| error.to_string())?;
    let app = request.path_only().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let app = app.replace("%20", " ").replace("%C3%B6", "ö").replace("%3C", "<").replace("%3E", ">");
    let app = app.replace("%26", "&").replace("%22", "\"").replace("%27", "'");
    let registration = Registration { path_app: &app, now_wall_ms: 1, require_data_center_id: false };
    draft.into_instance(&registration).map_err(|refusal| refusal.to_string())
}

/// Recorded requests of that method and path to which a certain status is required.
fn posts(end: &str, check: impl Fn(&Case<'_>, &Expected)) -> usize {
    let all = scenarios();
    let mut count = 0;
    for scenario in &all {
        for exchange in &scenario.exchanges {
            let case = Case { all: &all, scenario, exchange, port: 1 };
            let is_post = exchange.request.as_ref().is_some_and(|request| request.method == "POST");
            if is_post && case.is_api() && case.request().path_only().contains(end) {
                check(&case, &case.required().0);
                count += 1;
            }
        }
    }
    count
}

#[test]
fn registrations_are_read_or_refused_as_required() {
    let checked = posts("/apps/", |case, expected| {
        let (name, result) = (case.name(), read_registration(case.request()));
        match (expected.status, &expected.body) {
            (Some(204), _) => assert!(result.is_ok(), "{name}: {result:?}"),
            // The HTTP edge refuses content types and encodings before a reader sees the body.
            (Some(400), Body::Refusal(..)) if !name.contains("gzip") && !name.starts_with("content type") => {
                assert!(result.is_err(), "{name}: {result:?}");
            }
            _ => {}
        }
    });
    assert!(checked > 250, "only {checked}");
}

#[test]
fn batches_are_read_or_refused_as_required() {
    let checked = posts("/peerreplication/batch", |case, expected| {
        let body = case.request().body_bytes().unwrap_or_default();
        let items = batch::read_list(&body, &Limits::DEFAULT);
        let answers =
            expected.node().and_then(|node| node.get("responseList")).map(|list| list.items().len());
        match expected.status {
            Some(200) => {
                let count = items.as_ref().map(Vec::len);
                assert_eq!(count.ok(), answers, "{}: {items:?}", case.name());
            }
            Some(400) => assert!(items.is_err(), "{}: {items:?}", case.name()),
            _ => {}
        }
    });
    assert!(checked > 40, "only {checked}");
}

fn client_exchanges() -> Vec<ClientExchange> {
    json_files(&folder("clients")).iter().flat_map(|file| load(file)).collect()
}

#[test]
fn registrations_of_clients_are_read() {
    let mut count = 0;
    for exchange in client_exchanges().iter().filter(|exchange| exchange.request.method == "POST") {
        let request = exchange.to_send();
        let instance = read_registration(&request).unwrap();
        let body = String::from_utf8(request.body_bytes().unwrap()).unwrap();
        let sent = Expected { body: readable_body(&body), ..Expected::answer(204) };
        let sent = sent.node().unwrap().get("instance").unwrap();
        let text = |key: &str| sent.get(key).and_then(Node::text).unwrap_or_default().to_owned();
        assert_eq!(&*instance.instance_id, instance_id(sent));
        assert_eq!(&*instance.host_name, text("hostName"));
        assert_eq!(&*instance.ip_addr, text("ipAddr"));
        assert_eq!(instance.vip_address.as_deref().unwrap_or_default(), text("vipAddress"));
        assert_eq!(instance.status.as_str(), text("status"));
        let port = sent.get("port").and_then(|port| port.get("$").or_else(|| port.get("#text")));
        assert_eq!(Some(i64::from(instance.port.number)), port.and_then(Node::integer));
        count += 1;
    }
    assert_eq!(count, 91, "registrations of clients");
}

/// The documents of the Java server, in every format, as our own client and a node that starts have to read them.
#[test]
fn documents_of_the_java_server_are_read() {
    let mut bodies: Vec<String> =
        client_exchanges().into_iter().map(|exchange| exchange.response.body).collect();
    for scenario in scenarios() {
        bodies.extend(scenario.exchanges.into_iter().filter_map(|exchange| exchange.response?.body));
    }
    let mut count = 0;
    for body in &bodies {
        let document = Expected { body: readable_body(body), ..Expected::answer(200) };
        if document.node().and_then(|node| node.get("applications")).is_none() {
            continue;
        }
        let read = if matches!(document.body, Body::Xml(..)) {
            xml::read_applications
        } else {
            json::read_applications
        };
        let applications = read(body.as_bytes(), &Limits::SERVER_DOCUMENT).unwrap();
        let mut instances = 0;
        document.clone().each_instance(|_| instances += 1);
        // Only the instance that breaks the Java server itself is left out.
        let poisonous = usize::from(body.contains("DefaultDataCenterInfo\",\"name\":\"Amazon\""));
        assert_eq!(applications.skipped, poisonous, "{:?}: {body}", applications.first_skipped);
        assert_eq!(applications.instance_count() + poisonous, instances, "{body}");
        count += 1;
    }
    assert!(count > 400, "only {count}");
}

/// What Java's server answers to a fetch of everything, in every format, is a whole list; what it answers to one for changes
/// is none, unless everything has just changed.
#[test]
fn whole_lists_of_the_java_server_are_told_from_deltas() {
    let clients = client_exchanges().into_iter().map(|exchange| {
        (exchange.request.method, exchange.request.path, exchange.response.status, exchange.response.body)
    });
    let scenarios = scenarios();
    let recorded = scenarios.iter().flat_map(|scenario| &scenario.exchanges).filter_map(|exchange| {
        let (request, response) = (exchange.request.as_ref()?, exchange.response.as_ref()?);
        Some((request.method.clone(), request.path.clone(), response.status?, response.body.clone()?))
    });
    let (mut lists, mut empty, mut others) = (0, 0, 0);
    for (method, path, status, body) in clients.chain(recorded) {
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        let (is_list, is_delta) = (path.ends_with("/apps"), path.ends_with("/apps/delta"));
        if method != "GET" || status != 200 || body.is_empty() || !(is_list || is_delta) {
            continue;
        }
        let is_json = body.starts_with('{');
        let read = if is_json { json::read_applications } else { xml::read_applications };
        let Ok(list) = read(body.as_bytes(), &Limits::SERVER_DOCUMENT) else { continue };
        let judged = list.into_whole();
        if is_list {
            let whole = judged.unwrap_or_else(|refusal| panic!("{path}: {refusal}: {body}"));
            assert!(whole.is_settled, "{path}: {body}");
            lists += 1;
            empty += usize::from(whole.list.instance_count() == 0);
        } else {
            others += usize::from(judged.is_err());
        }
    }
    assert!(lists > 100 && empty > 5 && others > 10, "{lists} lists, {empty} of them empty, {others} deltas");
}
