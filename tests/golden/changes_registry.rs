//! Changes of `differences.rs` that are about what the registry does: what it accepts, keeps and shows.

use super::case::Case;
use super::changes_errors::{not_found, refuse};
use super::compare::instance_id;
use super::difference::{Difference, Select};
use super::edit::text;
use super::expected::{Body, Expected, Form};
use super::node::{Check, Node, parse_json};

/// An accepted registration.
fn accepted(expected: &mut Expected) {
    expected.empty(204);
}

/// An answer with that JSON value.
fn answer_json(json: &str, expected: &mut Expected) {
    expected.empty(200);
    expected.content_type = Some("application/json".to_owned());
    expected.body = Body::Json(parse_json(json).expect("JSON of our own"));
}

/// The instance document of another exchange, with another id, host name and metadata.
fn instance_like(case: &Case<'_>, name: &str, changes: &[(&str, Node)]) -> Expected {
    let mut expected = case.like(name);
    expected.each_instance(|node| changes.iter().for_each(|(key, value)| node.set(key, value.clone())));
    expected
}

fn entries(entries: &[(&str, &str)]) -> Node {
    Node::Object(entries.iter().map(|(key, value)| ((*key).to_owned(), text(value))).collect())
}

/// Compressed bodies are read, plain ones that claim to be compressed are refused.
pub(crate) fn gzip_requests(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "w87 gzip body" => accepted(expected),
        "w87 gzip body: json" => {
            let changes = [("instanceId", text("gz-1")), ("metadata", entries(&[("k", "v")]))];
            *expected = instance_like(case, "instance big-1", &changes);
        }
        "header 7 KB" => {
            let instance = case.like("w87 gzip body: json").instance("gz-1");
            expected.add_instance(instance);
        }
        "content encoding gzip but plain" => refuse(Form::Plain, "the body is marked as gzip ", expected),
        _ => *expected = case.like("no slash"),
    }
}

/// As if the type had been JSON.
pub(crate) fn no_content_type(case: &Case<'_>, expected: &mut Expected) {
    if case.scenario.scenario == "18-batch" {
        *expected = case.like("w150 empty list");
    } else {
        accepted(expected);
    }
}

/// Accepted, and visible in what is read afterwards.
pub(crate) fn lenient_reading(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "registry afterwards" | "delta afterwards" => {
            // `i-1` is the common instance of the accepted bodies; the last one of them is the plain fixture.
            let mut instance = expected.instance("uol");
            instance.set("instanceId", text("i-1"));
            expected.keep_instances(|node| ["lw", "uol"].contains(&instance_id(node).as_str()));
            expected.add_instance(instance);
        }
        "no metadata: json" => *expected = amazon_instance(case, "i-12"),
        "application json" => {
            for id in ["i-12", "i-13"] {
                let instance = amazon_instance(case, id).instance(id);
                expected.add_instance(instance);
            }
            add_xml_amazon(expected);
        }
        "application xml" => {
            for (id, from) in [("i-12", "i-11"), ("i-13", "i-9")] {
                let mut instance = expected.instance(from);
                amazon(&mut instance, id);
                expected.add_instance(instance);
            }
            add_xml_amazon(expected);
        }
        _ => accepted(expected),
    }
}

fn amazon(instance: &mut Node, id: &str) {
    instance.set("instanceId", text(id));
    if let Some(info) = instance.get_mut("dataCenterInfo") {
        info.set("metadata", entries(&[("instance-id", id)]));
    }
}

/// An Amazon instance to which the server has given its own id, because it came without.
fn amazon_instance(case: &Case<'_>, id: &str) -> Expected {
    let mut expected = case.like("empty metadata: json");
    expected.each_instance(|node| amazon(node, id));
    expected
}

/// `i-18` was sent in XML with the metadata before the name: otherwise it is `i-16`.
fn add_xml_amazon(expected: &mut Expected) {
    let mut instance = expected.instance("i-16");
    amazon(&mut instance, "i-18");
    expected.add_instance(instance);
}

