//! Replication lists and their answers.

use heureka_protocol::batch::{
    Action, ItemResponse, OutgoingItem, OutgoingResponse, ReplicationItem, ReplicationTask, read_list,
    read_responses, write_list, write_responses,
};
use heureka_protocol::{AppName, Limits, Registration, Status};
use serde_json::json;

use crate::samples::{LEASE, TO_ORDERS, complete, fixture};

fn read(body: &str) -> Vec<Result<ReplicationItem, String>> {
    let items = read_list(body.as_bytes(), &Limits::DEFAULT).unwrap();
    items.into_iter().map(|item| item.map_err(|error| error.to_string())).collect()
}

/// Reads a list with one item.
fn read_one(item: &str) -> Result<ReplicationItem, String> {
    let mut items = read(&format!("{{\"replicationList\":[{item}]}}"));
    assert_eq!(items.len(), 1);
    items.remove(0)
}

fn unreadable(body: &str) -> String {
    read_list(body.as_bytes(), &Limits::DEFAULT).unwrap_err().to_string()
}

#[test]
fn w140_a_register_holds_the_bare_instance() {
    let item = json!({"appName": "orders", "id": "i-1", "lastDirtyTimestamp": 1, "status": "UP",
        "instanceInfo": fixture(), "action": "Register"});
    let item = read_one(&item.to_string()).unwrap();
    assert_eq!((&*item.app, &*item.id, item.task.action()), ("ORDERS", "i-1", Action::Register));
    let ReplicationTask::Register(draft) = item.task else { panic!("no register") };
    let registration = Registration { path_app: &item.app, ..TO_ORDERS };
    assert_eq!(&*draft.into_instance(&registration).unwrap().instance_id, "i-1");
}

