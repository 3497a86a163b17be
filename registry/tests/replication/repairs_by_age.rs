//! Mending undoes nothing that is newer (`replication.md` 9.3.4): who mends depends on whose state is the later one, and
//! on whether a word of somebody else may still be on its way.

use heureka_protocol::{AppName, InstanceId, Status};
use heureka_registry::replication::{
    DigestRow, DigestTombstone, OwnApplication, PeerApplication, PeerQueue, QueueSettings, Remedy, Round,
    Rounds, Since, repairs_of,
};
use heureka_registry::{Application, Heartbeat, Origin};
use proptest::prelude::*;

use crate::support::{APP, at, instance, rules};

const START_MS: u64 = 10_000_000;
/// Twice the lease of 90 s, an eviction interval and a margin.
const LONGEST_WAY_MS: u64 = 300_000;

/// A node with one instance, registered long ago by way of a peer.
fn replica() -> Application {
    let mut app = Application::new(AppName::new(APP));
    app.register(instance("i-1", 100), Origin::Peer, at(START_MS - 5_000_000), &rules());
    app
}

fn talks(app: &mut Application, at_ms: u64) {
    app.renew("i-1", &Heartbeat::default(), Origin::Client, at(at_ms), &rules());
}

fn set(app: &mut Application, origin: Origin, at_ms: u64) {
    app.set_status("i-1", Status::OutOfService, None, origin, at(at_ms), &rules());
}

/// The same registration says something else of the instance.
fn says(app: &mut Application, mark: &str, origin: Origin, at_ms: u64) {
    let mut changed = instance("i-1", 100);
    changed.metadata.insert("mark", mark);
    app.register(changed, origin, at(at_ms), &rules());
}

fn cancel(app: &mut Application, at_ms: u64) {
    app.cancel("i-1", Origin::Client, at(at_ms), &rules());
}

fn remedies(ours: &Application, theirs: &Application, at_ms: u64) -> Vec<Remedy> {
    let now = at(at_ms);
    let theirs = OwnApplication::of(theirs, now).for_peer(now);
    let found = repairs_of(&OwnApplication::of(ours, now), &theirs, now, &QueueSettings::default());
    found.into_iter().map(|repair| repair.remedy).collect()
}

#[test]
fn the_owner_does_not_undo_a_third_nodes_word_that_has_not_reached_it_yet() {
    let (mut owner, mut told) = (replica(), replica());
    says(&mut told, "new", Origin::Peer, START_MS);
    for at_ms in [START_MS + 1, START_MS + LONGEST_WAY_MS - 1] {
        talks(&mut owner, at_ms);
        assert!(remedies(&owner, &told, at_ms).is_empty());
        assert!(remedies(&told, &owner, at_ms).is_empty(), "and it is not its own to mend");
    }
    // By now it would have come, or was given up: nobody else knows of it.
    let at_ms = START_MS + LONGEST_WAY_MS;
    talks(&mut owner, at_ms);
    assert_eq!(remedies(&owner, &told, at_ms), [Remedy::Register]);
    assert!(remedies(&told, &owner, at_ms).is_empty());
}

#[test]
fn the_owner_mends_at_once_what_is_older_than_its_own_state() {
    let (mut owner, mut missed) = (replica(), replica());
    says(&mut owner, "new", Origin::Peer, START_MS);
    talks(&mut owner, START_MS + 1);
    assert_eq!(remedies(&owner, &missed, START_MS + 1), [Remedy::Register]);
    assert!(remedies(&missed, &owner, START_MS + 1).is_empty());
    // Both, if the instance has moved lately: the later state is the one to keep.
    talks(&mut missed, START_MS + 2);
    assert_eq!(remedies(&owner, &missed, START_MS + 2), [Remedy::Register]);
    assert!(remedies(&missed, &owner, START_MS + 2).is_empty());
}

