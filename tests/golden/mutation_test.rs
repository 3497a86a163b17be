//! Tests of the comparison: an answer that is wrong in one thing is caught, and the report says what it is.

use super::case::Case;
use super::compare::{Frame, compare};
use super::http::Answer;
use super::recording::scenarios;
use super::stub;

/// Takes the required answer, makes one thing wrong, and expects words of the report.
fn caught(scenario: &str, name: &str, change: impl Fn(&mut Answer), words: &str) {
    let all = scenarios();
    let scenario = all.iter().find(|other| other.scenario == scenario).unwrap();
    let exchange = scenario.exchanges.iter().find(|other| other.name == name).unwrap();
    let expected = Case { all: &all, scenario, exchange, port: 9101 }.required().0;
    // The time of the recordings.
    let frame = Frame::new((1_790_000_000_000, 1_800_000_000_000), 0);
    let mut answer = stub::answer(&expected);
    assert_eq!(compare(&expected, &answer, &frame), Vec::<String>::new(), "{name}");
    change(&mut answer);
    let found = compare(&expected, &answer, &frame).join("\n");
    assert!(found.contains(words), "{} {name}: expected `{words}` in `{found}`", scenario.scenario);
}

fn replace(from: &'static str, to: &'static str) -> impl Fn(&mut Answer) {
    move |answer| {
        let text = answer.text();
        assert!(text.contains(from), "no `{from}` in {text}");
        answer.body = text.replacen(from, to, 1).into_bytes();
    }
}

/// Sets a header, or removes it if the value is empty.
fn header(name: &'static str, value: &'static str) -> impl Fn(&mut Answer) {
    move |answer| {
        answer.headers.retain(|(key, _)| key != name);
        answer.headers.extend((!value.is_empty()).then(|| (name.to_owned(), value.to_owned())));
    }
}

fn json(change: impl Fn(&mut Answer), words: &str) {
    caught("02-negotiation", "apps accept json", change, words);
}

fn xml(change: impl Fn(&mut Answer), words: &str) {
    caught("02-negotiation", "apps accept xml", change, words);
}

#[test]
fn wrong_status_and_headers() {
    json(|answer| answer.status = 404, "status: expected 200, got 404");
    json(header("Content-Type", "application/xml"), "Content-Type: expected");
    json(header("Content-Encoding", "gzip"), "Content-Encoding: expected None");
    caught(
        "02-negotiation",
        "apps json accept-encoding gzip",
        header("Content-Encoding", ""),
        "Content-Encoding: expected",
    );
    caught("02-negotiation", "404 json gzip", header("Content-Encoding", "gzip"), "Content-Encoding");
    caught("04-routing", "w21 head apps", header("Content-Type", ""), "Content-Type: expected");
    caught("04-routing", "w19 post apps", header("Allow", "POST"), "Allow: expected");
    caught("24-context-path", "dashboard no slash", header("Location", "/"), "Location: expected");
}

#[test]
fn wrong_members() {
    json(replace("\"hostName\":\"h1.example\",", ""), "missing [\"hostName\"]");
    json(replace("\"hostName\"", "\"zone\":\"a\",\"hostName\""), "extra [\"zone\"]");
    json(replace("\"app\":\"ORDERS\"", "\"app\":\"ORDERS\",\"app\":\"ORDERS\""), "member order");
    let swapped =
        replace("\"app\":\"ORDERS\",\"ipAddr\":\"10.0.0.1\"", "\"ipAddr\":\"10.0.0.1\",\"app\":\"ORDERS\"");
    json(swapped, "member order");
    json(replace("{\"k\":\"v\"}", "{\"k\":\"w\"}"), "metadata/k");
    json(replace("\"i-1\"", "\"i-2\""), "`i-1` is missing");
    json(replace("\"ORDERS\",\"instance\"", "\"OTHER\",\"instance\""), "`OTHER` is extra");
    caught(
        "02-negotiation",
        "apps json compact",
        replace("]}],\"v", "]}],\"registeredApplicationsEmpty\":false,\"v"),
        "extra [\"registeredApplicationsEmpty\"]",
    );
    let batch = replace("{\"statusCode\":200},{", "{");
    caught("18-batch", "w142 heartbeats", batch, "responseList: expected 5 items, got 4");
}

#[test]
fn wrong_types_and_values() {
    json(replace("\"$\":8080", "\"$\":\"8080\""), "port/$: expected `8080`, got `\"8080\"`");
    json(replace("\"@enabled\":\"true\"", "\"@enabled\":true"), "port/@enabled");
    json(replace("\"UP_1_\"", "\"UP_2_\""), "apps__hashcode");
    json(replace("\"versions__delta\":\"1\"", "\"versions__delta\":1"), "versions__delta");
    json(replace("\"durationInSecs\":90", "\"durationInSecs\":\"90\""), "durationInSecs");
    json(replace("\"lastDirtyTimestamp\":\"17", "\"lastDirtyTimestamp\":\"18"), "lastDirtyTimestamp");
    json(replace("\"registrationTimestamp\":17", "\"registrationTimestamp\":-17"), "expected Time");
    json(replace("\"lastUpdatedTimestamp\":\"17", "\"lastUpdatedTimestamp\":\"99917"), "expected Time");
    json(replace("\",\"", "\", \""), "layout");
    json(|answer| answer.body = b"{\"applications\":".to_vec(), "not JSON");
    caught(
        "16-delta",
        "w126 delta",
        replace("versions__delta\":\"", "versions__delta\":\"-"),
        "versions__delta: expected Version",
    );
    caught(
        "11-renew-cancel",
        "after starting",
        replace("lastRenewalTimestamp\":1", "lastRenewalTimestamp\":9"),
        "expected TimePlus(90000)",
    );
}

#[test]
fn wrong_xml() {
    xml(replace("<status>UP", "<status>DOWN"), "status: expected `\"UP\"`, got `\"DOWN\"`");
    xml(replace(" enabled=\"true\"", ""), "port: expected");
    xml(replace("      <app>", "    <app>"), "layout");
    xml(replace("</applications>", ""), "not XML");
    xml(replace("<k>v</k>", "<k/>"), "metadata/k");
    xml(|answer| answer.body = b"{}".to_vec(), "not XML");
    xml(|answer| answer.body = answer.text().replace("\n", "").replace("  ", "").into_bytes(), "layout");
    caught("02-negotiation", "apps xml compact", |a| a.body.push(b'\n'), "layout");
}

#[test]
fn wrong_bodies_of_our_own() {
    caught("01-empty-registry", "heartbeat", |answer| answer.body = b"{}".to_vec(), "body: expected none");
    caught("01-empty-registry", "heartbeat", header("Content-Type", "application/json"), "empty body");
    let name = "dashboard with instances";
    caught("26-pages", name, replace("id=&quot;instances&quot;", ""), "page: lacks `id=\"instances\"`");
    caught("26-pages", name, |answer| answer.body.extend(b"<script>x</script>"), "page: has");
    caught("06-register-json-refused", "w58 not json", replace("why", ""), "refusal: expected");
    caught("06-register-json-refused", "w48 wrong app", replace("Mismatched", ""), "refusal: expected");
    caught("26-pages", "plain 404 json", |a| a.body = b"{\"timestamp\":1}".to_vec(), "short remark");
    caught("26-pages", "plain 404 html", |a| a.body = b"<html></html>".to_vec(), "short remark");
}
