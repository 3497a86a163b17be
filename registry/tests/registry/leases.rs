//! Leases and their clock (`registry.md` 1.3 to 1.6).

use heureka_protocol::Status;
use heureka_registry::{Lease, LeaseExpiry, Origin, QuickRenewal};

use crate::support::{Node, at, instance, says};

#[test]
fn l_1_a_lease_that_is_never_renewed_lives_exactly_its_duration() {
    let mut node = Node::with_one();
    node.pass(90_000);
    assert!(!node.is_expired("i-1"));
    node.pass(1);
    assert!(node.is_expired("i-1"));
}

#[test]
fn l_2_a_renewed_lease_lives_twice_its_duration() {
    let mut node = Node::with_one();
    node.pass(10_000);
    node.renew("i-1");
    node.pass(180_000);
    assert!(!node.is_expired("i-1"));
    node.pass(1);
    assert!(node.is_expired("i-1"));
}

#[test]
fn l_2_with_exact_expiry_a_renewed_lease_lives_once_its_duration() {
    let mut node = Node::with_one();
    node.rules.lease_expiry = LeaseExpiry::Exact;
    node.pass(10_000);
    node.renew("i-1");
    node.pass(90_000);
    assert!(!node.is_expired("i-1"));
    node.pass(1);
    assert!(node.is_expired("i-1"));
}

#[test]
fn l_2_a_quick_renewal_extends_exactly_as_the_owner_does() {
    for expiry in [LeaseExpiry::Java, LeaseExpiry::Exact] {
        let (mut quick, mut slow) = (Node::with_one(), Node::with_one());
        slow.rules.lease_expiry = expiry;
        quick.pass(5_000);
        slow.pass(5_000);
        let outcome = quick.record("i-1").try_quick_renewal(None, quick.now, expiry);
        assert_eq!(outcome, QuickRenewal::Renewed);
        slow.renew("i-1");
        assert_eq!(quick.record("i-1").lease.clock.get(), slow.record("i-1").lease.clock.get());
        assert!(quick.record("i-1").lease.clock.get() > Some(1_000_000));
    }
}

#[test]
fn l_3_extra_time_only_ever_prolongs() {
    let node = Node::with_one();
    let lease = &node.record("i-1").lease;
    for mono_ms in [1_000_000, 1_090_000, 1_090_001, 1_090_500, 1_095_000] {
        let verdicts: Vec<bool> =
            [0, 1, 499, 500, 4_999, 5_000].map(|extra| lease.is_expired(mono_ms, extra)).to_vec();
        assert!(verdicts.is_sorted_by(|less, more| less >= more), "{mono_ms}: {verdicts:?}");
    }
    assert!(lease.is_expired(1_090_500, 499) && !lease.is_expired(1_090_500, 500));
}

#[test]
fn l_4_a_cancelled_lease_is_expired_whatever_follows() {
    let mut node = Node::with_one();
    let held = node.record("i-1").clone();
    let gone = node.cancel("i-1").unwrap().record;
    for record in [held, gone] {
        let outcome = record.try_quick_renewal(None, node.now, LeaseExpiry::Java);
        assert_eq!(outcome, QuickRenewal::AskOwner);
        assert!(record.lease.is_expired(0, 0) && record.lease.is_expired(node.now.mono_ms, u64::MAX));
    }
}

#[test]
fn l_5_the_eviction_time_is_written_once() {
    let mut node = Node::with_one();
    let gone = node.cancel("i-1").unwrap().record;
    assert_eq!(gone.lease.eviction_timestamp, node.now.wall_ms);
    node.pass(1_000);
    assert!(node.cancel("i-1").is_none());
    node.register(says("i-1", Status::Up, 200));
    assert_eq!(node.record("i-1").lease.eviction_timestamp, 0);
    assert_eq!(gone.lease.eviction_timestamp, node.now.wall_ms - 1_000);
}

#[test]
fn l_5_an_ended_lease_shows_it_even_if_the_wall_clock_stands_before_the_epoch() {
    let mut node = Node::with_one();
    node.now.wall_ms = -5;
    assert!(node.cancel("i-1").unwrap().record.lease.eviction_timestamp > 0);
}

#[test]
fn l_6_the_service_up_time_is_set_once_and_kept() {
    let mut node = Node::new();
    node.register(says("i-1", Status::Starting, 100));
    assert_eq!(node.record("i-1").lease.service_up_timestamp, 0);
    node.pass(1_000);
    node.register(says("i-1", Status::Up, 101));
    let first = node.record("i-1").lease.service_up_timestamp;
    assert_eq!(first, node.now.wall_ms);
    node.pass(1_000);
    node.renew("i-1");
    node.set_status("i-1", Status::OutOfService);
    node.set_status("i-1", Status::Up);
    node.register(says("i-1", Status::Down, 102));
    node.register(says("i-1", Status::Up, 103));
    assert_eq!(node.record("i-1").lease.service_up_timestamp, first);
    node.cancel("i-1");
    node.register(says("i-1", Status::Down, 104));
    assert_eq!(node.record("i-1").lease.service_up_timestamp, 0);
}

