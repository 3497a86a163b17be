//! Anti-entropy between two nodes of our kind (`replication.md` 9.3.4): who mends what, and only what stays wrong.

use heureka_protocol::{AppName, Instance, Status};
use heureka_registry::invariants::check_converged;
use heureka_registry::replication::digest::{application_hash, content_hash};
use heureka_registry::replication::{
    Intents, Outcome, OwnApplication, PeerApplication, PeerQueue, QueueSettings, Remedy, Repair, Round,
    Rounds, repairs_of,
};
use heureka_registry::{Application, Change, Heartbeat, Now, Origin, StatusOutcome};

use crate::support::{APP, Receiver, Sender, at, instance, rules};

const NOW_MS: u64 = 1_000_000;

fn empty() -> Application {
    Application::new(AppName::new(APP))
}

fn view(app: &Application) -> OwnApplication {
    OwnApplication::of(app, at(NOW_MS))
}

fn seen(app: &Application, now: Now) -> PeerApplication {
    OwnApplication::of(app, now).for_peer(now)
}

/// What is to be mended at a peer that knows nothing.
fn repairs_at_empty(app: &Application, now: Now) -> Vec<Repair> {
    repairs_of(&view(app), &PeerApplication::default(), now, &QueueSettings::default())
}

fn register(app: &mut Application, id: &str, dirty: i64, origin: Origin) {
    app.register(instance(id, dirty), origin, at(NOW_MS), &rules());
}

fn set(app: &mut Application, id: &str, status: Status, origin: Origin, at_ms: u64) -> Option<Change> {
    changed(app.set_status(id, status, None, origin, at(at_ms), &rules()))
}

fn remove(app: &mut Application, id: &str, origin: Origin, at_ms: u64) -> Option<Change> {
    changed(app.remove_override(id, Some(Status::Up), None, origin, at(at_ms), &rules()))
}

fn changed(outcome: StatusOutcome) -> Option<Change> {
    crate::support::changed(outcome)
}

/// What one node would mend at the other, by name.
fn remedies(ours: &Application, theirs: &Application) -> Vec<(String, Remedy)> {
    remedies_at(ours, theirs, NOW_MS)
}

fn remedies_at(ours: &Application, theirs: &Application, at_ms: u64) -> Vec<(String, Remedy)> {
    let now = at(at_ms);
    let (ours, theirs) = (OwnApplication::of(ours, now), seen(theirs, now));
    let repairs = repairs_of(&ours, &theirs, now, &QueueSettings::default());
    repairs.into_iter().map(|repair| (repair.key.id().to_string(), repair.remedy)).collect()
}

fn one(id: &str, remedy: Remedy) -> Vec<(String, Remedy)> {
    vec![(id.to_owned(), remedy)]
}

#[test]
fn equal_nodes_have_equal_hashes_whatever_their_times() {
    let (mut ours, mut theirs) = (empty(), empty());
    register(&mut ours, "i-1", 100, Origin::Client);
    theirs.register(instance("i-1", 100), Origin::Peer, at(NOW_MS + 5_000), &rules());
    assert_eq!(application_hash(ours.records()), application_hash(theirs.records()));
    assert!(remedies(&ours, &theirs).is_empty() && remedies(&theirs, &ours).is_empty());
}

#[test]
fn d22_every_difference_shows_in_the_hash() {
    let base = instance("i-1", 100);
    let with = |change: &dyn Fn(&mut Instance)| {
        let mut changed = base.clone();
        change(&mut changed);
        let mut app = empty();
        app.register(changed, Origin::Peer, at(NOW_MS), &rules());
        application_hash(app.records())
    };
    let hashes = [
        with(&|_| {}),
        with(&|i| i.instance_id = "i-2".into()),
        with(&|i| i.last_dirty_timestamp = 101),
        with(&|i| i.status = Status::Down),
        with(&|i| i.host_name = "other".into()),
        with(&|i| i.port.number += 1),
        with(&|i| i.secure_port.enabled = true),
        with(&|i| i.metadata.insert("a", "b")),
        with(&|i| i.metadata.insert("ab", "")),
        with(&|i| i.vip_address = Some("v".into())),
        with(&|i| i.secure_vip_address = Some("v".into())),
        with(&|i| i.home_page_url = Some("".into())),
        with(&|i| i.lease.duration_secs = 91),
    ];
    for (n, hash) in hashes.iter().enumerate() {
        assert!(!hashes[..n].contains(hash), "change {n} does not show");
    }
}

