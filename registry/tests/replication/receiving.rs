//! What items do at a receiver, beyond Java (`replication.md` 5, 9.3): the same code that answers batches.

use heureka_protocol::{AppName, Status};
use heureka_registry::replication::receive::{Applied, Circumstances, Incoming, apply};
use heureka_registry::{Application, Origin, Rules, Sender};

use crate::support::{APP, at, instance};

const NOW_MS: u64 = 1_000_000;

fn with_one() -> Application {
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Peer, at(NOW_MS), &Rules::default());
    app
}

fn ours() -> Sender {
    Sender::node("one", 0)
}

fn told(app: &mut Application, incoming: Incoming, sender: Sender) -> Applied {
    let circumstances = Circumstances { sender, is_copying: false, stamp: None };
    apply(app, "i-1", incoming, circumstances, at(NOW_MS + 10), &Rules::default())
}

fn set(status: Status, stored: Option<Status>) -> Incoming {
    Incoming::SetStatus { status, stored, last_dirty: Some(200) }
}

fn override_of(app: &Application) -> Option<Status> {
    app.override_of("i-1").map(|entry| entry.status)
}

#[test]
fn d9_a_node_of_our_kind_is_believed_what_it_has_stored() {
    let mut app = with_one();
    assert_eq!(told(&mut app, set(Status::Up, Some(Status::Up)), ours()).code, 200);
    assert_eq!(override_of(&app), Some(Status::Up), "stored although the instance was UP already");
    let again = told(&mut app, set(Status::Up, Some(Status::Up)), ours());
    assert!(again.code == 200 && again.change.is_none());
}

#[test]
fn d9_a_node_of_our_kind_that_stored_nothing_changes_nothing() {
    let mut app = with_one();
    let applied = told(&mut app, set(Status::Down, None), ours());
    assert!(applied.code == 200 && applied.change.is_none() && override_of(&app).is_none());
    // A Java server says no more than that, so there its rule holds.
    assert!(told(&mut app, set(Status::Down, None), Sender::unknown(1)).change.is_some());
    assert_eq!(override_of(&app), Some(Status::Down));
}

#[test]
fn d12_an_operation_of_our_kind_does_not_make_an_older_record_look_newer() {
    let dirty = |app: &Application| app.get("i-1").unwrap().instance.last_dirty_timestamp;
    let removal = || Incoming::RemoveOverride { status: Some(Status::Up), last_dirty: Some(300) };
    let mut app = with_one();
    told(&mut app, set(Status::Down, Some(Status::Down)), ours());
    assert!(told(&mut app, removal(), ours()).change.is_some());
    assert_eq!(dirty(&app), 100, "the next heartbeat finds that out and brings the content");
    let mut app = with_one();
    told(&mut app, set(Status::Down, None), Sender::unknown(1));
    assert_eq!(dirty(&app), 200);
    told(&mut app, removal(), Sender::unknown(2));
    assert_eq!(dirty(&app), 300);
}

#[test]
fn what_is_not_known_is_answered_not_found() {
    let mut app = Application::new(AppName::new(APP));
    let all = [
        set(Status::Down, Some(Status::Down)),
        set(Status::Down, None),
        Incoming::RemoveOverride { status: None, last_dirty: None },
        Incoming::Cancel { last_dirty: None },
        Incoming::Cancel { last_dirty: Some(100) },
        Incoming::Heartbeat(heureka_registry::Heartbeat::default()),
    ];
    for incoming in all {
        assert_eq!(told(&mut app, incoming.clone(), ours()).code, 404, "{incoming:?}");
    }
}
