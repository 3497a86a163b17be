//! What items say (`replication.md` 2.7), and what Java neither writes nor reads.

use heureka_protocol::Status;
use heureka_protocol::batch::Action;
use heureka_registry::replication::{Item, OverrideKind};

use crate::support::{Sender, instance};

fn item(sender: &mut Sender, action: Action) -> Item {
    let batch = sender.later().0;
    batch.items().iter().find(|item| item.action == action).cloned().unwrap()
}

fn with_one() -> Sender {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender
}

#[test]
fn a_status_update_tells_the_override_and_not_what_the_instance_shows_since() {
    let mut sender = with_one();
    sender.set_status("i-1", Status::OutOfService);
    let reports_down = heureka_protocol::Instance { status: Status::Down, ..instance("i-1", 100) };
    sender.register_from(reports_down, heureka_registry::Origin::Client);
    let update = item(&mut sender, Action::StatusUpdate);
    assert_eq!(update.record.as_ref().unwrap().instance.status, Status::Down);
    let message = update.message();
    assert_eq!(message.status, Some(Status::OutOfService));
    assert_eq!(message.overridden_status, Some(Status::OutOfService));
    assert_eq!(message.last_dirty_timestamp, Some(100));
    assert!(message.record.is_none());
}

#[test]
fn an_operation_that_stored_nothing_tells_the_status_and_no_override() {
    let mut sender = with_one();
    let record = sender.app.get("i-1").unwrap().clone();
    sender.queue.offer_override(&record, OverrideKind::Set, sender.now_ms);
    let message_of = |item: &Item| (item.message().status, item.message().overridden_status);
    assert_eq!(message_of(&item(&mut sender, Action::StatusUpdate)), (Some(Status::Up), None));
    // The same beside an override that is in force: the operator has named what the instance reports.
    let mut sender = with_one();
    sender.set_status("i-1", Status::OutOfService);
    let reports_down = heureka_protocol::Instance { status: Status::Down, ..instance("i-1", 100) };
    sender.register_from(reports_down, heureka_registry::Origin::Client);
    let batch = sender.later().0;
    sender.confirm(&batch);
    let record = sender.app.get("i-1").unwrap().clone();
    sender.queue.offer_override(&record, OverrideKind::Set, sender.now_ms);
    assert_eq!(message_of(&item(&mut sender, Action::StatusUpdate)), (Some(Status::Down), None));
}

#[test]
fn a_repeated_override_is_told_with_what_is_stored() {
    let mut sender = with_one();
    sender.set_status("i-1", Status::OutOfService);
    let batch = sender.later().0;
    sender.confirm(&batch);
    let record = sender.app.get("i-1").unwrap().clone();
    sender.queue.offer_override(&record, OverrideKind::Set, sender.now_ms);
    let message = item(&mut sender, Action::StatusUpdate);
    assert_eq!(message.message().overridden_status, Some(Status::OutOfService));
}

#[test]
fn a_cancel_says_which_record_it_ended_the_newest_of_several() {
    let mut sender = with_one();
    sender.cancel("i-1");
    let cancel = item(&mut sender, Action::Cancel);
    assert!(cancel.record.is_none());
    assert_eq!(cancel.message().last_dirty_timestamp, Some(100));
    assert_eq!((cancel.message().status, cancel.message().overridden_status), (None, None));
    let mut sender = with_one();
    sender.register_dirty("i-1", 300);
    sender.cancel("i-1");
    // The host has lost its time.
    sender.register_dirty("i-1", 200);
    sender.cancel("i-1");
    assert_eq!(item(&mut sender, Action::Cancel).message().last_dirty_timestamp, Some(300));
}