#[test]
fn metadata_in_another_order_is_the_same() {
    let with = |entries: [(&str, &str); 2]| {
        let mut instance = instance("i-1", 100);
        entries.iter().for_each(|(key, value)| instance.metadata.insert(*key, *value));
        content_hash(&instance)
    };
    assert_eq!(with([("a", "1"), ("b", "2")]), with([("b", "2"), ("a", "1")]));
    assert_ne!(with([("a", "1"), ("b", "2")]), with([("a", "2"), ("b", "1")]));
}

#[test]
fn what_no_peer_ever_reads_is_no_difference() {
    let mut marked = instance("i-1", 100);
    marked.metadata.insert("@class", "x");
    assert_eq!(content_hash(&marked), content_hash(&instance("i-1", 100)));
}

#[test]
fn hashes_are_the_same_in_every_version() {
    assert_eq!(content_hash(&instance("i-1", 100)), GOLDEN_CONTENT_HASH);
}

/// Two versions of this product compare themselves: whoever changes this number must raise the version in the header.
const GOLDEN_CONTENT_HASH: u64 = 17_125_876_320_588_587_153;

#[test]
fn only_the_node_that_the_instance_talks_to_brings_it() {
    let (mut owner, mut other) = (empty(), empty());
    register(&mut owner, "i-1", 100, Origin::Client);
    register(&mut other, "i-1", 100, Origin::Peer);
    assert_eq!(remedies(&owner, &empty()), one("i-1", Remedy::Register));
    assert!(remedies(&other, &empty()).is_empty());
    let later = at(NOW_MS + 60_001);
    assert!(repairs_at_empty(&owner, later).is_empty(), "not heard of for two intervals");
    let beat = Heartbeat::default();
    owner.renew("i-1", &beat, Origin::Client, later, &rules());
    assert_eq!(repairs_at_empty(&owner, later).len(), 1);
}

#[test]
fn d6_what_was_cancelled_here_is_cancelled_there_unless_it_came_back_newer() {
    let (mut ours, mut theirs) = (empty(), empty());
    register(&mut ours, "i-1", 100, Origin::Client);
    register(&mut theirs, "i-1", 100, Origin::Peer);
    ours.cancel("i-1", Origin::Client, at(NOW_MS), &rules());
    assert_eq!(remedies(&ours, &theirs), one("i-1", Remedy::Cancel));
    assert!(remedies(&theirs, &ours).is_empty());
    register(&mut theirs, "i-1", 101, Origin::Client);
    assert!(remedies(&ours, &theirs).is_empty());
    assert_eq!(remedies(&theirs, &ours), one("i-1", Remedy::Register));
}

#[test]
fn the_newer_record_comes_by_a_heartbeat_and_the_older_one_is_replaced_by_its_owner() {
    let (mut old, mut new) = (empty(), empty());
    register(&mut old, "i-1", 100, Origin::Peer);
    register(&mut new, "i-1", 200, Origin::Client);
    assert_eq!(remedies(&old, &new), one("i-1", Remedy::Heartbeat));
    assert_eq!(remedies(&new, &old), one("i-1", Remedy::Register));
}

#[test]
fn d7_d8_s50_the_last_operation_on_an_override_wins() {
    let (mut a, mut b) = (empty(), empty());
    register(&mut a, "i-1", 100, Origin::Client);
    register(&mut b, "i-1", 100, Origin::Peer);
    let after = |secs: u64| NOW_MS + 1_000 * secs;
    set(&mut a, "i-1", Status::OutOfService, Origin::Client, after(10));
    assert_eq!(remedies_at(&a, &b, after(11)), one("i-1", Remedy::SetOverride));
    assert!(remedies_at(&b, &a, after(11)).is_empty());
    set(&mut b, "i-1", Status::OutOfService, Origin::Peer, after(20));
    remove(&mut b, "i-1", Origin::Client, after(30));
    assert_eq!(remedies_at(&b, &a, after(31)), one("i-1", Remedy::RemoveOverride));
    assert!(remedies_at(&a, &b, after(31)).is_empty(), "the older operation is not repeated");
    // Node a has set it again since.
    set(&mut a, "i-1", Status::Down, Origin::Client, after(40));
    assert_eq!(remedies_at(&a, &b, after(41)), one("i-1", Remedy::SetOverride));
    assert!(remedies_at(&b, &a, after(41)).is_empty());
}

