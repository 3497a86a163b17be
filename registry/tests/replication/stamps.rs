//! The order of operations on overrides between nodes of our kind (`replication.md` 9.3.5): the later one wins on every way
//! on which it can come, and an earlier one that comes late changes nothing.

use heureka_protocol::batch::Action;
use heureka_protocol::{AppName, Instance, Status};
use heureka_registry::replication::receive::{Applied, Circumstances, Incoming, apply};
use heureka_registry::{Application, Cancel, Heartbeat, Origin, OverrideState, Stamp};

use crate::support::{APP, Receiver, Sender, at, instance, rules};

const NOW_MS: u64 = 1_000_000;
/// Before and after the operation that the node knows.
const EARLIER: i64 = 500_000;
const KNOWN: i64 = 600_000;
const LATER: i64 = 700_000;

fn stamp(ms: i64) -> Option<Stamp> {
    Some(Stamp::new(ms).unwrap())
}

fn state(app: &Application) -> OverrideState {
    app.get("i-1").unwrap().override_state()
}

fn told_by(app: &mut Application, incoming: Incoming, ms: Option<i64>) -> Applied {
    let sender = heureka_registry::Sender::node("one", 0);
    let circumstances = Circumstances { sender, is_copying: false, stamp: ms.and_then(stamp) };
    apply(app, "i-1", incoming, circumstances, at(NOW_MS), &rules())
}

fn with(overridden: Status, dirty: i64) -> Instance {
    let status = if overridden == Status::Unknown { Status::Up } else { overridden };
    Instance { status, overridden_status: overridden, ..instance("i-1", dirty) }
}

fn set(status: Status) -> Incoming {
    Incoming::SetStatus { status, stored: Some(status), last_dirty: Some(100) }
}

fn removed() -> Incoming {
    Incoming::RemoveOverride { status: Some(Status::Up), last_dirty: Some(100) }
}

fn beat(overridden: Option<Status>, shown: Status) -> Incoming {
    let shown = Some(shown);
    Incoming::Heartbeat(Heartbeat { last_dirty: Some(100), overridden, shown, stamp: None })
}

/// A node that knows an operation of the time [`KNOWN`].
fn knows(overridden: Status) -> Application {
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Peer, at(NOW_MS - 300_000), &rules());
    match overridden {
        Status::Unknown => told_by(&mut app, removed(), Some(KNOWN)),
        status => told_by(&mut app, set(status), Some(KNOWN)),
    };
    app
}

/// Every way on which a peer tells that the override is this one.
fn ways(overridden: Status) -> Vec<(&'static str, Incoming)> {
    let register = |dirty| Incoming::Register(Box::new(with(overridden, dirty)));
    let mut ways = vec![("older", register(50)), ("same", register(100)), ("newer", register(200))];
    if overridden == Status::Unknown {
        ways.extend([("operation", removed()), ("heartbeat", beat(None, Status::Up))]);
        // What was cancelled is older than what is here, so only its override can be meant.
        ways.push(("cancel", Incoming::Cancel { last_dirty: Some(50) }));
    } else {
        ways.extend([("operation", set(overridden)), ("heartbeat", beat(Some(overridden), overridden))]);
    }
    ways
}

#[test]
fn the_later_operation_wins_on_every_way() {
    for (ours, theirs) in [(Status::Down, Status::Unknown), (Status::Unknown, Status::Down)] {
        for (way, incoming) in ways(theirs) {
            let mut app = knows(ours);
            assert!(told_by(&mut app, incoming, Some(LATER)).change.is_some(), "{way} {theirs}");
            assert_eq!(state(&app), OverrideState::of(theirs, stamp(LATER)), "{way}");
            let shown = if theirs == Status::Down { Status::Down } else { Status::Up };
            assert_eq!(app.get("i-1").unwrap().instance.status, shown, "{way} {theirs}");
        }
    }
}