/// `up` is `UP`.
pub(crate) fn status_any_case(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        if instance_id(node) == "r-status2" {
            node.set("status", text("UP"));
            // It is in service from its registration on.
            if let Some(lease) = node.get_mut("leaseInfo")
                && let Some(registered) = lease.get("registrationTimestamp").cloned()
            {
                lease.set("serviceUpTimestamp", registered);
            }
        }
    });
    expected.rehash();
}

/// The codes of the items.
pub(crate) fn batch_items(case: &Case<'_>, expected: &mut Expected) {
    let codes: &[u16] = match case.name() {
        "w146 bad" => &[400, 200, 400],
        "w153 unknown member" => &[200],
        "unknown list member" => &[],
        // A word that is no status counts as no override; the sender's copy is newer.
        "heartbeat bad override" => &[404],
        _ => &[400],
    };
    let items: Vec<String> = codes.iter().map(|code| format!("{{\"statusCode\":{code}}}")).collect();
    answer_json(&format!("{{\"responseList\":[{}]}}", items.join(",")), expected);
}

/// The list of answers in JSON.
pub(crate) fn batch_json(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "accept html" => *expected = case.like("w150 empty list"),
        _ => answer_json("{\"responseList\":[{\"statusCode\":404}]}", expected),
    }
}

/// Only v1 and v2 are versions.
pub(crate) fn versions(case: &Case<'_>, expected: &mut Expected) {
    match (case.scenario.scenario.as_str(), case.name()) {
        ("24-context-path", _) => *expected = case.like("apps"),
        (_, "v2x prefix") => not_found(case, expected),
        _ => *expected = case.like("w4 apps slash"),
    }
}

/// Encoded slashes and raw brackets belong to the id.
pub(crate) fn encoded_paths(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "odd id raw brackets" => *expected = case.like("odd id"),
        "slash id renew" => expected.empty(200),
        "slash id get" => {
            let changes = [("instanceId", text("h:svc/1:80")), ("hostName", text("h5.example"))];
            *expected = instance_like(case, "colon raw", &changes);
            // It was renewed just before.
            expected.each_instance(|node| {
                let lease = node.get_mut("leaseInfo").and_then(|lease| lease.get_mut("lastRenewalTimestamp"));
                if let Some(Node::Checked(_, check)) = lease {
                    *check = Check::TimePlus(90_000);
                }
            });
        }
        "backslash in path" => not_found(case, expected),
        _ => refuse(Form::Plain, "the path holds ", expected),
    }
}

/// No overrides so far.
pub(crate) fn override_list(_: &Case<'_>, expected: &mut Expected) {
    answer_json("{}", expected);
}

/// Look-ups find what they mean, and nothing that is gone.
pub(crate) fn vip_look_up(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "w133 b" => *expected = case.like("w133 B"),
        "w133 c" => *expected = case.like("blank c"),
        _ => expected.keep_instances(|node| instance_id(node) != "v-1"),
    }
}

/// The poisonous registration has not taken place.
pub(crate) fn poison(case: &Case<'_>, expected: &mut Expected) {
    let version = |expected: &mut Expected, version: &str| expected.set_version(text(version));
    match case.name() {
        "w54 default class named Amazon" => refuse(Form::Plain, "Mismatched dataCenterInfo", expected),
        "apps json" => *expected = case.like("apps json after cancel"),
        "apps json gzip" => {
            *expected = case.like("apps json after cancel");
            expected.content_encoding = Some("gzip".to_owned());
        }
        "apps xml" => {
            *expected = case.like("empty key apps xml");
            expected.keep_instances(|node| instance_id(node) == "good-1");
        }
        "apps json compact" => expected.keep_instances(|node| instance_id(node) == "good-1"),
        "delta json" | "delta json after cancel" => {
            *expected = case.like("apps json after cancel");
            expected.set_version(Node::Checked(Box::new(text("1")), Check::Version));
        }
        "vip json" => {
            *expected = case.like("apps json after cancel");
            version(expected, "-1");
        }
        "apps json after cancel" => {}
        _ => not_found(case, expected),
    }
}

