//! Changes of `differences.rs` that are about documents: format, members, marks of time.

use super::case::Case;
use super::compare::instance_id;
use super::edit::{check_times, text};
use super::expected::{Body, Expected};
use super::node::{Check, Node};
use super::xml::parse_xml;

/// A document of the API, or the head of one.
pub(crate) fn is_document(case: &Case<'_>, expected: &Expected) -> bool {
    let has_document = expected.node().is_some() || (expected.head && expected.status == Some(200));
    case.is_api() && has_document && matches!(case.request().method.as_str(), "GET" | "HEAD")
}

/// JSON if Accept contains `json`, and the media type that belongs to the body.
pub(crate) fn one_format(case: &Case<'_>, expected: &mut Expected) {
    let wants_json =
        case.request().header("Accept").is_some_and(|value| value.to_lowercase().contains("json"));
    if wants_json
        && matches!(expected.body, Body::Xml(..))
        && let Some(what) = case.name().split(' ').next()
    {
        // Only `02-negotiation` has such answers: lists with `application/JSON`, instances with both formats.
        expected.take_body(case.like(&format!("{what} accept json")));
    }
    expected.content_type = Some(if wants_json { "application/json" } else { "application/xml" }.to_owned());
}

/// Whether an instance of the document has no id of its own.
pub(crate) fn lacks_instance_id(case: &Case<'_>, expected: &Expected) -> bool {
    let mut found = false;
    expected.clone().each_instance(|node| {
        found |= node.get("instanceId").and_then(Node::text).is_none_or(str::is_empty);
    });
    case.is_api() && found
}

/// Writes the id by which the registry knows the instance.
pub(crate) fn instance_ids(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        let id = Node::Text(instance_id(node));
        node.take("instanceId");
        if let Node::Object(members) = node {
            members.insert(0, ("instanceId".to_owned(), id));
        }
    });
}

const STRAY: &str = "registeredApplicationsEmpty";

/// Whether the document has the stray member.
pub(crate) fn has_stray_member(_: &Case<'_>, expected: &Expected) -> bool {
    expected.node().and_then(|node| node.get("applications")?.get(STRAY)).is_some()
}

/// Removes it.
pub(crate) fn without_stray_member(_: &Case<'_>, expected: &mut Expected) {
    if let Some(applications) = expected.node_mut().and_then(|node| node.get_mut("applications")) {
        applications.take(STRAY);
    }
}

/// The status that the instance has, as other documents of the scenario show it.
pub(crate) fn true_status(case: &Case<'_>, expected: &mut Expected) {
    let status = if case.name() == "status unknown word: xml" { "UNKNOWN" } else { "OUT_OF_SERVICE" };
    expected.each_instance(|node| node.set("status", text(status)));
}

/// A delta.
pub(crate) fn is_delta(case: &Case<'_>, expected: &Expected) -> bool {
    case.is_at("/apps/delta") && expected.node().is_some_and(|node| node.get("applications").is_some())
}

/// A version number that never falls.
pub(crate) fn delta_version(_: &Case<'_>, expected: &mut Expected) {
    expected.set_version(Node::Checked(Box::new(text("1")), Check::Version));
}

/// A list that shows a renewal.
pub(crate) fn is_list_with_renewals(_: &Case<'_>, expected: &Expected) -> bool {
    expected.node().is_some_and(|node| node.get("applications").or_else(|| node.get("application")).is_some())
}

/// The renewal may be shown or not.
pub(crate) fn older_renewals(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        let renewal = node.get_mut("leaseInfo").and_then(|lease| lease.get_mut("lastRenewalTimestamp"));
        if let Some(Node::Checked(_, check)) = renewal
            && let Check::TimePlus(ahead) = *check
        {
            *check = Check::TimeOrPlus(ahead);
        }
    });
}

/// Group names in upper case, whatever the format.
pub(crate) fn upper_case_group(_: &Case<'_>, expected: &mut Expected) {
    expected.each_instance(|node| {
        if let Some(Node::Text(group)) = node.get_mut("appGroupName") {
            *group = group.to_uppercase();
        }
    });
}

/// Metadata that Java writes as nobody can read it.
pub(crate) fn odd_metadata(case: &Case<'_>, expected: &mut Expected) {
    let recorded = case.recorded_text();
    if let Some(readable) = without_empty_keys(recorded) {
        let document = parse_xml(&readable).expect("the recorded document without the empty key");
        expected.body = Body::Xml(document.root, document.layout);
        expected.content_type = Some("application/xml".to_owned());
        expected.each_instance(check_times);
    }
    let is_xml = matches!(expected.body, Body::Xml(..));
    expected.each_instance(|node| {
        let Some(Node::Object(entries)) = node.get_mut("metadata") else { return };
        entries.retain(|(_, value)| *value != text("null"));
        for (key, value) in entries {
            if is_xml && key == "g:h" {
                *key = "g_.003ah".to_owned();
            }
            if *value == text("a\u{1}b") {
                *value = text("a\u{fffd}b");
            }
        }
    });
}

/// The document with the marker of an empty map in the place of metadata whose only key is empty.
fn without_empty_keys(document: &str) -> Option<String> {
    let end = document.find("</>")?;
    let from = document[..end].rfind("<metadata>")?;
    let to = end + document[end..].find("</metadata>")? + "</metadata>".len();
    let marker = "<metadata class=\"java.util.Collections$EmptyMap\"/>";
    Some(format!("{}{marker}{}", &document[..from], &document[to..]))
}
