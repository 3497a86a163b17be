//! Self-preservation, renew rate and access gate (`registry.md` 4).

use heureka_registry::self_preservation::java_threshold;
use heureka_registry::totals::MICROS_PER_RENEWAL;
use heureka_registry::{
    Access, AccessGate, LeaseTotals, MinuteCounter, ProtectionSettings, ProtectionState, SelfPreservation,
    StartedFrom,
};

use crate::support::at;

/// Leases that all renew at the same interval.
fn leases(count: u64, interval_secs: u64) -> LeaseTotals {
    let micros = 60 * MICROS_PER_RENEWAL / interval_secs;
    LeaseTotals { leases: count, renewals_per_minute_micros: count * micros }
}

fn opened(settings: ProtectionSettings, totals: LeaseTotals) -> SelfPreservation {
    let mut protection = SelfPreservation::new(settings);
    protection.observe(totals);
    protection.open(at(0));
    protection
}

fn java(settings: ProtectionSettings) -> ProtectionSettings {
    ProtectionSettings { expected_interval_secs: Some(30), ..settings }
}

#[test]
fn g_1_the_threshold_is_javas_table() {
    let table = [
        (0, 0, 0),
        (1, 1, 5),
        (2, 3, 10),
        (3, 5, 15),
        (5, 8, 25),
        (6, 10, 30),
        (7, 11, 35),
        (10, 17, 51),
        (20, 34, 102),
        (50, 85, 255),
        (51, 86, 260),
        (100, 170, 510),
        (151, 256, 770),
        (1000, 1700, 5100),
    ];
    for (clients, every_30, every_10) in table {
        assert_eq!(java_threshold(clients, 30, 0.85), every_30, "{clients}");
        assert_eq!(java_threshold(clients, 10, 0.85), every_10, "{clients}");
        let count = u64::try_from(clients).unwrap();
        let own = opened(ProtectionSettings::default(), leases(count, 30));
        assert_eq!((own.threshold(), own.expected_clients()), (every_30, clients));
        assert_eq!(opened(ProtectionSettings::default(), leases(count, 10)).threshold(), every_10);
    }
    assert_eq!(
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|n| java_threshold(n, 30, 0.85)),
        [1, 3, 5, 6, 8, 10, 11, 13, 15, 17, 18]
    );
}

#[test]
fn g_1_odd_intervals_give_javas_odd_thresholds() {
    assert_eq!([java_threshold(0, 0, 0.85), java_threshold(1, 0, 0.85)], [0, i32::MAX]);
    assert!(java_threshold(10, -30, 0.85) < 0);
    for interval in [0, -30] {
        let settings = ProtectionSettings { expected_interval_secs: Some(interval), ..<_>::default() };
        let protection = opened(settings, leases(10, 30));
        assert!(!protection.lease_expiration_enabled(1_000_000), "{interval}");
    }
}

#[test]
fn g_1_mixed_intervals_are_added_up() {
    let totals = leases(10, 30) + leases(6, 10) + leases(1, 60);
    assert_eq!(opened(ProtectionSettings::default(), totals).threshold(), 48, "0.85 * (20 + 36 + 1)");
    assert_eq!(opened(java(<_>::default()), totals).threshold(), 28, "0.85 * 17 * 2");
}

#[test]
fn g_2_leases_expire_only_above_the_threshold() {
    let protection = opened(ProtectionSettings::default(), leases(10, 30));
    assert_eq!([16, 17, 18].map(|r| protection.lease_expiration_enabled(r)), [false, false, true]);
    let empty = opened(ProtectionSettings::default(), leases(0, 30));
    assert_eq!((empty.threshold(), empty.lease_expiration_enabled(1_000)), (0, false));
    let off = ProtectionSettings { enabled: false, ..<_>::default() };
    assert!(opened(off, leases(10, 30)).lease_expiration_enabled(0));
}

#[test]
fn r_9_expected_clients_follow_registrations_also_from_zero() {
    let mut protection =
        opened(java(ProtectionSettings { open_for_traffic_count: 0, ..<_>::default() }), leases(0, 30));
    assert_eq!(protection.expected_clients(), 0);
    protection.observe(leases(3, 30));
    assert_eq!((protection.expected_clients(), protection.threshold()), (3, 5));
}