/// Removing an override brings the reported status back.
pub(crate) fn override_removal(case: &Case<'_>, expected: &mut Expected) {
    if case.name() == "w114 renew" {
        expected.empty(200);
        return;
    }
    expected.each_instance(|node| {
        node.set("status", text("UP"));
        node.set("overriddenStatus", text("UNKNOWN"));
        if case.name() == "remove with timestamp only: json" {
            node.set("lastDirtyTimestamp", text("1950000000002"));
        }
    });
    expected.rehash();
}

/// The override of another application does not count.
pub(crate) fn overrides_by_application(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        node.set("status", text("UP"));
        node.set("overriddenStatus", text("UNKNOWN"));
    });
}

/// The override that came with the heartbeat shows, as a modification.
pub(crate) fn visible_heartbeats(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        node.set("status", text("OUT_OF_SERVICE"));
        node.set("actionType", text("MODIFIED"));
    });
}

/// The conflict shows the override of the item before it, not the cancel of the item after it.
pub(crate) fn conflict_of_its_time(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| node.set("actionType", text("MODIFIED")));
}

/// The cancel before had a newer timestamp than the registration that follows it.
pub(crate) fn tombstones(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "lower application: json" => expected.empty(404),
        "apps afterwards" => expected.keep_instances(|node| instance_id(node) != "i-1"),
        "delta afterwards" => {
            expected.each_instance(|node| {
                if instance_id(node) != "i-1" {
                    return;
                }
                node.set("lastDirtyTimestamp", text("1700000000003"));
                node.set("actionType", text("DELETED"));
                if let Some(lease) = node.get_mut("leaseInfo")
                    && let Some(registered) = lease.get("registrationTimestamp").cloned()
                {
                    lease.set("evictionTimestamp", registered);
                }
            });
            expected.set_hash("UP_1_");
        }
        _ => answer_json("{\"responseList\":[{\"statusCode\":404}]}", expected),
    }
}

/// Nobody has answered with a newer instance: the one that was registered, changed and renewed.
pub(crate) fn without_peer(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        node.set("metadata", entries(&[("k", "v"), ("a", "1")]));
        node.set("lastDirtyTimestamp", text("1700000000003"));
        if let Some(Node::Checked(_, check)) =
            node.get_mut("leaseInfo").and_then(|lease| lease.get_mut("lastRenewalTimestamp"))
        {
            *check = Check::TimePlus(90_000);
        }
    });
}

/// Waits are shortened to ten merge windows; what is read at once after a write may be old or new.
pub(crate) fn merge_window(case: &Case<'_>, expected: &mut Expected) {
    if expected.wait_ms > 0 {
        expected.wait_ms = 1000;
    }
    let empty = |name: &str| case.elsewhere("01-empty-registry", name);
    let other = match case.name() {
        "apps at once, stale" => case.like("apps after refresh"),
        "application at once, stale" => case.like("application after refresh"),
        "apps xml at once, first read" => empty("w2 apps xml"),
        "delta at once, first read" => empty("delta json"),
        "vip at once, first read" => empty("vip json"),
        "apps at once after cancel, stale" => case.like("apps empty"),
        "delta at once after cancel, stale" => case.like("delta after second refresh"),
        _ => return,
    };
    expected.or = Some(Box::new(other));
}

/// A node registers with itself, other than a Java server.
pub(crate) const OWN_REGISTRATION: Difference = Difference {
    id: "own-registration",
    java: "registers with its first peer and learns of itself from there, so not while that peer is a stand-in",
    heureka: "registers with itself, and tells its peers",
    why: "replication.md 6.4; issue 4 point 4: self-registration replicates like any other",
    of: Select::Named(&[("41-own-client", &["own instance"])]),
    change: own_registration,
};

/// The node's own instance is there from the start.
fn own_registration(_: &Case<'_>, expected: &mut Expected) {
    expected.empty(200);
    expected.content_type = Some("application/json".to_owned());
    let has = vec![
        r#""instanceId":"eureka-server""#,
        r#""app":"EUREKA""#,
        r#""status":"UP""#,
        r#""isCoordinatingDiscoveryServer":"true""#,
    ];
    expected.body = Body::Page { has, lacks: Vec::new() };
}
