//! Changes of `differences.rs` that are about errors: what an answer without success looks like.

use super::case::Case;
use super::compare::instance_id;
use super::expected::{Body, Expected, Form};
use super::http::Answer;
use super::recording::Response;

/// The words of every parse error of the Java server.
const PARSE_ERROR: &str = "cannot parse request body";

/// Whether the recorded body is an error page that the Java server puts where its application sent nothing.
fn is_error_page(case: &Case<'_>) -> bool {
    let beginnings = ["{\"timestamp\":", "<Map><timestamp>", "<html><body><h1>Whitelabel", "<!doctype html>"];
    beginnings.iter().any(|beginning| case.recorded_text().starts_with(beginning))
}

/// A HEAD or a page that was not kept has no recorded body, but the status says what it was.
fn is_error(expected: &Expected) -> bool {
    expected.status.is_some_and(|status| status >= 400)
}

/// An error of the API with a page.
pub(crate) fn is_api_error_page(case: &Case<'_>, expected: &Expected) -> bool {
    let is_bodyless = expected.head || expected.body == Body::Unkept;
    case.is_api() && is_error(expected) && (is_error_page(case) || is_bodyless)
}

/// An error of something else with a page.
pub(crate) fn is_other_error_page(case: &Case<'_>, expected: &Expected) -> bool {
    !case.is_api() && is_error(expected) && (is_error_page(case) || expected.body == Body::Unkept)
}

/// The same status without a body.
pub(crate) fn without_body(_: &Case<'_>, expected: &mut Expected) {
    expected.empty(expected.status.unwrap_or_default());
    expected.head = false;
}

/// The same status with nothing or a remark.
pub(crate) fn with_remark(_: &Case<'_>, expected: &mut Expected) {
    remark(expected.status.unwrap_or_default(), expected);
}

/// A status with nothing or a remark.
fn remark(status: u16, expected: &mut Expected) {
    expected.empty(status);
    expected.body = Body::Remark;
}

/// A refusal of a body: the only errors that the Java server explains.
pub(crate) fn is_refusal(case: &Case<'_>, expected: &Expected) -> bool {
    case.is_api() && expected.status == Some(400) && !is_error_page(case) && !case.recorded_text().is_empty()
}

/// The recorded form, and the recorded words as a beginning unless they say nothing.
pub(crate) fn explained(case: &Case<'_>, expected: &mut Expected) {
    let text = case.recorded_text();
    match text.chars().next() {
        // Java writes XML if the content type has parameters; it is the format of the body that the sender reads.
        Some('{' | '<') => bad_body(case, expected),
        _ => refuse(Form::Plain, text, expected),
    }
}

/// A refusal in that form that begins with those words.
pub(crate) fn refuse(form: Form, words: &str, expected: &mut Expected) {
    expected.empty(400);
    expected.content_type = Some(form.media_type().to_owned());
    expected.body = Body::Refusal(form, words.to_owned());
}

/// A body that cannot be meant: refused in the format that it claims to have.
pub(crate) fn bad_body(case: &Case<'_>, expected: &mut Expected) {
    let is_json =
        case.request().header("Content-Type").is_some_and(|value| value.to_lowercase().contains("json"));
    refuse(if is_json { Form::Json } else { Form::Xml }, PARSE_ERROR, expected);
}

/// A registration without application: the first check that fails, in the order of `wire.md` 1.7.
pub(crate) fn missing_app(case: &Case<'_>, expected: &mut Expected) {
    let has_address = case.request().body.as_deref().is_some_and(|body| body.contains("ipAddr"));
    refuse(Form::Plain, if has_address { "Missing appName" } else { "Missing ip address" }, expected);
}

/// A value of the query that cannot be read. Clients read every body of a heartbeat, so there it has none.
pub(crate) fn bad_value(case: &Case<'_>, expected: &mut Expected) {
    if expected.status != Some(500) {
        return;
    }
    if case.request().method == "PUT" && !case.is_at("/status") {
        expected.empty(400);
    } else {
        refuse(Form::Plain, "query parameter ", expected);
    }
}

/// A media type or charset that is not read, or no media type at all.
pub(crate) fn bad_type(_: &Case<'_>, expected: &mut Expected) {
    let status = expected.status;
    refuse(Form::Plain, "Content-Type: found ", expected);
    expected.status = status;
}

/// Whether the answer is about the content type of the body.
pub(crate) fn is_about_type(case: &Case<'_>, expected: &Expected) -> bool {
    let is_no_type = case.is_named(&[
        ("08-content-types", &["content type not a type", "content type empty"]),
        ("18-batch", &["xml"]),
    ]);
    case.is_api() && (expected.status == Some(415) || is_no_type)
}

/// An application or instance that is not there.
pub(crate) fn not_found(_: &Case<'_>, expected: &mut Expected) {
    expected.empty(404);
}

/// The Java server's error page is reachable as a page of its own.
pub(crate) fn no_error_path(_: &Case<'_>, expected: &mut Expected) {
    remark(404, expected);
}

/// Only the resource decides which methods there are.
pub(crate) fn own_methods(case: &Case<'_>, expected: &mut Expected) {
    *expected = case.like("unknown method");
}

/// Bodies over the limit are refused; request line and headers may be twice as long as Tomcat's.
pub(crate) fn limits(case: &Case<'_>, expected: &mut Expected) {
    match case.name() {
        "header 9 KB" => *expected = case.like("header 7 KB"),
        "header 7 KB" => {
            expected.keep_instances(|node| !["big-2", "big-3"].contains(&instance_id(node).as_str()))
        }
        "path 9 KB" => expected.empty(404),
        _ => {
            refuse(Form::Plain, "the body is longer than ", expected);
            expected.status = Some(413);
        }
    }
}

/// The API has an answer, but not in a format that Accept allows.
pub(crate) fn is_api_406(case: &Case<'_>, expected: &Expected) -> bool {
    case.is_api() && expected.status == Some(406)
}

/// The answer to the same request with an Accept that names the format.
pub(crate) fn default_format(case: &Case<'_>, expected: &mut Expected) {
    let accept = case.request().header("Accept").unwrap_or_default();
    let format = if accept.to_lowercase().contains("json") { "json" } else { "xml" };
    *expected = match (case.scenario.scenario.as_str(), case.name().split_once(" accept ")) {
        ("02-negotiation" | "03-error-bodies", Some((what, _))) => {
            case.like(&format!("{what} accept {format}"))
        }
        ("11-renew-cancel", _) => case.like("renew accept xml"),
        ("18-batch", _) => case.like("w150 empty list"),
        (scenario, _) => panic!("{scenario}: no answer known in place of the 406 of `{}`", case.name()),
    };
}

/// The recorded answer as it came over the wire.
pub(crate) fn recorded_answer(response: &Response) -> Option<Answer> {
    let body = response.body.clone().unwrap_or_default().into_bytes();
    Some(Answer { status: response.status?, headers: response.headers.clone(), body })
}