#[test]
fn c_4_expected_clients_follow_removals_and_stop_at_zero() {
    let settings = java(ProtectionSettings { expected_clients: Some(1), ..<_>::default() });
    let mut protection = SelfPreservation::new(settings);
    protection.observe(leases(5, 30));
    assert_eq!(protection.expected_clients(), 6, "Spring's client that never was counts in Java's formula");
    protection.open(at(0));
    assert_eq!(protection.expected_clients(), 5);
    protection.observe(leases(0, 30));
    protection.observe(leases(0, 30));
    assert_eq!(protection.expected_clients(), 0);
    let alone = opened(settings, leases(0, 30));
    assert_eq!((alone.expected_clients(), alone.threshold()), (1, 1));
}

#[test]
fn g_3_the_threshold_task_never_lowers_the_bar_by_15_percent_or_more() {
    let mut protection = opened(java(<_>::default()), leases(100, 30));
    for (now_left, expected) in [(86, 86), (85, 85)] {
        protection.observe(leases(now_left, 30));
        protection.update_threshold();
        assert_eq!(protection.expected_clients(), expected);
    }
    let mut phantom =
        opened(java(ProtectionSettings { open_for_traffic_count: 100, ..<_>::default() }), leases(0, 30));
    phantom.update_threshold();
    assert_eq!(phantom.expected_clients(), 100);
    phantom.observe(leases(85, 30));
    phantom.update_threshold();
    assert_eq!(phantom.expected_clients(), 185, "85 is not more than 0.85 * 185");
    let mut exact =
        opened(java(ProtectionSettings { open_for_traffic_count: 15, ..<_>::default() }), leases(0, 30));
    exact.observe(leases(85, 30));
    exact.update_threshold();
    assert_eq!(exact.expected_clients(), 100, "85 is exactly 0.85 * 100, not more");
    let off = ProtectionSettings { enabled: false, open_for_traffic_count: 100, ..java(<_>::default()) };
    let mut unprotected = opened(off, leases(0, 30));
    unprotected.update_threshold();
    assert_eq!(unprotected.expected_clients(), 0);
}

#[test]
fn g_3_a_count_above_the_bar_is_taken_over() {
    let settings = java(ProtectionSettings { open_for_traffic_count: 1, ..<_>::default() });
    let mut protection = opened(settings, leases(0, 30));
    protection.observe(leases(10, 30));
    assert_eq!(protection.expected_clients(), 11);
    protection.update_threshold();
    assert_eq!(protection.expected_clients(), 10);
}

#[test]
fn g_4_the_renew_rate_changes_only_at_ticks_and_loses_nothing() {
    let counter = MinuteCounter::new();
    counter.add(3);
    assert_eq!(counter.last_minute(), 0);
    assert_eq!((counter.tick(), counter.last_minute()), (3, 3));
    counter.add(1);
    counter.add(1);
    assert_eq!(counter.last_minute(), 3);
    assert_eq!((counter.tick(), counter.tick(), counter.last_minute()), (2, 0, 0));
}

#[test]
fn g_4_counts_from_many_threads_fall_into_exactly_one_minute() {
    let counter = MinuteCounter::new();
    let mut seen = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10_000).for_each(|_| counter.add(1)));
        }
        (0..100).map(|_| counter.tick()).sum::<u64>()
    });
    seen += counter.tick();
    assert_eq!(seen, 40_000);
}

#[test]
fn g_5_after_an_empty_sync_queries_wait_strictly_longer_than_the_wait_time() {
    let mut gate = AccessGate::new(300_000);
    gate.open(StartedFrom::Peers(0), at(1_000));
    assert_eq!(gate.check(false, at(1_000)), Access::WaitingForInstances { remaining_ms: 300_001 });
    assert_eq!(gate.check(false, at(301_000)), Access::WaitingForInstances { remaining_ms: 1 });
    assert_eq!(gate.check(false, at(301_001)), Access::Allowed);
}

#[test]
fn g_5_a_start_with_something_or_without_peers_is_served_at_once_and_for_good() {
    for from in [StartedFrom::Peers(1), StartedFrom::Snapshot, StartedFrom::Nothing] {
        let mut gate = AccessGate::new(300_000);
        gate.open(from, at(1_000));
        assert_eq!(gate.check(false, at(1_000)), Access::Allowed, "{from:?}");
        gate.open(StartedFrom::Peers(0), at(2_000));
        assert_eq!(gate.check(false, at(2_000)), Access::Allowed, "the wait never comes back");
    }
}