#[test]
fn a_clients_own_change_wins_at_once_if_it_is_later_and_in_the_end_if_not() {
    let (mut wrote, mut late) = (replica(), replica());
    says(&mut wrote, "new", Origin::Client, START_MS);
    assert_eq!(remedies(&wrote, &late, START_MS + 1), [Remedy::Register]);
    // An older word of somebody else arrives at the other node after that, or a newer one: nobody can tell.
    says(&mut late, "other", Origin::Peer, START_MS + 10);
    talks(&mut late, START_MS + 20);
    assert!(
        remedies(&wrote, &late, START_MS + 20).is_empty()
            && remedies(&late, &wrote, START_MS + 20).is_empty()
    );
    let at_ms = START_MS + 10 + LONGEST_WAY_MS;
    assert_eq!(remedies(&wrote, &late, at_ms), [Remedy::Register]);
    assert!(remedies(&late, &wrote, at_ms).is_empty());
}

#[test]
fn what_came_with_a_snapshot_or_a_copy_is_older_than_all_that_is_known() {
    let mut copied = Application::new(AppName::new(APP));
    copied.register_copy(instance("i-1", 100), None, START_MS, at(START_MS), &rules());
    let mut knows = replica();
    set(&mut knows, Origin::Client, START_MS - 1_000);
    assert_eq!(remedies(&knows, &copied, START_MS + 1), [Remedy::SetOverride]);
    talks(&mut copied, START_MS + 1);
    assert!(remedies(&copied, &knows, START_MS + 1).is_empty());
}

#[test]
fn of_overrides_whoever_has_the_later_operation_mends_and_nobody_waits() {
    let (mut owner, mut told) = (replica(), replica());
    set(&mut told, Origin::Peer, START_MS);
    talks(&mut owner, START_MS + 1);
    assert_eq!(remedies(&told, &owner, START_MS + 1), [Remedy::SetOverride]);
    assert!(remedies(&owner, &told, START_MS + 1).is_empty());
    set(&mut owner, Origin::Peer, START_MS + 2);
    owner.remove_override("i-1", None, None, Origin::Peer, at(START_MS + 3), &rules());
    assert_eq!(remedies(&owner, &told, START_MS + 4), [Remedy::RemoveOverride]);
    assert!(remedies(&told, &owner, START_MS + 4).is_empty());
}

#[test]
fn what_a_peer_has_heard_the_cancel_of_is_not_brought_back_by_comparing() {
    let (mut owner, mut heard) = (replica(), replica());
    talks(&mut owner, START_MS);
    cancel(&mut heard, START_MS + 1_000);
    assert!(remedies(&owner, &heard, START_MS + 2_000).is_empty());
    assert_eq!(remedies(&heard, &owner, START_MS + 2_000), [Remedy::Cancel]);
    // It talks to its node after the cancel: it lives, and the other one forgets.
    talks(&mut owner, START_MS + 3_000);
    assert_eq!(remedies(&owner, &heard, START_MS + 4_000), [Remedy::Register]);
    assert_eq!(remedies(&heard, &owner, START_MS + 4_000), [Remedy::ForgetCancel]);
}

#[test]
fn what_somebody_has_registered_since_the_cancel_is_not_cancelled_at_once() {
    let (mut heard, mut other) = (replica(), Application::new(AppName::new(APP)));
    cancel(&mut heard, START_MS);
    other.register(instance("i-1", 100), Origin::Peer, at(START_MS + 5_000), &rules());
    assert!(remedies(&heard, &other, START_MS + 6_000).is_empty());
    let mut missed = replica();
    assert_eq!(remedies(&heard, &missed, START_MS + 6_000), [Remedy::Cancel], "this one is from before");
    missed.cancel("i-1", Origin::Peer, at(START_MS + 7_000), &rules());
    assert!(remedies(&heard, &missed, START_MS + 8_000).is_empty());
}

