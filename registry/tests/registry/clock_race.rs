//! The lease clock under threads: heartbeats race with the owner, and never does one win what the other believes won.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use heureka_protocol::Status;
use heureka_registry::{LeaseClock, LeaseExpiry, QuickRenewal};

use crate::support::{Node, says};

const ROUNDS: usize = 300;

#[test]
fn c_7_a_heartbeat_saves_its_lease_or_is_sent_to_the_owner_never_both() {
    let mut outcomes = [0_usize; 2];
    for _ in 0..ROUNDS {
        let mut node = Node::with_one();
        node.pass(90_001);
        let record = node.record("i-1").clone();
        let ids = node.app.expired(node.now, 0);
        let (start, now) = (Arc::new(Barrier::new(2)), node.now);
        let heartbeat = thread::spawn({
            let start = start.clone();
            move || {
                start.wait();
                record.try_quick_renewal(None, now, LeaseExpiry::Java)
            }
        });
        start.wait();
        let evicted = node.app.evict(&ids, now, 0, &node.rules);
        let renewed = heartbeat.join().unwrap() == QuickRenewal::Renewed;
        assert_eq!(evicted.is_empty(), renewed, "evicted and acknowledged, or neither");
        assert_eq!(node.app.len(), usize::from(renewed));
        outcomes[usize::from(renewed)] += 1;
    }
    assert_eq!(outcomes.iter().sum::<usize>(), ROUNDS);
}

/// Heartbeats come in without a pause, so that one is under way whenever the owner replaces the record.
#[test]
fn s_1_an_acknowledged_heartbeat_is_never_lost_by_a_status_change() {
    for _ in 0..ROUNDS / 3 {
        let mut node = Node::with_one();
        node.rules.lease_expiry = LeaseExpiry::Exact;
        let record = node.record("i-1").clone();
        let (is_beating, mut now) = (Arc::new(AtomicBool::new(false)), node.now);
        let heartbeats = thread::spawn({
            let is_beating = is_beating.clone();
            move || {
                let mut acknowledged = now.mono_ms;
                loop {
                    now.mono_ms += 1;
                    if record.try_quick_renewal(None, now, LeaseExpiry::Exact) == QuickRenewal::AskOwner {
                        return acknowledged;
                    }
                    acknowledged = now.mono_ms;
                    is_beating.store(true, Ordering::SeqCst);
                }
            }
        });
        while !is_beating.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        node.set_status("i-1", Status::Down);
        let acknowledged = heartbeats.join().unwrap();
        assert_eq!(node.record("i-1").lease.clock.get(), Some(acknowledged));
    }
}

/// Two threads walk over the same clocks at the same pace: one renews each, the other retires each that was not renewed.
#[test]
fn c_7_of_a_renewal_and_a_conditional_retirement_exactly_one_wins() {
    let clocks: Vec<LeaseClock> = (0..100_000).map(|_| LeaseClock::starting_at(0)).collect();
    let start = Barrier::new(2);
    let (renewed, retired) = thread::scope(|scope| {
        let renewing = scope.spawn(|| {
            start.wait();
            clocks.iter().map(|clock| clock.advance(1)).collect::<Vec<bool>>()
        });
        start.wait();
        let retired: Vec<bool> = clocks.iter().map(|clock| clock.retire_if(|ms| ms == 0).is_some()).collect();
        (renewing.join().unwrap(), retired)
    });
    for (place, (renewed, retired)) in renewed.iter().zip(&retired).enumerate() {
        assert_ne!(renewed, retired, "clock {place}");
    }
}

#[test]
fn concurrent_advances_keep_the_latest_moment_and_stop_at_retirement() {
    let clock = LeaseClock::starting_at(0);
    let highest = AtomicU64::new(0);
    let retired = AtomicBool::new(false);
    thread::scope(|scope| {
        for lane in 0..3_u64 {
            let (clock, highest, retired) = (&clock, &highest, &retired);
            scope.spawn(move || {
                for step in 0..20_000_u64 {
                    let was_retired = retired.load(Ordering::SeqCst);
                    let moment = step * 3 + lane;
                    if clock.advance(moment) {
                        assert!(!was_retired, "a retired clock accepted a renewal");
                        highest.fetch_max(moment, Ordering::SeqCst);
                    }
                }
            });
        }
        scope.spawn(|| {
            while clock.get().is_some_and(|moment| moment < 30_000) {
                thread::yield_now();
            }
            let last = clock.retire().unwrap();
            retired.store(true, Ordering::SeqCst);
            assert!(last >= 30_000);
            assert_eq!((clock.retire(), clock.get(), clock.advance(u64::MAX)), (None, None, false));
        });
    });
    assert_eq!(clock.get(), None);
    assert!(highest.load(Ordering::SeqCst) >= 30_000);
}

#[test]
fn a_clock_never_moves_back_and_retires_on_a_condition_it_sees() {
    let clock = LeaseClock::starting_at(10);
    assert!(clock.advance(5));
    assert_eq!(clock.get(), Some(10));
    assert_eq!(clock.retire_if(|moment| moment > 10), None);
    assert_eq!(clock.retire_if(|moment| moment == 10), Some(10));
    assert_eq!(clock.retire_if(|_| true), None);
    assert!(!clock.advance(20));
}

#[test]
fn a_registration_retires_the_clock_that_heartbeats_hold() {
    let mut node = Node::with_one();
    let held = node.record("i-1").clone();
    node.register(says("i-1", Status::Up, 200));
    assert!(!held.lease.clock.advance(u64::MAX));
    assert_eq!(held.lease.clock.retire(), None);
}