#[test]
fn g_6_before_opening_queries_are_refused() {
    let gate = AccessGate::new(0);
    assert!(!gate.is_opened());
    assert_eq!(gate.check(false, at(u64::from(u32::MAX))), Access::NotOpened);
}

#[test]
fn a_query_with_regions_waits_for_the_regions() {
    let mut gate = AccessGate::new(0);
    gate.open(StartedFrom::Peers(5), at(0));
    gate.set_remote_regions_ready(false);
    assert_eq!(
        [false, true].map(|remote| gate.check(remote, at(1))),
        [Access::Allowed, Access::RemoteRegionsNotReady]
    );
    gate.set_remote_regions_ready(true);
    assert_eq!(gate.check(true, at(1)), Access::Allowed);
}

#[test]
fn the_warning_comes_only_after_the_wait_time() {
    let mut protection = SelfPreservation::new(ProtectionSettings::default());
    assert!(!protection.is_below_threshold(0, at(u64::from(u32::MAX))), "not opened");
    protection.open(at(1_000));
    assert!(!protection.is_below_threshold(0, at(301_000)));
    assert!(protection.is_below_threshold(0, at(301_001)), "0 renewals are not more than a threshold of 0");
    assert!(!protection.is_below_threshold(1, at(301_001)));
}

#[test]
fn the_explanation_names_the_state_and_the_way_out() {
    let explain = |protection: &SelfPreservation, renewals, ms| protection.explain(renewals, at(ms));
    let protection = opened(ProtectionSettings::default(), leases(10, 30));
    let states =
        [(0, 0), (0, 60_000), (17, 60_000), (18, 60_000)].map(|(r, ms)| explain(&protection, r, ms).state);
    assert_eq!(
        states,
        [
            ProtectionState::FirstMinute,
            ProtectionState::TooFewRenewals,
            ProtectionState::TooFewRenewals,
            ProtectionState::Evicting
        ]
    );
    assert_eq!(states.map(ProtectionState::is_eviction_paused), [true, true, true, false]);
    let paused = explain(&protection, 12, 60_000);
    assert_eq!((paused.threshold, paused.expected_clients, paused.clients_enough), (17, 10, Some(9)));
    let words = paused.to_string();
    assert!(words.contains("12 renewals") && words.contains("threshold of 17"), "{words}");
    assert!(words.contains("when 9 of the 10"), "{words}");
    let before = SelfPreservation::new(ProtectionSettings::default());
    assert_eq!(explain(&before, 0, 0).state, ProtectionState::NotOpened);
    let off = opened(ProtectionSettings { enabled: false, ..<_>::default() }, leases(10, 30));
    assert_eq!(explain(&off, 0, 0).state, ProtectionState::SwitchedOff);
    let empty = opened(ProtectionSettings::default(), leases(0, 30));
    assert_eq!(explain(&empty, 0, 99_999).state, ProtectionState::NothingExpected);
}

#[test]
fn the_explanation_says_when_no_number_of_todays_clients_would_do() {
    // Spring with its client that never was: 5 clients that all renew are not enough, 6 are (`registry.md` 4.10).
    for (count, enough) in [(5, false), (6, true)] {
        let mut protection = opened(java(<_>::default()), leases(0, 30));
        protection.observe(leases(count, 30));
        let explanation = protection.explain(0, at(60_000));
        assert_eq!(protection.lease_expiration_enabled(2 * count), enough, "{count}");
        assert_eq!(explanation.clients_enough.unwrap() <= count, enough, "{count}");
        assert_eq!(explanation.to_string().contains("cannot end"), !enough);
    }
}

#[test]
fn a_bound_on_staleness_lets_a_sweep_take_long_dead_leases_only() {
    let protection = opened(ProtectionSettings::default(), leases(10, 30));
    let active = |compensation, bound| protection.sweep_extra_ms(17, compensation, bound);
    assert_eq!(
        [active(5, None), active(5, Some(600_000)), active(9, Some(7))],
        [None, Some(600_000), Some(9)]
    );
    assert_eq!(protection.sweep_extra_ms(18, 5, Some(600_000)), Some(5));
    let unopened = SelfPreservation::new(ProtectionSettings::default());
    assert_eq!(unopened.sweep_extra_ms(0, 0, Some(1)), None);
}