#[test]
fn an_earlier_operation_changes_nothing_on_any_way() {
    for (ours, theirs) in
        [(Status::Down, Status::Unknown), (Status::Unknown, Status::Down), (Status::Down, Status::Up)]
    {
        for (way, incoming) in ways(theirs) {
            let mut app = knows(ours);
            told_by(&mut app, incoming, Some(EARLIER));
            assert_eq!(state(&app), OverrideState::of(ours, stamp(KNOWN)), "{way} {theirs}");
            let shown = if ours == Status::Down { Status::Down } else { Status::Up };
            assert_eq!(app.get("i-1").unwrap().instance.status, shown, "{way} {theirs}");
        }
    }
}

#[test]
fn copies_and_newer_records_in_answers_are_judged_in_the_same_way() {
    for (ms, wins) in [(EARLIER, false), (LATER, true)] {
        let expected = if wins { Status::Up } else { Status::Down };
        let mut app = knows(Status::Down);
        app.register_copy(with(Status::Up, 100), stamp(ms), NOW_MS, at(NOW_MS), &rules());
        assert_eq!(state(&app).status, Some(expected));
        let mut app = knows(Status::Down);
        app.adopt(with(Status::Up, 200), stamp(ms), at(NOW_MS), &rules()).unwrap();
        assert_eq!(state(&app).status, Some(expected));
        // The list was asked for before the override was set here, and yet what it says may be later.
        let mut app = knows(Status::Down);
        app.register_copy(with(Status::Up, 100), stamp(ms), 0, at(NOW_MS), &rules());
        assert_eq!(state(&app).status, Some(expected));
    }
}

#[test]
fn what_somebody_does_here_is_later_than_all_that_is_known_here() {
    let mut app = knows(Status::Down);
    app.set_status("i-1", Status::Up, None, Origin::Client, at(NOW_MS), &rules());
    assert_eq!(state(&app), OverrideState::of(Status::Up, stamp(1_000_000)));
    // Also if it changes nothing: an earlier removal that comes late must not undo it.
    app.set_status("i-1", Status::Up, None, Origin::Client, at(NOW_MS + 9), &rules());
    assert_eq!(state(&app).stamp, stamp(1_000_009));
    let mut ahead = knows(Status::Unknown);
    told_by(&mut ahead, set(Status::Down), Some(5_000_000));
    ahead.remove_override("i-1", None, None, Origin::Client, at(NOW_MS), &rules());
    assert_eq!(state(&ahead), OverrideState::of(Status::Unknown, stamp(5_000_001)));
}

#[test]
fn a_cancel_removes_the_override_and_an_earlier_one_does_not_come_back_with_the_next_life() {
    let mut app = knows(Status::Down);
    let cancel = Cancel { last_dirty: Some(100), stamp: stamp(LATER), ..Cancel::from(Origin::Peer) };
    let change = app.cancel_as("i-1", cancel, at(NOW_MS), &rules()).change().unwrap();
    assert_eq!(change.tombstone.unwrap().override_stamp, stamp(LATER));
    app.register(instance("i-1", 200), Origin::Client, at(NOW_MS), &rules());
    assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(LATER)));
    told_by(&mut app, set(Status::Down), Some(KNOWN));
    assert_eq!(state(&app).status, None);
    assert!(told_by(&mut app, set(Status::Down), Some(LATER + 1)).change.is_some());
}

#[test]
fn who_has_heard_of_nobody_gives_no_stamps_and_what_it_does_gets_them_later() {
    let out_of_step = heureka_registry::Rules::default();
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Client, at(NOW_MS - 50), &out_of_step);
    app.set_status("i-1", Status::Down, None, Origin::Client, at(NOW_MS - 40), &out_of_step);
    assert_eq!(state(&app), OverrideState::of(Status::Down, None));
    let clock = heureka_registry::ClockReading { ms: 700_000, is_in_step: true };
    out_of_step.stamps.hear(clock, at(NOW_MS));
    app.settle_stamps(&out_of_step);
    assert_eq!(state(&app), OverrideState::of(Status::Down, stamp(699_960)));
}