#[test]
fn what_the_queue_is_about_to_tell_is_no_difference_and_a_heartbeat_tells_nothing() {
    let mut app = replica();
    talks(&mut app, START_MS);
    let now = at(START_MS + 1);
    let found = || {
        repairs_of(
            &OwnApplication::of(&app, now),
            &PeerApplication::default(),
            now,
            &QueueSettings::default(),
        )
    };
    let mut queue = PeerQueue::new(QueueSettings::default());
    queue.offer_heartbeat(app.get("i-1").unwrap(), now.mono_ms);
    let confirmed = |rounds: &mut Rounds, queue: &PeerQueue| match rounds.confirm(found(), queue, 100) {
        Round::Repairs(repairs) => repairs.len(),
        Round::TooMany(count) => panic!("{count}"),
    };
    let mut rounds = Rounds::default();
    assert_eq!((confirmed(&mut rounds, &queue), confirmed(&mut rounds, &queue)), (0, 1));
    queue.offer_repair(&found()[0], now.mono_ms);
    assert_eq!((confirmed(&mut rounds, &queue), confirmed(&mut rounds, &queue)), (0, 0));
    // On its way it is as good as told.
    assert!(queue.next_batch(now.mono_ms + 1_000).is_some());
    assert_eq!((confirmed(&mut rounds, &queue), confirmed(&mut rounds, &queue)), (0, 0));
}

#[test]
fn ages_grow_while_they_are_on_their_way() {
    let row = || DigestRow {
        id: InstanceId::from("i-1"),
        dirty: 1,
        status: Status::Up,
        overridden: Status::Unknown,
        content: 0,
        content_since: Since { age_ms: Some(1), is_own: true },
        override_stamp: None,
        contact_age_ms: Some(5),
    };
    let stone = DigestTombstone { id: InstanceId::from("i-2"), dirty: 1, age_ms: 7 };
    let aged = PeerApplication { rows: vec![row()], tombstones: vec![stone] }.aged_by(100);
    assert_eq!(aged.rows[0].content_since.age_ms, Some(101));
    assert_eq!(aged.rows[0].contact_age_ms, Some(105));
    assert_eq!(aged.tombstones[0].age_ms, 107);
}

/// What happens to one instance at one node, with the time at which it does.
fn happens(app: &mut Application, what: u8, at_ms: u64) {
    let (now, rules) = (at(at_ms), rules());
    match what % 8 {
        0 => set(app, Origin::Client, at_ms),
        1 => set(app, Origin::Peer, at_ms),
        2 | 3 => {
            let origin = if what % 8 == 2 { Origin::Client } else { Origin::Peer };
            app.remove_override("i-1", Some(Status::Up), None, origin, now, &rules);
        }
        4 => talks(app, at_ms),
        5 => {
            let mut changed = instance("i-1", 100);
            changed.metadata.insert("mark", at_ms.to_string());
            app.register(changed, Origin::Client, now, &rules);
        }
        6 => cancel(app, at_ms),
        _ => {
            app.register_copy(instance("i-1", 100), None, at_ms, now, &rules);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// If both mended, they would exchange their states and differ as before.
    #[test]
    fn two_nodes_never_mend_the_same_thing_in_two_directions(
        history in proptest::collection::vec((any::<bool>(), any::<u8>(), 1..200_000_u64), 0..12),
    ) {
        let (mut one, mut other) = (replica(), replica());
        let mut at_ms = START_MS;
        for (is_one, what, pause_ms) in history {
            at_ms += pause_ms;
            happens(if is_one { &mut one } else { &mut other }, what, at_ms);
        }
        at_ms += 1;
        let (ours, theirs) = (remedies(&one, &other, at_ms), remedies(&other, &one, at_ms));
        let is_sent = |remedy: &&Remedy| **remedy != Remedy::ForgetCancel;
        let both = ours.iter().any(|r| is_sent(&r)) && theirs.iter().any(|r| is_sent(&r));
        // A heartbeat asks the peer for its newer record, which the peer sends anyway.
        prop_assert!(!both || ours.contains(&Remedy::Heartbeat) || theirs.contains(&Remedy::Heartbeat), "{ours:?} {theirs:?}");
    }
}