#[test]
fn l_6_a_status_update_to_up_starts_service_and_an_override_removal_does_not() {
    let mut node = Node::new();
    node.register(says("i-1", Status::Down, 100));
    node.set_status("i-1", Status::OutOfService);
    node.remove_override("i-1", Some(Status::Up));
    assert_eq!((node.status("i-1"), node.record("i-1").lease.service_up_timestamp), (Status::Up, 0));
    node.set_status("i-1", Status::Down);
    node.set_status("i-1", Status::Up);
    assert_eq!(node.record("i-1").lease.service_up_timestamp, node.now.wall_ms);
}

#[test]
fn l_7_each_registration_moves_the_registration_time_forward() {
    let mut node = Node::with_one();
    for dirty in [100, 50, 200] {
        node.pass(10);
        node.register(says("i-1", Status::Up, dirty));
        assert_eq!(node.record("i-1").lease.registration_timestamp, node.now.wall_ms);
    }
    node.pass(10);
    node.renew("i-1");
    node.set_status("i-1", Status::Down);
    assert_eq!(node.record("i-1").lease.registration_timestamp, node.now.wall_ms - 10);
}

#[test]
fn l_8_a_step_of_the_wall_clock_changes_no_liveness() {
    let mut node = Node::with_one();
    for step_ms in [86_400_000, -172_800_000] {
        node.now.wall_ms += step_ms;
        assert!(!node.is_expired("i-1"));
        node.renew("i-1");
    }
    node.pass(180_001);
    assert!(node.is_expired("i-1"));
}

#[test]
fn durations_of_zero_or_less_count_as_90_seconds_and_huge_ones_do_not_overflow() {
    let with_duration = |secs: i32| {
        let mut settings = instance("A", "i").lease;
        settings.duration_secs = secs;
        Lease::duration_ms_of(&settings)
    };
    assert_eq!([0, -1, i32::MIN].map(with_duration), [90_000; 3]);
    assert_eq!([1, 10_000_000, i32::MAX].map(with_duration), [1_000, 10_000_000_000, 2_147_483_647_000]);
    let lease = Lease::starting(at(u64::from(u32::MAX)), u64::MAX);
    assert!(lease.clock.advance(lease.renewed_clock(u64::MAX, LeaseExpiry::Java)));
    assert!(lease.clock.get().is_some(), "the largest moment must not look like a retired clock");
    assert!(!lease.is_expired(u64::MAX, u64::MAX));
}

#[test]
fn a_published_lease_shows_the_last_renewal_as_java_does() {
    let mut node = Node::with_one();
    let info = node.record("i-1").lease_info(node.now);
    assert_eq!(info.last_renewal_timestamp, info.registration_timestamp);
    node.pass(7_000);
    node.renew("i-1");
    let info = node.record("i-1").lease_info(node.now);
    assert_eq!(info.last_renewal_timestamp, node.now.wall_ms + 90_000);
    assert_eq!((info.duration_secs, info.renewal_interval_secs, info.eviction_timestamp), (90, 30, 0));
    let gone = node.cancel("i-1").unwrap().record.lease_info(node.now);
    assert_eq!(gone.last_renewal_timestamp, info.last_renewal_timestamp);
    assert_eq!(gone.eviction_timestamp, node.now.wall_ms);
}

#[test]
fn only_the_instance_itself_counts_as_direct_contact() {
    let mut node = Node::new();
    node.register_from(says("i-1", Status::Up, 100), Origin::Peer);
    node.renew_with("i-1", None, Origin::Peer);
    node.set_status("i-1", Status::Down);
    node.app
        .merge_metadata(
            "i-1",
            vec![("a".into(), "b".into())],
            <_>::default(),
            Origin::Client,
            node.now,
            &node.rules,
        )
        .unwrap();
    assert_eq!(node.record("i-1").lease.direct_contact_ms(), None);
    node.renew("i-1");
    assert_eq!(node.record("i-1").lease.direct_contact_ms(), Some(node.now.mono_ms));
    node.pass(5);
    let quick = node.record("i-1").try_quick_renewal(None, node.now, LeaseExpiry::Java);
    assert_eq!(quick, QuickRenewal::Renewed);
    let last = node.now.mono_ms;
    node.pass(5);
    node.register_from(says("i-1", Status::Up, 101), Origin::Peer);
    assert_eq!(node.record("i-1").lease.direct_contact_ms(), Some(last));
    node.register(says("i-1", Status::Up, 102));
    assert_eq!(node.record("i-1").lease.direct_contact_ms(), Some(node.now.mono_ms));
}