#[test]
fn what_a_node_of_our_kind_tells_without_a_stamp_is_earlier_than_what_it_tells_with_one() {
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Peer, at(NOW_MS - 300_000), &rules());
    told_by(&mut app, Incoming::Cancel { last_dirty: Some(50) }, None);
    told_by(&mut app, set(Status::Down), None);
    assert_eq!(state(&app), OverrideState::of(Status::Down, None));
    told_by(&mut app, removed(), Some(EARLIER));
    assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(EARLIER)));
}

#[test]
fn s50_set_on_one_side_of_a_split_and_removed_on_the_other_the_last_operation_wins_on_both() {
    for set_last in [false, true] {
        let (mut a, mut b, mut c) = (Sender::new(), Sender::new(), Receiver::new());
        let mut told: Vec<_> = Vec::new();
        for node in [&mut a, &mut b] {
            node.register("i-1");
            node.set_status("i-1", Status::OutOfService);
            node.queue.give_up();
            node.pass(1_000);
        }
        let (set, remove) = if set_last { (2_000, 1_000) } else { (1_000, 2_000) };
        a.pass(set);
        a.set_status("i-1", Status::Down);
        b.pass(remove);
        b.remove_override("i-1");
        for node in [&mut a, &mut b] {
            node.pass(3_000);
            told.push(node.take());
        }
        let now = at(a.now_ms.max(b.now_ms) + 1);
        let (mut at_a, mut at_b) =
            (Receiver { app: a.app, rules: rules() }, Receiver { app: b.app, rules: rules() });
        c.app.register(instance("i-1", 100), Origin::Peer, now, &rules());
        at_a.apply(&told[1], now);
        at_b.apply(&told[0], now);
        // A third node hears of them in either order.
        told.iter().for_each(|batch| drop(c.apply(batch, now)));
        let expected = set_last.then_some(Status::Down);
        let all = [&at_a, &at_b, &c].map(|node| state(&node.app));
        assert!(all.iter().all(|state| state.status == expected), "{set_last}: {all:?}");
        assert_eq!((all[0], all[0]), (all[1], all[2]));
    }
}

#[test]
fn a_cancel_that_a_registration_has_overtaken_still_removes_the_override() {
    let mut sender = Sender::new();
    sender.register("i-1");
    sender.set_status("i-1", Status::Down);
    let batch = sender.take();
    sender.confirm(&batch);
    sender.cancel("i-1");
    // A peer that has not heard of it brings the instance back after the quarantine, with the old override.
    sender.pass(20_000);
    let before = stamp(1_000_000);
    let theirs = heureka_registry::Sender::node("other", 0);
    let (now, rules) = (sender.now(), sender.rules.clone());
    let change = sender.app.register_from(with(Status::Down, 100), before, theirs, now, &rules).unwrap();
    assert_eq!(change.record.override_state().status, None);
    sender.queue.offer(&change, sender.now_ms);
    let batch = sender.take();
    let actions: Vec<Action> = batch.items().iter().map(|item| item.action).collect();
    assert_eq!(actions, [Action::DeleteStatusOverride]);
    assert!(batch.items()[0].message().stamp > before);
}

/// A node of our kind that does not know when it was done had heard of nobody then; what has a time is later.
#[test]
fn a_cancel_of_no_known_time_leaves_the_override_of_the_next_life() {
    let mut app = knows(Status::Down);
    app.register(with(Status::Down, 200), Origin::Peer, at(NOW_MS + 10), &rules());
    told_by(&mut app, Incoming::Cancel { last_dirty: Some(150) }, None);
    assert_eq!(state(&app), OverrideState::of(Status::Down, stamp(KNOWN)));
}