#[test]
fn d11_d12_other_content_with_the_same_timestamp_comes_from_the_owner() {
    let (mut owner, mut other) = (empty(), empty());
    register(&mut owner, "i-1", 100, Origin::Client);
    register(&mut other, "i-1", 100, Origin::Peer);
    let entries = vec![("colour".to_owned(), "blue".to_owned())];
    let limits = heureka_registry::MetadataLimits::default();
    owner.merge_metadata("i-1", entries, limits, Origin::Client, at(NOW_MS), &rules()).unwrap();
    assert_eq!(remedies(&owner, &other), one("i-1", Remedy::Register));
    assert!(remedies(&other, &owner).is_empty());
}

fn quiet() -> PeerQueue {
    PeerQueue::new(QueueSettings::default())
}

fn found(ids: &[&str]) -> Vec<Repair> {
    let mut app = empty();
    ids.iter().for_each(|id| register(&mut app, id, 100, Origin::Client));
    repairs_at_empty(&app, at(NOW_MS))
}

#[test]
fn only_what_shows_in_two_rounds_is_mended() {
    let mut rounds = Rounds::default();
    let ids = |round: Round| match round {
        Round::Repairs(repairs) => repairs.iter().map(|r| r.key.id().to_string()).collect::<Vec<_>>(),
        Round::TooMany(count) => panic!("{count}"),
    };
    assert!(ids(rounds.confirm(found(&["a", "b"]), &quiet(), 100)).is_empty());
    assert_eq!(ids(rounds.confirm(found(&["b", "c"]), &quiet(), 100)), ["b"]);
    assert!(ids(rounds.confirm(Vec::new(), &quiet(), 100)).is_empty());
    assert!(ids(rounds.confirm(found(&["b"]), &quiet(), 100)).is_empty());
}