#[test]
fn w142_w144_a_heartbeat_may_name_timestamp_and_override() {
    let heartbeat = |members: &str| {
        let item = format!(r#"{{"appName":"A","id":"i","action":"Heartbeat"{members}}}"#);
        match read_one(&item).unwrap().task {
            ReplicationTask::Heartbeat { last_dirty_timestamp, overridden_status, .. } => {
                (last_dirty_timestamp, overridden_status)
            }
            task => panic!("{task:?}"),
        }
    };
    assert_eq!(heartbeat(""), (None, None));
    assert_eq!(heartbeat(r#","lastDirtyTimestamp":5,"status":"UP""#), (Some(5), None));
    assert_eq!(heartbeat(r#","lastDirtyTimestamp":"5","overriddenStatus":null"#), (Some(5), None));
    let oos = Some(Status::OutOfService);
    assert_eq!(heartbeat(r#","overriddenStatus":"OUT_OF_SERVICE","lastDirtyTimestamp":null"#), (None, oos));
    assert_eq!(
        heartbeat(r#","overriddenStatus":"bogus""#),
        (None, None),
        "the lease is renewed all the same"
    );
}

#[test]
fn w145_w146_status_items() {
    let status =
        |members: &str| read_one(&format!(r#"{{"appName":"A","id":"i",{members}}}"#)).map(|item| item.task);
    assert_eq!(
        status(r#""action":"StatusUpdate","status":"DOWN","lastDirtyTimestamp":2"#).unwrap(),
        ReplicationTask::StatusUpdate {
            status: Status::Down,
            overridden_status: None,
            last_dirty_timestamp: Some(2)
        }
    );
    assert_eq!(
        status(r#""action":"StatusUpdate","status":"DOWN","overriddenStatus":"DOWN""#).unwrap(),
        ReplicationTask::StatusUpdate {
            status: Status::Down,
            overridden_status: Some(Status::Down),
            last_dirty_timestamp: None
        }
    );
    assert_eq!(
        status(r#""action":"DeleteStatusOverride","status":"UP""#).unwrap(),
        ReplicationTask::DeleteStatusOverride { status: Some(Status::Up), last_dirty_timestamp: None }
    );
    assert_eq!(
        status(r#""action":"DeleteStatusOverride""#).unwrap(),
        ReplicationTask::DeleteStatusOverride { status: None, last_dirty_timestamp: None }
    );
    let expected = "expected UP, DOWN, STARTING, OUT_OF_SERVICE or UNKNOWN";
    for (members, found) in [
        (r#""action":"StatusUpdate","status":"bogus""#, "\"bogus\""),
        (r#""action":"StatusUpdate""#, "nothing"),
        (r#""action":"DeleteStatusOverride","status":"bogus""#, "\"bogus\""),
    ] {
        let error = status(members).unwrap_err();
        assert_eq!(error, format!("found {found} in replicationList[0].status, {expected}"));
    }
}

#[test]
fn w147_a_cancel_needs_nothing_but_its_id_and_may_say_what_it_cancelled() {
    for (member, last_dirty_timestamp) in [("", None), (r#","lastDirtyTimestamp":7"#, Some(7))] {
        let item = read_one(&format!(r#"{{"appName":"A","id":"i","action":"Cancel"{member}}}"#)).unwrap();
        let task = ReplicationTask::Cancel { last_dirty_timestamp };
        assert_eq!(item, ReplicationItem { app: AppName::new("A"), id: "i".into(), task });
    }
}

#[test]
fn w148_a_mismatched_application_is_refused_when_the_draft_is_checked() {
    let item = json!({"appName": "OTHER", "id": "q", "instanceInfo": fixture(), "action": "Register"});
    let item = read_one(&item.to_string()).unwrap();
    let ReplicationTask::Register(draft) = item.task else { panic!("no register") };
    let refusal = draft.into_instance(&Registration { path_app: &item.app, ..TO_ORDERS }).unwrap_err();
    assert_eq!(refusal.to_string(), "Mismatched appName, expecting OTHER but was ORDERS");
}

#[test]
fn w149_a_register_without_instance_is_an_error_of_the_item() {
    assert_eq!(
        read_one(r#"{"appName":"A","id":"i","action":"Register"}"#).unwrap_err(),
        "found nothing in replicationList[0].instanceInfo, expected an instance object"
    );
}

#[test]
fn w150_an_empty_list_is_a_list() {
    assert_eq!(read(r#"{"replicationList":[]}"#), []);
}

#[test]
fn w151_w152_a_body_without_a_list_is_refused_whole() {
    let expected = r#"expected an object with the member "replicationList""#;
    assert_eq!(unreadable("{}"), format!("found no replicationList in the body, {expected}"));
    assert_eq!(
        unreadable(r#"{"replicationList":null}"#),
        format!("found no replicationList in the body, {expected}")
    );
    assert_eq!(unreadable("null"), format!("found null in the body, {expected}"));
    assert_eq!(unreadable(""), format!("found nothing in the body, {expected}"));
    for (value, found) in [("\"x\"", "\"x\""), ("{}", "an object"), ("5", "5"), ("true", "true")] {
        let body = format!("{{\"replicationList\":{value}}}");
        assert_eq!(unreadable(&body), format!("found {found} in replicationList, expected a list of items"));
    }
    assert!(unreadable("{bad").contains("malformed JSON"));
    assert!(unreadable("<x/>").contains("malformed JSON"));
    assert!(unreadable(r#"{"replicationList":[{"appName":"A""#).contains("in replicationList[0], expected"));
    let truncated = unreadable(r#"{"replicationList":[{"instanceInfo":{"hostName":"h"#);
    assert!(truncated.contains("in replicationList[0].instanceInfo.hostName, expected"), "{truncated}");
}

#[test]
fn w152_w153_bad_items_cost_themselves_only() {
    let good = r#"{"id":"i","action":"Cancel","appName":"A"}"#;
    let bad = [
        r#"{"appName":"A","id":"i","action":"Bogus"}"#,
        r#"{"appName":"A","id":"i","action":"heartbeat"}"#,
        r#"{"appName":"A","id":"i","action":5}"#,
        r#"{"appName":"A","id":"i","action":[{"x":["]"]}]}"#,
        r#"{"appName":"A","id":"i"}"#,
        r#"{"id":"i","action":"Heartbeat"}"#,
        r#"{"appName":"A","action":"Heartbeat"}"#,
        r#"{"appName":"A","action":"Heartbeat","instanceInfo":{"instanceId":"i"}}"#,
        r#"{"appName":{},"id":"i","action":"Cancel"}"#,
        r#"{"appName":"A","id":"i","action":"Register","instanceInfo":"x"}"#,
        r#"{"appName":"A","id":"i","action":"Register","instanceInfo":{"metadata":{"a":[[1]]}}}"#,
        r#"{"appName":"A","id":"i","action":"Heartbeat","lastDirtyTimestamp":"abc"}"#,
        r#"{"appName":"A","id":"i","action":"Heartbeat","lastDirtyTimestamp":{"x":1}}"#,
    ];
    let body = format!("{{\"replicationList\":[{good},{},{good}]}}", bad.join(","));
    let items = read(&body);
    assert_eq!(items.len(), bad.len() + 2);
    assert!(items[0].is_ok() && items[bad.len() + 1].is_ok());
    for (item, text) in items[1..=bad.len()].iter().zip(bad) {
        assert!(item.is_err(), "{text}");
    }
    let actions = "expected Heartbeat, Register, Cancel, StatusUpdate or DeleteStatusOverride";
    assert_eq!(items[1], Err(format!("found \"Bogus\" in replicationList[1].action, {actions}")));
    assert_eq!(
        items[11],
        Err("found a list in replicationList[11].instanceInfo.metadata.a, expected a text".into())
    );
}

#[test]
fn w153_w153a_unknown_members_are_ignored() {
    let mut instance = fixture();
    instance["foo"] = json!({"x": [1]});
    let item = json!({"appName": "ORDERS", "id": "i", "foo": {"bar": []}, "instanceInfo": instance, "action": "Register"});
    let body = json!({"more": [1], "replicationList": [item], "x": {}});
    assert!(read(&body.to_string())[0].is_ok());
}

#[test]
fn w153b_an_item_that_is_no_object_spoils_the_list() {
    for (item, found) in [("null", "null"), ("5", "5"), ("[]", "a list"), ("\"x\"", "\"x\"")] {
        let body = format!("{{\"replicationList\":[{item}]}}");
        let expected = r#"expected an object with "appName", "id" and "action""#;
        assert_eq!(unreadable(&body), format!("found {found} in replicationList[0], {expected}"));
    }
}

#[test]
fn of_repeated_lists_the_last_one_wins_and_a_null_action_is_none() {
    let cancel = r#"{"appName":"A","id":"i","action":"Cancel"}"#;
    let body = format!(r#"{{"replicationList":[{cancel},{cancel}],"replicationList":[{cancel}]}}"#);
    assert_eq!(read(&body).len(), 1);
    let error = read_one(r#"{"appName":"A","id":"i","action":null}"#).unwrap_err();
    assert!(error.starts_with("found no action in replicationList[0],"), "{error}");
}

#[test]
fn actions_may_be_numbers() {
    for (number, action) in Action::ALL.into_iter().enumerate() {
        let item = format!(
            r#"{{"appName":"A","id":"i","action":{number},"status":"UP","instanceInfo":{{"hostName":"h"}}}}"#
        );
        assert_eq!(read_one(&item).unwrap().task.action(), action);
    }
}

#[test]
fn a_register_without_id_has_that_of_its_instance() {
    let item = json!({"appName": "ORDERS", "instanceInfo": fixture(), "action": "Register"});
    assert_eq!(&*read_one(&item.to_string()).unwrap().id, "i-1");
}

#[test]
fn the_number_of_items_is_bounded() {
    let item = r#"{"appName":"A","id":"i","action":"Cancel"}"#;
    let body = format!("{{\"replicationList\":[{item},{item},{item}]}}");
    let limits = Limits { batch_items: 3, ..Limits::DEFAULT };
    assert_eq!(read_list(body.as_bytes(), &limits).unwrap().len(), 3);
    let limits = Limits { batch_items: 2, ..Limits::DEFAULT };
    let error = read_list(body.as_bytes(), &limits).unwrap_err().to_string();
    assert_eq!(error, "found 3 items in replicationList, expected at most 2 items");
}

fn outgoing<'a>(app: &'a AppName, id: &'a str, action: Action) -> OutgoingItem<'a> {
    OutgoingItem {
        app,
        id,
        action,
        last_dirty_timestamp: None,
        overridden_status: None,
        status: None,
        instance: None,
    }
}

#[test]
fn w155_w156_lists_are_written_as_java_writes_them() {
    let (app, instance) = (AppName::new("ORDERS"), complete());
    let heartbeat = OutgoingItem {
        last_dirty_timestamp: Some(5),
        overridden_status: Some(Status::OutOfService),
        status: Some(Status::OutOfService),
        ..outgoing(&app, "i\"1", Action::Heartbeat)
    };
    let register = OutgoingItem {
        last_dirty_timestamp: Some(6),
        status: Some(Status::Up),
        instance: Some((&instance, &LEASE)),
        ..outgoing(&app, "full-1", Action::Register)
    };
    let mut out = Vec::new();
    write_list(&[heartbeat, register, outgoing(&app, "c", Action::Cancel)], &mut out);

    let mut instance_json = Vec::new();
    let form = heureka_protocol::Form::JsonFull;
    let place = heureka_protocol::Place::Alone;
    heureka_protocol::document::write_instance(form, place, &instance, &LEASE, &mut instance_json);
    let expected = [
        r#"{"replicationList":[{"appName":"ORDERS","id":"i\"1","lastDirtyTimestamp":5,"#,
        r#""overriddenStatus":"OUT_OF_SERVICE","status":"OUT_OF_SERVICE","action":"Heartbeat"},"#,
        r#"{"appName":"ORDERS","id":"full-1","lastDirtyTimestamp":6,"status":"UP","instanceInfo":"#,
        std::str::from_utf8(&instance_json).unwrap(),
        r#","action":"Register"},{"appName":"ORDERS","id":"c","action":"Cancel"}]}"#,
    ]
    .concat();
    assert_eq!(String::from_utf8(out.clone()).unwrap(), expected);
    let items = read_list(&out, &Limits::DEFAULT).unwrap();
    let actions: Vec<_> = items.into_iter().map(|item| item.unwrap().task.action()).collect();
    assert_eq!(actions, [Action::Heartbeat, Action::Register, Action::Cancel]);

    out.clear();
    write_list(&[], &mut out);
    assert_eq!(out, br#"{"replicationList":[]}"#);
}

#[test]
fn answers_are_written_as_java_writes_them_and_read_back() {
    let instance = complete();
    let mut out = Vec::new();
    let answer = |status_code, entity| OutgoingResponse { status_code, entity };
    write_responses([answer(200, None), answer(409, Some((&instance, &LEASE))), answer(404, None)], &mut out);
    let text = String::from_utf8(out.clone()).unwrap();
    let start =
        r#"{"responseList":[{"statusCode":200},{"statusCode":409,"responseEntity":{"instanceId":"full-1","#;
    assert!(text.starts_with(start), "{text}");
    assert!(text.ends_with("}},{\"statusCode\":404}]}"), "{text}");

    let answers = read_responses(&out, &Limits::DEFAULT).unwrap();
    let codes: Vec<_> = answers.iter().map(|answer| (answer.status_code, answer.entity.is_some())).collect();
    assert_eq!(codes, [(200, false), (409, true), (404, false)]);
    let entity = answers[1].entity.clone().unwrap().into_listed("ORDERS").unwrap();
    assert_eq!(entity, heureka_protocol::Instance { lease: LEASE, ..complete() });

    out.clear();
    write_responses([], &mut out);
    assert_eq!(out, br#"{"responseList":[]}"#);
    assert_eq!(read_responses(&out, &Limits::DEFAULT).unwrap(), []);
}

#[test]
fn an_unreadable_answer_keeps_its_place() {
    let body = r#"{"responseList":[{"statusCode":"200"},{"statusCode":409,"responseEntity":[]},null,{},
        {"statusCode":70000},{"statusCode":404,"x":[1]}],"more":1}"#;
    let answers = read_responses(body.as_bytes(), &Limits::DEFAULT).unwrap();
    let expected =
        [200, 500, 500, 500, 500, 404].map(|status_code| ItemResponse { status_code, entity: None });
    assert_eq!(answers, expected);
    for body in ["{}", "null", r#"{"responseList":null}"#, r#"{"responseList":{}}"#, ""] {
        assert!(read_responses(body.as_bytes(), &Limits::DEFAULT).is_err(), "{body}");
    }
}