#[test]
fn a_cancel_that_a_registration_has_overtaken_tells_of_no_override_if_there_was_none() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.cancel("i-1");
    // As with a server that was a client here, has restarted, and registers elsewhere before it hears of the cancel.
    let theirs = heureka_registry::Sender::node("other", 0);
    let (now, rules) = (sender.now(), sender.rules.clone());
    let change = sender.app.register_from(instance("i-1", 200), None, theirs, now, &rules).unwrap();
    assert!(change.record.override_state().stamp.is_some());
    sender.queue.offer(&change, sender.now_ms);
    assert!(sender.queue.is_empty());
}

#[test]
fn the_removal_of_an_override_is_remembered_beyond_an_eviction() {
    let mut app = knows(Status::Unknown);
    let ends = at(NOW_MS + 1_000_000);
    assert_eq!(app.evict(&["i-1".into()], ends, 0, &rules()).len(), 1);
    app.sweep(ends, &rules());
    assert!(!app.is_forgettable());
    app.register(instance("i-1", 200), Origin::Client, ends, &rules());
    assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(KNOWN)));
    told_by(&mut app, set(Status::Down), Some(EARLIER));
    assert_eq!(state(&app).status, None, "set before, and told too late");
    // Not for ever, and not for an override that was in force: that may be in force elsewhere.
    app.evict(&["i-1".into()], at(NOW_MS + 2_000_000), 0, &rules());
    app.sweep(at(NOW_MS + 2_300_000), &rules());
    assert!(app.is_forgettable());
    let mut app = knows(Status::Down);
    app.evict(&["i-1".into()], ends, 0, &rules());
    assert!(app.is_forgettable());
}

#[test]
fn a_queue_tells_what_is_there_when_the_batch_leaves() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    sender.set_status("i-1", Status::Down);
    // Another node has removed it since, and says so with a heartbeat.
    let (now, rules) = (sender.now(), sender.rules.clone());
    let later = Some(Stamp::new(now.mono_ms as i64 + 50).unwrap());
    let told =
        Heartbeat { last_dirty: Some(100), shown: Some(Status::Up), stamp: later, ..Heartbeat::default() };
    let change = sender.app.renew("i-1", &told, Origin::Peer, now, &rules).change.unwrap();
    sender.queue.offer(&change, sender.now_ms);
    let (batch, _) = sender.later();
    let item = &batch.items()[0];
    assert_eq!((item.action, item.message().stamp), (Action::DeleteStatusOverride, later));
}

#[test]
fn what_was_set_at_no_known_time_does_not_undo_a_removal() {
    let without_stamp = |way: &str, incoming: Incoming| {
        let mut app = knows(Status::Unknown);
        told_by(&mut app, incoming, None);
        assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(KNOWN)), "{way}");
    };
    for dirty in [50, 100, 200] {
        without_stamp("register", Incoming::Register(Box::new(with(Status::Down, dirty))));
    }
    let mut app = knows(Status::Unknown);
    app.register_copy(with(Status::Down, 200), None, NOW_MS, at(NOW_MS), &rules());
    assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(KNOWN)), "a copy");
    // And who has it hears of the removal.
    let mut holder = Application::new(AppName::new(APP));
    holder.register(with(Status::Down, 100), Origin::StartUp, at(NOW_MS - 300_000), &rules());
    assert_eq!(state(&holder), OverrideState::of(Status::Down, None));
    told_by(&mut holder, beat(None, Status::Up), Some(KNOWN));
    assert_eq!(state(&holder), OverrideState::of(Status::Unknown, stamp(KNOWN)));
}

#[test]
fn who_does_not_know_what_an_instance_reports_does_not_hide_it_from_others() {
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Client, at(NOW_MS), &rules());
    told_by(&mut app, beat(None, Status::Unknown), Some(LATER));
    assert_eq!(state(&app), OverrideState::of(Status::Unknown, stamp(LATER)));
    assert_eq!(app.get("i-1").unwrap().instance.status, Status::Up);
}