#[test]
fn a_large_difference_is_left_to_people() {
    let ids: Vec<String> = (0..51).map(|n| format!("i-{n}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut rounds = Rounds::default();
    rounds.confirm(found(&ids), &quiet(), 1_000);
    assert!(matches!(rounds.confirm(found(&ids), &quiet(), 1_000), Round::TooMany(51)));
    assert!(matches!(rounds.confirm(found(&ids[..50]), &quiet(), 1_000), Round::Repairs(r) if r.len() == 50));
    assert!(matches!(rounds.confirm(found(&ids[..20]), &quiet(), 20), Round::Repairs(r) if r.len() == 20));
}

/// Sends the repairs of the sender through its queue and returns what they were.
fn mend(sender: &mut Sender, receiver: &mut Receiver) -> usize {
    let now = sender.now();
    let (ours, theirs) = (OwnApplication::of(&sender.app, now), seen(&receiver.app, now));
    let repairs = repairs_of(&ours, &theirs, now, &QueueSettings::default());
    for repair in &repairs {
        sender.queue.offer_repair(repair, sender.now_ms);
    }
    while !sender.queue.is_empty() {
        let (batch, _) = sender.later();
        let outcome = receiver.apply(&batch, sender.now());
        sender.settle(&batch, outcome);
    }
    repairs.len()
}

#[test]
fn repairs_make_the_peer_equal() {
    let (mut sender, mut receiver) = (Sender::new(), Receiver::new());
    for id in ["same", "lacking", "other", "overridden", "freed", "gone"] {
        sender.register(id);
    }
    while let Some(batch) = sender.next() {
        let outcome = receiver.apply(&batch, sender.now());
        sender.settle(&batch, outcome);
    }
    // From here on nothing of what happens reaches the peer by itself.
    let rules = rules();
    let now = sender.now();
    receiver.app.evict(&["lacking".into()], at(NOW_MS + 1_000_000), 0, &rules);
    set(&mut receiver.app, "freed", Status::OutOfService, Origin::Peer, NOW_MS);
    sender.set_status("overridden", Status::OutOfService);
    sender.set_status("freed", Status::OutOfService);
    sender.remove_override("freed");
    sender.cancel("gone");
    let entries = vec![("colour".to_owned(), "blue".to_owned())];
    let limits = heureka_registry::MetadataLimits::default();
    sender.app.merge_metadata("other", entries, limits, Origin::Client, now, &rules).unwrap();
    sender.queue.give_up();
    assert!(check_converged(&sender.app, &receiver.app).is_err());
    assert_eq!(mend(&mut sender, &mut receiver), 5);
    assert_eq!(mend(&mut sender, &mut receiver), 0);
    check_converged(&sender.app, &receiver.app).unwrap();
}

#[test]
fn an_override_that_equals_the_status_gets_there_too() {
    let (mut sender, mut receiver) = (Sender::new(), Receiver::new());
    sender.rules.store_equal_override = true;
    sender.register("i-1");
    let batch = sender.take();
    let outcome = receiver.apply(&batch, sender.now());
    assert!(matches!(outcome, Outcome::Answered(_)));
    sender.settle(&batch, outcome);
    sender.set_status("i-1", Status::Up);
    sender.queue.give_up();
    assert_eq!(mend(&mut sender, &mut receiver), 1);
    check_converged(&sender.app, &receiver.app).unwrap();
}

#[test]
fn a_repair_of_what_has_changed_meanwhile_is_ignored() {
    let mut sender = Sender::new();
    sender.register("i-1");
    let batch = sender.take();
    sender.confirm(&batch);
    let repairs = repairs_at_empty(&sender.app, sender.now());
    sender.cancel_from("i-1", Origin::Peer);
    sender.queue.offer_repair(&repairs[0], sender.now_ms);
    assert_eq!(sender.queue.waiting(APP, "i-1"), Intents::NONE);
}

/// Both nodes know the instance, then nothing of what happens reaches the other one by itself.
fn apart(status: Status) -> (Sender, Receiver) {
    let (mut sender, mut receiver) = (Sender::new(), Receiver::new());
    let reports = Instance { status, ..instance("i-1", 100) };
    sender.register_from(reports.clone(), Origin::Client);
    receiver.app.register(reports, Origin::Peer, sender.now(), &rules());
    sender.queue.give_up();
    (sender, receiver)
}

#[test]
fn d7_mending_an_override_leaves_the_content_of_the_peer_alone() {
    let (mut sender, mut receiver) = apart(Status::Up);
    let newer = vec![("colour".to_owned(), "blue".to_owned())];
    let limits = heureka_registry::MetadataLimits::default();
    receiver.app.merge_metadata("i-1", newer, limits, Origin::Peer, sender.now(), &rules()).unwrap();
    sender.set_status("i-1", Status::OutOfService);
    sender.queue.give_up();
    assert_eq!(mend(&mut sender, &mut receiver), 1);
    let record = receiver.app.get("i-1").unwrap();
    assert_eq!(record.override_state(), sender.app.get("i-1").unwrap().override_state());
    assert_eq!(record.instance.metadata.get("colour"), Some("blue"));
}

#[test]
fn an_override_that_the_instance_reports_something_else_beside_is_mended_as_it_shows() {
    let (mut sender, mut receiver) = apart(Status::Down);
    sender.set_status("i-1", Status::OutOfService);
    sender.register_from(Instance { status: Status::Down, ..instance("i-1", 100) }, Origin::Client);
    sender.queue.give_up();
    assert_eq!(mend(&mut sender, &mut receiver), 1);
    let shown = receiver.app.get("i-1").unwrap().instance.status;
    assert_eq!(
        (shown, receiver.app.override_of("i-1").unwrap().status),
        (Status::Down, Status::OutOfService)
    );
    check_converged(&sender.app, &receiver.app).unwrap();
}

#[test]
fn a_status_that_a_removal_has_left_comes_from_the_node_with_the_later_operation() {
    let (mut sender, mut receiver) = apart(Status::Starting);
    sender.set_status("i-1", Status::OutOfService);
    sender.pass(1_000);
    remove(&mut sender.app, "i-1", Origin::Client, sender.now_ms);
    sender.queue.give_up();
    // However long ago: the content of the other node is none of a later time.
    for later_ms in [1, 1_000_000] {
        let at_ms = sender.now_ms + later_ms;
        receiver.app.renew("i-1", &Heartbeat::default(), Origin::Client, at(at_ms), &rules());
        assert!(remedies_at(&receiver.app, &sender.app, at_ms).is_empty());
        assert_eq!(remedies_at(&sender.app, &receiver.app, at_ms), one("i-1", Remedy::RemoveOverride));
    }
    assert_eq!(mend(&mut sender, &mut receiver), 1);
    assert_eq!(receiver.app.get("i-1").unwrap().instance.status, Status::Up);
    assert_eq!(mend(&mut sender, &mut receiver), 0);
}
